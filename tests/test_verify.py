"""The stage `verify`: a pack's script in the sandbox, and the grade that comes of it."""

import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from artifact_support import write_files
from benchpack_stages import VerifyStage, vectors
from regrade import digests, files

VECTORS = {vector["id"]: vector for vector in vectors("verifier")}
ANSWER = "import sys, json, os\no = sys.argv[sys.argv.index('--output') + 1]\n"


@pytest.mark.parametrize("identifier", VECTORS)
def test_known_answers(tmp_path: Path, identifier: str) -> None:
    """Every known answer comes out: exit code, forced fields, logs, and the row's scoring and repo_task."""
    asked, expected = VECTORS[identifier]["input"], VECTORS[identifier]["expected"]
    stage = VerifyStage(tmp_path, asked["script"], timeout_s=asked["timeout_s"], environment=asked["environment"])
    assert expected["json"] == stage.run()
    assert expected["exit_code"] == stage.outcome["exit_code"]
    assert (expected["stdout"], expected["stderr"]) == (stage.log("stdout").decode(), stage.log("stderr").decode())
    for path in expected["verify"].values():
        assert (tmp_path / path).is_file()
    made = stage.grade()
    assert (expected["scoring"], expected["repo_task"]) == (made["scoring"], made["repo_task"])
    reason = "" if expected["scoring"]["passed"] else "tests_failed"
    assert (expected["scoring"]["passed"], reason) == (made["passed"], made["reason"])
    assert 0 == made["detail"].count("None")


def test_as_a_command(tmp_path: Path) -> None:
    """The stage runs as a module and says what it was made from."""
    stage = VerifyStage(tmp_path, "")
    subprocess.run([sys.executable, "-m", "regrade.verify", json.dumps(stage.spec)], check=True)
    outcome = stage.outcome
    assert ("ok", True, "verify-1", 0) == tuple(outcome[key] for key in ("status", "passed", "digest", "attempt"))
    assert ("bubblewrap", True) == (outcome["sandbox"]["mode"], "no network" in outcome["sandbox"]["bounds"])
    assert {"rep-001.json", "rep-001.outcome.json", "rep-001.stdout.log", "rep-001.stderr.log"} == {
        path.name for path in (tmp_path / "verify/c").iterdir()
    }
    text = (tmp_path / "verify/c/rep-001.json").read_text()
    assert '{\n  "exit_code": 0,\n  "passed": true\n}\n' == text


def test_what_the_script_is_given(tmp_path: Path) -> None:
    """Arguments come in the format's order, the pack is the working folder, and every path leads to what it names."""
    look = (
        "print(json.dumps([sys.argv[1:], os.getcwd(), open(sys.argv[2] + '/a.txt').read(), "
        "open(sys.argv[12]).read(), open('fixtures/r/a.txt').read(), os.path.isdir(os.path.dirname(o))]))"
    )
    stage = VerifyStage(tmp_path, ANSWER + look)
    stage.run()
    words, cwd, changed, patch, fixture, has_folder = json.loads(stage.log("stdout"))
    names = ["--workspace", "--case", "--pack-id", "--pack-version", "--source-fixture-id", "--patch", "--output"]
    assert (names, ["c", "p", "1", "r"]) == (words[::2], words[3:10:2])
    assert all(word.startswith("/") for word in (words[1], words[11], words[13]))
    assert "/pack" == cwd
    assert ("changed\n", "--- a/x\n", "a\n", True) == (changed, patch, fixture, has_folder)


