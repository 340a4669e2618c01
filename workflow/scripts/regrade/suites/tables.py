"""The parts of a summary that only suites have."""

from collections.abc import Callable, Iterator
from typing import Any

from regrade.packs import markdown
from regrade.statistics import mean, pass_at_k, pass_hat_k, quantile
from regrade.suites.composite import composite
from regrade.suites.headline import is_headline, mean_score

Row = dict[str, Any]
Counts = Callable[[list[Row]], dict[str, int]]
SATURATED = 0.85
"""The mean score from which on tasks tell models apart no more."""


def sections(rows: list[Row], counts: Counts) -> Iterator[str]:
    """Headings and tables, one after the other; nothing where no record is a suite task's."""
    rows = [row for row in rows if row.get("suite")]
    if not rows:
        return
    yield "## Headline of suites"
    yield _headline(rows)
    yield (
        "Mean score is taken over the headline trials that have one; trials of the tiers smoke and diagnostic and of "
        "high contamination risk are outside. The composite weighs each category's mean score and is given only "
        "where every task has one."
    )
    for name, title in (("tier", "By tier"), ("execution_surface", "By execution surface")):
        table = _groups(rows, name, counts)
        if table:
            yield f"## {title}"
            yield table
    for heading, table in (("## Repeated trials", _repeated(rows)), ("## Seconds an answer took", _seconds(rows))):
        if table:
            yield heading
            yield table
    said = _remarks(rows)
    if said:
        yield "## Remarks"
        yield "\n".join(f"- {line}" for line in said)


def _by(rows: list[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _arms(rows: list[Row]) -> dict[str, list[Row]]:
    return _by(rows, lambda row: row["arm"])


def _headline(rows: list[Row]) -> str:
    table = []
    for arm, group in _arms(rows).items():
        found = composite(group)
        inside = [row for row in group if is_headline(row)]
        value = markdown.number(found.value, 3) if found.value is not None else _incomplete(found)
        score = mean_score(inside) if inside else None
        table.append([markdown.cell(arm), len(inside), len(group) - len(inside), markdown.number(score, 3), value])
    return markdown.table(["arm", "headline trials", "outside", "mean score", "composite"], table)


def _incomplete(found: Any) -> str:
    return f"incomplete {found.done}/{found.intended}" if found.done < found.intended else markdown.NOTHING


def _groups(rows: list[Row], name: str, counts: Counts) -> str:
    """Counts by one of the labels of suite tasks; a dash for tasks that have none, nothing if none has."""
    if not any(row["suite"].get(name) for row in rows):
        return ""
    table = []
    for value, group in sorted(
        _by(rows, lambda row: row["suite"].get(name)).items(), key=lambda item: str(item[0] or "~")
    ):
        for arm, trials in _arms(group).items():
            score = mean([row["score"] for row in trials if row["score"] is not None])
            outside = "" if all(map(is_headline, trials)) else " (outside the headline)"
            about = [f"{markdown.cell(value)}{outside}", markdown.cell(arm)]
            table.append([*about, *counts(trials).values(), markdown.number(score, 3)])
    return markdown.table([name.replace("_", " "), "arm", *counts([]), "mean score"], table)


def _repeated(rows: list[Row]) -> str:
    """pass@k and pass^k over the repetitions of each task, for every k up to the least number of them."""
    table = []
    for arm, group in _arms(rows).items():
        tasks = list(_by(group, lambda row: row["task"]).values())
        tried = [[row for row in task if row["status"] in ("passed", "failed")] for task in tasks]
        most = min((len(task) for task in tried if len(task) > 1), default=0)
        for k in range(1, most + 1):
            several = [(len(task), sum(row["status"] == "passed" for row in task)) for task in tried if len(task) > 1]
            at = [pass_at_k(n, c, k) for n, c in several]
            hat = [pass_hat_k(n, c, k) for n, c in several]
            table.append([markdown.cell(arm), k, len(several), _mean(at), _mean(hat)])
    return markdown.table(["arm", "k", "tasks", "pass@k", "pass^k"], table) if table else ""


def _mean(values: list[float | None]) -> str:
    return markdown.number(mean([value for value in values if value is not None]), 3)


def _seconds(rows: list[Row]) -> str:
    table = []
    for arm, group in _arms(rows).items():
        walls = sorted(row["timing"]["wall_s"] for row in group if row["turns"] and row["timing"]["wall_s"] is not None)
        if walls:
            found = [walls[0], quantile(walls, 0.5), quantile(walls, 0.95), walls[-1]]
            table.append([markdown.cell(arm), len(walls), *(markdown.number(value, 2) for value in found)])
    return markdown.table(["arm", "trials", "least", "median", "95 %", "most"], table) if table else ""


def _remarks(rows: list[Row]) -> list[str]:
    """What a reader of the figures should know."""
    said = []
    for arm, group in _arms(rows).items():
        name = markdown.cell(arm)
        score = mean_score(group)
        if score is not None and score > SATURATED and any(row["turns"] for row in group):
            said.append(f"{name}: a mean score of {score:.1%}; above {SATURATED:.0%} a suite hardly tells models apart")
        ambiguous = sum(bool(row["suite"]["scored"].get("ambiguous")) for row in group)
        if ambiguous:
            said.append(f"{name}: {ambiguous} answers hold other numbers beside the one that counted (`extract:`)")
        warned: dict[str, int] = {}
        for row in group:
            for warning in row["warnings"]:
                warned[warning] = warned.get(warning, 0) + 1
        said += [f"{name}: {count} trials: {markdown.cell(warning)}" for warning, count in warned.items()]
        of_datasets = [row for row in group if row["suite"].get("dataset")]
        for dataset, trials in _by(of_datasets, lambda row: row["suite"]["dataset"]["name"]).items():
            about = trials[0]["suite"]["dataset"]
            if about["chosen"] < about["rows"]:
                said.append(f"{name}: {markdown.cell(dataset)} is a subset: {about['chosen']} of {about['rows']} rows")
    return said
