"""regrade_artifact as graders use it: strict readers whose faults are verdicts, run by a real grader in the sandbox."""

from pathlib import Path

import pytest

from artifact_support import write_files
from graders_support import ARTIFACT, Scene
from regrade.graders import Verdict
from regrade.graders.static import inspect

HEAD = "from regrade_artifact import *\n"
SHOWING = HEAD + "@graded\ndef grade(scratch_dir):\n    return GradeResult(True, 1.0, ascii({expression}))\n"
TEXT, VALUE, LINES, SOURCE = (f"read_{kind}(scratch_dir, ARTIFACT)" for kind in ("text", "json", "jsonl", "python"))
UNPARSED = "output artifact failed to parse: "


def grade(folder: Path, expression: str, content: bytes) -> Verdict:
    """The verdict of a grader that passes any artifact which `expression` reads, and shows what it read."""
    scene = Scene(folder, SHOWING.format(expression=expression))
    (scene.workspace / ARTIFACT).write_bytes(content)
    return scene.grade()


@pytest.mark.parametrize(
    ("expression", "content", "shown"),
    [
        (TEXT, b"\xef\xbb\xbfa\r\n\xc3\xa9", r"'a\r\n\xe9'"),
        (VALUE, b' {"a": [1, 2.5, null, true]}\n', "{'a': [1, 2.5, None, True]}"),
        (VALUE, b"[]", "[]"),
        (LINES, b'\n{"a": 1}\r\n \n"\xe2\x80\xa8"\n', r"[{'a': 1}, '\u2028']"),
        (SOURCE, b"x = 1\n", r"'x = 1\n'"),
    ],
)
def test_what_is_sound_is_read(tmp_path: Path, expression: str, content: bytes, shown: str) -> None:
    """The value comes back, whatever the line ends, blank lines and a byte order mark."""
    assert ("passed", shown) == ((found := grade(tmp_path, expression, content)).status, found.detail)


@pytest.mark.parametrize(
    ("expression", "content", "detail"),
    [
        (TEXT, b"", "output artifact is empty"),
        (LINES, b" \n\t\n", "output artifact is empty"),
        (TEXT, b"a\xff", UNPARSED + "'utf-8' codec can't decode byte 0xff in position 1: invalid start byte"),
        (VALUE, b"[1,\n x]", UNPARSED + "Expecting value: line 2 column 2 (char 5)"),
        (VALUE, b"[NaN]", UNPARSED + "NaN is not JSON"),
        (VALUE, b'{"a": -Infinity}', UNPARSED + "-Infinity is not JSON"),
        (VALUE, b'[{"a": 1, "a": 1}]', UNPARSED + "an object has the same key twice"),
        (VALUE, b"[" * 100_000, UNPARSED + "nested too deeply"),
        (LINES, b'1\n\n{"a": ' + b"[" * 100_000, UNPARSED + "line 3: nested too deeply"),
        (LINES, b"1\n1 2\n", UNPARSED + "line 2: Extra data"),
        (SOURCE, b"def f(:\n", UNPARSED + "SyntaxError 'invalid syntax (<unknown>, line 1)'"),
    ],
)
def test_what_is_not_sound_is_a_failure(tmp_path: Path, expression: str, content: bytes, detail: str) -> None:
    """The artifact fails as no valid one, and the detail says why in the format's words."""
    found = grade(tmp_path, expression, content)
    assert ("failed", "invalid_format", 0.0, detail) == (found.status, found.reason, found.score, found.detail)


def test_a_giant_integer_is_a_failure(tmp_path: Path) -> None:
    """More digits than Python converts fail; what that limit says is Python's own text."""
    found = grade(tmp_path, LINES, b"1\n" + b"9" * 5000)
    assert ("invalid_format", True) == (found.reason, found.detail.startswith(UNPARSED + "line 2: Exceeds the limit"))