def test_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script sees a short list of variables, those that the configuration names, and the manifest's over both."""
    monkeypatch.setenv("SECRET_KEY", "s3cret")
    monkeypatch.setenv("TOOLCHAIN", "ours")
    monkeypatch.setenv("RUSTUP_HOME", "/opt/rust")
    stage = VerifyStage(
        tmp_path,
        "import os, json\nprint(json.dumps(dict(os.environ)))\n",
        environment={"TOOLCHAIN": "", "PYTHONPATH": "src"},
        verifier_env=["TOOLCHAIN", "RUSTUP_HOME", "NOT_SET"],
    )
    stage.run()
    seen = json.loads(stage.log("stdout"))
    assert ("", "src", "/opt/rust") == (seen["TOOLCHAIN"], seen["PYTHONPATH"], seen["RUSTUP_HOME"])
    known = {"PATH", "HOME", "LANG", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "TZ", "PWD", "SHLVL", "LC_CTYPE", "_"}
    assert set(seen) <= known | {"TOOLCHAIN", "PYTHONPATH", "RUSTUP_HOME"}
    assert "s3cret" not in "".join(path.read_text() for path in (tmp_path / "verify/c").iterdir())


def test_hostile_script_changes_nothing(tmp_path: Path) -> None:
    """A script can change its copy of the workspace, but not the pack, the trial's workspace or the patch."""
    script = """
import os, sys
workspace, patch = sys.argv[2], sys.argv[12]
for path in ("benchpack.toml", "verify/c.py", "fixtures/r/a.txt", "new", patch):
    try:
        open(path, "w").write("x")
        print("wrote", path)
    except OSError:
        pass
for call in (os.remove, os.rmdir, lambda path: os.chmod(path, 0o777)):
    for path in ("fixtures/r/a.txt", "fixtures", patch):
        try:
            call(path)
            print("changed", path)
        except OSError:
            pass
open(workspace + "/a.txt", "w").write("mine")
open(workspace + "/b.txt", "w").write("mine")
print(os.listdir("oracle"))
"""
    stage = VerifyStage(tmp_path, script)
    (stage.workspace / "linked.txt").hardlink_to(stage.pack / "fixtures/r/a.txt")
    before = [digests.of_folder(folder) for folder in (stage.pack, stage.workspace)]
    stage.run()
    assert (b"[]\n", b"") == (stage.log("stdout"), stage.log("stderr"))
    assert before == [digests.of_folder(folder) for folder in (stage.pack, stage.workspace)]
    assert "--- a/x\n" == (tmp_path / "patch/c/rep-001.diff").read_text()
    assert 2 == (stage.workspace / "linked.txt").stat().st_nlink


def test_links_stay_links(tmp_path: Path) -> None:
    """Links in a workspace are copied as links, and lead nowhere outside of the sandbox."""
    (tmp_path / "secret").write_text("secret")
    script = "import os, sys\nos.chdir(sys.argv[2])\nprint([os.readlink(n) for n in ('l', 'd')], os.path.exists('l'))\n"
    stage = VerifyStage(tmp_path, script)
    (stage.workspace / "l").symlink_to(tmp_path / "secret")
    (stage.workspace / "d").symlink_to(".")
    stage.run()
    assert f"['{tmp_path}/secret', '.'] False\n" == stage.log("stdout").decode()


def processes(word: str) -> int:
    """How many processes of this machine have a word in their command line."""
    found = 0
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += word.encode() in place.read_bytes()
    return found


def test_whole_tree_ends_with_the_time_limit(tmp_path: Path) -> None:
    """A grandchild in a session of its own, seen alive before the limit, is gone after it; what was printed is kept."""
    script = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "grandchild-of-verify"], start_new_session=True)
