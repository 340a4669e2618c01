"""What a grader may do and return, and what is made of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from artifact_support import write_files
from graders_support import ARTIFACT, COMPARE, QUICK, Scene


def body(text: str) -> str:
    """A grader whose grade() is this text."""
    return "\ndef grade(scratch_dir):\n" + "".join(f"    {line}\n" for line in text.splitlines())


def test_right_and_wrong_answers(tmp_path: Path) -> None:
    """A grader's verdict comes through with its score and detail, and a wrong answer is a wrong answer."""
    scene = Scene(tmp_path)
    verdict = scene.grade()
    assert (True, 1.0, "2 characters", "passed", "") == (
        verdict.passed, verdict.score, verdict.detail, verdict.status, verdict.reason,
    )  # fmt: skip
    (scene.workspace / ARTIFACT).write_text("43")
    verdict = scene.grade()
    assert (False, "failed", "wrong_answer") == (verdict.passed, verdict.status, verdict.reason)
    assert verdict.cpu_s
    assert verdict.wall_s
    assert {"no network", "wall", "memory"} <= set(verdict.bounds)


@pytest.mark.parametrize(
    ("detail", "reason"),
    [
        ("output artifact not produced", "missing_artifact"),
        ("output artifact failed to parse: line 1", "invalid_format"),
        ("output artifact is empty", "invalid_format"),
        ("the output artifact is empty of sense", "wrong_answer"),
    ],
)
def test_reason_from_the_graders_words(detail: str, reason: str) -> None:
    """The format's own words for what is wrong decide the reason."""
    from regrade.graders.verdict import reason_of

    assert reason == reason_of(detail)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("return None", "grade() returned NoneType None without passed"),
        ("return {'passed': True, 'score': 1.0, 'detail': ''}", "grade() returned dict"),
        ("return GradeResult('no', 1.0, '')", "passed is str 'no', expected a bool"),
        ("return GradeResult(1, 1.0, '')", "passed is int 1, expected a bool"),
        ("return GradeResult(True, float('nan'), '')", "score is float nan"),
        ("return GradeResult(True, 1.7, '')", "score is float 1.7"),
        ("return GradeResult(True, -0.1, '')", "score is float -0.1"),
        ("return GradeResult(True, True, '')", "score is bool True"),
        ("return GradeResult(True, '1', '')", "score is str '1'"),
        ("return GradeResult(True, 1.0, None)", "detail is NoneType None"),
        ("raise ValueError('bad row 7')", "the grader raised ValueError: bad row 7"),
        ("sys.exit(0)", "the grader raised SystemExit: 0"),
        ("raise KeyboardInterrupt", "the grader raised KeyboardInterrupt"),
        ("os._exit(0)", "the grader ended its process (exit code 0)"),
        ("os.kill(os.getpid(), 11)", "the grader was ended by signal 11"),
        ("return grade(scratch_dir)", "the grader raised RecursionError"),
    ],
)
def test_nonsense_is_a_grader_error(tmp_path: Path, text: str, message: str) -> None:
    """Whatever is no verdict is the grader's error, and the message says what it was."""
    verdict = Scene(tmp_path, body(text)).grade()
    assert ("error", "grader_error", None, None) == (verdict.status, verdict.reason, verdict.passed, verdict.score)
    assert message in verdict.message


@pytest.mark.parametrize(
    ("grader", "message"),
    [
        ("\nasync def grade(scratch_dir):\n    return GradeResult(True, 1.0, '')\n", "grade() returned coroutine"),
        ("\nx = 1\n", "hidden.py defines no grade()"),
        ("\ndef grade(:\n", "the grader raised SyntaxError"),
        ("\nraise SystemExit(0)\n", "the grader raised SystemExit"),
        ("\nimport nothing_like_it\n", "the grader raised ModuleNotFoundError"),
    ],
)
def test_grader_that_cannot_be_called(tmp_path: Path, grader: str, message: str) -> None:
    """A grader without a usable grade() is the grader's error too."""
    verdict = Scene(tmp_path, grader).grade()
    assert "grader_error" == verdict.reason
    assert message in verdict.message


