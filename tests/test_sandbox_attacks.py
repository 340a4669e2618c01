"""Attacks on the sandbox. Each first succeeds without it, or is shown to have a live target."""

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox_support import IDENTITIES, Someone, someone

ANSWER = "the-hidden-answer-42"


@pytest.fixture(params=IDENTITIES)
def who(request: pytest.FixtureRequest) -> Iterator[Someone]:
    """Everybody who may run sandboxes here."""
    yield from someone(request.param)


@pytest.fixture
def victim(who: Someone) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the same identity outside, with a telling command line."""
    words = ["sh", "-c", f"echo up; read wait; : {ANSWER}"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=who.uid, group=who.uid)
    assert process.stdout and process.stdout.read(2) == b"up"
    yield process
    process.kill()
    process.communicate()


def test_reading_a_grader(who: Someone) -> None:
    """A file outside is read neither by its path, nor through a link, nor by climbing, nor through process 1."""
    grader = who.secrets / "hidden.py"
    grader.write_text(ANSWER)
    (who.workspace / "link").symlink_to(grader)
    (who.workspace / "up").symlink_to("../secrets/hidden.py")
    tries = [str(grader), "link", "up", "../secrets/hidden.py", f"/proc/1/root{grader}", f"/proc/1/cwd{grader}"]
    words = ["sh", "-c", 'for f in "$@"; do cat "$f"; done', "sh", *tries]
    assert ANSWER in who.run(words, mode="none").text
    assert "" == who.run(words).text


READ_ENVIRONMENTS = """
import os, sys
for pid in filter(str.isdigit, os.listdir('/proc')):
    try: print(open(f'/proc/{pid}/environ').read())
    except OSError: pass
print(dict(os.environ))
"""


def test_reading_a_key(who: Someone) -> None:
    """A key in the caller's environment is in no environment that the command can see."""
    assert ANSWER in who.python(READ_ENVIRONMENTS, mode="none", key=ANSWER).text
    inside = who.python(READ_ENVIRONMENTS, key=ANSWER)
    assert "LANG" in inside.text
    assert ANSWER not in inside.text


def test_writing_outside(who: Someone) -> None:
    """Nothing outside the writable mount changes, and the system is read-only."""
    planted = who.secrets / "planted"
    code = (
        "import os, sys\n"
        "for place in sys.argv[1:]:\n"
        "    try: os.makedirs(os.path.dirname(place), exist_ok=True); open(place, 'w').write('x'); print(place)\n"
        "    except OSError: pass"
    )
    assert str(planted) == who.python(code, str(planted), mode="none").text
    planted.unlink()
    system = ["/planted", "/usr/lib/planted", "/etc/planted", "/dev/planted", "/run/planted", "/run/python/planted"]
    assert str(planted) == who.python(code, str(planted), *system).text  # below a /tmp of its own
    assert not planted.exists()


PLANT = """
import glob, os, sys
os.close(int(os.environ['RESULT_FD']))
places = [word.format(*os.environ['DRIVER'].split()) for word in sys.argv[1:]] or glob.glob('/proc/*/fd/*')
mine = f'/proc/{os.getpid()}/'
for place in places:
    if not place.startswith((mine, '/proc/self/', '/proc/thread-self/')):
        try: os.write(os.open(place, os.O_WRONLY | os.O_NONBLOCK), b'PLANTED'); print(place)
        except OSError: pass
"""


def test_planting_a_grade(who: Someone) -> None:
    """Nobody else's descriptor can be written: neither a grader's outside nor the supervisor's."""
    outside = who.python(PLANT, "/proc/{}/fd/{}", mode="none", pipe=True)
    assert b"PLANTED" == outside.piped
    inside = who.python(PLANT, pipe=True)
    assert (b"", "", 0) == (inside.piped, inside.text, inside.exit_code)


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(3): os.close(descriptor)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            with open('beats', 'a') as stream: stream.write('x')
            time.sleep(0.02)
    os._exit(0)
