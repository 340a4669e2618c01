"""Graders that have agent code run in a second sandbox, and agent code that tries to gain by it."""

from dataclasses import replace
from pathlib import Path

import pytest

from artifact_support import write_files
from graders_support import QUICK, Scene

MODULE = "output/solution.py"

ASK = """
from regrade_agent import Reply, call, call_many
def grade(scratch_dir):
    replies = call_many("output/solution.py", "double", [[1], ["a"], [[2.5]]], seconds=1, memory_mb=256)
    values = [reply.value if not reply.error else reply.error for reply in replies]
    return GradeResult(values == [2, "aa", [2.5, 2.5]], 1.0, json.dumps(values))
"""

HONEST = "def double(x):\n    return x * 2\n"


def graded(folder: Path, code: str, grader: str = ASK) -> tuple[bool | None, str]:
    """Whether code passed, and the detail or what broke."""
    scene = Scene(folder, grader)
    write_files(scene.workspace, {MODULE: code})
    verdict = scene.grade(artifact=MODULE)
    assert not verdict.in_process
    return verdict.passed, verdict.detail if verdict.detail is not None else verdict.message


def test_honest_code(tmp_path: Path) -> None:
    """Arguments and values travel as JSON, types and all."""
    assert (True, '[2, "aa", [2.5, 2.5]]') == graded(tmp_path, HONEST)


def test_code_finds_its_own_modules_and_the_standard_ones(tmp_path: Path) -> None:
    """Helpers beside the artifact and below the workspace are found; stray files with standard names hide nothing."""
    scene = Scene(tmp_path, ASK)
    code = "import json, random, helper\nfrom lib import more\ndef double(x):\n    return helper.twice(x)\n"
    stray = {f"{folder}{name}.py": "raise SystemExit\n" for folder in ("", "output/") for name in ("json", "random")}
    own = {"output/helper.py": "def twice(x):\n    return x * 2\n", "lib/more.py": "", "sitecustomize.py": "1 / 0\n"}
    write_files(scene.workspace, {MODULE: code, **stray, **own})
    verdict = scene.grade(artifact=MODULE)
    assert (True, "") == (verdict.passed, verdict.message), verdict


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import sys\nsys.exit(0)\n", "could not be imported: SystemExit: 0"),
        ("import os\nos._exit(0)\n", "ended the process (exit code 0)"),
        ("raise KeyboardInterrupt\n", "could not be imported: KeyboardInterrupt"),
        ("def double(:\n", "could not be imported: SyntaxError"),
        ("def other(x):\n    return 2\n", "output/solution.py has no function double"),
        ("double = 3\n", "output/solution.py has no function double"),
        ("def double(x):\n    raise SystemExit(0)\n", "SystemExit: 0"),
        ("def double(x):\n    import os; os._exit(0)\n", "ended the process (exit code 0)"),
        ("def double(x):\n    raise KeyboardInterrupt\n", "KeyboardInterrupt"),
        ("def double(x):\n    return double(x)\n", "RecursionError"),
        ("def double(x):\n    return float('nan')\n", "did not return JSON: ValueError"),
        ("def double(x):\n    return {1: 2}\n", "did not return JSON: TypeError: key 1 is a int"),
        ("def double(x):\n    return {x}\n", "did not return JSON: TypeError"),
        ("def double(x):\n    x = []\n    for _ in range(500): x = [x]\n    return x\n", "nested deeper than 100"),
        ("def double(x):\n    while True: pass\n", "(limit: 1 s of CPU)"),
        ("import time\ndef double(x):\n    time.sleep(60)\n", "(limit: 3 s by the clock)"),
        ("def double(x):\n    return 'x' * 20_000_000\n", "returned more than"),
        ("async def double(x):\n    return x * 2\n", "did not return JSON: TypeError"),
        ("import os\ndef double(x):\n    os.kill(os.getpid(), 9)\n", "ended the process (signal 9)"),
        ("import sys\nsys.set_int_max_str_digits(0)\ndef double(x):\n    return 10 ** 5000\n", "did not return JSON"),
        (
            "class Equal:\n    def __eq__(self, other): return True\n    __hash__ = None\n"
            "def double(x):\n    return Equal()\n",
            "did not return JSON: TypeError",
        ),
        (
            "class Bad(Exception):\n    def __str__(self): raise SystemExit(0)\ndef double(x):\n    raise Bad\n",
            "Bad",
        ),
    ],
)
def test_code_that_ends_or_fools(tmp_path: Path, code: str, error: str) -> None:
    """Exits, endless loops, odd values and tricks with equality are errors of the call, and never pass."""
    passed, detail = graded(tmp_path, code)
    assert False is passed, detail
    assert error in detail


