"""Files of suite tasks: what is a task, what is a fault, and where it stands."""

import json
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from regrade import digests
from regrade.errors import FaultsError
from regrade.formats.suite import Loaded, load_all, request
from regrade.formats.suite.filter import filter_tasks
from regrade.scorers.suite.assess import assess
from regrade.scorers.suite.scored import Response, Tools

VECTORS = Path(__file__).parent / "vectors" / "suite" / "validation.jsonl"
CASES = [json.loads(line) for line in VECTORS.read_text().splitlines()]
STILL_ACCEPTED = {"validation-030", "validation-042", "validation-054", "validation-056"}
"""Questionable ones that we accept too: what is odd about them is a warning, or nothing that harms."""


def write(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def loaded(tmp_path: Path, content: str) -> Loaded:
    return load_all(write(tmp_path / "suites", tasks=content))


def task(scoring: str, identifier: str = "a", more: str = "") -> str:
    return f"- id: {identifier}\n  category: c\n  prompt: p\n{more}  scoring: {{{scoring}}}\n"


def only_fault(found: Loaded) -> str:
    (faults,) = found.faults.values()
    (fault,) = faults
    return str(fault)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_files_are_accepted_or_refused_as_decided(case: dict[str, Any], tmp_path: Path) -> None:
    """Sound files as everywhere; what the format's tool lets pass and then stumbles over is a fault with its place."""
    for name, content in case["files"].items():
        path = tmp_path / "suites" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
    found = load_all(tmp_path / "suites")
    expected = case["expected"]
    if case.get("questionable") and case["id"] not in STILL_ACCEPTED:
        assert found.faults
    else:
        assert expected["accepted"] is not bool(found.faults)
    if expected["accepted"] and not case.get("questionable") and expected["n_tasks"]:
        assert expected["ids"] == list(found.tasks)
        if "versions" in expected:
            assert expected["versions"] == [source.metadata.get("version") for source in found.tasks.values()]
    assert all(str(tmp_path) in str(fault) for fault in found.all_faults())


def test_unknown_keys_beside_the_scoring_are_kept_and_those_in_it_are_faults(tmp_path: Path) -> None:
    """Case validation-033 has them beside it."""
    content = next(case["files"]["math.yaml"] for case in CASES if case["id"] == "validation-033")
    source = loaded(tmp_path, content).tasks["a"]
    assert (1, {"x": [1]}) == (source.fields["foo"], source.fields["bar"])
    inside = loaded(tmp_path, content.replace("\n  foo", "\n    foo").replace("\n  bar:\n    x:\n    - 1", ""))
    assert "line 7: a: scoring.foo: unknown key" in only_fault(inside)


@pytest.mark.parametrize("words", ["no", "012", "1:30", "1_000", "2026-01-01", "yes", "0x1f", "on", "1:30:00"])
def test_a_value_that_yaml_changes_is_a_fault(words: str, tmp_path: Path) -> None:
    """With its line, and the hint to quote it."""
    found = only_fault(loaded(tmp_path, f"# a comment\n{task(f'type: exact, value: {words}')}"))
    assert "tasks.yaml: line 5: a: scoring.value" in found
    assert f"quote it ('{words}')" in found


@pytest.mark.parametrize(
    "field", ["max_tokens: 1:30", "max_tokens: 010", "system: no", "few_shot: [{user: no, assistant: a}]"]
)
def test_a_value_that_yaml_changes_is_a_fault_in_every_known_field(field: str, tmp_path: Path) -> None:
    """One fault each: that its type is wrong too is not said beside it."""
    found = only_fault(loaded(tmp_path, task("type: exact, value: x", more=f"  {field}\n")))
    assert f"a: {field.split(':')[0]}" in found and "quote it" in found


def test_yes_and_no_are_true_and_false_where_these_are_meant(tmp_path: Path) -> None:
    """A switch may be written so, and dates may stand where dates are expected."""
    more = "  thinking: no\n  introduced: 2026-01-31\n  extra_body: {echo: yes}\n  my_own: no\n"
    found = loaded(tmp_path, task("type: exact, value: x", more=more)).tasks["a"].fields
    assert (False, "2026-01-31", True, False) == (
        found["thinking"],
        found["introduced"],
        found["extra_body"]["echo"],
        found["my_own"],
    )


@pytest.mark.parametrize(
    ("words", "value"),
    [("1.10", "1.10"), ("42.0", "42.0"), ("42", "42"), ("'007'", "007"), ("1e3", "1e3"), ("true", True)],
)
def test_a_number_stays_as_it_was_written(words: str, value: Any, tmp_path: Path) -> None:
    """Where texts are compared; true and false stand for the words."""
    assert value == loaded(tmp_path, task(f"type: exact, value: {words}")).tasks["a"].scoring["value"]


@pytest.mark.parametrize(
    ("scoring", "key", "value"),
    [
        ("type: multi_contains, values: [1.10, a]", "values", ["1.10", "a"]),
        ("type: multi_contains, groups: [[1.10], [2.50, b]]", "groups", [["1.10"], ["2.50", "b"]]),
        ("type: not_contains, forbidden: [1.0]", "forbidden", ["1.0"]),
        ("type: pass_at_k, k: 1, inner_type: contains, answer: 1.10", "answer", "1.10"),
        ("value: 1.10", "value", "1.10"),
        ("type: numeric, value: 1.10", "value", 1.1),
        ("type: json_schema, expected_values: {a: 1.10}", "expected_values", {"a": 1.1}),
    ],
)
def test_every_list_of_texts_is_as_written_and_numbers_are_numbers(
    scoring: str, key: str, value: Any, tmp_path: Path
) -> None:
    """By what the type compares."""
    assert value == loaded(tmp_path, task(scoring)).tasks["a"].scoring[key]


@pytest.mark.parametrize(
    ("scoring", "said"),
    [
        ("type: nummeric, value: 1", "unknown scoring type 'nummeric'; did you mean 'numeric'"),
        ("type: EXACT, value: x", "unknown scoring type 'EXACT'; did you mean 'exact'"),
        ("type: null, value: x", "unknown scoring type null"),
        ("type: exact, valeu: x, value: y", "scoring.valeu: unknown key; did you mean 'value'"),
        ("type: exact", "has none of value, answer, answer_field"),
        ("type: regex, pattern: '('", "is no valid pattern"),
        ("type: numeric, value: many", "is 'many', expected a finite number"),
        ("type: numeric, value: .nan", "expected a finite number"),
        ("type: word_count, min: 5, max: 2", "expected at most max (2)"),
        ("type: pass_at_k, k: 1, inner_type: bogus", "expected a type that scores one answer"),
        ("type: llm_judge, criteria: 5", "scoring.criteria: is 5, expected a text or a list: quote it"),
        ("type: exact, value: null", "scoring.value: is null, expected a text"),
        ("type: exact, value: .inf", "scoring.value: is .inf, expected a finite number (quote it"),
        ("type: numeric, value: 1, tolerance: .nan", "scoring.tolerance: is .nan, expected a finite number"),
        ("type: numeric, value: 1, tolerance: wide", "scoring.tolerance: is 'wide', expected a number"),
        ("type: numeric, value: 1, tolerance: -1", "scoring.tolerance: is -1, expected at least 0"),
        ("type: json_schema, expected_values: {a: [.inf]}", "scoring.expected_values.a.0: is .inf"),
        ("type: json_schema, expected_values: {a: {regex: '('}}", "expected_values.a.regex: '(' is no valid pattern"),
        ("type: workflow_trace, state_contains: {a: [{regex: '['}]}", "state_contains.a.0.regex: '[' is no valid"),
        ("type: exact, answer_field: x", "names a column, and the task has no dataset"),
        ("type: exact, value: x, pass_threshold: 2", "scoring.pass_threshold: is 2, expected at most 1"),
        (
            "type: repo_patch, repo_fixture: /, test_command: [pytest], hidden_tests: [{path: ../x.py, content: a}]",
            "scoring.hidden_tests.0.path: is '../x.py', expected a path inside the repository",
        ),
        ("type: repo_patch, repo_fixture: /, test_command: [make]", "expected pytest among its words"),
        (
            "type: repo_patch, repo_fixture: gone, test_command: [pytest]",
            "'gone' is no folder, expected",
        ),
        ("type: agent_loop, repo_fixture: gone", "has no test_command"),
    ],
)
def test_a_scoring_table_that_cannot_score_is_a_fault(scoring: str, said: str, tmp_path: Path) -> None:
    """Misspelt types and keys, missing and impossible values."""
    assert said in only_fault(loaded(tmp_path, task(scoring)))


BAD = {
    "unknown type": task("type: bad", "b"),
    "key twice": task("type: exact, value: x, value: y", "b"),
    "key of the task twice": task("type: exact, value: x", "b", "  prompt: q\n"),
    "no date": task("type: exact, value: x", "b", "  introduced: 2026-13-45\n"),
    "too many digits": task(f"type: numeric, value: {'9' * 5000}", "b"),
    "too many digits in sixteens": task(f"type: exact, value: 0x{'f' * 5000}", "b"),
    "binary": task("type: exact, value: x", "b", "  more: !!binary aGVsbG8=\n"),
    "a tag of Python": task("type: exact, value: !!python/name:os.system ''", "b"),
    "a tag on a mapping": task("type: exact, value: x", "b", "  more: !!python/object:os.system {}\n"),
    "too deep": task("type: exact, value: x", "b", f"  more: {'[' * 300}{']' * 300}\n"),
    "an alias of itself": task("type: exact, value: x", "b", "  more: &it [*it]\n"),
    "merged with a text": task("<<: x, type: exact, value: x", "b"),
    "no number, where digests are made": task("type: exact, value: x", "b", "  my_note: [.nan]\n"),
    "a name too long": task("type: repo_patch, test_command: [pytest], repo_fixture: " + "x" * 5000, "b"),
    "no name of a file": task("type: exact, value: x", "b", '  image_path: "a\\0b"\n'),
    "a key of lists": task("type: exact, value: x", "b", "  ? [a]\n  : c\n"),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_one_bad_task_stops_no_other(bad: str, tmp_path: Path) -> None:
    """Whatever is wrong with one, as long as the file is YAML: the others load, and it is named by its id and line."""
    content = task("type: exact, value: x") + bad + task("type: exact, value: y", "c")
    for _ in range(2):
        write(tmp_path / "suites", tasks=content)
        found = load_all(tmp_path / "suites", tmp_path / "cache")
        assert (["a", "c"], ["b"]) == (list(found.tasks), list(found.faults))
        assert all("tasks.yaml: line " in str(fault) and ": b" in str(fault) for fault in found.faults["b"])
    digests.of_value([source.fields for source in found.tasks.values()])


def test_a_task_without_an_id_is_named_by_its_number(tmp_path: Path) -> None:
    """Numbers begin with 0, as in messages of other tools of this format."""
    found = loaded(tmp_path, task("type: exact, value: x") + "- category: c\n- 5\n")
    assert (["a"], ["tasks.yaml#1", "tasks.yaml#2"]) == (list(found.tasks), list(found.faults))
    assert "line 5: tasks[1]: task 1 has no id, prompt, scoring" in str(found.faults["tasks.yaml#1"][0])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("- id: a\n---\n- id: b\n", "line 2: a second document (---) begins here"),
        ("- id: a\n  note: b\x07\n", "line 2: holds the control character 0x07"),
        ("- id: a\n\tcategory: c\n", "line 2: a tab stands where YAML allows only blanks"),
        ("tasks: {a: b}\n", 'line 1: tasks is {"a": "b"}, expected a list of tasks'),
        ("other: [1]\n", "line 1: has no tasks, expected a list of tasks"),
        ("metadata: [1]\ntasks: []\n", "line 1: metadata is [1], expected a mapping"),
        ("metadata: {version: .nan}\ntasks: []\n", "metadata.version is .nan, expected a finite number"),
        ("- [\n", "expected valid YAML"),
        (f"- {'[' * 5000}\n", "line 1"),
    ],
)
def test_a_file_that_is_no_list_of_tasks_is_one_fault(content: str, said: str, tmp_path: Path) -> None:
    """With its line; other files load."""
    found = load_all(write(tmp_path, bad=content, good=task("type: exact, value: x")))
    assert ["a"] == list(found.tasks)
    assert ["bad.yaml"] == list(found.faults)
    assert said in only_fault(found)