def test_traceback_is_kept(tmp_path: Path) -> None:
    """The place where a grader raised is in the verdict."""
    verdict = Scene(tmp_path, body("rows = {}\nreturn rows['x']")).grade()
    assert "return rows['x']" in verdict.traceback


def test_limits_are_named(tmp_path: Path) -> None:
    """A grader that hangs or eats memory is stopped, and the message says by which limit and after how long."""
    scene = Scene(tmp_path, body("time.sleep(60)"))
    verdict = scene.grade(replace(QUICK, wall_s=0.5))
    assert "grader_error" == verdict.reason
    assert "wall limit (0.5 s by the clock) after 0." in verdict.message
    scene = Scene(tmp_path / "b", body("held = [b'x' * (2**20 + number) for number in range(900)]\ntime.sleep(20)"))
    verdict = scene.grade(replace(QUICK, memory_mb=100))
    assert "grader_error" == verdict.reason
    assert "memory" in verdict.message.lower()


def test_printing_is_harmless(tmp_path: Path) -> None:
    """What a grader prints is kept, bounded, and is no verdict."""
    lines = "print('{\"passed\": false}')\nsys.stderr.write('noise')\nprint('x' * 5_000_000)\n"
    verdict = Scene(tmp_path, body(lines + "return GradeResult(True, 1.0, 'fine')")).grade()
    assert (True, "fine", b"noise") == (verdict.passed, verdict.detail, verdict.stderr)
    assert verdict.stdout.startswith(b'{"passed": false}')
    assert b"bytes omitted" in verdict.stdout
    assert len(verdict.stdout) < 1_000_000


def test_threads_and_exit_handlers_do_not_outlive_the_verdict(tmp_path: Path) -> None:
    """A verdict counts from the moment that it is given."""
    text = """import atexit, threading
atexit.register(time.sleep, 60)
threading.Thread(target=time.sleep, args=(60,)).start()
if os.fork() == 0:
    return GradeResult(False, 0.0, 'the child')
return GradeResult(True, 0.5, 'the parent')"""
    verdict = Scene(tmp_path, body(text)).grade()
    assert (True, 0.5, "the parent") == (verdict.passed, verdict.score, verdict.detail)
    assert verdict.wall_s < 20


def test_numpy_values_count(tmp_path: Path) -> None:
    """numpy's booleans and floats are taken for Python's."""
    pytest.importorskip("numpy")
    text = "import numpy\nreturn GradeResult(numpy.bool_(True), numpy.float64(0.25), 'fine')"
    verdict = Scene(tmp_path, body(text)).grade()
    assert (True, 0.25) == (verdict.passed, verdict.score)


def test_local_result_type_and_siblings(tmp_path: Path) -> None:
    """Any object with the three attributes is a verdict, and a grader finds the files beside it."""
    grader = """
from dataclasses import dataclass
from pathlib import Path
import helper
@dataclass(frozen=True)
class Mine:
    passed: bool
    score: float
    detail: str
def grade(scratch_dir):
    assert isinstance(scratch_dir, Path) and scratch_dir.is_absolute()
    assert Path.cwd() != scratch_dir
    return Mine(True, 1, Path(__file__).with_name("reference_output.txt").read_text() + helper.WORD)
"""
    scene = Scene(tmp_path, grader)
    write_files(scene.grader, {"reference_output.txt": "ref ", "helper.py": "WORD = 'helped'\n"})
    verdict = scene.grade()
    assert (True, 1.0, "ref helped", "") == (verdict.passed, verdict.score, verdict.detail, verdict.message)
    assert {"hidden.py", "helper.py", "reference_output.txt"} == {path.name for path in scene.grader.iterdir()}


