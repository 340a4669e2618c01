"""Several runs side by side: what `regrade compare` prints."""

from regrade.packs import markdown
from regrade.packs.medians import Case, Cell, cases, differs
from regrade.packs.read import Run, part

HEADING = (
    "run", "case", "rows", "ok", "wall_s med", "ttft_s med", "prefill_tps med", "decode_tps med", "total_tps med",
    "output_tokens med", "prompt_tokens med", "cached_prompt med", "cache rows", "prefill parity",
)  # fmt: skip

NOTES = (
    "Medians are taken over all rows of a case, failed ones included; values that are no finite numbers do not count.",
    "prefill_tps is shown only where every run read the same number of prompt tokens and the same number from a cache.",
)


def page(runs: list[Run]) -> str:
    """The whole comparison as Markdown text."""
    found = cases(runs)
    parts = ["# Comparison", inputs(runs), packs(runs) or _pack(runs[0]), *(f"*{note}*" for note in NOTES)]
    return "\n\n".join([*parts, *case_warnings(found), medians_table(found)]) + "\n"


def inputs(runs: list[Run]) -> str:
    """The runs with their labels and sizes."""
    lines = [f"- {markdown.code(run.label)}: {markdown.code(run.path)} ({len(run.rows)} rows)" for run in runs]
    return "\n".join(["Inputs:", "", *lines])


def _pack(run: Run) -> str:
    identifier, version = (part(run.rows[0], "pack", name) for name in ("id", "version"))
    return f"Pack: {markdown.code(identifier)} version {markdown.code(version)}"


def packs(runs: list[Run]) -> str:
    """A warning when rows come from more than one pack or version; otherwise nothing."""
    found = {
        f"{part(row, 'pack', 'id')} {part(row, 'pack', 'version')}" for run in runs for row in run.rows
    }  # fmt: skip
    if len(found) < 2:
        return ""
    return f"WARNING: compared records use different pack ids or versions: {', '.join(sorted(found))}"


def warnings(runs: list[Run]) -> list[str]:
    """All warnings about some runs."""
    return [*filter(None, [packs(runs)]), *case_warnings(cases(runs))]


def case_warnings(found: list[Case]) -> list[str]:
    """Warnings about cases whose speeds do not mean the same in every run."""
    return [line for case in found for line in _about(case)]


def _about(case: Case) -> list[str]:
    everywhere = all(cell.rows for cell in case.cells)
    name, lines = markdown.code(case.name), []
    counted = everywhere and all(cell.prompts == cell.rows for cell in case.cells)
    if counted and differs(case.cells, "prompt"):
        lines.append(f"WARNING: prompt token medians differ for case {name}: {_each(case.cells, 'prompt')}.")
    if any(cell.cached < cell.rows for cell in case.cells):
        lines.append(
            f"WARNING: cache metadata incomplete for case {name}; some rows lack numeric `tokens.cached_prompt`."
        )
    elif everywhere and differs(case.cells, "cached_prompt"):
        lines.append(f"WARNING: cached prompt medians differ for case {name}: {_each(case.cells, 'cached_prompt')}.")
    return lines


def _each(cells: list[Cell], name: str) -> str:
    return ", ".join(f"{markdown.code(cell.label)} {markdown.count(cell.medians[name])}" for cell in cells)


def medians_table(found: list[Case]) -> str:
    """Case by case, inside a case in the order of the runs."""
    return markdown.table(HEADING, [cells_of(cell, case.parity) for case in found for cell in case.cells])


def cells_of(cell: Cell, parity: str) -> list[str]:
    """One line of the table."""
    found = cell.medians
    return [
        markdown.cell(cell.label),
        markdown.cell(cell.case),
        str(cell.rows),
        str(cell.ok),
        markdown.number(found["wall_s"], 3),
        markdown.number(found["ttft_s"], 3),
        markdown.number(found["prefill_tps"] if parity == "comparable" else None, 2),
        markdown.number(found["decode_tps"], 2),
        markdown.number(found["total_tps"], 2),
        *(markdown.count(found[name]) for name in ("output", "prompt", "cached_prompt")),
        f"{cell.cached}/{cell.rows}",
        parity,
    ]
