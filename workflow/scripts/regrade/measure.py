"""Stage `measure`: one case of a pack is asked about, one request after the other: warmups, then repetitions.

    python -m regrade.measure SPEC CONFIG [THREADS]      SPEC and CONFIG are JSON, as the rule hands them over

Writes raw/<case>.*.json and last task/<case>/measured.jsonl with one row a repetition. Each execution is noted in the
journal as it comes in; after a kill the job goes on behind the last one. Nothing is retried within a call, and
nothing comes from the response store. Arms without a model (oracle, nop) give their text instead.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from regrade import files, hardware, specification
from regrade.config import Config
from regrade.errors import BudgetSpent, RegradeError, ending_in_one_line
from regrade.journal import Journal
from regrade.models import prices
from regrade.models.adapters import Reading
from regrade.models.adapters.caller import Exchange, open_caller, question_for
from regrade.models.adapters.replies import rate
from regrade.models.message import strip_thinking
from regrade.models.types import ChatResponse, ModelConfig
from regrade.spending import Spending
from regrade.store import request_digest

Ask = Callable[[], Exchange]
_KINDS = ("request", "response")


class Execution(NamedTuple):
    """One question: a warmup or a repetition, by number from 1."""

    kind: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.number:03d}"


def main(spec_text: str, config_text: str, threads: str = "1") -> None:
    """Run the stage for one specification under one configuration."""
    spec, config = specification.read(spec_text), Config(**json.loads(config_text))
    with Journal(Path(spec["journal"]), spec["digest"]) as journal:
        if journal.fresh:
            _clear_raw(spec)
        resumed = not journal.fresh
        pending = [execution for execution in _executions(spec) if _is_missing(journal, execution, spec["attempt"])]
        if pending:
            with _asking(spec, config, int(threads)) as ask:
                for execution in pending:
                    journal.add(execution.name, _execute(spec, ask, resumed))
                    _write_raw(spec, execution, journal.rows[execution.name])
        _finish(spec, journal, config.budget_usd)


def _executions(spec: dict[str, Any]) -> list[Execution]:
    # Where nobody is asked there is nothing to warm up.
    warmups = spec["warmup"] if "model" in spec else 0
    found = [Execution("warmup", number) for number in range(1, warmups + 1)]
    return found + _repetitions(spec)


def _repetitions(spec: dict[str, Any]) -> list[Execution]:
    return [Execution("rep", number) for number in range(1, spec["repetitions"] + 1)]


def _is_missing(journal: Journal, execution: Execution, attempt: int) -> bool:
    """Whether an execution is still to be done: it never was, or it failed in an earlier attempt of this job."""
    row = journal.rows.get(execution.name)
    return row is None or (not row["measured"]["ok"] and row["attempt"] < attempt)


def _execute(spec: dict[str, Any], ask: Ask, resumed: bool) -> dict[str, Any]:
    """One question, asked, as the journal keeps it."""
    try:
        exchange = ask()
    except BudgetSpent as error:
        exchange = _unasked(spec["model"]["base_url"], str(error))
        measured = {**_measured(spec, exchange), "reason": "budget"}
    else:
        measured = _measured(spec, exchange)
    if resumed and spec["warmup"]:
        measured["warnings"].append("measured after a restart: the warmups were before it")
    return {
        "attempt": spec["attempt"],
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "request": exchange.request,
        "response": exchange.reading.raw,
        "measured": measured,
    }


@contextmanager
def _asking(spec: dict[str, Any], config: Config, threads: int) -> Iterator[Ask]:
    """Whom to ask while the block lasts. What keeps a model from starting is the answer to every question."""
    if "model" not in spec:
        exchange = _given(spec)
        yield lambda: exchange
        return
    model = _model(spec, config)
    if config.cache == "only":
        # What is measured comes from no store, and this mode says that nobody is to be asked.
        forbidden = "cache: only forbids asking, and a measured answer is never stored: set cache to on"
        yield lambda: _unasked(model.base_url, forbidden)
        return
    question = question_for(model, spec["case"]["prompt"], spec["defaults"])
    with ExitStack() as stack:
        try:
            caller = stack.enter_context(open_caller(model, threads))
        except RegradeError as error:
            failed = _unasked(model.base_url, str(error))
            yield lambda: failed
        else:
            yield _paying(lambda: caller.ask(question), model, config)


def _paying(ask: Ask, model: ModelConfig, config: Config) -> Ask:
    """`ask` within `budget.usd`: what an answer cost is noted. Raises BudgetSpent instead when the money is spent."""
    if not prices.can_cost(model.prices):
        return ask
    spending = Spending(config.folder("results") / "cache" / "spending", config.budget_usd)

    def paying() -> Exchange:
        asyncio.run(spending.admit(model.name))
        cost: float | None = 0.0
        try:
            exchange = ask()
            if not exchange.reading.error:
                cost = prices.cost_usd(model.prices, exchange.reading.usage)
        finally:
            spending.settle(model.name, cost)
        return exchange

    return paying


def _unasked(endpoint: str, why: str) -> Exchange:
    """What stands in the place of an answer that nobody was asked for."""
    return Exchange(endpoint, {}, Reading({"error": why}, why), 0.0)


def _model(spec: dict[str, Any], config: Config) -> ModelConfig:
    """The model as its entry says, with what the plan made of it."""
    asked = spec["model"]
    entry = {**config.models[asked["name"]], **asked}
    return ModelConfig.from_config(entry.pop("name"), entry)


def _given(spec: dict[str, Any]) -> Exchange:
    """The text of an arm that asks nobody: the pack's reference, a diff in the fence that tasks expect; or nothing."""
    harness, reference, text = spec["harness"], spec.get("reference"), ""
    if reference is not None:
        text = Path(reference).read_bytes().decode("utf-8", "replace")
        if reference.endswith(".diff"):
            text = f"```diff\n{text.rstrip(chr(10))}\n```\n"
    name = None if reference is None else f"oracle/{Path(reference).name}"
    return Exchange("", {"harness": harness, "reference": name}, Reading({"text": text}, text=text), 0.0)