while not os.path.exists('beats'): time.sleep(0.01)
"""


def is_beating(workspace: Path) -> bool:
    """Whether a daemon that has once written still does."""
    before = (workspace / "beats").stat().st_size
    time.sleep(0.3)
    return (workspace / "beats").stat().st_size > before > 0


def test_surviving_the_end(who: Someone) -> None:
    """A daemon in a session of its own outlives a plain command, and not a sandbox."""
    who.python(DAEMON.replace("+ 10", "+ 1"), mode="none")
    assert is_beating(who.workspace)
    time.sleep(1)
    (who.workspace / "beats").unlink()
    assert 0 == who.python(DAEMON).exit_code
    assert not is_beating(who.workspace)


def test_surviving_a_kill_of_regrade(who: Someone) -> None:
    """Whoever called the sandbox is killed with -9: the daemon inside dies too."""
    command = who.request(["python", "-I", "-S", "-c", f"{DAEMON}\ntime.sleep(10)"])
    driver = subprocess.Popen(who.words(), stdin=subprocess.PIPE, start_new_session=True)
    assert driver.stdin
    driver.stdin.write(command.encode())
    driver.stdin.close()
    wait_for(lambda: (who.workspace / "beats").exists())
    assert is_beating(who.workspace)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    wait_for(lambda: not is_beating(who.workspace))


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "did not happen within 10 s"
        time.sleep(0.05)


FORKS = """
import os, time
made = 0
try:
    for _ in range(60):
        if os.fork() == 0:
            time.sleep(0.5)
            os._exit(0)
        made += 1
except OSError: pass
print(made, flush=True)
time.sleep(0.2)
"""


def test_a_fork_bomb(who: Someone) -> None:
    """The number of processes is bounded."""
    limits = {"processes": 20}
    assert "60" == who.python(FORKS, mode="none", limits=limits).text
    inside = who.python(FORKS, limits=limits)
    assert inside.stopped_by == "processes" or int(inside.text) < 20


EAT = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        block = b'x' * 50_000_000
        time.sleep(0.6)
        os._exit(0)
for _ in range(6): os.wait()
print('eaten')
"""

SHARED = """
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
for _ in range(6):
    number = libc.shmget(0, 50_000_000, 0o1600)
    place = libc.shmat(number, None, 0)
    ctypes.memset(place, 1, 50_000_000)
    libc.shmdt(ctypes.c_void_p(place))
    libc.shmctl(number, 0, None) if MODE == 'none' else None
import time; time.sleep(0.2); print('eaten')
"""


@pytest.mark.parametrize("attack", [EAT, SHARED], ids=["processes", "segments"])
def test_a_memory_bomb(who: Someone, attack: str) -> None:
    """Memory is bounded in sum, over processes and in segments that belong to none."""
    limits = {"memory_mb": 150}
    assert "eaten" == who.python(f"MODE = 'none'\n{attack}", mode="none", limits={}).text
    inside = who.python(f"MODE = ''\n{attack}", limits=limits)
    assert ("memory", 9, "") == (inside.stopped_by, inside.signal, inside.text)