def test_what_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    """A folder and a link to nothing that bear a file's name."""
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "link.yaml").symlink_to("nowhere")
    found = load_all(write(tmp_path, good=task("type: exact, value: x")))
    assert (["a"], ["folder.yaml", "link.yaml"]) == (list(found.tasks), list(found.faults))


def test_aliases_cost_no_more_than_they_are_worth(tmp_path: Path) -> None:
    """Ten levels of nine aliases would be three thousand million values."""
    laughs = "".join(f"    - &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 10))
    content = task("type: exact, value: x") + task("type: exact, value: x", "b", f"  more:\n    - &x0 [a]\n{laughs}")
    started = time.process_time()
    found = loaded(tmp_path, content)
    assert ["a"] == list(found.tasks)
    assert "aliases (*name) make too much of this file" in only_fault(found)
    assert time.process_time() - started < 10


def test_merged_mappings_give_what_a_task_leaves_out(tmp_path: Path) -> None:
    """Own keys win, then the first that is merged; a base may itself be merged, and a number stays as written."""
    content = """\
one: &one {category: c, prompt: p, max_tokens: 1}
two: &two {<<: *one, max_tokens: 2, temperature: 0}
tasks:
- {<<: *two, id: a, scoring: &how {type: exact, value: 1.10}}
- {<<: [*one, *two], id: b, prompt: q, scoring: {<<: *how, type: contains}}
"""
    tasks = loaded(tmp_path, content).tasks
    assert (2, "p") == (tasks["a"].fields["max_tokens"], tasks["a"].prompt)
    assert (1, 0, "q") == (tasks["b"].fields["max_tokens"], tasks["b"].fields["temperature"], tasks["b"].prompt)
    assert [{"type": "exact", "value": "1.10"}, {"type": "contains", "value": "1.10"}] == [
        tasks[name].scoring for name in "ab"
    ]


def test_null_is_the_same_as_no_key(tmp_path: Path) -> None:
    """For what a model's entry or a default gives otherwise."""
    names = ("temperature", "max_tokens", "top_p", "pass_threshold", "few_shot", "thinking", "extra_body", "tags")
    found = loaded(tmp_path, task("type: exact, value: x", more="".join(f"  {name}: null\n" for name in names)))
    assert 0.8 == found.tasks["a"].pass_threshold
    assert {} == request.parameters(found.tasks["a"], "openai-chat")
    assert [{"role": "user", "content": "p"}] == request.messages(found.tasks["a"])


def test_a_tolerance_with_a_power_is_a_number(tmp_path: Path) -> None:
    """YAML reads 1e-3 as a text, and who writes it means a number."""
    source = loaded(tmp_path, task("type: numeric, value: 1, tolerance: 1e-3")).tasks["a"]
    passed = [assess(source, [Response(text)], Tools()).passed for text in ("1.0005", "1.005")]
    assert [True, False] == passed


def test_an_id_that_stands_twice_is_nobodys(tmp_path: Path) -> None:
    """Both places are named."""
    found = load_all(write(tmp_path, one=task("type: exact, value: x"), two=task("type: exact, value: x")))
    assert [] == list(found.tasks)
    assert "two.yaml: line 1: id" in only_fault(found) and "one.yaml, line 1" in only_fault(found)


@pytest.mark.parametrize("order", [("type: exact, value: x", "type: bad"), ("type: bad", "type: exact, value: x")])
def test_an_id_is_nobodys_also_where_one_of_the_two_is_faulty(order: tuple[str, str], tmp_path: Path) -> None:
    """Else mending the fault would break the other, or its answers would stand for it."""
    found = load_all(write(tmp_path, one=task(order[0]), two=task(order[1])))
    assert ([], ["a"]) == (list(found.tasks), list(found.faults))
    assert any("stands twice" in str(fault) for fault in found.faults["a"])
    assert any("unknown scoring type 'bad'" in str(fault) for fault in found.faults["a"])


def test_what_is_unknown_is_kept_and_what_is_nearly_known_is_told(tmp_path: Path) -> None:
    """A task may carry fields of its own, such as a note, which is no misspelt tier."""
    found = loaded(tmp_path, task("type: exact, value: x", more="  my_note: 5\n  note: a\n  dificulty: easy\n"))
    assert 5 == found.tasks["a"].fields["my_note"]
    assert ["warning"] == [fault.severity for fault in found.warnings]
    assert "did you mean 'difficulty'" in str(found.warnings[0])


@pytest.mark.parametrize("value", ["0.000004", "-0.01", "'1e-3'", "0.01"])
def test_a_tolerance_that_lets_zero_pass_is_told(value: str, tmp_path: Path) -> None:
    """It is likely a mistake, and is allowed."""
    found = loaded(tmp_path, task(f"type: numeric, value: {value}, tolerance: 0.01"))
    assert ["a"] == list(found.tasks)
    assert "an answer of 0 passes" in str(found.warnings[0])


@pytest.mark.parametrize(
    "scoring", ["value: '1e350', tolerance: 5", "value: 0, tolerance: 1", "value: 5, tolerance: 1"]
)
def test_a_tolerance_that_does_not_is_not(scoring: str, tmp_path: Path) -> None:
    """Also where the number is beyond what floats hold, or 0 is the right answer."""
    assert [] == loaded(tmp_path, task(f"type: numeric, {scoring}")).all_faults()


@pytest.mark.parametrize("place", ["beside", "above", "here"])
def test_a_fixture_is_looked_for_in_three_places(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the task's file, in the folder above the suites, in the current folder; the first that is there."""
    suites, here = tmp_path / "project" / "suites", tmp_path / "here"
    folder = {"beside": suites, "above": suites.parent, "here": here}[place] / "fixtures" / "demo"
    folder.mkdir(parents=True)
    here.mkdir(exist_ok=True)
    monkeypatch.chdir(here)
    scoring = "type: repo_patch, repo_fixture: fixtures/demo, test_command: ['{python}', -m, pytest]"
    assert str(folder) == load_all(write(suites, code=task(scoring))).tasks["a"].fixture


def kept(folder: Path) -> Any:
    return json.loads(zlib.decompress(folder.read_bytes()))


def test_what_parsing_gave_is_kept_until_the_file_changes(tmp_path: Path) -> None:
    """It is believed, so nothing is parsed twice."""
    suites, cache = write(tmp_path / "suites", one=task("type: exact, value: x")), tmp_path / "cache"
    load_all(suites, cache)
    (place,) = cache.iterdir()
    place.write_bytes(zlib.compress(json.dumps(kept(place)).replace('"x"', '"kept"').encode()))
    assert "kept" == load_all(suites, cache).tasks["a"].scoring["value"]
    write(suites, one=task("type: exact, value: z"))
    assert "z" == load_all(suites, cache).tasks["a"].scoring["value"]


@pytest.mark.parametrize(
    "content", [b"", b"torn", zlib.compress(b'{"tasks": ['), zlib.compress(b'{"tasks": []}'), b"\xff"]
)
def test_a_kept_file_that_is_none_is_nothing(content: bytes, tmp_path: Path) -> None:
    """Torn, empty, of another shape: the tasks are parsed again, and kept again."""
    suites, cache = write(tmp_path / "suites", one=task("type: exact, value: x")), tmp_path / "cache"
    load_all(suites, cache)
    (place,) = cache.iterdir()
    place.write_bytes(content)
    assert ["a"] == list(load_all(suites, cache).tasks)
    assert "x" == kept(place)["tasks"][0]["fields"]["scoring"]["value"]


def test_where_nothing_can_be_kept_tasks_load_all_the_same(tmp_path: Path) -> None:
    """The place of the cache may be anything."""
    (tmp_path / "cache").write_text("a file")
    assert ["a"] == list(load_all(write(tmp_path / "s", one=task("type: exact, value: x")), tmp_path / "cache").tasks)


def test_files_of_the_same_bytes_are_told_apart(tmp_path: Path) -> None:
    """A fault names the file that it is in, also when the other's is kept."""
    suites = write(tmp_path / "suites", one="- 5\n", two="- 5\n")
    for _ in range(2):
        assert ["one.yaml#0", "two.yaml#0"] == list(load_all(suites, tmp_path / "cache").faults)


def test_a_filter_takes_what_fits_every_key(tmp_path: Path) -> None:
    """Values that fit nothing are faults with the nearest that does."""
    content = task("type: exact, value: x", more="  tags: [t]\n") + task("type: exact, value: x", "b")
    tasks = load_all(write(tmp_path, one=content)).tasks
    assert ["a"] == list(filter_tasks(tasks, {"category": ["c"], "tags": "t"}))
    assert ["a", "b"] == list(filter_tasks(tasks, {"category": "one"}))
    with pytest.raises(FaultsError, match=r"filter.ids: 'aa' fits no task"):
        filter_tasks(tasks, {"ids": ["aa"]})


def test_ten_thousand_tasks_are_read_from_what_was_kept(tmp_path: Path) -> None:
    """In their order, and the same as the first time."""
    for number in range(10):
        tasks = "".join(task(f"type: exact, value: '{n}'", f"t{number}_{n}") for n in range(1000))
        write(tmp_path / "suites", **{f"part{number}": tasks})
    first, second = (load_all(tmp_path / "suites", tmp_path / "cache") for _ in range(2))
    assert 10_000 == len(first.tasks)
    assert list(first.tasks) == list(second.tasks)
    assert first.tasks["t3_7"].fields == second.tasks["t3_7"].fields
