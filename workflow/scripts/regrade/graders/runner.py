"""Runs one grader; the only program in the grader's sandbox.

In: one JSON argument {"grader", "workspace", "on_path": paths, "result": descriptor, "clock": seconds or null}.
Out, on the result descriptor and nowhere else: one JSON line, either {"passed", "score", "detail"} or
{"fault", "traceback"}. What the grader prints is only printed. Stands alone: it imports nothing of Regrade.
"""

import contextlib
import json
import math
import numbers
import os
import sys
from pathlib import Path
from typing import Any

LONGEST_DETAIL = 1_000_000
LONGEST_TRACEBACK = 20_000


class NonsenseError(Exception):
    """grade() returned something that is no verdict."""


def checked(result: Any) -> dict[str, Any]:
    """A verdict as JSON values. Raises NonsenseError for all but a bool, a finite number from 0 to 1 and a text."""
    missing = [name for name in ("passed", "score", "detail") if not hasattr(result, name)]
    if missing:
        found = f"grade() returned {_shown(result)} without {', '.join(missing)}"
        raise NonsenseError(f"{found}, expected an object with passed, score and detail")
    passed, score, detail = _plain(result.passed), _plain(result.score), result.detail
    if not isinstance(passed, bool):
        raise NonsenseError(f"passed is {_shown(passed)}, expected a bool")
    if isinstance(score, bool) or not isinstance(score, numbers.Real):
        raise NonsenseError(f"score is {_shown(score)}, expected a number from 0 to 1")
    score = float(score)
    if not (math.isfinite(score) and 0 <= score <= 1):
        raise NonsenseError(f"score is {_shown(score)}, expected a finite number from 0 to 1")
    if not isinstance(detail, str):
        raise NonsenseError(f"detail is {_shown(detail)}, expected a text")
    return {"passed": passed, "score": score + 0.0, "detail": str(detail)[:LONGEST_DETAIL]}


def _plain(value: Any) -> Any:
    """A numpy scalar as the Python value that it holds."""
    return value.item() if type(value).__module__ == "numpy" else value


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.100}"


def shift_clock(seconds: float) -> None:
    """Let every clock of this process show another time, running on."""
    import time

    import time_machine

    time_machine.travel(time.time() + seconds, tick=True).start()


def grade(order: dict[str, Any]) -> dict[str, Any]:
    """Import the grader as `hidden`, call it, check what it says."""
    sys.path[:0] = [order["grader"], *order["on_path"]]
    sys.argv = [f"{order['grader']}/hidden.py"]
    if order["clock"]:
        shift_clock(order["clock"])
    try:
        import hidden  # type: ignore[import-not-found]

        if not hasattr(hidden, "grade"):
            raise NonsenseError("hidden.py defines no grade(), expected grade(scratch_dir)")
        return checked(hidden.grade(Path(order["workspace"])))
    except NonsenseError as fault:
        return {"fault": str(fault), "traceback": ""}
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: a grader has no business ending us
        return {"fault": f"the grader raised {_described(error)}", "traceback": _traceback()}


def _described(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        text = "(its message cannot be shown)"
    return f"{type(error).__name__}: {text}"[:500]


def _traceback() -> str:
    import traceback

    text = traceback.format_exc()
    if len(text) <= LONGEST_TRACEBACK:
        return text
    half = LONGEST_TRACEBACK // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters omitted ...\n{text[-half:]}"


def main() -> None:
    """Grade and report, then end at once: neither threads nor exit handlers of the grader outlive its verdict."""
    order = json.loads(sys.argv[1])
    process = os.getpid()
    os.set_inheritable(order["result"], False)
    content = json.dumps(grade(order)).encode() + b"\n"
    if os.getpid() != process:
        os._exit(0)  # a child that the grader forked and that came back from grade()
    with os.fdopen(order["result"], "wb") as channel:
        channel.write(content)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
