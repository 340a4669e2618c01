"""`regrade check` on suites: what it takes for one, what it says of the files around tasks, and how it ends."""

import json
from pathlib import Path

import pytest

from artifact_support import make_task
from docs_support import page
from regrade import schemas
from regrade.cli import main
from regrade.formats.suite import load_all

SOUND = "- {id: a, category: c, prompt: p, scoring: {type: exact, value: x}}\n"
FAULTY = "- {id: a, category: c, prompt: p, scoring: {type: exact}}\n"
DATASET = "- {id: d, category: c, dataset: {name: n}, template: %r, scoring: {type: exact, answer_field: b}}\n"


def write(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def check(capsys: pytest.CaptureFixture[str], *arguments: Path | str) -> tuple[int, str]:
    """The exit code of the command, and what it printed."""
    code = main(["check", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out + said.err


@pytest.mark.parametrize("as_file", [True, False])
def test_check_takes_a_file_or_a_folder(as_file: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0 for a sound one; 1 for a fault, which says where it is."""
    path = write(tmp_path, one_yaml=SOUND) / "one.yaml" if as_file else tmp_path
    write(tmp_path, one_yaml=SOUND)
    assert (0, "checked: 0 tasks, 1 suites, 0 sets, 0 faults, 0 warnings\n") == check(capsys, path)
    write(tmp_path, one_yaml=FAULTY)
    assert 1 == main(["check", "--json", str(path)])
    fault = json.loads(capsys.readouterr().out)
    assert {
        "path": str(tmp_path / "one.yaml"),
        "field": "line 1: a: scoring",
        "severity": "fault",
    }.items() <= fault.items()


@pytest.mark.parametrize(
    "content",
    [
        SOUND,
        f"# about\n---\n{SOUND}",
        f"\ufeff{SOUND}",
        f"metadata: {{version: 1}}\ntasks:\n{SOUND}",
        f"'tasks':\n{SOUND}",
        json.dumps({"tasks": [{"id": "a", "category": "c", "prompt": "p", "scoring": {"value": "x"}}]}),
        json.dumps([{"id": "a", "category": "c", "prompt": "p", "scoring": {"value": "x"}}]),
    ],
)
@pytest.mark.parametrize("name", ["one.yaml", "task.yaml"])
def test_every_form_is_seen_to_be_a_suite(
    name: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also in a file that is called like an artifact task's manifest."""
    (tmp_path / name).write_text(content)
    for path in (tmp_path, tmp_path / name):
        assert (0, "checked: 0 tasks, 1 suites, 0 sets, 0 faults, 0 warnings\n") == check(capsys, path)


def test_an_artifact_task_is_no_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its manifest is a mapping without tasks."""
    folder = make_task(tmp_path)
    for path in (folder, folder / "task.yaml"):
        assert (0, "checked: 1 tasks, 0 sets, 0 faults, 0 warnings\n") == check(capsys, path)


def test_other_yaml_does_not_hide_what_lies_below(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A project has files of other tools at its top."""
    make_task(tmp_path)
    write(tmp_path, mkdocs_yaml="site: x\n", suites__one_yaml=SOUND)
    (tmp_path / ".pre-commit-hooks.yaml").write_text("- id: lint\n")
    assert (0, "checked: 1 tasks, 1 suites, 0 sets, 0 faults, 0 warnings\n") == check(capsys, tmp_path)


@pytest.mark.parametrize("files", [{}, {"mkdocs_yaml": "site: x\n"}, {"one_yml": SOUND}, {"notes_md": SOUND}])
def test_a_folder_without_a_task_is_misuse(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """2, and what was looked for."""
    code, said = check(capsys, write(tmp_path, **files))
    assert 2 == code
    assert "No matching tasks" in said and "no suite (*.yaml)" in said


@pytest.mark.parametrize(
    ("files", "place", "said"),
    [
        ({"two_yml": SOUND}, "two.yml", "is not read, expected *.yaml"),
        ({"more__two_yaml": SOUND}, "more", "holds *.yaml files that are not read"),
        ({"two_yaml": "just text\n"}, "two.yaml: line 1", "is 'just text', expected a list of tasks: it is skipped"),
        ({"two_yaml": "# nothing yet\n"}, "two.yaml", "holds no task"),
        ({"two_yaml": "tasks: []\n"}, "two.yaml: line 1", "holds no task"),
        ({"oracle__one_yml": "a: x\n"}, "oracle/one.yml", "is not read, expected *.yaml"),
    ],
)
def test_what_is_skipped_is_told(
    files: dict[str, str], place: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a warning, which fails nothing."""
    code, printed = check(capsys, write(tmp_path, one_yaml=SOUND, **files))
    assert 0 == code
    assert printed.startswith(f"{tmp_path / place}: warning: {said}")
    assert "0 faults, 1 warnings" in printed


def test_what_lies_beside_tasks_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Repositories, pictures, reference answers, and folders with YAML of another kind."""
    files = {
        "fixtures__x_yaml": SOUND,
        "images__x_yaml": SOUND,
        "oracle__one_yaml": "a: x\n",
        "ci__build_yaml": "on: x\n",
    }
    assert 0 == check(capsys, write(tmp_path, one_yaml=SOUND, **files))[0]
    assert "0 faults, 0 warnings" in check(capsys, tmp_path)[1]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("one", "a: x\ngone: y\n", "one.yaml: gone: answers no task of one.yaml"),
        ("one", "a: 5\n", "one.yaml: a: is 5, expected a text, or a list of texts"),
        ("one", "a: x\na: y\n", "one.yaml: line 2: duplicate key 'a'"),
        ("one", "a: [\n", "expected valid YAML"),
        ("onee", "a: x\n", "onee.yaml: answers the tasks of onee.yaml, and"),
    ],
)
def test_a_reference_must_answer_a_task(
    name: str, content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the file's name and the task's id."""
    code, printed = check(capsys, write(tmp_path, one_yaml=SOUND, **{f"oracle__{name}_yaml": content}))
    assert 1 == code
    assert said in printed and "1 faults" in printed


def test_references_to_faulty_tasks_and_to_rows_are_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one is wrong already, and the rows of a data set are not known before a run."""
    content = FAULTY + DATASET % "{{ q }}"
    printed = check(capsys, write(tmp_path, one_yaml=content, oracle__one_yaml="a: x\nd_0123456789ab: y\n"))[1]
    assert "oracle" not in printed and "1 faults" in printed


def test_a_template_that_is_none_is_a_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The data set itself is never loaded."""
    assert 0 == check(capsys, write(tmp_path, one_yaml=DATASET % "Say {{ word }}."))[0]
    code, printed = check(capsys, write(tmp_path, one_yaml=DATASET % "Say {{ word."))
    assert 1 == code
    assert "line 1: d: template: is no valid template: line 1 of it" in printed


def test_ids_differ_over_the_files_of_a_folder_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two suites may each have their own a."""
    write(tmp_path, x__one_yaml=SOUND, y__one_yaml=SOUND)
    assert 0 == check(capsys, tmp_path / "x", tmp_path / "y")[0]
    code, printed = check(capsys, write(tmp_path / "x", two_yaml=SOUND))
    assert 1 == code
    assert f"two.yaml: line 1: id: 'a' stands twice, first in {tmp_path / 'x/one.yaml'}, line 1" in printed


def test_a_new_suite_has_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And two tasks that load, each with a reference answer."""
    monkeypatch.chdir(tmp_path)
    assert 0 == main(["new", "suite", "words"])
    assert "0 faults, 0 warnings" in check(capsys, "problems/suites")[1]
    assert ["words_sum", "words_json"] == list(load_all(tmp_path / "problems/suites").tasks)


def test_every_key_of_a_task_and_of_its_scoring_is_documented() -> None:
    """docs/add_a_suite_task.md names all that the schemas know."""
    documented = page("docs/add_a_suite_task.md")
    keys = set(schemas.schema("suite_task")["properties"])
    keys |= set(schemas.schema("suite_task")["properties"]["dataset"]["properties"])
    for kind, table in schemas.schema("suite_scoring")["$defs"].items():
        keys |= {kind, *table["properties"]}
    assert [] == [key for key in sorted(keys - {"type"}) if f"`{key}`" not in documented]
