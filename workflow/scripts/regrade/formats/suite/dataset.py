"""A data set's rows as tasks: each row fills the template, and names the right answer."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from regrade.formats.suite import scoring_checks
from regrade.formats.suite.fixtures import find
from regrade.formats.suite.task import SuiteTask

SEED = 42
_OWN = ("dataset", "template")
_OWN_SCORING = ("answer_field", "answer_map")
_ID_LENGTH = 12


class RowFault(ValueError):  # noqa: N818 (a fault is what a user can mend)
    """Why a row cannot be asked."""


def local_dataset(source: SuiteTask) -> Path | None:
    """The file or folder that a data set's name leads to, looked for like a fixture; None if it is to be fetched."""
    name = source.fields["dataset"].get("name")
    return find(name, Path(source.file)) if isinstance(name, str) and source.file else None


def expand(fields: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The tasks that a data set's rows make, in the rows' order: {"id", "fields"}, and "fault" for one without sense.

    An id ends with a digest of the row's content, so it does not depend on the order. `limit` takes a sample by the
    content and `seed` (42), or with `shuffle: false` the first rows. Every field of the task but the data set's own is
    kept; `dataset_row` says which row it was.
    """
    made = list(_with_ids(fields, rows))
    chosen = _chosen(fields["dataset"], [row["id"] for row in made])
    about = {"name": fields["dataset"].get("name"), "rows": len(made), "chosen": len(chosen)}
    for row in made:
        row["fields"]["dataset_row"] |= about
    return [row for row in made if row["id"] in chosen]


def _with_ids(fields: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    template = _template(str(fields["template"]))
    kept = {name: value for name, value in fields.items() if name not in _OWN}
    seen: dict[str, int] = {}
    for index, row in enumerate(rows):
        fault = ""
        try:
            prompt, scoring = _prompt(template, row), _scoring(fields["scoring"], row)
        except RowFault as error:
            prompt, scoring, fault = "", dict(fields["scoring"]), f"row {index}: {error}"
        content = _digest(dict(row))
        seen[content] = seen.get(content, 0) + 1
        number = f"_{seen[content]}" if seen[content] > 1 else ""
        identifier = f"{fields['id']}_{content[:_ID_LENGTH]}{number}"
        task = {**kept, "id": identifier, "prompt": prompt, "scoring": scoring, "dataset_row": {"index": index}}
        yield {"id": identifier, "fields": task, **({"fault": fault} if fault else {})}


def _template(text: str) -> Any:
    from jinja2 import StrictUndefined, TemplateSyntaxError
    from jinja2.sandbox import SandboxedEnvironment

    try:
        return SandboxedEnvironment(undefined=StrictUndefined, finalize=_filled).from_string(text)
    except TemplateSyntaxError as error:
        raise RowFault(f"template, line {error.lineno}: {error.message}") from error


def _filled(value: Any) -> Any:
    """What a template puts in; a field that a row lacks is null in data sets. Raises ValueError for it."""
    if value is None:
        raise ValueError("a field that it names is empty")
    return value


def _prompt(template: Any, row: Mapping[str, Any]) -> str:
    from jinja2 import TemplateError

    try:
        return str(template.render(**row))
    except (TemplateError, TypeError, ValueError, LookupError, ArithmeticError) as error:
        raise RowFault(f"template: {error} (the row has {', '.join(map(str, row))})") from error


def _scoring(scoring: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """A row's scoring: the value of `answer_field` as text, or what `answer_map` has for it."""
    left = {name: value for name, value in scoring.items() if name not in _OWN_SCORING}
    field = scoring.get("answer_field")
    if field is None:
        return left
    if field not in row:
        raise RowFault(f"scoring.answer_field is {field!r}, expected one of {', '.join(map(str, row))}")
    answer = row[field]
    if answer is None:
        raise RowFault(f"scoring.answer_field: {field} is empty")
    filled = {**left, "value": _text(_mapped(answer, scoring.get("answer_map") or {}))}
    for problem in scoring_checks.problems(filled, is_dataset=False):
        if problem.severity == "fault":
            raise RowFault(f"scoring.{'.'.join(map(str, problem.path))} {problem.message}")
    return filled


def _mapped(answer: Any, mapping: Mapping[Any, Any]) -> Any:
    """What a map has for an answer. Keys of YAML and values of data sets differ in type: their text counts."""
    by_text = {_text(key): value for key, value in mapping.items()}
    return by_text.get(_text(answer), answer)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _chosen(dataset: Mapping[str, Any], ids: list[str]) -> set[str]:
    limit = dataset.get("limit")
    if limit is None or limit >= len(ids):
        return set(ids)
    if dataset.get("shuffle") is False:
        return set(ids[:limit])
    seed = dataset.get("seed", SEED)
    return set(sorted(ids, key=lambda identifier: _digest([seed, identifier]))[:limit])
