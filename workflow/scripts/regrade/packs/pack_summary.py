"""Stage `pack_summary`: one run directory of a pack to its summary.md.

    python -m regrade.packs.pack_summary RUN_DIRECTORY PACK      PACK is JSON: id, version, description

Reads run.jsonl, hardware.json, run-metadata.json if it is there, and the files of model calls.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regrade import files
from regrade.errors import RegradeError, ending_in_one_line
from regrade.packs import about, markdown
from regrade.packs.medians import sample
from regrade.packs.read import Row, Run, part, runs, sibling
from regrade.packs.report import verdict
from regrade.summary import COUNTS, counts

HEADING = ("case", "adapter", "model", "ok", "wall_s", "total_tps", "scoring")


def main(folder: str, pack: str) -> None:
    """Write the summary of a run directory into it."""
    [run] = runs([Path(folder)])
    files.write_text(Path(folder) / "summary.md", page(run, json.loads(pack)))


def page(run: Run, pack: dict[str, Any]) -> str:
    """The whole page as Markdown text."""
    opening = [f"# {markdown.cell(pack['id'])} ({markdown.cell(pack['version'])})"]
    if pack.get("description"):
        opening.append(markdown.cell(pack["description"]))
    hardware = sibling(run.path, "hardware.json")
    if hardware is not None:
        opening.append("\n".join(_machine(hardware)))
    parts = [*opening, *_metadata(run), *_model_calls(run), *_outcomes(run.rows)]
    return "\n\n".join([*parts, markdown.table(HEADING, _table(run.rows))]) + "\n"


def _machine(hardware: Row) -> Iterator[str]:
    host = markdown.code(hardware.get("host_label") or hardware.get("hostname") or "unknown")
    yield f"- Host: {host} ({markdown.cell(hardware.get('platform'))})"
    if hardware.get("cpu_model"):
        yield f"- CPU: {markdown.cell(hardware['cpu_model'])}"
    if hardware.get("ram_mb"):
        yield f"- RAM: {markdown.cell(hardware['ram_mb'])} MB"
    found = about.gpus(hardware)
    if found:
        yield f"- GPU: {', '.join(_gpu(gpu) for gpu in found)}"


def _gpu(gpu: Row) -> str:
    memory = f" ({markdown.cell(gpu['vram_mb'])} MB)" if gpu.get("vram_mb") else ""
    return f"{markdown.cell(gpu['model'])}{memory}"


def _metadata(run: Run) -> list[str]:
    value = sibling(run.path, "run-metadata.json")
    if value is None:
        return []
    lines = [f"- {name.replace('_', ' ').capitalize()}: {text}" for name, text in about.metadata(value).items()]
    return ["## Runtime Metadata", "\n".join(lines)]


def _model_calls(run: Run) -> list[str]:
    lines, notes = [], []
    for case, repetition, found in about.calls(run.path, run.rows):
        if isinstance(found, RegradeError):
            name = markdown.cell(case)
            notes.append(f"The model calls of {name}, repetition {repetition}, are not UTF-8 and not shown.")
        else:
            lines.append(about.calls_row(case, repetition, found))
    shown = [markdown.table(about.CALLS_HEADING, lines)] if lines else []
    return ["## External-Agent Model Calls", *shown, *notes] if shown or notes else []


def _outcomes(rows: list[Row]) -> list[str]:
    """Regrade's own statuses, case by case, and why rows did not pass. Rows of another runner have none."""
    records = [(str(row.get("case")), row["regrade"]) for row in rows if isinstance(row.get("regrade"), dict)]
    if not records:
        return []
    cases = dict.fromkeys(case for case, _ in records)
    table = [_counted(markdown.cell(name), [record for case, record in records if case == name]) for name in cases]
    table.append(_counted("all", [record for _, record in records]))
    missing = counts(record for _, record in records)["not_run"]
    partial = [f"**PARTIAL: {missing} of {len(records)} trials were not run.**"] if missing else []
    return ["## Outcomes", *partial, markdown.table(("case", *COUNTS), table), *_reasons(records)]


def _counted(name: str, records: list[Row]) -> list[object]:
    return [name, *counts(records).values()]


def _reasons(records: list[tuple[str, Row]]) -> list[str]:
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for case, record in records:
        if record["status"] != "passed":
            groups.setdefault((case, record["status"], record["reason"] or ""), []).append(record)
    table = [[*map(markdown.cell, key), len(group), _example(group)] for key, group in groups.items()]
    return [markdown.table(("case", "status", "reason", "trials", "for example"), table)] if table else []


def _example(records: list[Row]) -> str:
    said = next(filter(None, (record["message"] or record["detail"] for record in records)), "")
    return markdown.cell(markdown.shortened(said))


def _table(rows: list[Row]) -> list[list[str]]:
    found = about.occurrences(rows)
    repeated = {case for case, number in found if number > 1}
    names = [f"{case}#{number}" if case in repeated else case for case, number in found]
    return [_line(name, row) for name, row in zip(names, rows, strict=True)]


def _line(name: str, row: Row) -> list[str]:
    said = verdict(row)
    return [
        markdown.cell(name),
        markdown.cell(row.get("adapter")),
        markdown.cell(row.get("model")),
        "yes" if row.get("ok") is True else "no",
        markdown.number(sample(part(row, "timing", "wall_s")), 3),
        markdown.number(sample(part(row, "timing", "total_tps")), 2),
        f"{markdown.cell(part(row, 'scoring', 'mode'))}: {said}" if said else markdown.NOTHING,
    ]


if __name__ == "__main__":
    with ending_in_one_line("the summary"):
        main(*sys.argv[1:])