print("started", flush=True)
time.sleep(60)
"""
    stage = VerifyStage(tmp_path, script, timeout_s=1.5)
    running = subprocess.Popen([sys.executable, "-m", "regrade.verify", json.dumps(stage.spec)])
    while not processes("grandchild-of-verify"):
        assert running.poll() is None
        time.sleep(0.02)
    assert 0 == running.wait(timeout=20)
    assert 0 == processes("grandchild-of-verify")
    said = files.read_json(Path(stage.spec["output"]))
    assert {"exit_code": None, "passed": False, "timed_out": True, "timeout_s": 1.5} == said
    assert b"started\n" == stage.log("stdout")
    made = stage.grade()
    assert ("failed", "tests_failed") == (made["status"], made["reason"])
    assert made["detail"].startswith("the verifier was stopped by its wall limit after 1.")


def test_output_is_bytes_and_bounded(tmp_path: Path) -> None:
    """Output that is no UTF-8 is kept as it is; of too much the beginning and the end are."""
    script = "import sys\nsys.stdout.buffer.write(b'caf\\xe9 \\x00 \\x1b[31m')\nsys.stderr.write('y' * 5_000_000)\n"
    stage = VerifyStage(tmp_path, script)
    assert stage.run()["passed"]
    assert b"caf\xe9 \x00 \x1b[31m" == stage.log("stdout")
    assert 200_000 < len(stage.log("stderr")) < 300_000
    assert b"bytes omitted" in stage.log("stderr")


@pytest.mark.parametrize(
    ("write", "kept"),
    [
        ("json.dump({'note': 'é', 'passed': False, 'exit_code': 3}, open(o, 'w'))", {"note": "é"}),
        ("open(o, 'w').write('[1]')", {}),
        ("open(o, 'w').write('{\"a\": NaN}')", {}),
        ("open(o, 'w').write('{\"a\": 1e999}')", {}),
        ("open(o, 'w').write('[' * 100000)", {}),
        ("open(o, 'wb').write(b'\\xff')", {}),
        ("open(o, 'w').write('{\"a\": \"' + 'x' * 2_000_000 + '\"}')", {}),
        ("os.symlink('/etc/hostname', o)", {}),
        ("os.mkfifo(o)", {}),
        ("os.mkdir(o)", {}),
    ],
)
def test_what_the_script_says(tmp_path: Path, write: str, kept: dict[str, Any]) -> None:
    """A JSON object is kept with the process's own result in it; anything else is replaced by that."""
    assert {**kept, "exit_code": 0, "passed": True} == VerifyStage(tmp_path, ANSWER + write).run()


def test_empty_patch_fails_and_is_verified(tmp_path: Path) -> None:
    """A repetition that changed nothing has failed, even where the verifier passes, and its result is recorded."""
    for script, passed in (("", True), ("raise SystemExit(3)", False)):
        stage = VerifyStage(tmp_path, script, patch="")
        stage.run()
        made = stage.grade(reason="invalid_format", message="No fenced diff or patch block found")
        assert (False, 0.0, "failed", "empty_patch") == tuple(made[k] for k in ("passed", "score", "status", "reason"))
        assert {"mode": "verify-script", "passed": passed} == made["scoring"]
        assert ("passed" if passed else "failed") == made["repo_task"]["status"]
        assert (0 if passed else 3) == made["repo_task"]["verify_exit_code"]
        assert "No fenced diff or patch block found" == made["message"]
    assert "no_response" == stage.grade(reason="no_response")["reason"]


def test_rejected_patch(tmp_path: Path) -> None:
    """A patch that does not apply has failed for that reason, whatever the verifier found."""
    stage = VerifyStage(tmp_path, "", patch="")
    stage.run()
    made = stage.grade(reason="patch_rejected", message="Patch rejected: why")
    assert (False, "failed", "patch_rejected") == (made["passed"], made["status"], made["reason"])
    assert "Patch rejected: why" == made["message"]


def test_hints(tmp_path: Path) -> None:
    """An agent that ran out of time fails for that reason, and passes if its work is done."""
    stage = VerifyStage(tmp_path, "")
    stage.run()
    made = stage.grade(reason="agent_timeout", message="after 5 s")
    assert (True, "passed, though the trial ended with agent_timeout: after 5 s") == (made["passed"], made["message"])
    stage = VerifyStage(tmp_path, "raise SystemExit(1)")
    stage.run()
    assert "agent_timeout" == stage.grade(reason="agent_timeout")["reason"]


