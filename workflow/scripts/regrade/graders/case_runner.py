"""Makes the wrong artifacts of a task's own negative_cases.py; the only program of ours in that sandbox.

In: one JSON argument {"grader", "on_path", "result": descriptor} and the reference's text on stdin.
Out, on the result descriptor: a JSON line per case, {"name", "expected_substring", "currently_caught", "notes"} and
"text" or "fault"; one line {"fault"} if the file cannot be used, {"absent": true} if it names no cases.
Stands alone: it imports nothing of Regrade but what graders find on their path.
"""

import json
import os
import sys
import traceback
from collections.abc import Iterator
from typing import Any


def lines(order: dict[str, Any], reference: str) -> Iterator[dict[str, Any]]:
    """Import the case file and apply each case."""
    sys.path[:0] = [order["grader"], *order["on_path"]]
    sys.argv = [f"{order['grader']}/negative_cases.py"]
    try:
        import negative_cases  # type: ignore[import-not-found]
        from swebench.artifact_negative import NegativeCase  # type: ignore[import-not-found]

        if not hasattr(negative_cases, "NEGATIVE_CASES"):
            yield {"absent": True}
            return
        cases = negative_cases.NEGATIVE_CASES
        if not isinstance(cases, (list, tuple)):
            raise TypeError(f"NEGATIVE_CASES is a {type(cases).__name__}, expected a list of NegativeCase")
        for case in cases:
            if not isinstance(case, NegativeCase):
                raise TypeError(f"NEGATIVE_CASES holds a {type(case).__name__}, expected only NegativeCase")
    except BaseException:
        yield {"fault": _last_line()}
        return
    for case in cases:
        yield one(case, reference)


def one(case: Any, reference: str) -> dict[str, Any]:
    """A case as data, with the text that its mutation makes or why there is none."""
    about = {
        "name": str(case.name),
        "expected_substring": str(case.expected_substring or ""),
        "currently_caught": bool(case.currently_caught),
        "notes": str(case.notes or ""),
    }
    try:
        text = case.mutate(reference)
        if not isinstance(text, str):
            raise TypeError(f"returned a {type(text).__name__}, expected a text")
    except BaseException:
        return {**about, "fault": _last_line()}
    return {**about, "text": str(text)}


def _last_line() -> str:
    return traceback.format_exc(limit=-1).strip().splitlines()[-1][:500]


def main() -> None:
    """Report all cases and end."""
    order = json.loads(sys.argv[1])
    reference = sys.stdin.buffer.read().decode("utf-8")
    os.set_inheritable(order["result"], False)
    with os.fdopen(order["result"], "wb") as channel:
        for line in lines(order, reference):
            channel.write(json.dumps(line).encode() + b"\n")
        channel.write(b"{}\n")
    os._exit(0)


if __name__ == "__main__":
    main()
