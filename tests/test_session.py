"""The task phase of a pack's repo-task case."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent_support import Bench
from regrade import files
from regrade.errors import RegradeError

GOOD = "Here it is.\n```diff\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n```\n"
BAD = GOOD.replace("-a\n", "-other\n")
EXTERNAL = {"id": "external-agent"}
AGENT = "open('a.txt', 'w').write('c\\n'); print('working')"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    found = Bench(tmp_path)
    found.prepare(src__run__sh="echo\n", lib__util="x\n")
    return found


def test_a_patch_is_applied_and_captured(bench: Bench) -> None:
    """The workspace is changed, the patch shows it, unchanged files become links to the pristine ones."""
    outcome = bench.session(bench.spec(), text=GOOD)
    assert ("ok", "", "fenced-patch", "m", 1) == tuple(
        outcome[name] for name in ("status", "reason", "harness", "model", "turns")
    )
    assert "b\n" == (bench.paths.workspace / "a.txt").read_text()
    assert "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n" == bench.paths.patch.read_text()
    assert "a\n" == (bench.shared.pristine / "a.txt").read_text()
    assert (bench.paths.workspace / "lib/util").samefile(bench.shared.pristine / "lib/util")
    assert ("Applied fenced model patch to workspace.\n", "") == (bench.log("stdout.log"), bench.log("stderr.log"))


def test_an_outcome_holds_the_numbers_of_the_measured_call(bench: Bench) -> None:
    """Timing, tokens, digests and warnings are those of the row, with null for what it does not have."""
    outcome = bench.session(bench.spec(), text=GOOD, warnings=["no usage"])
    assert 1.5 == outcome["timing"]["wall_s"]
    assert {"prompt": 10, "output": 2, "cached_prompt": None, "reasoning": None} == outcome["tokens"]
    assert ("p/c", "2" * 64, "0" * 64, "3" * 64) == (
        outcome["task"], *(outcome["digests"][name] for name in ("task", "request", "trial"))
    )  # fmt: skip
    assert (["no usage"], "stop") == (outcome["warnings"], outcome["finish_reason"])


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"text": BAD}, "patch_rejected"),
        ({"text": "no patch at all"}, "invalid_format"),
        ({"text": ""}, "no_response"),
        ({"text": "```diff\n", "reason": "truncated", "message": "cut"}, "truncated"),
        ({"text": "```diff\n\n```\n"}, "empty_patch"),
    ],
)
def test_an_answer_that_changes_nothing(bench: Bench, row: dict[str, Any], reason: str) -> None:
    """The trial is over and can be verified; its reason says what was wrong with the answer; the patch is empty."""
    outcome = bench.session(bench.spec(), **row)
    assert ("ok", reason, b"") == (outcome["status"], outcome["reason"], bench.paths.patch.read_bytes())
    assert "a\n" == (bench.paths.workspace / "a.txt").read_text()
    assert "" != bench.log("stderr.log")


def test_a_failed_call_is_an_error_that_still_leaves_a_workspace(bench: Bench) -> None:
    """The stages behind it run on the empty text; trying again is the measuring stage's, so nothing is noted here."""
    failed = {"ok": False, "error": "HTTP 500: no", "reason": "provider_error", "message": "HTTP 500: no"}
    outcome = bench.session(bench.spec(), **failed)
    assert ("error", "provider_error", "HTTP 500: no") == tuple(outcome[k] for k in ("status", "reason", "message"))
    assert bench.paths.workspace.is_dir()
    assert not bench.paths.errors.exists()


def test_an_external_agent_acts_in_the_place_of_the_answer(bench: Bench) -> None:
    """What it changed is the trial; the answer of the measured call beside it is not applied, its failure a warning."""
    spec = bench.spec({**EXTERNAL, "timeout_s": 20.0}, **vars(bench.agent(AGENT)))
    outcome = bench.session(spec, text=GOOD, reason="provider_error", message="HTTP 500: no")
    assert ("ok", "", "external-agent") == tuple(outcome[name] for name in ("status", "reason", "harness"))
    assert "c\n" == (bench.paths.workspace / "a.txt").read_text()
    assert "-a\n+c\n" in bench.paths.patch.read_text()
    assert "working\n" == bench.log("stdout.log")
    assert ["the measured call beside the agent: provider_error: HTTP 500: no"] == outcome["warnings"]
    assert 20.0 == json.loads(bench.log("context.json"))["case"]["harness"]["timeout_s"]