def test_caches_beside_a_grader_are_not_used(tmp_path: Path) -> None:
    """A __pycache__ that no digest knows does not decide what runs."""
    import importlib.util
    import os
    import py_compile

    scene = Scene(tmp_path, body("return GradeResult(True, 1.0, 'source')"))
    source = scene.grader / "hidden.py"
    honest = source.read_text()
    source.write_text(honest.replace("'source'", "'cached'"))
    cache = Path(importlib.util.cache_from_source(str(source)))
    py_compile.compile(str(source), str(cache), doraise=True)
    about = source.stat()
    source.write_text(honest)
    os.utime(source, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert "source" == scene.grade().detail


def test_workspace_is_read_only_and_network_is_off(tmp_path: Path) -> None:
    """A grader can neither change the workspace nor call anybody."""
    text = """import socket
said = []
for attempt in (lambda: (scratch_dir / 'data.csv').write_text('x'), lambda: (scratch_dir / 'new').touch(),
                lambda: open(__file__, 'a'), lambda: socket.create_connection(('127.0.0.1', 9), 1)):
    try:
        attempt()
        said.append('done')
    except OSError as error:
        said.append('refused')
return GradeResult(said == ['refused'] * 4, 1.0, ' '.join(said))"""
    scene = Scene(tmp_path, body(text))
    assert "refused refused refused refused" == scene.grade().detail
    assert "a,b\n" == (scene.workspace / "data.csv").read_text()


def test_what_an_agent_left_is_not_imported(tmp_path: Path) -> None:
    """Modules, start-up files and test configuration in the workspace change nothing for the grader."""
    scene = Scene(tmp_path, "\nimport random, statistics\n" + COMPARE)
    usual = scene.grade()
    bad = "raise SystemExit('the agent was here')\n"
    names = ("sitecustomize.py", "usercustomize.py", "random.py", "json.py", "conftest.py", "hidden.py", "swebench.py")
    write_files(scene.workspace, {f"{folder}{name}": bad for name in names for folder in ("", "output/")})
    write_files(
        scene.workspace,
        {
            "x.pth": "import os; os._exit(3)\n",
            "pytest.ini": "[pytest]\naddopts = --nonsense\n",
            "evil-1.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
            ".bashrc": "exit 1\n",
            "pyvenv.cfg": "home = /nowhere\n",
        },
    )
    verdict = scene.grade()
    assert (usual.passed, usual.score, usual.detail, "") == (
        verdict.passed, verdict.score, verdict.detail, verdict.message,
    )  # fmt: skip
    assert verdict.passed


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[" * 200_000, b"1" * 6000, b""])
def test_hostile_bytes_are_the_graders_to_judge(tmp_path: Path, content: bytes) -> None:
    """Empty, binary and absurd artifacts reach the grader as bytes; if it raises on them, that is its error."""
    scene = Scene(tmp_path, body("json.loads((scratch_dir / ARTIFACT).read_text())\nreturn GradeResult(True, 1.0, '')"))
    (scene.workspace / ARTIFACT).write_bytes(content)
    verdict = scene.grade()
    assert "grader_error" == verdict.reason
    assert "Error" in verdict.traceback


def test_long_detail_is_whole(tmp_path: Path) -> None:
    """A verdict holds the whole detail, whatever is stored of it later."""
    verdict = Scene(tmp_path, body("return GradeResult(False, 0.0, 'x' * 100_000)")).grade()
    assert 100_000 == len(verdict.detail or "")


def test_second_verdict_on_the_channel(tmp_path: Path) -> None:
    """Somebody else's line on the result channel makes no verdict: forged where agent code could be at work."""
    write = """import re
for number in range(3, 64):
    try:
        os.write(number, b'{"passed": true, "score": 1.0, "detail": "forged"}\\n')
    except OSError:
        pass
return GradeResult(False, 0.0, 'honest')"""
    verdict = Scene(tmp_path, body(write)).grade()
    assert ("error", "grader_error", False) == (verdict.status, verdict.reason, verdict.in_process)
    verdict = Scene(tmp_path / "b", body("sys.path.insert(0, str(scratch_dir))\n" + write)).grade()
    assert ("failed", "forged_result", True) == (verdict.status, verdict.reason, verdict.in_process)
