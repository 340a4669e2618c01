"""What a user gets from one snakemake call on packs: files, rows, and what runs again."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchpack_support import make_pack
from chat_server import ChatServer
from project import REPOSITORY, Project

FENCED = "```diff\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n```\n"
CHECK = """\
import argparse, pathlib, sys
parser = argparse.ArgumentParser()
for name in ("workspace", "case", "pack-id", "pack-version", "source-fixture-id", "patch", "output"):
    parser.add_argument(f"--{name}", required=True)
given = parser.parse_args()
sys.exit(pathlib.Path(given.workspace, "a.txt").read_text() != "b\\n")
"""
RUN = "results/runs/{}/benchpack/demo"
SUMMARY = "results/packs/summary.md"
SUMMARIES = {"set_records": 1, "set_summary": 1}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer([{"when": "Mend it", "text": FENCED}, {"text": "yes indeed"}]) as server:
        yield server


@pytest.fixture
def project(make_project: Callable[..., Project], server: ChatServer) -> Project:
    """One pack of a question and a repo-task, under oracle, nop and a model."""
    arms = {
        "oracle": {"harness": "oracle"},
        "nop": {"harness": "nop"},
        "asked": {"harness": "single-shot", "model": "m"},
    }
    models = {"m": {"adapter": "openai-chat", "model": "served", "base_url": server.base_url, "stream": False}}
    project = make_project(arms, models)
    make_pack(project.folder / "benchpacks", files={"verify/mend.py": CHECK})
    project.add_set("packs", "demo")
    return project


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def rows_of(project: Project, arm: str) -> list[dict]:
    text = (project.folder / RUN.format(arm) / "run.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_a_run_directory_holds_the_files_that_the_format_names(project: Project) -> None:
    """Every file of a question and of a repo-task lies where readers of the format look, and the rows say so."""
    run = RUN.format("asked")
    project.snakemake(f"{run}/summary.md")
    expected = [
        *("hardware.json", "run.jsonl", "summary.md"),
        *(f"raw/{case}.{kind}.json" for case in ("ask", "mend") for kind in ("request", "response")),
        *(f"task/mend/rep-001.{name}" for name in ("stdout.log", "stderr.log")),
        *("patch/mend/rep-001.diff", "workspace/mend/rep-001/a.txt"),
        *(f"verify/mend/rep-001.{name}" for name in ("json", "stdout.log", "stderr.log")),
    ]
    assert [] == [name for name in expected if not (project.folder / run / name).is_file()]
    ask, mend = rows_of(project, "asked")
    keys = ["pack", "case", "adapter", "endpoint", "model", "ok", "timing", "tokens", "resources", "scoring", "raw"]
    assert [*keys, "regrade"] == list(ask)
    assert [*keys, "workspace", "patch", "task", "verify", "repo_task", "regrade"] == list(mend)
    assert {"mode": "contains", "passed": True} == ask["scoring"]
    assert {"status": "passed", "verify_exit_code": 0} == mend["repo_task"]
    assert "-a\n+b\n" in (project.folder / run / mend["patch"]["path"]).read_text()
    assert {} == project.planned(f"{run}/summary.md")


def test_packs_and_cases_stand_in_sets_beside_artifact_tasks(project: Project, server: ChatServer) -> None:
    """One set of a case and an artifact task: records of both formats, each counted once, and only that case asked."""
    project.add_task("alpha")
    project.add_set("mixed", "demo/ask", "algorithmic__alpha")
    del project.config["arms"]["nop"]
    project.write_config()
    project.snakemake("results/mixed/summary.md", "results/mixed/records.csv")
    found = [(row["arm"], row["task"], row["format"], row["status"]) for row in project.records("mixed")]
    assert ("oracle", "demo/ask", "benchpack", "passed") in found
    assert ("asked", "algorithmic__alpha", "artifact", "failed") in found
    assert 4 == len(found)
    assert 2 == server.count


def test_oracle_passes_and_nop_fails(project: Project) -> None:
    """The pack's references pass everything, the empty text and the untouched repository nothing."""
    project.snakemake(SUMMARY)
    found = {(row["arm"], row["task"]): (row["status"], row["reason"]) for row in project.records("packs")}
    assert ("passed", None) == found["oracle", "demo/mend"] == found["oracle", "demo/ask"]
    assert {"failed"} == {found["nop", task][0] for task in ("demo/mend", "demo/ask")}


