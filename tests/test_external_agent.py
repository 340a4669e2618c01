"""What an external agent is handed, what it can reach, and what is kept of it."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from agent_support import ABOUT, Bench, vectors
from chat_server import ChatServer
from regrade import digests, external_agent, files, trial
from regrade.errors import RegradeError, SandboxError
from regrade.layout import RunPaths, TaskPaths

EXAMPLES = Path(__file__).parents[1] / "examples" / "external-agent"
MODES = pytest.mark.parametrize("mode", ["bubblewrap", "none"])


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def filled(value: Any, out: Path) -> Any:
    """A vector's answer with the real output directory."""
    return json.loads(json.dumps(value).replace("<abs out>", str(out)))


@pytest.mark.parametrize("vector", vectors("external-agent-argv"), ids=lambda vector: vector["id"])
def test_a_malformed_command_is_refused(vector: dict[str, Any]) -> None:
    """The setting is a JSON array of words; anything else is refused with the format's message."""
    with pytest.raises(RegradeError) as refused:
        external_agent.parse_argv(vector["input"]["BENCHPACK_EXTERNAL_AGENT_ARGV"])
    assert vector["expected"]["message"] == str(refused.value)


@pytest.mark.parametrize("text", ["agent --x", '["a", ""]', '["a", 1]', '["a\\u0000"]', '["\\ud800"]', "[" * 100_000])
def test_a_command_is_never_split_like_a_shell_would(text: str) -> None:
    """Plain command lines, empty words, NUL and what no program can be given are refused."""
    with pytest.raises(RegradeError, match="must be a JSON array"):
        external_agent.parse_argv(text)


def test_a_command_keeps_its_words() -> None:
    """Blanks and shell signs in a word mean nothing."""
    assert ["agent", "a b", "$HOME;*"] == external_agent.parse_argv('["agent", "a b", "$HOME;*"]')


SAYS_WHAT_IT_GOT = """\
import json, os, sys
about = {"argv": sys.argv[1:], "cwd": os.getcwd(), "leads": os.getsid(0) == os.getpgid(0) == os.getpid()}
print(json.dumps(about))
"""


@MODES
def test_the_command_line_and_where_it_runs(tmp_path: Path, mode: str) -> None:
    """Words are appended in the format's order, absolute, the workspace is the working directory, its own session."""
    bench, [vector] = Bench(tmp_path, mode), vectors("external-agent-command")
    bench.run(bench.agent(SAYS_WHAT_IT_GOT))
    said, expected = json.loads(bench.log("stdout.log")), filled(vector["expected"], bench.paths.run)
    assert expected["argv"][2:] == said["argv"]
    place = expected["cwd"] if mode == "bubblewrap" else str(bench.workspace)
    assert (place, expected["new_session"]) == (said["cwd"], said["leads"])


@MODES
def test_the_context_file(tmp_path: Path, mode: str) -> None:
    """It is the format's, to the byte, and lies there before the agent starts, which cannot change it."""
    bench, [vector] = Bench(tmp_path, mode), vectors("external-agent-context")
    bench.run(bench.agent("import sys; print(open(sys.argv[-1]).read(), end='')"))
    expected = json.dumps(filled(vector["expected"]["json"], bench.paths.run), sort_keys=True, indent=2) + "\n"
    assert expected == bench.log("context.json") == bench.log("stdout.log")


@MODES
def test_an_agent_that_fails_is_no_error(tmp_path: Path, mode: str) -> None:
    """Its exit code is a warning, its output is logged, and what it left counts."""
    bench, [vector] = Bench(tmp_path, mode), vectors("external-agent-outcome")
    acted = bench.run(bench.agent("import sys; open('new', 'w'); print('B', file=sys.stderr); sys.exit(5)"))
    logs = (bench.log("stdout.log"), bench.log("stderr.log"))
    assert (vector["expected"]["stdout_log"], vector["expected"]["stderr_log"]) == logs
    assert ("", ["agent: ended with exit code 5"]) == (acted.reason, acted.warnings)
    assert (bench.workspace / "new").exists()