HIDDEN_MEMORY = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
try: os.memfd_create('x'); print('memfd')
except OSError: pass
if os.fork() == 0: os._exit(libc.unshare(0x10000000) != 0)
print('namespace' if os.wait()[1] == 0 else '')
"""


def test_memory_that_no_process_shows(who: Someone) -> None:
    """Memory files are refused, and so are user namespaces, in which memory can be mounted."""
    assert ["memfd", "namespace"] == who.python(HIDDEN_MEMORY, mode="none").text.split()
    assert "" == who.python(HIDDEN_MEMORY).text


MANY_FILES = "for i in range(40): open(f'f{i}', 'wb').write(bytes(1_000_000)); time.sleep(0.01)"
ONE_FILE = "open('f', 'wb').write(bytes(40_000_000))"
EMPTY_FILES = "for i in range(4_000): open(f'f{i}', 'w').close()"
UNNAMED = (
    "kept = []\n"
    "for i in range(40):\n"
    "    kept.append(open('f', 'wb')); kept[-1].write(bytes(1_000_000)); os.unlink('f'); time.sleep(0.01)"
)
OUT_OF_SIGHT = (
    "os.makedirs('a/b'); os.chdir('a/b'); os.chmod('..', 0)\n"
    "for i in range(40): open(f'f{i}', 'wb').write(bytes(1_000_000)); time.sleep(0.01)"
)


@pytest.mark.parametrize(
    "attack",
    [MANY_FILES, ONE_FILE, EMPTY_FILES, UNNAMED, OUT_OF_SIGHT],
    ids=["many", "one", "empty", "unnamed", "hidden"],
)
def test_filling_the_disk(who: Someone, attack: str) -> None:
    """What is written below the writable mounts is bounded, whatever form it has."""
    code = f"import os, time\n{attack}\ntime.sleep(0.6); print('filled')"
    assert "filled" == who.python(code, mode="none").text
    subprocess.run(["sh", "-c", f"chmod -R 755 {who.workspace}; rm -r {who.workspace}/*"], check=False)
    inside = who.python(code, limits={"disk_mb": 2})
    assert "filled" not in inside.text
    assert inside.stopped_by == "disk" or b"File too large" in inside.stderr


def test_filling_memory_through_the_system(who: Someone) -> None:
    """The folders that live in memory are small or read-only."""
    code = (
        "import os\n"
        "for place in ('/tmp', '/dev/shm', '/dev', '/', '/run', '/var'):\n"
        "    try:\n"
        "        with open(f'{place}/fill', 'wb') as stream:\n"
        "            for _ in range(400): stream.write(bytes(1_000_000))\n"
        "        print('FILLED', place)\n"
        "    except OSError as error: print(place, error.strerror)\n"
        "    finally:\n"
        "        if os.path.exists(f'{place}/fill'): os.unlink(f'{place}/fill')"
    )
    outcome = who.python(code).text
    assert "FILLED" not in outcome
    assert "/tmp No space left on device" in outcome
    assert "/dev/shm No space left on device" in outcome


def test_reaching_the_network(who: Someone) -> None:
    """A server on this machine's own loopback is out of reach, by port and by abstract name."""
    name = f"\0regrade-test-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(name)
        local.listen()
        code = (
            "import socket, sys\n"
            "for address in (('127.0.0.1', int(sys.argv[1])), '\\0' + sys.argv[2]):\n"
            "    try: socket.create_connection(address, 2) if type(address) is tuple else "
            "socket.socket(socket.AF_UNIX).connect(address); print('reached')\n"
            "    except OSError: pass"
        )
        words = (code, str(server.getsockname()[1]), name[1:])
        assert ["reached", "reached"] == who.python(*words, mode="none").text.split()
        assert "" == who.python(*words).text
        assert ["reached", "reached"] == who.python(*words, network=True).text.split()


SIGNALS = """
import ctypes, os, resource, sys
pid = int(sys.argv[1])
done = []
for number in range(1, 65):
    if number not in (17, 18, 19, 20, 21, 22):
        try: os.kill(pid, number); done.append(number)
        except OSError: pass
print(done)
"""

MEDDLING = """
import ctypes, os, resource
libc = ctypes.CDLL(None)
for name, act in {
    'signals': lambda: [os.kill(1, number) for number in range(1, 65)],
    'limits': lambda: print('LIMITED', resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 3))),
    'place': lambda: print('MOVED', os.sched_setaffinity(1, {0})),
    'priority': lambda: print('SLOWED', os.setpriority(os.PRIO_PROCESS, 1, 19)),
    'memory': lambda: print('READ', open('/proc/1/mem', 'rb')),
    'trace': lambda: print('TRACED') if libc.ptrace(16, 1, None, None) == 0 else None,
}.items():
    try: act()
    except OSError: pass
print('still there')
"""


def test_attacking_the_supervisor(who: Someone) -> None:
    """Process 1 can be neither signalled nor bounded nor slowed down nor traced, and goes on to report."""
    inside = who.python(MEDDLING)
    assert ("still there", 0, None) == (inside.text, inside.exit_code, inside.stopped_by)
    slept = who.python(f"{MEDDLING}\nimport time; time.sleep(5)", limits={"wall_s": 0.4})
    assert "wall" == slept.stopped_by


