"""What the graders of a set are worth.

REQUIRED INPUTS: the set's tasks
OUTPUTS: results/checks/<set>.md
"""


def checks_spec(wildcards):
    return as_json(PLAN.artifact.checks_spec, wildcards.set, or_stop(PLAN.tasks_of_set, wildcards.set))


def checked_manifests(wildcards):
    tasks = or_stop(PLAN.tasks_of_set, wildcards.set)
    return [ancient(str(task.source.folder / "task.yaml")) for task in tasks if task.format == "artifact"]


rule checks:
    """Graders on known-good and deliberately wrong artifacts, and their leaks: results/checks/<set>.md."""
    input:
        checked_manifests,
    output:
        f"{RESULTS}/checks/{{set}}.md",
    params:
        spec=checks_spec,
    threads: 2
    shell:
        "{PYTHON:q} -m regrade.gates {params.spec:q} {output:q} {threads}"
