"""The page that shows two files of records side by side."""

from collections.abc import Iterable
from typing import Any

from regrade.packs import markdown
from regrade.suites.pairs import Comparison, Pairs

_MOST = 20


def page(pairs: Pairs, names: tuple[str, str]) -> str:
    """The whole comparison as Markdown text."""
    parts = [
        f"# {markdown.cell(names[0])} against {markdown.cell(names[1])}",
        "Only tasks that both tried and that were asked and scored the same way are compared; an error counts as 0. "
        "p is McNemar's exact test on the tasks that just one side passed, the interval that of the mean difference in "
        "score (95 %).",
        markdown.table(HEADING, [_line(arm) for arm in pairs.arms]) if pairs.arms else "Nothing is in both.",
        *_flips(pairs.arms),
        *_listed("Only in the first", pairs.only_first),
        *_listed("Only in the second", pairs.only_second),
        *_listed("Asked or scored otherwise in the second", pairs.changed),
    ]
    return "\n\n".join(parts) + "\n"


HEADING = (
    *("arm", "tasks", "pass rate", "", "mean score", "", "difference", "95 % interval", "only first", "only second"),
    *("p", "cost USD", "", "wall s", ""),
)


def _line(arm: Comparison) -> list[object]:
    number = markdown.number
    return [
        *(markdown.cell(arm.arm), arm.shared, *(f"{rate:.1%}" for rate in arm.rates)),
        *(number(score, 3) for score in arm.scores),
        markdown.NOTHING if arm.delta is None else f"{arm.delta:+.3f}",
        f"{arm.interval[0]:+.3f} to {arm.interval[1]:+.3f}" if arm.interval else markdown.NOTHING,
        *(arm.only_first, arm.only_second, number(arm.p_value, 3)),
        *(number(cost, 4) for cost in arm.cost_usd),
        *(number(wall, 1) for wall in arm.wall_s),
    ]


def _flips(arms: Iterable[Comparison]) -> list[str]:
    flips = [flip for arm in arms for flip in arm.flips]
    if not flips:
        return ["## Flips", "None."]
    table = [[markdown.cell(value) for value in (flip.task, flip.arm, flip.before, flip.after)] for flip in flips]
    return ["## Flips", markdown.table(["task", "arm", "first", "second"], table)]


def _listed(title: str, names: list[tuple[str, str]]) -> list[str]:
    if not names:
        return []
    shown = ", ".join(f"{markdown.code(task)} ({markdown.cell(arm)})" for arm, task in names[:_MOST])
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return [f"## {title}: {len(names)}", f"{shown}{more}"]


def as_value(pairs: Pairs) -> dict[str, Any]:
    """The same as JSON."""
    listed = {name: [list(key) for key in getattr(pairs, name)] for name in ("only_first", "only_second", "changed")}
    arms = [{**vars(arm), "flips": [vars(flip) for flip in arm.flips]} for arm in pairs.arms]
    return {"arms": arms, **listed}
