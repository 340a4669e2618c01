"""Running a piece of our own code that data can keep busy for ever, such as a search with somebody's pattern.

A signal handler would not do: `re` can work for hours without looking for one. So the work is done in a forked child,
which the kernel ends by its CPU time: a busy machine changes no verdict.
"""

import json
import os
import signal
from collections.abc import Callable
from typing import Any, NoReturn

from regrade.errors import RegradeError


class BoundedError(RegradeError):
    """Why there is no result, to follow the name of what was done: "took longer than 5 s of CPU time"."""


def run_bounded(work: Callable[[], Any], cpu_s: float) -> Any:
    """The JSON value that `work` returns. Raises BoundedError if it raises, or needs more CPU time."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _work(work, cpu_s, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) == signal.SIGPROF:
            raise BoundedError(f"took longer than {cpu_s:g} s of CPU time")
        raise BoundedError(f"was ended by signal {os.WTERMSIG(status)}")
    if not answer:
        raise BoundedError("ended without a result")
    result = json.loads(answer)
    if "error" in result:
        raise BoundedError(f"failed: {result['error']}")
    return result["value"]


def _work(work: Callable[[], Any], cpu_s: float, writing: int) -> NoReturn:
    """The child: it must end here, never in the code above."""
    try:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        try:
            result = {"value": work()}
        except BaseException as error:
            result = {"error": f"{type(error).__name__}: {error}"[:500]}
        with os.fdopen(writing, "wb") as stream:
            stream.write(json.dumps(result).encode())
    finally:
        os._exit(0)
