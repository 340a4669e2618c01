"""How files are named in an answer, and what stands in them."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regrade import workspace
from regrade.errors import RegradeError
from regrade.harnesses import answer_files, fences

ARTIFACT = "output/a.json"


def parse(answer: str, artifact: str = ARTIFACT) -> dict[str, str]:
    return answer_files.parse(answer, artifact).files


@pytest.mark.parametrize(
    "opening",
    [
        "```output/a.json",
        "```json output/a.json",
        "```json  output/a.json  ",
        "```output/a.json json",
        '```json title="output/a.json"',
        "```json file=output/a.json",
        "```json:output/a.json",
        "```json path=/workspace/output/a.json",
        "```/workspace/output/a.json",
        "```./output/a.json",
        "```a.json",
        "``` a.json",
        "~~~output/a.json",
        "````output/a.json",
        "output/a.json\n```",
        "output/a.json\n\n```json",
        "`output/a.json`:\n```json",
        "**output/a.json**\n```json",
        "### `output/a.json`\n```json",
        "1. File: output/a.json\n```json",
        "- **File:** `output/a.json`\n```json",
        "Filename: a.json:\n```",
        "Here is the content of `/workspace/output/a.json`:\n```json",
        "I wrote this to output/a.json.\n```json",
        "```json\noutput/a.json",
        "```\n/workspace/output/a.json",
        "```json\n// output/a.json",
        "```json\n# File: output/a.json",
        "```json\n<!-- output/a.json -->",
        "```json",
        "```",
    ],
)
def test_a_block_is_the_artifact_in_every_documented_form(opening: str) -> None:
    """In the fence's line, in the line above it, in the first line inside, or by nothing at all."""
    marks = re.search(r"^([`~]{3,})", opening, re.M)
    assert marks is not None
    assert {ARTIFACT: '{"n": 1}\n'} == parse(f'Some words.\n\n{opening}\n{{"n": 1}}\n{marks[1]}\nAnd more.\n')


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_several_files_with_their_own_names(newline: str) -> None:
    """Blocks are kept apart, and the words between them are no file."""
    answer = "a.json\n```\n1\n```\nwords\n```python src/__init__.py\nx = 1\n\n```\n\n**notes.md**:\n\n```\ntext\n```"
    expected = {ARTIFACT: "1\n", "src/__init__.py": "x = 1\n\n", "notes.md": "text\n"}
    assert expected == parse(answer.replace("\n", newline))


def test_a_sentence_that_ends_in_another_file_s_name_names_nothing() -> None:
    """Only the artifact's name counts at the end of a sentence: this block is not the input."""
    assert {ARTIFACT: "1\n"} == parse("I counted the lines in data.csv:\n```\n1\n```")


def test_the_whole_answer_is_the_artifact_where_there_is_no_block() -> None:
    """Less blank lines around it, a fence that a prompt had opened, and a first line that is the path."""
    assert {ARTIFACT: "  42\n"} == parse("\n\n  42\n\n")
    assert {ARTIFACT: "42\n"} == parse("output/a.json\n42")
    code = "def f():\n    return 1"
    assert {"f.py": f"{code}\n"} == parse(f"{code}\n```", "f.py")
    assert {"f.py": f"{code}\n"} == parse(f"{code}\n```\n\nThis returns one.", "f.py")
    assert {} == parse("")
    assert {} == parse(" \n\t\n")
    assert {} == parse("```")


def test_signs_that_other_programs_take_for_line_ends_stay() -> None:
    """Form feed, NEL and the Unicode separators are content."""
    content = "a\x0cb\x85c\u2028d\x1ce"
    assert {ARTIFACT: f"{content}\n"} == parse(content)
    assert {ARTIFACT: f"{content}\n"} == parse(f"```a.json\n{content}\n```")


def test_nested_and_odd_fences() -> None:
    """What is inside a block stays there; what is not a fence ends nothing."""
    inner = "# How\n\n```bash\nls\n```\n\ntext"
    assert {"a.md": f"{inner}\n"} == parse(f"```a.md\n{inner}\n```", "a.md")
    assert {"a.md": f"{inner}\n"} == parse(f"````markdown a.md\n{inner}\n````\nbye", "a.md")
    docstring = 'def f():\n    """For example\n    ```\n    f()\n    ```\n    """\n    return 1'
    assert {"f.py": f"{docstring}\n"} == parse(f"```python\n{docstring}\n```", "f.py")
    two_blanks = docstring.replace("    ", "  ")
    assert {"f.py": f"{two_blanks}\n"} == parse(f"```python\n{two_blanks}\n```", "f.py")
    assert {ARTIFACT: "a\n```x```\nb\n"} == parse("```\na\n```x```\nb\n```")
    assert {ARTIFACT: "a\n~~~\n"} == parse("```\na\n~~~\n```")
    assert {ARTIFACT: "1\n"} == parse("```json\n1\n  ```\ntext")


def test_a_block_in_a_list_loses_the_list_s_margin() -> None:
    """As Markdown has it: up to as many blanks as the fence stands in."""
    assert {"f.py": "if x:\n    y()\nz\n"} == parse(
        "1. `f.py`\n   ```python\n   if x:\n       y()\n  z\n   ```\n", "f.py"
    )