STUBBORN = """\
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, lambda *_: open('asked', 'w').close())
subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
print('no newline', end='', flush=True)
print('half a line', end='', file=sys.stderr, flush=True)
while True: time.sleep(0.05)
"""


@MODES
def test_time_is_up(tmp_path: Path, mode: str) -> None:
    """The group is asked to end, then killed; what was written stays, and the log says what happened."""
    bench, began = Bench(tmp_path, mode), time.monotonic()
    acted = bench.run(bench.agent(STUBBORN), timeout_s=0.7)
    assert time.monotonic() - began < 8
    assert ("agent_timeout", []) == (acted.reason, acted.warnings)
    assert (bench.workspace / "asked").exists()
    note = "half a line\nExternal subprocess harness timed out after 0.7 seconds; process stopped.\n"
    assert ("no newline", note) == (bench.log("stdout.log"), bench.log("stderr.log"))


def test_an_agent_that_ends_when_asked_is_not_waited_for(bench: Bench) -> None:
    """Half a second is the longest wait, not the usual one."""
    acted = bench.run(bench.agent("import time; time.sleep(600)"), timeout_s=0.4)
    assert "agent_timeout" == acted.reason
    assert 0.4 <= acted.wall_s < 0.8


def test_without_a_time_of_its_own_the_trial_limit_holds(tmp_path: Path) -> None:
    """An agent that hangs for ever does not hold up a benchmark."""
    bench = Bench(tmp_path, trial_wall_s=0.5)
    assert "agent_timeout" == bench.run(bench.agent("import time; time.sleep(600)"), timeout_s=None).reason


LOOKS_AROUND = """\
import json, os, sys
found, seen = [], sys.argv[sys.argv.index('--output-dir') + 1]
for folder, folders, names in os.walk(seen):
    found += [os.path.relpath(os.path.join(folder, name), seen) for name in names]
    found += [os.path.relpath(os.path.join(folder, name), seen) + '/' for name in folders]
hidden = [path for path in HIDDEN if os.path.exists(path)]
print(json.dumps({'found': sorted(found), 'hidden': hidden, 'environment': sorted(os.environ)}))
"""


