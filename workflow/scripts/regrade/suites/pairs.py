"""Two files of records against each other: only what both tried, task by task."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from regrade.statistics import mcnemar, mean, mean_interval
from regrade.suites.headline import counted

Row = dict[str, Any]
Key = tuple[str, str, str]
"""What makes two records one pair: the arm, the task, and what it asked and how that was scored."""


@dataclass(frozen=True)
class Flip:
    """A task that one side passed and the other did not, under an arm."""

    arm: str
    task: str
    before: str
    after: str


@dataclass
class Comparison:
    """One arm's pairs. Scores and rates are means over the shared tasks, of the first and of the second file."""

    arm: str
    shared: int
    scores: tuple[float | None, float | None]
    rates: tuple[float, float]
    delta: float | None
    interval: tuple[float, float] | None
    """Of the mean difference in score, 95 %; None below two tasks."""

    only_first: int
    only_second: int
    p_value: float
    """Of McNemar's exact test on the tasks that just one side passed."""

    cost_usd: tuple[float | None, float | None]
    wall_s: tuple[float | None, float | None]
    flips: list[Flip] = field(default_factory=list)

    @property
    def regressions(self) -> list[Flip]:
        """Tasks that only the first file passed."""
        return [flip for flip in self.flips if flip.before == "passed"]


@dataclass
class Pairs:
    """All arms, and the (arm, task) pairs that only one file has, or that were asked or scored otherwise there."""

    arms: list[Comparison]
    only_first: list[tuple[str, str]]
    only_second: list[tuple[str, str]]
    changed: list[tuple[str, str]]


def pair(first: Iterable[Row], second: Iterable[Row]) -> Pairs:
    """Pair two files by arm, task and the task's digest. Where each has one arm, their names do not matter."""
    first, second = list(first), list(second)
    one, other = {row["arm"] for row in first}, {row["arm"] for row in second}
    renamed = len(one) == len(other) == 1 and one != other
    name = f"{next(iter(one))} -> {next(iter(other))}" if renamed else ""
    left, right = _by_key(first, name), _by_key(second, name)
    shared = [key for key in left if key in right]
    lost = {key[:2] for key in left if key not in right}
    gained = {key[:2] for key in right if key not in left}
    changed = lost & gained
    arms = list(dict.fromkeys(key[0] for key in shared))
    return Pairs(
        [_compare(arm, [(left[key], right[key]) for key in shared if key[0] == arm]) for arm in arms],
        sorted(lost - changed),
        sorted(gained - changed),
        sorted(changed),
    )


def _by_key(rows: list[Row], name: str) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault((name or row["arm"], row["task"], _asked(row)), []).append(row)
    return found


def _asked(row: Row) -> str:
    """What a task asked and how that was scored: its version and its digests."""
    made_of = row.get("digests") or {}
    version = (row.get("suite") or {}).get("version")
    return f"{version} {made_of.get('task')} {made_of.get('grader')}"


Pair = tuple[list[Row], list[Row]]


def _compare(arm: str, pairs: list[Pair]) -> Comparison:
    tried = [pair for pair in pairs if all(_score(side) is not None for side in pair)]
    scores = [[_score(side) or 0.0 for side in pair] for pair in tried]
    passed = [[_rate(side) for side in pair] for pair in tried]
    differences = [after - before for before, after in scores]
    only_first = sum(before >= 0.5 > after for before, after in passed)
    only_second = sum(after >= 0.5 > before for before, after in passed)
    return Comparison(
        arm=arm,
        shared=len(tried),
        scores=(mean([before for before, _ in scores]), mean([after for _, after in scores])),
        rates=(mean([before for before, _ in passed]) or 0.0, mean([after for _, after in passed]) or 0.0),
        delta=mean(differences),
        interval=mean_interval(differences),
        only_first=only_first,
        only_second=only_second,
        p_value=mcnemar(only_first, only_second),
        cost_usd=(_sum(tried, 0, lambda row: row.get("cost_usd")), _sum(tried, 1, lambda row: row.get("cost_usd"))),
        wall_s=(_sum(tried, 0, _wall), _sum(tried, 1, _wall)),
        flips=[flip for pair in tried if (flip := _flip(arm, pair))],
    )


def _score(rows: list[Row]) -> float | None:
    """A task's mean score over its repetitions, None where it was not tried."""
    scores = [score for row in rows if (score := counted(row)) is not None]
    return mean(scores)


def _rate(rows: list[Row]) -> float:
    return mean([float(row["status"] == "passed") for row in rows]) or 0.0


def _flip(arm: str, pair: Pair) -> Flip | None:
    before, after = (_rate(side) >= 0.5 for side in pair)
    return Flip(arm, pair[0][0]["task"], _said(pair[0]), _said(pair[1])) if before != after else None


def _said(rows: list[Row]) -> str:
    """How most of a task's trials ended: passed, or why the first of the others did not."""
    if _rate(rows) >= 0.5:
        return "passed"
    return next(str(row.get("reason") or row["status"]) for row in rows if row["status"] != "passed")


def _wall(row: Row) -> float | None:
    wall: float | None = (row.get("timing") or {}).get("wall_s")
    return wall


def _sum(pairs: list[Pair], side: int, value: Any) -> float | None:
    found = [value(row) for pair in pairs for row in pair[side]]
    return None if None in found or not found else sum(found)
