"""Our own packs, run by the real Snakemake: on the embedded model, and against a server with canned answers."""

import json
from collections.abc import Callable
from pathlib import Path

from chat_server import ChatServer
from project import REPOSITORY, Project
from regrade.formats import benchpack

PACKS = str(REPOSITORY / "benchpacks")


def canned(pack: str) -> list[dict[str, str]]:
    """The pack's right answers, each for the requests that hold its case's prompt."""
    loaded = benchpack.load(REPOSITORY / "benchpacks" / pack)
    return [{"when": json.dumps(case.prompt)[1:-1], "text": answer(loaded.oracle_of(case))} for case in loaded.cases]


def answer(oracle: Path) -> str:
    text = oracle.read_text()
    return f"Here it is:\n```diff\n{text}```\n" if oracle.suffix == ".diff" else text


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_right_answers_from_a_server_pass(make_project: Callable[..., Project]) -> None:
    """desktop-django-wrap and patch-from-failure: a model that answers as the oracles do passes every case."""
    with ChatServer([*canned("desktop-django-wrap"), *canned("patch-from-failure")]) as server:
        model = {"adapter": "openai-chat", "model": "m", "base_url": server.base_url}
        project = make_project(
            {"asked": {"harness": "single-shot", "model": "m"}}, {"m": model}, dirs={"benchpacks": PACKS}
        )
        project.add_set("two", "desktop-django-wrap", "patch-from-failure")
        project.snakemake("results/two/summary.md")
        found = project.records("two")
        assert len(found) >= 4
        assert {"passed"} == {row["status"] for row in found}
        assert len(found) == server.count


def test_the_embedded_model_is_measured(make_project: Callable[..., Project]) -> None:
    """smoke-chat and runtime-sweep on the model that comes with the environment: rows with real times and tokens."""
    model = {
        "adapter": "openai-chat",
        "model": "SmolLM2-135M-Instruct",
        "runtime": {"engine": "xllamacpp", "context_tokens": 2048},
    }
    arm = {"harness": "single-shot", "model": "smollm2"}
    project = make_project({"smollm2": arm}, {"smollm2": model}, dirs={"benchpacks": PACKS})
    folders = [f"results/runs/smollm2/benchpack/{pack}" for pack in ("smoke-chat", "runtime-sweep")]
    project.snakemake(*(f"{folder}/summary.md" for folder in folders))
    smoke, sweep = (rows(project.folder / folder / "run.jsonl") for folder in folders)
    assert all(row["ok"] and row["tokens"]["output"] > 0 for row in smoke + sweep)
    assert all(0 < row["timing"]["ttft_s"] < row["timing"]["wall_s"] for row in sweep)
    assert [1, 2, 3] * 3 == [row["repetition"] for row in sweep]
    assert 3 == len(list((project.folder / folders[1] / "raw").glob("*.warmup-001.response.json")))
    told = project.regrade("compare", *folders).stdout
    assert "runtime-sweep" in told and "smoke-chat" in told


def test_an_external_agent_works_on_an_artifact_task(make_project: Callable[..., Project]) -> None:
    """An arm with a command: the agent finds its context, writes the artifact, and is graded like everybody."""
    agent = (
        "import json, pathlib, sys\n"
        "context = json.loads(pathlib.Path(sys.argv[sys.argv.index('--context') + 1]).read_text())\n"
        "assert 'answer to alpha' in context['case']['prompt']\n"
        "pathlib.Path('output').mkdir()\n"
        "pathlib.Path('output/answer.txt').write_text('42')\n"
    )
    arms = {"agent": {"harness": "external-agent", "command": ["python3", "-c", agent]}}
    project = make_project(arms)
    project.add_task("alpha")
    project.add_set("tiny", "algorithmic__alpha")
    project.snakemake("results/tiny/summary.md")
    [row] = project.records("tiny")
    assert ("passed", "external-agent", None, None) == tuple(
        row[name] for name in ("status", "harness", "model", "cost_usd")
    )