def test_an_agent_that_ran_out_of_time_is_captured_too(bench: Bench) -> None:
    """What it had done by then stands in the patch, and goes on to the verifier."""
    code = "open('a.txt', 'w').write('c\\n'); import time; time.sleep(600)"
    outcome = bench.session(bench.spec({**EXTERNAL, "timeout_s": 0.5}, **vars(bench.agent(code))))
    assert ("ok", "agent_timeout") == (outcome["status"], outcome["reason"])
    assert "-a\n+c\n" in bench.paths.patch.read_text()


@pytest.mark.parametrize(("arm", "text", "left"), [("oracle", GOOD, "b\n"), ("nop", "", "a\n")])
def test_oracle_and_nop_replace_the_external_agent(bench: Bench, arm: str, text: str, left: str) -> None:
    """The reference is applied as a patch, or nothing happens; no command is needed."""
    outcome = bench.session(bench.spec(EXTERNAL, arm=arm), text=text, model=arm)
    assert ("ok", arm, None, 0) == tuple(outcome[name] for name in ("status", "harness", "model", "turns"))
    assert left == (bench.paths.workspace / "a.txt").read_text()
    assert not bench.paths.log("context.json").exists()


def test_links_empty_folders_and_modes_are_copied(bench: Bench) -> None:
    """The workspace has what the repository has; a link to a folder stays a link."""
    repository = bench.pack / "r"
    (repository / "to-file").symlink_to("a.txt")
    (repository / "to-folder").symlink_to("lib")
    (repository / "empty").mkdir()
    (repository / "lib/util").chmod(0o755)
    bench.prepare()
    bench.session(bench.spec(), text=GOOD)
    place = bench.paths.workspace
    assert ("a.txt", "lib") == (os.readlink(place / "to-file"), os.readlink(place / "to-folder"))
    assert (place / "empty").is_dir()
    assert os.access(place / "lib/util", os.X_OK)


def test_a_second_session_leaves_nothing_of_the_first(bench: Bench) -> None:
    """Logs, context, model calls, patch and workspace are made anew; the raw answer is not this stage's."""
    raw = bench.write(bench.paths.run / "raw/c.response.json", "{}")
    code = "import json, sys; open(json.load(open(sys.argv[-1]))['run']['model_call_log_path'], 'w').write('{}\\n')"
    bench.session(bench.spec(EXTERNAL, **vars(bench.agent(code))))
    assert bench.paths.log("model-calls.jsonl").exists()
    bench.write(bench.paths.workspace.with_name(".rep-001.working") / "old", "left by a killed job")
    bench.session(bench.spec(), text=GOOD)
    left = sorted(os.listdir(bench.paths.outcome.parent))
    assert ["measured.jsonl", "rep-001.stderr.log", "rep-001.stdout.log", "rep-001.trial.json"] == left
    assert ["rep-001"] == os.listdir(bench.paths.workspace.parent)
    assert raw.exists()


def test_an_agent_that_cannot_be_started_is_an_error_that_is_tried_again(bench: Bench) -> None:
    """There is no workspace to verify, both logs exist, and the error is counted."""
    outcome = bench.session(bench.spec(EXTERNAL, argv=["no-such-agent"]))
    assert ("error", "sandbox_error") == (outcome["status"], outcome["reason"])
    assert "no-such-agent: No such file" in outcome["message"]
    assert not bench.paths.workspace.exists()
    assert b"" == bench.paths.patch.read_bytes()
    [error] = files.read_jsonl(bench.paths.errors)
    assert ("session", "3" * 64, "sandbox_error") == (error["stage"], error["digest"], error["reason"])


def test_inputs_that_could_not_be_made_end_the_session(bench: Bench) -> None:
    """Nothing is applied; the outcome says what is wrong with the pack."""
    files.write_json(bench.shared.inputs, {"status": "error", "reason": "inputs_error", "message": "a link leads out"})
    outcome = bench.session(bench.spec(), text=GOOD)
    assert ("error", "inputs_error", "a link leads out") == tuple(outcome[k] for k in ("status", "reason", "message"))
    assert not bench.paths.workspace.exists()


def test_a_repetition_that_was_not_measured(bench: Bench) -> None:
    """The file and the repetition are named."""
    with pytest.raises(RegradeError, match=r"measured.jsonl: has no row of repetition 1"):
        bench.session(bench.spec(), repetition=2)