def test_session_that_broke_is_passed_on(tmp_path: Path) -> None:
    """Without a workspace nothing is verified; the error is the session's, and is noted only there."""
    stage = VerifyStage(tmp_path, "")
    stage.spec["workspace"] = str(tmp_path / "gone")
    assert {"exit_code": None, "passed": False} == stage.run()
    assert ("not_run", None) == (stage.outcome["status"], stage.outcome["passed"])
    assert not Path(stage.spec["errors"]).exists()
    made = stage.grade(status="error", reason="sandbox_error", message="git apply was stopped")
    assert (None, "error", "sandbox_error", None) == tuple(made[k] for k in ("passed", "status", "reason", "scoring"))
    assert "git apply was stopped" == made["message"]
    assert ("error", "sandbox_error") == (stage.grade()["status"], stage.grade()["reason"])


def test_failed_call_keeps_the_verifiers_result(tmp_path: Path) -> None:
    """Where the model's server gave nothing, the row still holds what the verifier said of the untouched repository."""
    stage = VerifyStage(tmp_path, "raise SystemExit(1)", patch="")
    stage.run()
    made = stage.grade(status="error", reason="provider_error", message="HTTP 500")
    assert (None, "error", "provider_error") == (made["passed"], made["status"], made["reason"])
    assert {"mode": "verify-script", "passed": False} == made["scoring"]


def test_script_that_is_not_there(tmp_path: Path) -> None:
    """A script that is missing or leads out of the pack is the task's error, said by name."""
    write_files(tmp_path, {"outside.py": ""})
    stage = VerifyStage(tmp_path, "")
    (stage.pack / "out.py").symlink_to(tmp_path / "outside.py")
    for script in ("verify/none.py", "../outside.py", "out.py"):
        stage.spec["script"] = script
        assert {"exit_code": None, "passed": False} == stage.run()
        assert ("error", "verifier_error") == (stage.outcome["status"], stage.outcome["reason"])
        assert f"has no file {script!r}" in stage.outcome["message"]
    assert ("error", "verifier_error") == (stage.grade()["status"], stage.grade()["reason"])
    assert ["verify verifier_error"] * 3 == [
        f"{row['stage']} {row['reason']}" for row in files.read_jsonl(Path(stage.spec["errors"]))
    ]


def test_pack_that_others_may_not_read(tmp_path: Path) -> None:
    """A pack whose modes keep others out is verified all the same, and its modes stay."""
    stage = VerifyStage(tmp_path, "print(open('fixtures/r/a.txt').read())")
    (stage.pack / "fixtures/r/a.txt").chmod(0o600)
    assert stage.run()["passed"]
    assert 0o100600 == (stage.pack / "fixtures/r/a.txt").stat().st_mode


@pytest.mark.parametrize(("script", "in_process"), [("open('x')", False), ("import subprocess", True)])
def test_scripts_that_run_the_models_code_are_marked(tmp_path: Path, script: str, in_process: bool) -> None:
    """A script that can run what it verifies is marked, as code beside it could forge an exit code."""
    stage = VerifyStage(tmp_path, script)
    stage.run()
    assert in_process is stage.grade()["in_process"]


def test_without_a_sandbox(tmp_path: Path) -> None:
    """Where the user allowed it a script runs on real paths, still on a copy, and the grade says so."""
    write = "open(sys.argv[2] + '/a.txt', 'w').write('x')\njson.dump({'cwd': os.getcwd()}, open(o, 'w'))"
    stage = VerifyStage(tmp_path, ANSWER + write, sandbox="none")
    assert {"cwd": str(stage.pack), "exit_code": 0, "passed": True} == stage.run()
    assert "changed\n" == (stage.workspace / "a.txt").read_text()
    assert "none" == stage.grade()["sandbox"]["mode"]
    assert ["rep-001.json", "rep-001.outcome.json", "rep-001.stderr.log", "rep-001.stdout.log"] == sorted(
        path.name for path in (tmp_path / "verify/c").iterdir()
    )
