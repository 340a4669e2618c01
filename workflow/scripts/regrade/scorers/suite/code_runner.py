"""Runs an answer's code and the task's tests behind it, as one program; the only program of ours in that sandbox.

The order (repository_tests/report.py) is {"code", "tests"}; there is a report, {"word"}, when the last line of the
tests has been reached. What the answer prints before the tests begin goes to stderr, so that PASS on stdout is never
its own. Stands alone: it imports nothing of Regrade.
"""

import contextlib
import json
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator


def main() -> None:
    """Run it. What the answer ends early never reaches the last line, whatever exit code it chooses."""
    order, report = _channel()
    os.environ.pop("HOME", None)
    path = os.path.abspath("answer.py")
    code, tests = order["code"].rstrip() + "\n", order["tests"]
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as stream:
        stream.write(f"{code}\n{tests}")
    program = types.ModuleType("__main__")
    program.__file__ = path
    sys.modules["__main__"] = program
    sys.argv = [path]
    with _on_stderr():
        exec(compile(code, path, "exec"), program.__dict__)  # noqa: S102 (what it is for)
    begin = code.count("\n") + 1
    if _ran(compile("\n" * begin + tests, path, "exec"), program, lambda line: line <= begin):
        report()


def _channel() -> tuple[dict[str, str], Callable[[], None]]:
    source, result = (int(os.environ.pop(name)) for name in ("REGRADE_WORD", "REGRADE_REPORT"))
    with open(int(os.environ.pop("REGRADE_ORDER")), "rb") as stream:
        order = json.loads(stream.read())
    for descriptor in (source, result):
        os.set_inheritable(descriptor, False)
    owner, dumps, pid, read, write = os.getpid(), json.dumps, os.getpid, os.read, os.pwrite

    def report() -> None:
        # A child that the program forked may come here too.
        if pid() == owner:
            write(result, dumps({"word": read(source, 200).decode()}).encode(), 0)

    return order, report


@contextlib.contextmanager
def _on_stderr() -> Iterator[None]:
    """Let standard output go to standard error."""
    output = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.__stdout__):
            # The program may have put anything in their place.
            with contextlib.suppress(Exception):
                stream.flush()  # type: ignore[union-attr]
        os.dup2(output, 1)
        os.close(output)


def _ran(tests: types.CodeType, program: types.ModuleType, is_of_answer: Callable[[int], bool]) -> bool:
    """Whether the tests ran to their end, or ended themselves with exit code 0."""
    try:
        exec(tests, program.__dict__)  # noqa: S102
    except SystemExit as end:
        frames = [frame for frame in traceback.extract_tb(end.__traceback__) if frame.filename == program.__file__]
        if end.code not in (None, 0) or any(is_of_answer(frame.lineno or 0) for frame in frames):
            raise
    return True


if __name__ == "__main__":
    main()