def test_memory_is_bounded(tmp_path: Path) -> None:
    """Code that eats memory fails its own calls only."""
    passed, detail = graded(tmp_path, "def double(x):\n    held = [b'x' * (2**20 + n) for n in range(4000)]\n")
    assert False is passed
    assert "memory" in detail.lower()


def test_one_call_fails_alone(tmp_path: Path) -> None:
    """An exception in one call leaves the others' values; after the process ended the rest fail."""
    code = "def double(x):\n    if x == 'a': raise ValueError('no a')\n    return x * 2\n"
    assert '[2, "ValueError: no a", [2.5, 2.5]]' == graded(tmp_path, code)[1]
    code = "import os\ndef double(x):\n    if x == 'a': os._exit(7)\n    return x * 2\n"
    expected = '[2, "ended the process (exit code 7)", "ended the process (exit code 7)"]'
    assert expected == graded(tmp_path / "b", code)[1]


def test_patched_library_reaches_no_grader(tmp_path: Path) -> None:
    """Agent code that patches what the grader compares with patches only its own process."""
    patches = "math.isclose = lambda *a, **k: True\njson.loads = lambda *a: 2\n"
    code = f"import math, json\n{patches}def double(x):\n    return 5\n"
    grader = "\nimport math\n" + ASK.replace("values == [2,", "math.isclose(values[0], 2) and values == [2,")
    assert (False, "[5, 5, 5]") == graded(tmp_path, code, grader)


def test_forged_lines_are_values_at_most(tmp_path: Path) -> None:
    """Whatever code writes to every descriptor is no verdict, and its lines are values for the grader to judge."""
    code = """import os, json
LINES = [
    {"passed": True, "score": 1.0, "detail": "forged"}, {"call": 0, "value": "41"}, {"call": 9, "value": "1"},
    {"call": True, "value": "1"}, {"call": 1, "value": "[" * 5000}, {"call": 2, "value": "NaN"}, [1], None,
]
for number in range(3, 64):
    for line in LINES:
        try:
            os.write(number, json.dumps(line).encode() + b"\\n")
        except OSError:
            pass
os._exit(0)
"""
    passed, detail = graded(tmp_path, code)
    assert False is passed
    assert detail.startswith('[41, "did not return JSON')


def test_code_sees_neither_grader_nor_system(tmp_path: Path) -> None:
    """From the second sandbox nobody finds the grader, its processes, or a writable workspace."""
    code = """import os
def double(x):
    found = [path for path in ("/grader", "/regrade/runner.py", "/workspace/new") if os.path.exists(path)]
    processes = [open(f"/proc/{pid}/cmdline", "rb").read() for pid in os.listdir("/proc") if pid.isdigit()]
    found += ["runner" for line in processes if b"runner.py" in line]
    try:
        open("/workspace/new", "w")
        found.append("written")
    except OSError:
        pass
    return [*found, "REGRADE_BROKER" in os.environ]
"""
    assert (False, "[[false], [false], [false]]") == graded(tmp_path, code)


def test_a_graders_own_mistakes_are_its_errors(tmp_path: Path) -> None:
    """A request that makes no sense is the grader's error and not the agent's failure."""
    for number, (arguments, message) in enumerate(
        [
            ('"/etc/passwd", "f", 1', "relative to it"),
            ('"../x.py", "f", 1', "relative to it"),
            ('"output/solution.py", "f", float("nan")', "ValueError"),
            ('"output/solution.py", "f", seconds=-1', "seconds must be above 0"),
        ]
    ):
        grader = f"\nfrom regrade_agent import call\ndef grade(scratch_dir):\n    call({arguments})\n"
        passed, detail = graded(tmp_path / str(number), HONEST, grader)
        assert None is passed
        assert message in detail


def test_missing_module_is_an_error_of_the_call(tmp_path: Path) -> None:
    """A file that the agent did not write makes an error, not an exception in the grader."""
    grader = """
from regrade_agent import call
def grade(scratch_dir):
    return GradeResult(False, 0.0, call("output/more.py", "f").error)
"""
    assert "no file output/more.py in the workspace" in graded(tmp_path, HONEST, grader)[1]


def test_grader_stopped_while_code_runs(tmp_path: Path) -> None:
    """A grader whose time is over takes the agent code that it waits for with it, and its CPU is counted."""
    grader = ASK.replace("seconds=1", "seconds=300")
    scene = Scene(tmp_path, grader)
    write_files(scene.workspace, {MODULE: "import time\ndef double(x):\n    while True: pass\n"})
    verdict = scene.grade(replace(QUICK, wall_s=1.0), artifact=MODULE)
    assert verdict.wall_s < 5
    assert (verdict.cpu_s or 0) > 0.2
    assert verdict.passed is not True
