"""What one or more runs were, and how they came out: what `regrade report` prints."""

from regrade.errors import RegradeError
from regrade.packs import about, compare, markdown
from regrade.packs.medians import cases
from regrade.packs.read import Row, Run, part, sibling
from regrade.packs.run_metadata import SECTIONS


def page(runs: list[Run]) -> str:
    """The whole report as Markdown text. Raises RegradeError for a file beside the rows that cannot be read."""
    found = cases(runs)
    parts = [
        "# Report",
        compare.inputs(runs),
        "## Run Metadata",
        markdown.table(("run", "pack", "adapter", "model", "endpoint", "hardware"), [_run(run) for run in runs]),
        "## User-Supplied Runtime Metadata",
        markdown.table(("run", *(name.replace("_", " ") for name in SECTIONS), "notes"), [_user(run) for run in runs]),
        *_model_calls(runs),
        "## Case Outcomes",
        markdown.table(("run", "case", "rows", "ok", "pass", "fail", "unscored"), _outcomes(runs)),
        "## Compare Medians",
        *filter(None, [compare.packs(runs)]),
        *compare.case_warnings(found),
        compare.medians_table(found),
    ]
    return "\n\n".join(parts) + "\n"


def _run(run: Run) -> list[str]:
    packs: list[object] = [f"{part(row, 'pack', 'id')} {part(row, 'pack', 'version')}" for row in run.rows]
    columns = [[*packs], *([row.get(name) for row in run.rows] for name in ("adapter", "model", "endpoint"))]
    hardware = about.machine(sibling(run.path, "hardware.json"))
    return [markdown.cell(run.label), *(markdown.cell(_one(values)) for values in columns), hardware]


def _one(values: list[object]) -> str:
    """The value that all rows have, or all that they have."""
    found = sorted({str(value) for value in values if value not in (None, "")})
    return f"mixed: {', '.join(found)}" if len(found) > 1 else "".join(found)


def _user(run: Run) -> list[str]:
    value = sibling(run.path, "run-metadata.json")
    if value is None:
        return [markdown.cell(run.label), "run-metadata.json missing", *[markdown.NOTHING] * len(SECTIONS)]
    return [markdown.cell(run.label), *about.metadata(value).values()]


def _model_calls(runs: list[Run]) -> list[str]:
    lines = []
    for run in runs:
        for case, repetition, found in about.calls(run.path, run.rows):
            if isinstance(found, RegradeError):
                raise found
            lines.append([markdown.cell(run.label), *about.calls_row(case, repetition, found)])
    if not lines:
        return []
    return ["## External-Agent Model Calls", markdown.table(("run", *about.CALLS_HEADING), lines)]


def _outcomes(runs: list[Run]) -> list[list[object]]:
    table: list[list[object]] = []
    for run in runs:
        for case in dict.fromkeys(str(row.get("case")) for row in run.rows):
            rows = [row for row in run.rows if str(row.get("case")) == case]
            verdicts = [verdict(row) for row in rows]
            counts = [verdicts.count(wanted) for wanted in ("pass", "fail", None)]
            ok = sum(row.get("ok") is True for row in rows)
            table.append([markdown.cell(run.label), markdown.cell(case), len(rows), ok, *counts])
    return table


def verdict(row: Row) -> str | None:
    """`pass` or `fail` as the row's scoring says; None for a row that was not scored."""
    passed = part(row, "scoring", "passed")
    return {True: "pass", False: "fail"}.get(passed) if isinstance(passed, bool) else None