def test_what_runs_again_after_edits_in_a_pack(project: Project, server: ChatServer) -> None:
    """A verify script, a scoring table, a prompt, a fixture: each plans its own case and what comes after it."""
    del project.config["arms"]["oracle"], project.config["arms"]["nop"]
    project.write_config()
    project.snakemake(SUMMARY)
    asked, pack = server.count, project.folder / "benchpacks/demo"
    for path in pack.rglob("*"):
        path.touch()
    assert {} == project.planned(SUMMARY)
    edit(pack / "verify/mend.py", "import argparse", "# stricter\nimport argparse")
    assert {"verify": 1, "score": 1, **SUMMARIES} == project.planned(SUMMARY)
    project.snakemake(SUMMARY)
    edit(pack / "benchpack.toml", "timeout_s = 2,", "timeout_s = 3,")
    assert {"verify": 1, "score": 1, **SUMMARIES} == project.planned(SUMMARY)
    project.snakemake(SUMMARY)
    edit(pack / "benchpack.toml", 'expected = "yes"', 'expected = "indeed"')
    assert {"score": 1, **SUMMARIES} == project.planned(SUMMARY)
    project.snakemake(SUMMARY)
    assert asked == server.count
    edit(pack / "benchpack.toml", "Say yes.", "Say yes, please.")
    assert {"measure": 1, "score": 1, **SUMMARIES} == project.planned(SUMMARY)
    project.snakemake(SUMMARY)
    assert asked + 1 == server.count
    (pack / "repo/b.txt").write_text("more\n")
    assert {"repository": 1, "session": 1, "verify": 1, "score": 1, **SUMMARIES} == project.planned(SUMMARY)


def test_more_repetitions_are_measured_anew(project: Project, server: ChatServer) -> None:
    """From one to two repetitions: measured answers come from no store, and each row names its own raw files."""
    arms = project.config["arms"]
    project.config["arms"] = {"asked": arms["asked"]}
    project.write_config()
    project.add_set("packs", "demo/ask")
    project.snakemake(SUMMARY)
    project.config["arms"]["asked"]["override"] = {"repetitions": 2}
    project.write_config()
    project.snakemake(SUMMARY, f"{RUN.format('asked')}/run.jsonl")
    assert [1, 2] == [row["repetition"] for row in project.records("packs")]
    assert 1 + 2 == sum("Say yes" in json.dumps(request["body"]) for request in server.requests)
    names = [row["raw"]["request_path"] for row in rows_of(project, "asked") if row["case"] == "ask"]
    assert ["raw/ask.rep-001.request.json", "raw/ask.rep-002.request.json"] == names


def test_a_server_that_fails_is_asked_again_at_most_twice(project: Project, server: ChatServer) -> None:
    """An error row is scored on the empty text and tried at the next calls, until the retries are used up."""
    project.config["arms"] = {"asked": project.config["arms"]["asked"]}
    project.write_config()
    project.add_set("packs", "demo/ask")
    server.script([{"status": 500, "body": "down"}])
    for count in (1, 2, 3):
        project.snakemake(SUMMARY)
        assert count == server.count
        assert "provider_error" == project.records("packs")[0]["reason"]
        planned = {"measure": 1, "score": 1, **SUMMARIES} if count < 3 else {}
        assert planned == project.planned(SUMMARY)


def test_adopt_takes_over_a_packs_results(project: Project, server: ChatServer) -> None:
    """Copied results without metadata: what fits is kept, a stale verdict is made again, and nobody is asked."""
    import shutil

    project.snakemake(SUMMARY)
    asked = server.count
    shutil.rmtree(project.folder / ".snakemake")
    edit(project.folder / "benchpacks/demo/verify/mend.py", "import argparse", "# stricter\nimport argparse")
    project.regrade("adopt", "--snakefile", str(REPOSITORY / "Snakefile"))
    assert {"verify": 3, "score": 3, **SUMMARIES} == project.planned(SUMMARY)
    project.snakemake(SUMMARY)
    assert asked == server.count
    assert {} == project.planned(SUMMARY)


def test_an_agents_command_is_needed_only_where_a_case_asks_for_one(project: Project, server: ChatServer) -> None:
    """Without BENCHPACK_EXTERNAL_AGENT_ARGV other targets run, and that case stops before anything is asked."""
    project.config["arms"] = {"asked": project.config["arms"]["asked"]}
    project.write_config()
    edit(project.folder / "benchpacks/demo/benchpack.toml", '"fenced-patch", timeout_s = 5', '"external-agent"')
    project.add_set("ask", "demo/ask")
    refused = project.snakemake(SUMMARY, check=False)
    assert 1 == refused.returncode
    assert "BENCHPACK_EXTERNAL_AGENT_ARGV is required for harness id 'external-agent'" in refused.stdout
    assert 0 == server.count
    project.snakemake("results/ask/summary.md")
    agent = project.write("agent.sh", "#!/bin/sh\necho b > a.txt\n")
    agent.chmod(0o755)
    argv = json.dumps(["sh", "-c", "echo b > a.txt"])
    project.snakemake(SUMMARY, BENCHPACK_EXTERNAL_AGENT_ARGV=argv)
    assert ["passed", "passed"] == [row["status"] for row in project.records("packs")]


