"""What all stages have in common: what their digests cover, and how they end."""

import ast
import re

import pytest

from regrade import digests, launch, schemas
from regrade.errors import RegradeError, ending_in_one_line
from regrade.plan.artifact import GRADING_CODE
from regrade.plan.benchpack import SCORING_CODE, VERIFYING_CODE
from regrade.plan.plan import RECORDING_CODE
from regrade.plan.suite_tasks import SCORING_CODE as SUITE_SCORING_CODE

PLUMBING = {
    *(
        "__init__",
        "config",
        "digests",
        "errors",
        "files",
        "layout",
        "models/types",
        "plan/__init__",
        "plan/suite_tasks",
    ),
    *("sandbox/__init__", "store", "workspace", "graders/__init__", "packs/__init__", "formats/benchpack/places"),
    *("spending", "specification"),
}
"""What carries values from one place to the next and decides nothing; a package's face counts by what it shows."""

CODE = {
    "grade.py": GRADING_CODE,
    "verdicts.py": GRADING_CODE,
    "score.py": SCORING_CODE,
    "scorers/benchpack/json_schema.py": SCORING_CODE,
    "verify.py": VERIFYING_CODE,
    "score_answers.py": SUITE_SCORING_CODE,
    "score_loop.py": SUITE_SCORING_CODE,
    "scorers/suite/assess.py": SUITE_SCORING_CODE,
    "scorers/suite/repo_patch.py": SUITE_SCORING_CODE,
    "records.py": RECORDING_CODE,
    "summary.py": RECORDING_CODE,
    "packs/pack_summary.py": RECORDING_CODE,
    "packs/about.py": RECORDING_CODE,
}


def imported(module: str) -> set[str]:
    """The modules of the library that one imports itself, without `.py`."""
    found = set()
    for node in ast.walk(ast.parse((digests.PACKAGE / module).read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "regrade":
            place = "/".join(node.module.split(".")[1:])
            found |= {f"{place}/{alias.name}".strip("/") for alias in node.names} | {place}
    return {name for name in found if (digests.PACKAGE / f"{name}.py").is_file()}


@pytest.mark.parametrize("module", CODE)
def test_whatever_decides_a_result_is_in_its_digest(module: str) -> None:
    """An edit of a module that a stage imports runs the stage again, unless it is one that decides nothing."""
    covered = {part.removesuffix(".py") for part in CODE[module]}
    assert set() == {name for name in imported(module) - PLUMBING if not covered & {name, *_folders(name)}}


def _folders(name: str) -> set[str]:
    """Every folder above a module: `a/b/c` stands in `a/b` and in `a`."""
    parts = name.split("/")
    return {"/".join(parts[:depth]) for depth in range(1, len(parts))}


def test_the_launcher_knows_the_jobs_of_every_rule() -> None:
    """A stage that it did not know would outlive a killed run, as a second writer of its files."""
    rules = schemas.FOLDER.with_name("rules").glob("*.smk")
    called = {name for path in rules for name in re.findall(r"-m (regrade\.[\w.]+)", path.read_text())}
    assert called == launch.STAGES


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (RegradeError("config.yaml: arms: expected one"), "config.yaml: arms: expected one"),
        (
            OSError(28, "No space left on device", "run.jsonl"),
            "the records cannot be written: [Errno 28] No space left on device: 'run.jsonl'. "
            "Make room or mend the folder, and start again",
        ),
    ],
)
def test_a_stage_that_cannot_end_well_ends_in_one_line(error: Exception, line: str) -> None:
    """Neither a user's mistake nor a full disk shows a traceback."""
    with pytest.raises(SystemExit) as ended, ending_in_one_line("the records"):
        raise error
    assert line == ended.value.code
