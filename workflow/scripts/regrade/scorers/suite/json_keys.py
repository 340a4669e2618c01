"""Type `json_keys`: an object somewhere in the answer has all expected keys."""

from typing import Any

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite.json_in_text import Found, find, objects
from regrade.scorers.suite.normalised import shown, text_of
from regrade.scorers.suite.scored import Response, Score, Tools, no_verdict, right, wrong


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Objects inside objects count, keys are not dotted, any value will do, null as well."""
    said = task.scoring.get("keys")
    if said is None:
        return no_verdict("grader_error", "the task has no keys, expected a list of texts")
    keys = [text_of(key) for key in (said if isinstance(said, list) else [said])]
    fewest: list[str] | None = None
    for found in find(response.text):
        for value in objects(found.value):
            missing = [key for key in keys if key not in value]
            if not missing:
                return right(f"an object has {_listed(keys)}" if keys else "an object", **repeated(found))
            fewest = missing if fewest is None or len(missing) < len(fewest) else fewest
    if fewest is None:
        return wrong(f"no JSON object in {shown(response.text)}", "invalid_format")
    return wrong(f"no object has all of {_listed(keys)}: the nearest lacks {_listed(fewest)}")


def repeated(found: Found) -> dict[str, Any]:
    """The remark that keys stand twice in one object, for the record."""
    return {"repeated_keys": [shown(key) for key in found.repeated[:8]]} if found.repeated else {}


def _listed(keys: list[str]) -> str:
    return ", ".join(shown(key, 40) for key in keys[:8])
