"""The type pass_at_k, and the estimates behind it."""

import itertools
from fractions import Fraction
from typing import Any

import pytest

from regrade import statistics
from regrade.scorers.suite.pass_at_k import draws
from regrade.scorers.suite.scored import Response, Tools
from suite_structured_support import expected, score, task, vector, vectors, verdict

OURS = {"pass_at_k-019": (0.6667, False), "pass_at_k-027": (None, None), "pass_at_k-032": (None, None)}
"""What we say where the vectors ask for a decision, or yield."""

KNOWN = vectors("pass_at_k", OURS)
EXACT = {"type": "pass_at_k", "inner_type": "exact", "value": "a"}


def scored(case: dict[str, Any]) -> Any:
    """The verdict on a vector's samples."""
    tools = Tools(code_execution="sandboxed" if case.get("allow_code_exec", True) else "off")
    return score(case["scoring"], *case["responses"], tools=tools, **case.get("task", {}))


@pytest.mark.parametrize("identifier", KNOWN)
def test_known_answers(identifier: str) -> None:
    """Every vector that asks for no decision holds."""
    assert expected(KNOWN[identifier]) == verdict(scored(KNOWN[identifier]))


@pytest.mark.parametrize("identifier", OURS)
def test_our_decisions(identifier: str) -> None:
    """A k written as text is that number; an unknown inner type, and code that may not run, give no verdict."""
    assert OURS[identifier] == verdict(scored(vector("pass_at_k", identifier)))


def test_code_that_may_not_run() -> None:
    """Samples of code are not run where the user has not allowed it, and that is no failure."""
    assert ("not_run", "code_not_allowed") == (
        (found := scored(vector("pass_at_k", "pass_at_k-032"))).status,
        found.reason,
    )


@pytest.mark.parametrize("n", range(1, 7))
def test_estimates_are_unbiased(n: int) -> None:
    """pass@k is the share of all choices of k samples that hold one that passes, pass^k of those where all do."""
    for passed, k in itertools.product(range(n + 1), range(1, n + 1)):
        choices = list(itertools.combinations([True] * passed + [False] * (n - passed), k))
        assert float(Fraction(sum(map(any, choices)), len(choices))) == statistics.pass_at_k(n, passed, k)
        assert float(Fraction(sum(map(all, choices)), len(choices))) == statistics.pass_hat_k(n, passed, k)


def test_estimates_at_their_ends() -> None:
    """Fewer samples than k say nothing; one of 200 that passes is 0.005; pass^2 of three of four is a half."""
    assert statistics.pass_at_k(1, 1, 10) is None
    assert statistics.pass_hat_k(3, 3, 4) is None
    assert 0.005 == pytest.approx(statistics.pass_at_k(200, 1, 1))
    assert 0.5 == statistics.pass_hat_k(4, 3, 2)
    assert 1.0 == statistics.pass_at_k(5000, 5000, 2500)
    assert 0.5 == pytest.approx(statistics.pass_at_k(5000, 1, 2500))


def test_record_of_samples() -> None:
    """The record has n, c, k, pass^k and the best sample; the detail says what the first failing one lacks."""
    found = score({**EXACT, "k": 2}, "b", "a", "a", "c")
    about = {"samples": 4, "passed_samples": 2, "k": 2, "pass_hat_k": pytest.approx(1 / 6), "best_sample": 1}
    assert about == found.about
    assert "2 of 4 samples pass, pass@2 is 0.8333; the first that does not: is 'b', expected 'a'" == found.detail


def test_k_left_out() -> None:
    """Without k the estimate takes as many as there are: one that passes is enough."""
    assert (1.0, True) == verdict(score(EXACT, "b", "b", "a"))
    assert (0.0, False) == verdict(score(EXACT, "b", "b", "c"))


FAILED = Response("", error="503 from the server")


def test_failed_calls_are_no_samples() -> None:
    """What a server did not answer counts neither for nor against; too few answers are the provider's error."""
    found = score({**EXACT, "k": 2}, FAILED, "a", "b", "b")
    assert (0.6667, 3) == (found.score, found.about["samples"])
    found = score({**EXACT, "k": 2}, "a", FAILED)
    assert (None, "error", "provider_error") == (found.score, found.status, found.reason)
    assert "1 samples for k = 2 are too few: 503 from the server" == found.detail
    assert "provider_error" == score(EXACT, FAILED, FAILED).reason
    assert "provider_error" == score(EXACT, "a", FAILED).reason


def test_too_few_samples_given() -> None:
    """With fewer samples than k, though no call failed, there is no estimate to give."""
    found = score({**EXACT, "k": 3}, "a", "a")
    assert (None, "error") == (found.score, found.status)


@pytest.mark.parametrize("k", [0, -1, 1.5, "two", True, [2], float("nan")])
def test_k_that_is_none(k: Any) -> None:
    """A k that is no whole number from 1 is the task's fault."""
    assert "grader_error" == score({**EXACT, "k": k}, "a", "a").reason


def test_inner_types() -> None:
    """A sample passes by the task's own threshold; an estimate of estimates is refused."""
    trace = {"type": "pass_at_k", "inner_type": "workflow_trace", "required_tools": ["a", "b"], "k": 1}
    half = '{"tool_calls": ["a"]}'
    assert 0.0 == score(trace, half, half).score
    assert 1.0 == score(trace, half, half, pass_threshold=0.5).score
    assert "grader_error" == score({**EXACT, "inner_type": "pass_at_k"}, "a").reason
    assert "no_judge" == score({"type": "pass_at_k", "inner_type": "llm_judge"}, "a", "b").reason


def test_all_samples_empty() -> None:
    """Samples without a word are wrong answers, and the reason says so."""
    assert (0.0, "no_response") == ((found := score(EXACT, "", "")).score, found.reason)


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        ({}, 3),
        ({"k": 5}, 5),
        ({"k": 2}, 3),
        ({"k": 2, "n": 10}, 10),
        ({"k": 4, "n": 2}, 4),
        ({"samples": 7}, 7),
        ({"n": 1}, 1),
        ({"n": 6, "samples": 7}, 6),
        ({"n": "4"}, 4),
        ({"n": None, "samples": 0, "k": "x"}, 3),
    ],
)
def test_draws(table: dict[str, Any], wanted: int) -> None:
    """n, else samples, else the usual number of repetitions; never fewer than k."""
    assert wanted == draws(task({"type": "pass_at_k", **table}), 3)
