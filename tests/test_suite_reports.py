"""What is read off the records of suites: headline, composite, threshold, pairs."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regrade import statistics
from regrade.cli import main
from regrade.formats.suite import SuiteTask
from regrade.suites.composite import composite
from regrade.suites.headline import mean_score
from regrade.suites.pairs import pair

VECTORS = Path(__file__).parent / "vectors" / "suite"


def vectors(kind: str) -> list[Any]:
    lines = (VECTORS / f"{kind}.jsonl").read_text().splitlines()
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


def suite_task(**fields: Any) -> SuiteTask:
    return SuiteTask(fields.get("id", "t"), "stem", {"scoring": {}, **fields})


def row(task: str, score: float | None = 1.0, **more: Any) -> dict[str, Any]:
    """A record, as far as these figures read it."""
    status = "error" if score is None else "passed" if score >= 0.8 else "failed"
    about = {"headline": True, "tier": "leaderboard", "scored": {}}
    return {
        "task": task, "category": "math", "arm": "a", "model": "m", "harness": "direct", "status": status,
        "reason": None, "score": score, "repetition": 1, "suite": about, "digests": {"task": task}, "cost_usd": 0.5,
        "timing": {"wall_s": 1.0}, **more,
    }  # fmt: skip


@pytest.mark.parametrize("case", vectors("tier"))
def test_tiers_decide_what_is_headline(case: dict[str, Any]) -> None:
    """smoke and diagnostic are outside, as is a high contamination risk, however they are written."""
    task = suite_task(**case["task"])
    assert case["expected"] == {"tier": task.tier, "headline": task.is_headline}


@pytest.mark.parametrize("case", vectors("composite"))
def test_the_composite_weighs_categories_and_needs_every_task(case: dict[str, Any]) -> None:
    """It is given only where each intended task has a score."""
    rows = [
        row(result["task"]["id"], result["score"], category=result["task"]["category"]) for result in case["results"]
    ]
    found = composite(rows, case["expected_task_ids"] or ())
    expected = case["expected"]
    value = None if found.value is None else round(found.value, 6)
    assert (expected["composite"], expected["coverage"]) == (value, [found.done, found.intended])
    assert expected["headline_mean"] == mean_score(rows)


def test_a_task_without_a_score_leaves_no_composite() -> None:
    """An error is no zero, and no reason to leave a task out."""
    found = composite([row("a"), row("b", None)])
    assert (None, 1, 2) == tuple(found)


@pytest.mark.parametrize("case", [case for case in vectors("compare") if not case.values[0].get("questionable")])
def test_only_shared_tasks_are_compared(case: dict[str, Any]) -> None:
    """Same task, same question; whatever just one side has is listed and changes no mean."""
    sides = []
    for name in ("baseline", "candidate"):
        about = [(result, f"{result.get('task_hash')} {result.get('task_version')}") for result in case[name]]
        sides.append([
            row(result["task_id"], result["score"], arm=result["model_id"], digests={"task": digest})
            for result, digest in about
        ])  # fmt: skip
    found = pair(*sides)
    if case["id"] == "compare-006":
        # Each side has one arm, so these are what is compared, whatever their names.
        assert ["m -> n"] == [arm.arm for arm in found.arms]
        return
    expected = case["expected"]
    assert expected["shared"] == sum(arm.shared for arm in found.arms)
    assert expected["baseline_only"] == len(found.only_first) + len(found.changed)
    assert expected["candidate_only"] == len(found.only_second) + len(found.changed)
    assert [delta[2] for delta in expected["deltas"]] == [arm.delta for arm in found.arms]


def test_a_difference_is_held_against_chance_pair_by_pair() -> None:
    """60 tasks, 40 right in both, 8 only in the first, 1 only in the second: p = 0.039."""
    before = [row(f"t{n}", float(n < 48)) for n in range(60)]
    after = [row(f"t{n}", float(n < 40 or n == 48)) for n in range(60)]
    (found,) = pair(before, after).arms
    assert (60, 8, 1) == (found.shared, found.only_first, found.only_second)
    assert 0.0390625 == found.p_value
    assert -7 / 60 == pytest.approx(found.delta)
    assert 8 == len(found.regressions)


def test_repetitions_of_a_task_are_one_pair() -> None:
    """Their mean counts once."""
    before = [row("a", score, repetition=n) for n, score in enumerate([1.0, 1.0, 0.0])]
    after = [row("a", 0.0, repetition=n) for n in range(3)]
    (found,) = pair(before, after).arms
    assert (1, pytest.approx(-2 / 3), None) == (found.shared, found.delta, found.interval)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([1.0, 2.0, 3.0, 4.0], 0.5, 2.5), ([1.0, 2.0, 3.0], 0.95, 2.9), ([5.0], 0.95, 5.0), ([], 0.5, None)],
)
def test_quantiles_lie_between_neighbours(values: list[float], share: float, expected: float | None) -> None:
    """By linear interpolation."""
    found = statistics.quantile(values, share)
    assert expected == (None if found is None else round(found, 9))


def test_the_interval_of_a_mean_takes_tasks_as_independent() -> None:
    """Two tasks, one always right and one never: a standard error of 0.5."""
    low, high = statistics.mean_interval([1.0, 0.0]) or (math.nan, math.nan)
    assert (0.5 - 1.959964 * 0.5, 0.5 + 1.959964 * 0.5) == (pytest.approx(low), pytest.approx(high))
    assert statistics.mean_interval([1.0]) is None


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., str]:
    def write(name: str, *rows: dict[str, Any]) -> str:
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return str(path)

    return write


OUTSIDE = {"suite": {"headline": False, "tier": "smoke", "scored": {}}}


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([row("a"), row("b", 0.6)], 0),
        ([row("a"), row("b", 0.5)], 1),
        ([row("a"), row("b", 0.0, **OUTSIDE)], 0),
        ([row("a", 1.0, **OUTSIDE), row("b", 0.0)], 1),
        ([row("a", 0.9, **OUTSIDE)], 0),
        ([row("a"), row("b", None)], 1),
        ([row("a"), row("b", None, status="not_run")], 0),
        ([row("b", None, status="not_run")], 1),
        ([row("a"), row("a", 0.0, arm="nop", harness="nop")], 0),
        ([row("a", 0.0, arm="nop", harness="nop")], 1),
    ],
)
def test_a_threshold_takes_the_headline_trials_of_models(
    written: Callable[..., str], rows: list[dict[str, Any]], code: int
) -> None:
    """Errors are zeros, what was not run is left out, oracle and nop count only where nobody else is."""
    assert code == main(["threshold", written("records.jsonl", *rows), "--at-least", "0.8"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--at-least", "0.8", "--arm", "b"], "expected one of a"),
        (["--at-least", "0.8"], ""),
    ],
)
def test_a_threshold_names_what_is_wrong(
    written: Callable[..., str], capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """An arm that is not there is misuse; the verdict says how many trials it stands on."""
    code = main(["threshold", written("records.jsonl", row("a")), *words])
    out = capsys.readouterr()
    assert (2, True) == (code, said in out.err) if said else (0, True) == (code, "1.0000 of 1 trials (a)" in out.out)


def test_compare_lists_flips_and_can_fail(written: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1 for a task that only the first passed, if that is asked for."""
    first, second = written("one.jsonl", row("a"), row("b", 0.0)), written("two.jsonl", row("a", 0.0), row("b"))
    assert 0 == main(["compare", first, second])
    page = capsys.readouterr().out
    assert "| a | a | passed | failed |" in page
    assert "| b | a | failed | passed |" in page
    assert 1 == main(["compare", first, second, "--fail-on-regression"])
    assert 0 == main(["compare", first, first, "--fail-on-regression"])
    capsys.readouterr()
    assert 0 == main(["compare", first, second, "--json"])
    assert ["a", "b"] == [flip["task"] for flip in json.loads(capsys.readouterr().out)["arms"][0]["flips"]]
    assert 2 == main(["compare", first, str(Path(first).with_name("missing.jsonl"))])
