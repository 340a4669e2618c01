"""A task's inputs, made once and shared by all its trials.

REQUIRED INPUTS: the task's folder
OUTPUTS: results/tasks/artifact/<category>/<slug>/inputs.json, and workspace/ beside it
"""


def manifest_of(wildcards):
    """The task's manifest, by path alone: what is in the folder counts by digest."""
    return ancient(str(task_of(wildcards).source.folder / "task.yaml"))


def inputs_spec(wildcards):
    return as_json(PLAN.artifact.inputs_spec, task_of(wildcards))


rule inputs:
    """Copy a task's workspace, run its generator, look for leaks, and list the digests."""
    input:
        manifest=manifest_of,
    output:
        f"{RESULTS}/tasks/artifact/{{collection}}/{{case}}/inputs.json",
    params:
        spec=inputs_spec,
    shell:
        "{PYTHON:q} -m regrade.inputs {params.spec:q} {CONFIG:q}"