def test_the_run_directory_is_empty_but_for_this_trial(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither other trials nor the pack, other results, the repository or variables that were not named are there."""
    monkeypatch.setenv("NAMED", "1")
    monkeypatch.setenv("NOT_NAMED", "1")
    bench.write(bench.paths.run / "raw/c.response.json", "{}")
    bench.write(bench.paths.run / "task/c/rep-002.context.json", "{}")
    bench.write(bench.paths.run / "workspace/c/rep-002/a.txt", "a")
    bench.prepare()
    hidden = [str(path) for path in (bench.pack, bench.shared.folder, Path(__file__))]
    bench.run(bench.agent(LOOKS_AROUND.replace("HIDDEN", repr(hidden)), env=["NAMED"]))
    said = json.loads(bench.log("stdout.log"))
    folders = ["task/", "task/c/", "workspace/", "workspace/c/", "workspace/c/rep-001/"]
    assert sorted([*folders, "task/c/rep-001.context.json", "workspace/c/rep-001/a.txt"]) == said["found"]
    assert [] == said["hidden"]
    assert ["HOME", "LANG", "NAMED", "PATH", "PYTHONDONTWRITEBYTECODE"] == said["environment"]


HOSTILE = """\
import contextlib, os, pathlib, sys
context, run = sys.argv[-1], sys.argv[sys.argv.index('--output-dir') + 1]
mine = ['run.jsonl', 'hardware.json', 'raw/c.response.json', 'task/c/rep-001.trial.json', 'task/c/measured.jsonl']
for target in [*PLACES, context, *(f'{run}/{name}' for name in mine)]:
    for attack in (os.remove, os.rmdir, lambda name: os.chmod(name, 0), lambda name: os.rename(name, 'stolen')):
        with contextlib.suppress(OSError):
            attack(target)
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        pathlib.Path(target).write_text('owned')
os.symlink('/etc/passwd', 'host')
os.symlink('../../..', 'up')
os.symlink(PLACES[0], 'there')
os.mkfifo('fifo')
os.chmod('a.txt', 0)
os.makedirs('locked/in')
os.chmod('locked', 0)
"""


def test_a_hostile_agent_changes_nothing_but_its_workspace(bench: Bench) -> None:
    """The pack, the inputs, its context and every other file of the run are as before, to the bit."""
    bench.prepare()
    spec = bench.spec({"id": "external-agent"})
    bench.write(bench.paths.run / "raw/c.response.json", "{}")
    places = [bench.pack / "benchpack.toml", bench.pack / "verify/c.py", bench.shared.pristine / "a.txt"]
    spec["agent"] = vars(bench.agent(HOSTILE.replace("PLACES", repr([str(place) for place in places]))))
    before = [digests.of_folder(folder) for folder in (bench.pack, bench.shared.folder)]
    outcome = bench.session(spec)
    assert before == [digests.of_folder(folder) for folder in (bench.pack, bench.shared.folder)]
    assert ("ok", "", []) == (outcome["status"], outcome["reason"], outcome["warnings"]), bench.log("stderr.log")
    assert ABOUT["pack"] == json.loads(bench.log("context.json"))["pack"]
    assert "{}" == (bench.paths.run / "raw/c.response.json").read_text()
    task = {"rep-001.context.json", "rep-001.stderr.log", "rep-001.stdout.log", "rep-001.trial.json", "measured.jsonl"}
    expected = {"patch/c/rep-001.diff", "raw/c.response.json", *(f"task/c/{name}" for name in task)}
    assert expected == {name for name, _ in digests.walk(bench.paths.run) if not name.startswith("workspace/")}
    assert ["fifo"] == outcome["special_files"]
    assert sorted(os.listdir(bench.paths.workspace)) == ["a.txt", "host", "locked", "there", "up"]


@MODES
def test_the_model_call_file_is_kept_and_nothing_else_beside_it(tmp_path: Path, mode: str) -> None:
    """It is not made beforehand, may be written by renaming, and is the agent's own bytes."""
    bench = Bench(tmp_path, mode)
    code = "import json, os, sys; path = json.load(open(sys.argv[-1]))['run']['model_call_log_path']\n"
    code += "assert not os.path.exists(path); open(path + '.new', 'w').write('{}\\n'); os.replace(path + '.new', path)"
    assert [] == bench.run(bench.agent(code)).warnings, bench.log("stderr.log")
    assert "{}\n" == bench.log("model-calls.jsonl")
    bench.run(bench.agent("pass"))
    assert not bench.paths.log("model-calls.jsonl").exists()


@pytest.mark.parametrize("make", ["os.symlink('/etc/passwd', path)", "os.mkdir(path)", "os.mkfifo(path)"])
def test_a_model_call_file_that_is_none(bench: Bench, make: str) -> None:
    """Links, folders and fifos under its name are not followed, not opened and not kept."""
    code = f"import json, os, sys; path = json.load(open(sys.argv[-1]))['run']['model_call_log_path']; {make}"
    acted = bench.run(bench.agent(code))
    assert ["agent: rep-001.model-calls.jsonl is no regular file, not kept"] == acted.warnings
    assert not os.path.lexists(bench.paths.log("model-calls.jsonl"))


def test_a_model_call_file_without_end_is_cut_at_a_line(bench: Bench) -> None:
    """Whole lines up to the bound are kept, and a warning says so."""
    code = "import json, sys; path = json.load(open(sys.argv[-1]))['run']['model_call_log_path']\n"
    acted = bench.run(bench.agent(code + "open(path, 'w').write(('x' * 999 + '\\n') * 5000)"))
    assert 4194000 == bench.paths.log("model-calls.jsonl").stat().st_size
    assert ["agent: rep-001.model-calls.jsonl has 5000000 bytes, only the first 4194000 are kept"] == acted.warnings


@MODES
def test_keys_reach_the_agent_and_no_file(tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A named variable is passed on; the value of one that is named like a key is taken out of all that is kept."""
    bench, key = Bench(tmp_path, mode), "k3y-that-nobody-may-see"
    monkeypatch.setenv("AGENT_API_KEY", key), monkeypatch.setenv("AGENT_HOST", "example.org")
    code = "import json, os, sys; key = os.environ['AGENT_API_KEY']\n"
    code += "print(key, os.environ['AGENT_HOST']); print(key, file=sys.stderr); open('dump', 'w').write('x' + key)\n"
    code += "open(json.load(open(sys.argv[-1]))['run']['model_call_log_path'], 'w').write(key)"
    acted = bench.run(bench.agent(code, env=["AGENT_API_KEY", "AGENT_HOST"]))
    assert "[redacted] example.org\n" == bench.log("stdout.log")
    assert ["agent: wrote a key into dump, taken out"] == acted.warnings
    kept = [Path(entry.path).read_bytes() for _, entry in digests.walk(bench.results)]
    assert not [content for content in kept if key.encode() in content]
    assert b"x[redacted]" in kept


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"env": ["NO_SUCH_VARIABLE_HERE"]}, "names NO_SUCH_VARIABLE_HERE, not set here"),
        ({"read": ["/"]}, "which an agent must not see"),
        ({"read": ["{results}"]}, "which an agent must not see"),
        ({"read": ["/no/such/folder"]}, "cannot be mounted"),
    ],
)
def test_what_an_agent_cannot_be_given(bench: Bench, given: dict[str, Any], message: str) -> None:
    """A variable that is not set, tasks, results and what is not there are refused before the agent starts."""
    given = {key: [value.format(results=bench.results) for value in values] for key, values in given.items()}
    with pytest.raises(SandboxError, match=message):
        bench.run(bench.agent("open('ran', 'w')", **given))
    assert not (bench.workspace / "ran").exists()


def test_a_command_that_cannot_be_started(bench: Bench) -> None:
    """It is the user's mistake, not an answer: the error says what the sandbox shows."""
    with pytest.raises(SandboxError, match=r"no-such-agent: No such file.* what the agent's `read` lists"):
        bench.run(external_agent.Agent(["no-such-agent"]))


def test_an_installation_is_shown_where_it_is_named(bench: Bench) -> None:
    """A folder in `read` is there at its own path, and cannot be written."""
    program = bench.write(bench.folder / "opt/bin/agent", '#!/bin/sh\ncat "$(dirname $0)/../data"; echo >> "$0"\n')
    program.chmod(0o755)
    bench.write(bench.folder / "opt/data", "found\n")
    bench.run(external_agent.Agent([str(program)], read=[str(bench.folder / "opt")]))
    assert "found\n" == bench.log("stdout.log")
    assert bench.log("stderr.log").startswith(f"{program}: 2: cannot create {program}")


def test_an_agent_reaches_its_model(bench: Bench) -> None:
    """The network is there; the example that calls a server writes its answer and one safe line."""
    with ChatServer([{"body": {"content": "from the server\n"}}]) as server:
        url = f"http://127.0.0.1:{server.port}/call"
        words = ["python3", str(EXAMPLES / "model-call-agent.py"), "--model-call-url", url]
        acted = bench.run(external_agent.Agent(words))
        assert {"case": "c", "repetition": 1, "model": "m"} == server.requests[0]["body"]
    assert [] == acted.warnings, bench.log("stderr.log")
    assert "from the server\n" == (bench.workspace / "model-call-answer.txt").read_text()
    call = json.loads(bench.log("model-calls.jsonl"))
    assert (1, 1, "m", True, "loopback") == tuple(
        call[k] for k in ("schema_version", "sequence", "model", "ok", "endpoint")
    )
    assert str(server.port) not in bench.log("model-calls.jsonl")


@pytest.mark.parametrize(
    "url", ["http://example.org/", "https://127.0.0.1/", "http://u:p@localhost/", "http://[::1]/?k=1"]
)
def test_the_example_calls_only_this_machine(bench: Bench, url: str) -> None:
    """Other hosts, other schemes, credentials and queries are refused before anything is sent."""
    words = ["python3", str(EXAMPLES / "model-call-agent.py"), "--model-call-url", url]
    assert ["agent: ended with exit code 2"] == bench.run(external_agent.Agent(words)).warnings


def test_the_reference_agent_checks_what_it_is_handed(bench: Bench) -> None:
    """It agrees with its context, leaves its marker and logs a call."""
    acted = bench.run(external_agent.Agent(["python3", str(EXAMPLES / "reference-agent.py")]))
    assert [] == acted.warnings, bench.log("stderr.log")
    assert "p/c, repetition 1\n" == (bench.workspace / "reference-agent.txt").read_text()
    assert '{"schema_version": 1, "sequence": 1, "model": "m", "ok": true}\n' == bench.log("model-calls.jsonl")


WRITES_42 = """\
import json, os, re, sys
prompt = json.load(open(sys.argv[-1]))['case']['prompt']
artifact = re.search('Output artifact: (.*)', prompt)[1]
os.makedirs(os.path.dirname(artifact))
open(artifact, 'w').write('42')
"""


def artifact_trial(bench: Bench, code: str, **spec: Any) -> tuple[Path, dict[str, Any]]:
    """The trial of an arm with an external agent on an artifact task: its workspace and its outcome."""
    shared = TaskPaths(bench.results, "artifact", "algorithmic", "alpha")
    files.write_json(shared.inputs, {"status": "ok", "reason": None, "message": None, "files": {}})
    shared.pristine.mkdir()
    task = {"id": "algorithmic__alpha", "collection": "algorithmic", "case": "alpha", "digest": "4" * 64}
    task |= {"output_artifact": "output/answer.txt", "max_code_runs": 0, "max_wall_seconds": 0.5}
    task["prompt"] = str(bench.write(bench.folder / "prompt.md", "Write 42.\n"))
    arm = {"name": "asked", "harness": "external-agent", "command": bench.agent(code).argv}
    whole = {
        "format": "artifact",
        "harness": "external-agent",
        "task": task,
        "arm": arm,
        "repetition": 1,
        "single": True,
        "digest": "5" * 64,
        "attempt": 0,
        **spec,
    }
    trial.main(json.dumps(whole), json.dumps(bench.config.to_value()))
    paths = RunPaths(bench.results, "asked", "artifact", "algorithmic").trial("alpha", 1)
    return paths.workspace, files.read_json(paths.outcome)


def test_an_arm_with_an_external_agent_works_on_an_artifact_task(bench: Bench) -> None:
    """Nobody else is asked; the prompt names the artifact where the agent finds its workspace."""
    workspace, outcome = artifact_trial(bench, WRITES_42)
    assert ("ok", "", [], None) == tuple(outcome[name] for name in ("status", "reason", "warnings", "model"))
    assert "42" == (workspace / "output/answer.txt").read_text()


def test_an_enforced_budget_ends_an_agent(bench: Bench) -> None:
    """max_wall_seconds of the task is the agent's time where budgets bind, and the reason says so."""
    _, outcome = artifact_trial(bench, "import time; time.sleep(600)", enforce_budgets=True)
    assert ("ok", "budget_exceeded") == (outcome["status"], outcome["reason"])