def test_a_block_that_is_never_closed_goes_to_the_end() -> None:
    """As in an answer that was cut."""
    assert {ARTIFACT: '{"n":\n'} == parse('Sure:\n```json\n{"n":')
    assert {ARTIFACT: '{"n":\n'} == parse('```output/a.json\n{"n":\n\n')
    assert {ARTIFACT: "4\n"} == parse("The answer:\n```\n4")
    assert {ARTIFACT: "4\n"} == parse("output/a.json\n```\n4")


def test_what_is_guessed_is_said() -> None:
    """Repeated names, several blocks without one, and no block for the artifact are warnings."""
    repeated = answer_files.parse("```a.json\n1\n```\n```a.json\n2\n```", ARTIFACT)
    assert ({ARTIFACT: "2\n"}, ["answer: a.json stands there more than once: the last was taken"]) == repeated
    unnamed = answer_files.parse("```\n1\n```\n```\n2\n```", ARTIFACT)
    assert ({ARTIFACT: "2\n"}, ["answer: 2 blocks without a name: one was taken as output/a.json"]) == unnamed
    other = answer_files.parse("```b.json\n1\n```", ARTIFACT)
    assert ({"b.json": "1\n"}, ["answer: names b.json, and no block is output/a.json"]) == other


def test_the_artifact_s_language_tells_blocks_without_a_name_apart() -> None:
    """A command to run it, behind the program, is not the program."""
    answer = "```python\nprint(1)\n```\nRun it:\n```bash\npython f.py\n```"
    assert {"f.py": "print(1)\n"} == parse(answer, "f.py")
    assert {"f.txt": "python f.py\n"} == parse(answer, "f.txt")


def test_an_artifact_without_an_extension_or_with_a_blank() -> None:
    """Its own name counts however it looks."""
    assert {"output/answer": "1\n"} == parse("```output/answer\n1\n```\n```python\nx\n```", "output/answer")
    assert {"my answer.txt": "1\n"} == parse("```my answer.txt\n1\n```\n```python\nx\n```", "my answer.txt")


def test_a_language_is_no_name() -> None:
    """Tags with digits, points and signs name no file."""
    for tag in ("python3.11", "c++", "objective-c", "text/plain", "{.python .numberLines}", "http://x.org/a.json"):
        assert {ARTIFACT: "1\n"} == parse(f"```{tag}\n1\n```")


@pytest.mark.parametrize("name", ["/etc/hosts.txt", "../x.txt", "a/../../x.txt", "/workspace/../x.txt"])
def test_a_path_that_leaves_stays_a_name(name: str) -> None:
    """It must not pass for a block without one, and the workspace refuses it."""
    files = parse(f"```{name}\nx\n```\n```a.json\n1\n```")
    assert 2 == len(files)
    (odd,) = files.keys() - {ARTIFACT}
    with pytest.raises(RegradeError, match="is not a file name inside the workspace"):
        workspace.write_into(Path("/nonexistent"), odd, b"x")


LINE = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=12)
CONTENT = st.lists(LINE | st.sampled_from(["", "```", "```py", "~~~", "  ```", "output/x", "a.json"]), max_size=8)
NAME = st.from_regex(r"(?:[a-z_][a-z0-9_]{0,5}/){0,2}[a-z_][a-z0-9_.-]{0,5}\.[a-z][a-z0-9]{0,3}", fullmatch=True)
FORMS = [
    "{fence}{name}",
    "{fence}text {name}",
    "{name}\n{fence}",
    "**{name}**:\n\n{fence}text",
    "File: `{name}`\n{fence}",
]


@settings(max_examples=150, deadline=None)
@given(NAME, CONTENT, st.sampled_from(FORMS), st.sampled_from(["`", "~"]))
def test_any_content_survives_within_longer_fences(name: str, lines: list[str], form: str, sign: str) -> None:
    """Whatever the file holds, fences included, it comes out byte for byte if its own fence is longer."""
    fence = sign * 8
    answer = f"{form.format(fence=fence, name=name)}\n" + "".join(f"{line}\n" for line in lines) + f"{fence}\n"
    assert {name: "".join(f"{line}\n" for line in lines)} == parse(answer, name)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(LINE | st.sampled_from(["```", "```x", "~~~", "````", " ```", "\t```", "../a.b", "`c.d`:"]), max_size=12)
)
def test_no_answer_breaks_the_reader(lines: list[str]) -> None:
    """Blocks lie one behind the other, hold only lines of the text, and every answer gives a mapping of texts."""
    text = "\n".join(lines)
    position = -1
    for block in fences.blocks(text):
        assert block.line > position
        position = block.line
        assert all(line.strip() in text for line in block.content.split("\n"))
    assert all(name and isinstance(content, str) for name, content in parse(text).items())
    assert parse(text) == parse(text.replace("\n", "\r\n"))


@settings(max_examples=150, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    | st.lists(st.sampled_from(["..", "a", "/", "."])).map("/".join)
)
def test_no_name_writes_outside(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    """Every name is written below the workspace or refused; nothing else in the folder around it changes."""
    around = tmp_path_factory.mktemp("around")
    (around / "work").mkdir()
    (around / "work/link").symlink_to(around)
    try:
        workspace.write_into(around / "work", name, b"content")
        assert b"content" == (around / "work" / name).read_bytes()
    except RegradeError:
        pass
    assert ["work"] == [path.name for path in around.iterdir()]