@pytest.mark.parametrize(
    ("name", "reason", "detail"),
    [
        ("output/other.txt", "missing_artifact", "output artifact not produced"),
        ("output", "invalid_format", UNPARSED + "it is not a regular file"),
    ],
)
def test_no_file_is_a_failure(tmp_path: Path, name: str, reason: str, detail: str) -> None:
    """A name with nothing or a folder behind it fails; it need not be the artifact's own."""
    found = grade(tmp_path, f"read_text(scratch_dir, {name!r})", b"1")
    assert (reason, detail) == (found.reason, found.detail)


@pytest.mark.parametrize(
    ("content", "reason", "detail"),
    [
        (b"1\n\n2\n{\n", "wrong_answer", "line 3: is 2"),
        (b"1\n{\n2\n", "invalid_format", UNPARSED + "line 2: Expecting property name enclosed in double quotes"),
        (b"1\n1\n", "", "[1, 1]"),
    ],
)
def test_rows_are_judged_line_by_line(tmp_path: Path, content: bytes, reason: str, detail: str) -> None:
    """The first fault counts, be it one of syntax or one that the grader's own function finds."""
    find_fault = "lambda row: '' if row == 1 else f'is {row}'"
    found = grade(tmp_path, f"read_jsonl(scratch_dir, ARTIFACT, {find_fault})", content)
    assert (reason, detail) == (found.reason, found.detail)


KINDS = {
    "is_text": ['""', '"a"'],
    "is_texts": ['["a", ""]'],
    "is_integer": ["0", "-7", "9" * 4000],
    "is_number": ["0", "-7", "1.5", "1e3", "9" * 4000],
    "lambda value: is_object(value, ['a', 'b'])": ['{"b": 1, "a": null}'],
}
VALUES = ["null", "true", "1e999", "-1e999", "[]", '[1, "a"]', "{}", '{"a": 1}', '{"a": 1, "b": 1, "c": 1}']


def test_checkers_take_their_kind_alone(tmp_path: Path) -> None:
    """true is no integer, 1.0 neither, an infinity no number, an object with a key more or less not the one meant."""
    values = sorted({*VALUES, *(value for kind in KINDS.values() for value in kind)})
    for checker, kind in KINDS.items():
        expression = f"[({checker})(value) for value in read_jsonl(scratch_dir, ARTIFACT)]"
        found = grade(tmp_path, expression, "\n".join(values).encode())
        assert (checker, str([value in kind for value in values])) == (checker, found.detail)


@pytest.mark.parametrize(
    ("grader", "status", "detail"),
    [
        ("def grade(scratch_dir):\n    raise ArtifactFault('rule 1')\n", "failed", "rule 1"),
        ("def grade(scratch_dir):\n    return GradeResult(False, 0.25, 'off')\n", "failed", "off"),
        ("def grade(scratch_dir):\n    raise ValueError('mine')\n", "error", "the grader raised ValueError: mine"),
    ],
)
def test_only_faults_of_the_artifact_become_verdicts(tmp_path: Path, grader: str, status: str, detail: str) -> None:
    """`graded` makes a failure of an ArtifactFault, and leaves verdicts and other exceptions alone."""
    found = Scene(tmp_path, HEAD + "@graded\n" + grader).grade()
    assert (status, detail) == (found.status, found.message if status == "error" else found.detail)


def test_a_reference_read_outside_is_no_failure_of_the_agent(tmp_path: Path) -> None:
    """A broken reference is the grader's error, though the same reader reads it."""
    reading = "from pathlib import Path\nTRUTH = read_json(Path(__file__).parent, 'reference_output.json')\n"
    scene = Scene(
        tmp_path, HEAD + reading + "@graded\ndef grade(scratch_dir):\n    return GradeResult(True, 1.0, '')\n"
    )
    assert ("error", "grader_error") == ((found := scene.grade()).status, found.reason)
    write_files(scene.grader, {"reference_output.json": "1"})
    assert "passed" == scene.grade().status


def test_readers_share_no_process_with_agent_code(tmp_path: Path) -> None:
    """A grader that uses the module is not marked as one in whose process agent code may run."""
    write_files(tmp_path, {"hidden.py": SHOWING.format(expression=SOURCE)})
    assert (False, False) == ((looks := inspect(tmp_path)).in_process, looks.calls_agent)