def _measured(spec: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    """What an execution's row says; docs/data_files.md explains each field."""
    reading, model = exchange.reading, spec.get("model")
    text, thought = strip_thinking(reading.text) if model and model.get("strip_thinking") else (reading.text, "")
    reason, message = _hint(reading, text) if model else ("", "")
    return {
        "ok": not reading.error,
        **({"error": reading.error} if reading.error else {}),
        "text": text,
        "reasoning": "\n".join(part for part in (reading.reasoning, thought) if part),
        "adapter": model["adapter"] if model else spec["harness"],
        "endpoint": exchange.endpoint,
        "model": model["model"] if model else spec["harness"],
        "timing": {
            "wall_s": exchange.wall_s,
            "ttft_s": reading.ttft_s,
            "prefill_tps": reading.prefill_tps,
            "decode_tps": reading.decode_tps,
            "total_tps": rate(reading.usage.output, exchange.wall_s),
        },
        "tokens": {name: getattr(reading.usage, name) for name in ("prompt", "output", "cached_prompt")},
        "resources": {"memory_mb": None, "gpu_memory_mb": hardware.gpu_memory_used_mb() if model else None},
        **({"backend": reading.backend} if reading.backend else {}),
        "finish_reason": reading.finish_reason,
        "reason": reason,
        "message": message,
        "warnings": list(reading.warnings),
        "request": request_digest(exchange.endpoint, exchange.request),
    }


def _hint(reading: Reading, text: str) -> tuple[str, str]:
    """The reason and the message that an answer suggests should it not pass, as for every trial."""
    from regrade.harnesses.asking import hint

    if reading.error or reading.flaw:
        return "provider_error", reading.error or reading.flaw
    answer = ChatResponse(text, reading.reasoning, [], reading.finish_reason, reading.refusal, reading.usage)
    return hint(answer)


def raw_names(case: str, execution: Execution, repetitions: int) -> dict[str, str]:
    """The names of an execution's raw files; a case with one repetition leaves its number out."""
    single = execution.kind == "rep" and repetitions == 1
    infix = "" if single else f".{execution.name}"
    return {kind: f"{case}{infix}.{kind}.json" for kind in _KINDS}


def _clear_raw(spec: dict[str, Any]) -> None:
    """Remove the raw files of an earlier measurement of this case."""
    folder, case = Path(spec["raw"]), spec["case"]["id"]
    for kind in _KINDS:
        (folder / f"{case}.{kind}.json").unlink(missing_ok=True)
        for infix in ("rep", "warmup"):
            for path in folder.glob(f"{case}.{infix}-*.{kind}.json"):
                path.unlink()


def _write_raw(spec: dict[str, Any], execution: Execution, noted: dict[str, Any]) -> None:
    for kind, name in raw_names(spec["case"]["id"], execution, spec["repetitions"]).items():
        files.write_text(Path(spec["raw"]) / name, json.dumps(noted[kind], indent=2) + "\n")


def _finish(spec: dict[str, Any], journal: Journal, budget_usd: float | None) -> None:
    """The rows of the repetitions, and whatever raw file a kill left unwritten."""
    folder, rows = Path(spec["raw"]), []
    for execution in _executions(spec):
        noted = journal.rows[execution.name]
        names = raw_names(spec["case"]["id"], execution, spec["repetitions"])
        if not all((folder / name).exists() for name in names.values()):
            _write_raw(spec, execution, noted)
        if execution.kind == "rep":
            raw = {f"{kind}_path": f"{folder.name}/{name}" for kind, name in names.items()}
            rows.append({"repetition": execution.number, **noted["measured"], "raw": raw, "digest": spec["digest"]})
    _note_error(spec, rows, budget_usd)
    files.write_jsonl(Path(spec["output"]), rows)


def _note_error(spec: dict[str, Any], rows: list[dict[str, Any]], budget_usd: float | None) -> None:
    """One line for this attempt if a call failed, so that the job is planned again at the next call of Snakemake."""
    path = Path(spec["errors"])
    failed = [row for row in rows if not row["ok"]]
    noted = sum(row["digest"] == spec["digest"] for row in files.read_jsonl(path))
    if failed and noted <= spec["attempt"]:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        row = {"stage": "measure", "digest": spec["digest"], "at": at, "reason": failed[0]["reason"]}
        about = {"budget_usd": budget_usd} if row["reason"] == "budget" else {}
        files.append_jsonl(path, {**row, "message": failed[0]["error"], **about})


if __name__ == "__main__":
    with ending_in_one_line("the measurement"):
        main(*sys.argv[1:])