def test_a_model_that_lacks_what_a_pack_requires_is_not_asked(project: Project, server: ChatServer) -> None:
    """An unmet [requires] is not_applicable in every record, and the summary says PARTIAL."""
    manifest = project.folder / "benchpacks/demo/benchpack.toml"
    manifest.write_text(f"{manifest.read_text()}\n[requires]\nstreaming = true\n")
    project.config["arms"] = {"asked": project.config["arms"]["asked"]}
    project.write_config()
    project.snakemake(SUMMARY, f"{RUN.format('asked')}/summary.md")
    rows = project.records("packs")
    assert [("not_run", "not_applicable")] * 2 == [(row["status"], row["reason"]) for row in rows]
    assert "requires streaming" in rows[0]["message"]
    assert "PARTIAL" in (project.folder / SUMMARY).read_text()
    assert 0 == server.count


def test_a_pack_is_the_same_after_a_hostile_verifier(project: Project) -> None:
    """A verifier that tries to write beside itself changes no byte of the pack."""
    script = project.folder / "benchpacks/demo/verify/mend.py"
    script.write_text(
        "import pathlib\nfor path in (pathlib.Path(__file__), pathlib.Path('repo/a.txt')):\n"
        "    try:\n        path.write_text('changed')\n    except OSError as error:\n        print(error)\n"
    )
    before = digest_of(project.folder / "benchpacks")
    project.snakemake(SUMMARY)
    assert before == digest_of(project.folder / "benchpacks")


def digest_of(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(str(path).encode() + path.read_bytes() for path in files)).hexdigest()


def test_metadata_about_a_run_is_checked_first_and_copied(project: Project, server: ChatServer) -> None:
    """A broken file stops before anything is asked; a sound one lies in the run directory, and a change is noticed."""
    project.config |= {"run_metadata": "about.json", "host_label": "bench-1"}
    project.config["arms"] = {"asked": project.config["arms"]["asked"]}
    project.write_config()
    project.write("about.json", '{"notes": 3}')
    target = f"{RUN.format('asked')}/summary.md"
    assert "run metadata field 'notes' must be a string" in project.snakemake(target, check=False).stdout
    assert 0 == server.count
    project.write("about.json", '{"runtime": {"name": "served"}, "notes": "quiet"}')
    project.snakemake(target)
    run = project.folder / RUN.format("asked")
    assert {"notes": "quiet", "runtime": {"name": "served"}} == json.loads((run / "run-metadata.json").read_text())
    assert "bench-1" in (run / "summary.md").read_text()
    project.write("about.json", '{"notes": "busy"}')
    assert {"run_records": 1, "pack_summary": 1} == project.planned(target)


def test_where_asking_is_forbidden_nothing_is_measured(project: Project, server: ChatServer) -> None:
    """cache: only never asks; a measured answer that is not there is an error that says so."""
    project.config |= {"cache": "only", "arms": {"asked": project.config["arms"]["asked"]}}
    project.write_config()
    project.snakemake(SUMMARY)
    row = project.records("packs")[0]
    assert ("provider_error", True) == (row["reason"], "cache: only forbids asking" in row["message"])
    assert 0 == server.count


def test_adopt_leaves_alone_what_cannot_be_planned_here(project: Project) -> None:
    """Without an agent's command the results of other cases are adopted all the same."""
    project.config["arms"] = {"asked": project.config["arms"]["asked"]}
    project.write_config()
    project.add_set("packs", "demo/ask")
    project.snakemake(SUMMARY)
    edit(project.folder / "benchpacks/demo/benchpack.toml", '"fenced-patch", timeout_s = 5', '"external-agent"')
    output = project.regrade("adopt", "--snakefile", str(REPOSITORY / "Snakefile")).stdout
    assert "left alone: demo/mend under asked, repetition 1: BENCHPACK_EXTERNAL_AGENT_ARGV is required" in output
    assert SUMMARIES == project.planned(SUMMARY)


def test_a_budget_bounds_measured_calls_and_judges(project: Project, server: ChatServer) -> None:
    """A case measured twice and judged: the money ends within it, and each raise pays for what it pays for."""
    manifest = project.folder / "benchpacks/demo/benchpack.toml"
    edit(manifest, 'mode = "contains", expected = "yes"', 'mode = "llm-judge", criteria = "kind"')
    edit(manifest, "max_tokens = 5", "max_tokens = 5\nrepetitions = 2")
    project.models["m"]["prices"] = {"input": 0.0, "output": 500_000.0}  # An answer has 2 tokens: 1 dollar.
    project.config["arms"] = {"asked": project.config["arms"]["asked"]}
    project.config |= {"judge": "m", "budget": {"usd": 1}}
    project.add_set("packs", "demo/ask")
    server.script([{"when": "kind", "text": "GRADE: PASS"}, {"text": "yes indeed"}])
    project.write_config()
    for usd, asked, found in (
        (1, 1, ["budget", "budget"]),
        (2, 2, ["budget", "budget"]),
        (3, 3, [None, "budget"]),
        (4, 4, [None, None]),
    ):
        project.config["budget"]["usd"] = usd
        project.write_config()
        # One at a time: what processes side by side have in flight may go over the limit together.
        project.snakemake(SUMMARY, "--cores", "1")
        reasons = sorted((row["reason"] for row in project.records("packs")), key=str)
        assert (asked, found) == (server.count, reasons)
        assert {} == project.planned(SUMMARY)