def test_signalling_others(who: Someone, victim: "subprocess.Popen[bytes]") -> None:
    """A process outside is not there to be killed; without a sandbox it dies."""
    assert "[]" == who.python(SIGNALS, str(victim.pid)).text
    assert victim.poll() is None
    assert "[]" != who.python(SIGNALS, str(victim.pid), mode="none").text
    assert 0 > victim.wait(timeout=5)


def test_seeing_others(who: Someone, victim: "subprocess.Popen[bytes]") -> None:
    """No process of the machine is visible, and no path of the host in a command line."""
    words = ["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"]
    assert ANSWER in who.run(words, mode="none").text
    inside = who.run(words).text
    assert "supervisor.py" in inside
    assert ANSWER not in inside
    assert str(who.workspace) not in inside


def test_links_left_behind(who: Someone) -> None:
    """A link from the workspace to a private file outside opens nothing, during the run or after it."""
    private = who.secrets / "private"
    private.write_text(ANSWER)
    private.chmod(0o600)
    before = private.stat()
    who.run(["sh", "-c", f"ln -s {private} left; ln -s {who.secrets} folder; echo x > left"])
    after = private.stat()
    assert (before.st_mode, before.st_uid, ANSWER) == (after.st_mode, after.st_uid, private.read_text())


BURN = """
import os, signal, time
IGNORE
for _ in range(8):
    if os.fork() == 0:
        while time.process_time() < 0.25: pass
        os._exit(0)
    time.sleep(0.3)
print('burnt')
"""


@pytest.mark.parametrize("ignore", ["", "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"], ids=["plain", "unwaited"])
def test_burning_cpu_in_children(who: Someone, ignore: str) -> None:
    """The CPU of dead children counts, also of those that nobody waited for."""
    code = BURN.replace("IGNORE", ignore)
    limits = {"cpu_s": 0.8}
    assert "burnt" == who.python(code, mode="none", limits=limits).text
    inside = who.python(code, limits=limits)
    assert ("cpu", "") == (inside.stopped_by, inside.text)
    assert inside.cpu_s is not None and 0.7 < inside.cpu_s < 1.5


def test_flooding_the_output(who: Someone) -> None:
    """Of 100 MB printed, the head, the tail and a count are kept."""
    words = ["sh", "-c", "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last"]
    ran = who.run(words, limits={"output_kb": 4})
    assert ran.exit_code == 0
    assert ran.stdout.startswith(b"first\nxxx")
    assert ran.stdout.endswith(b"xxx\nlast\n")
    assert f"\n... {100000012 - 4096} bytes omitted ...\n".encode() in ran.stdout
    assert len(ran.stdout) < 4200


def test_holding_the_output_open(who: Someone) -> None:
    """A daemon that keeps stdout open does not keep the caller waiting."""
    ran = who.run(["sh", "-c", "setsid sleep 15 & echo done"])
    assert ("done", True) == (ran.text, ran.wall_s < 5)


def test_a_folder_too_deep_to_walk(who: Someone) -> None:
    """Thousands of nested folders stop nobody afterwards: they are removed."""
    code = "import os\nfor _ in range(1000): os.mkdir('NAME'); os.chdir('NAME')"
    assert 0 == who.python(code).exit_code
    assert 0 < len(list(who.workspace.rglob("*"))) < 100
    assert "disk" == who.python(code.replace("NAME", "other"), limits={"disk_mb": 100}).stopped_by


def test_keys_of_the_kernel(who: Someone) -> None:
    """Key rings, which the whole machine shares by user, are refused."""
    code = "import ctypes; print(ctypes.CDLL(None).syscall(250 if MACHINE == 'x86_64' else 219, 0, -3, 1) > 0)"
    code = f"import os; MACHINE = os.uname().machine\n{code}"
    assert "True" == who.python(code, mode="none").text
    assert "False" == who.python(code).text


def test_many_sandboxes_at_once(who: Someone) -> None:
    """Sandboxes started from several threads do not disturb each other."""
    texts: list[str] = []

    def run() -> None:
        texts.append(who.run(["sh", "-c", "sleep 0.2; echo ok"]).text)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ["ok"] * 4 == texts
