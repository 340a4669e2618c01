"""The twelve tasks of seed-v1: what each of them must keep, shown on the tasks themselves."""

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from regrade import sets
from regrade.formats import artifact
from regrade.gates.bench import bench
from regrade.inputs import seed_of

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = artifact.discover(ROOT / "problems" / "artifact")
IDS = [name for _, name in sets.read_set(ROOT / "sets" / "seed-v1.txt", {"artifact": list(FOLDERS)})]
TASKS = {name: artifact.load(FOLDERS[name]) for name in IDS}
WITH_GENERATOR = [name for name in IDS if TASKS[name].generator]
WITH_SOLVER = [name for name in IDS if (TASKS[name].grader.parent / "solve.py").is_file()]
OF_DATA = [name for name in IDS if TASKS[name].reference.suffix != ".py"]

GARBAGE = {
    "not UTF-8": b"\xff\xfe\x00 caf\xe9\n",
    "a zero byte": b"\0\n",
    "a number of 5,000 digits": b"9" * 5000 + b"\n",
    "the same in an object": b'{"total_cost": ' + b"9" * 5000 + b"}\n",
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "nothing": b"",
    "blanks": b" \n\t\n",
    "null": b"null\n",
    "a number": b"1\n",
    "a repeated key": b'{"step": 1, "step": 1}\n',
    "half a character": b'{"module": "\\ud800", "lines": 1}\n',
    "NaN": b'[NaN, Infinity, {"price": -Infinity}]\n',
}
NUMBER = re.compile(rb"(?<![\w.\"-])-?\d+(?:\.\d+)?(?![\w.\"-])")
IN_PLACE_OF_NUMBERS = (b"null", b"true", b"NaN", b"1e999", b'"1"', b"[1]", b"9" * 5000)


@pytest.fixture(scope="module", params=IDS)
def made(request):
    """A task of the set on the bench, its inputs made."""
    with bench(TASKS[request.param]) as on_bench:
        yield on_bench


def wrong_artifact(name):
    """The wrong but well-formed artifact that lies beside the tests for a task."""
    (path,) = (ROOT / "tests" / "seed_wrong").glob(f"{name}.*")
    return path.read_bytes()


def run_verifier(made, tmp_path, artifact_bytes):
    """Run verify.py as an agent would, in a copy of the workspace; return its exit code."""
    subprocess.run(["cp", "-r", f"{made.pristine}/.", str(tmp_path)], check=True)
    target = tmp_path / made.task.output_artifact
    target.parent.mkdir(parents=True)
    target.write_bytes(artifact_bytes)
    script = tmp_path / made.task.verifier.relative_to(made.task.workspace)
    return subprocess.run([sys.executable, str(script), str(tmp_path)], cwd=tmp_path, capture_output=True).returncode


def files_below(folder):
    """Return the bytes of every file below a folder, by relative path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_set_has_the_promised_mix():
    """Two tasks per category, four of each difficulty, at least six with a generator, p95 among them."""
    assert 12 == len(IDS)
    assert {2} == set(Counter(task.category for task in TASKS.values()).values())
    assert {"easy": 4, "medium": 4, "hard": 4} == Counter(task.difficulty for task in TASKS.values())
    assert len(WITH_GENERATOR) >= 6
    assert "data_processing__p95_latency_easy" in IDS


@pytest.mark.parametrize("name", IDS)
def test_task_is_complete(name):
    """Each task has a prompt short enough for the default model, a verifier and negative cases, and no budget."""
    task = TASKS[name]
    assert len(task.prompt.read_text(encoding="utf-8")) <= 600
    assert task.verifier is not None
    assert (task.grader.parent / "negative_cases.py").is_file()
    assert (0, 0) == (task.max_code_runs, task.max_wall_seconds)


@pytest.mark.parametrize("name", WITH_GENERATOR)
def test_generator_writes_the_same_bytes_under_any_hash_seed(name, tmp_path):
    """A generator depends on its seed alone."""
    task, outcomes = TASKS[name], []
    for hash_seed in ("1", "2"):
        folder = tmp_path / hash_seed
        folder.mkdir()
        arguments = ["--seed", str(seed_of(name)), "--output-dir", str(folder), "--instance-id", name]
        environment = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": hash_seed}
        subprocess.run([sys.executable, task.generator, *arguments], cwd=folder, env=environment, check=True)
        outcomes.append(files_below(folder))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0]


def test_reference_is_not_among_the_inputs(made):
    """No file of the workspace has the bytes of the reference."""
    answer = hashlib.sha256(made.task.reference.read_bytes()).digest()
    assert answer not in {hashlib.sha256(content).digest() for content in files_below(made.pristine).values()}


@pytest.mark.parametrize("made", WITH_SOLVER, indirect=True, scope="module")
def test_reference_is_what_the_inputs_lead_to(made):
    """Where a task keeps the program that made its reference, it still makes the same from the inputs."""
    solver = made.task.grader.parent / "solve.py"
    solved = subprocess.run([sys.executable, str(solver), str(made.pristine)], capture_output=True, check=True)
    assert made.task.reference.read_bytes() == solved.stdout


def test_verifier_passes_the_reference(made, tmp_path):
    """verify.py has nothing against the right artifact."""
    assert 0 == run_verifier(made, tmp_path, made.task.reference.read_bytes())


def test_verifier_passes_a_wrong_artifact_of_the_right_form(made, tmp_path):
    """verify.py does not tell right from wrong."""
    assert 0 == run_verifier(made, tmp_path, wrong_artifact(made.task.id))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[" * 100_000])
def test_verifier_names_a_fault_of_form(made, tmp_path, content):
    """verify.py ends with 1, and with a sentence, for what is no artifact at all."""
    assert 1 == run_verifier(made, tmp_path, content)


def test_grader_passes_the_reference(made):
    """The reference is passed with the full score."""
    verdict = made.grade(made.task.reference.read_bytes())
    assert ("passed", 1.0) == (verdict.status, verdict.score)


def test_grader_rejects_the_wrong_artifact(made):
    """An artifact that only looks right is a wrong answer."""
    verdict = made.grade(wrong_artifact(made.task.id))
    assert ("failed", "wrong_answer") == (verdict.status, verdict.reason)
    assert verdict.score < 1.0


def test_grader_fails_garbage_and_never_raises(made):
    """Whatever an agent writes is a failed trial, never an error of the grader."""
    outcomes = {name: made.grade(content) for name, content in GARBAGE.items()}
    assert {} == {name: verdict for name, verdict in outcomes.items() if verdict.status != "failed"}


def test_grader_fails_a_folder_for_an_artifact(made, tmp_path):
    """A folder at the artifact's place is a failed trial."""
    (tmp_path / made.task.output_artifact).mkdir(parents=True)
    assert "failed" == made.grade_folder(tmp_path).status


@pytest.mark.parametrize("made", OF_DATA, indirect=True, scope="module")
def test_grader_fails_other_things_where_numbers_belong(made):
    """null, true, NaN, infinities, texts, lists and giants in the place of every number fail, without an error."""
    text, outcomes = made.task.reference.read_bytes(), {}
    for thing in IN_PLACE_OF_NUMBERS:
        changed = NUMBER.sub(thing, text)
        assert changed != text
        outcomes[thing[:9]] = made.grade(changed)
    assert {} == {thing: verdict for thing, verdict in outcomes.items() if verdict.status != "failed"}
