"""Somebody's agent command, which gets the task as a context file and changes the workspace as it likes."""

from regrade import external_agent, prompts
from regrade.harnesses import Acted, Context
from regrade.workspace import INSIDE

WRITES_IN_PLACE = True


def run(context: Context, acted: Acted) -> None:
    """Run the arm's `command` on the workspace; nobody else is asked."""
    arm = context.spec["arm"]
    agent = external_agent.Agent(arm["command"], arm.get("env", []), arm.get("read", []))
    limit = context.config.limits["trial_wall_s"]
    budget = context.enforced("max_wall_seconds")
    seconds = min(limit, budget or limit)
    assignment = external_agent.Assignment(agent, context.paths, context.workspace, _about(context), seconds)
    external_agent.run(assignment, context.config, acted)
    if acted.reason == "agent_timeout" and seconds == budget:
        acted.reason, acted.message = "budget_exceeded", f"max_wall_seconds = {budget:g} s: the agent was still at work"


def _about(context: Context) -> dict[str, object]:
    """A context of the form that pack cases have, so that the same agents read it."""
    task = context.spec["task"]
    place = external_agent.told(context.paths.workspace)
    return {
        "pack": {"id": task["collection"], "version": "", "description": ""},
        "case": {
            "id": task["case"],
            "kind": "artifact" if context.output_artifact else "repo-task",
            "prompt": prompts.task_prompt("", context.output_artifact).replace(INSIDE, place) + context.prompt,
            "fixture_refs": [],
            "harness": {"id": "external-agent"},
            **({"output_artifact": context.output_artifact} if context.output_artifact else {}),
        },
        "source": {"source_fixture_id": None, "source_path": None},
        "adapter": {"id": None, "model": None, "endpoint": None, "defaults": {}},
        "fixtures": [],
    }
