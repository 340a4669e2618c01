"""Inside the sandbox: starts an agent in a process group of its own, and ends the group when its time is up.

    python -I -S agent_process.py SECONDS COMMAND...

The group is asked to end, and killed half a second later. How it went is told by how this program ends: with the
agent's exit code (128 and the number if a signal ended it), by SIGALRM when the time was up, by SIGUSR1 when the
command cannot be started.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import NoReturn

GRACE_S = 0.5
TIME_IS_UP = signal.SIGALRM
NOT_STARTED = signal.SIGUSR1


def main(seconds: float, words: list[str]) -> int:
    """The agent's exit code."""
    try:
        agent = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        print(f"{words[0]}: {error.strerror}", file=sys.stderr, flush=True)
        _end_by(NOT_STARTED)
    try:
        code = agent.wait(seconds)
    except subprocess.TimeoutExpired:
        _end(agent, signal.SIGTERM)
        _end(agent, signal.SIGKILL)
        _end_by(TIME_IS_UP)
    _end(agent, signal.SIGKILL)
    return code if code >= 0 else 128 - code


def _end(agent: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Send the agent's group a signal, and wait a little until nobody is left in it."""
    until = time.monotonic() + GRACE_S
    with suppress(ProcessLookupError):
        os.killpg(agent.pid, number)
        while time.monotonic() < until:
            agent.poll()
            os.killpg(agent.pid, 0)
            time.sleep(0.01)


def _end_by(number: signal.Signals) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    sys.exit(f"still running after signal {number}")


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
