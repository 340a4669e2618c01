"""What the graders of a set are worth.

REQUIRED INPUTS: the set's tasks
OUTPUTS: results/checks/<set>.md
"""


def checks_spec(wildcards):
    return as_json(or_stop(PLAN.checks_spec, wildcards.set))


def checked_manifests(wildcards):
    return [ancient(str(task.folder / "task.yaml")) for task in or_stop(PLAN.tasks_of_set, wildcards.set)]


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
