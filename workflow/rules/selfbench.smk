"""SelfBench tasks: a repository set up once, gates, trials on a copy of it, held-out tests; and bundles for Harbor.

REQUIRED INPUTS: problems/selfbench/<taskId>/ and a clone or git bundle for each repository
OUTPUTS: results/tasks/selfbench/<repo>/<taskId>/inputs.json, gates.json and gate.json; in the run directory task/,
    patch/, grade/ and verify/; results/harbor/<taskId>/
"""

SELFBENCH_TASK = f"{RESULTS}/tasks/selfbench/{{collection}}/{{case}}"
SELFBENCH_RUN = f"{RESULTS}/runs/{{arm}}/selfbench/{{collection}}"


def definition_of(wildcards):
    """The task's definition, by path alone: what stands in it counts by digest. Braces would be taken for wildcards."""
    path = str(task_of(wildcards, "selfbench").source.folder / "definition.json")
    return [] if "{" in path else ancient(path)


def snapshot_spec(wildcards):
    return as_json(PLAN.selfbench.snapshot_spec, task_of(wildcards, "selfbench"))


def prove_spec(wildcards):
    return as_json(PLAN.selfbench.prove_spec, task_of(wildcards, "selfbench"))


def selfbench_trial_spec(wildcards):
    return as_json(PLAN.selfbench.trial_spec, trial_of(wildcards, "selfbench"))


def grade_patch_spec(wildcards):
    return as_json(PLAN.selfbench.grade_spec, trial_of(wildcards, "selfbench"))


def harbor_spec(wildcards):
    return as_json(PLAN.selfbench.compile_spec, wildcards.task, RESULTS / "harbor" / wildcards.task)


rule snapshot:
    """Unpack a task's base commit and run its set-up command, with the network unless the configuration says no."""
    input:
        definition_of,
    output:
        f"{SELFBENCH_TASK}/inputs.json",
    params:
        spec=snapshot_spec,
    shell:
        "{PYTHON:q} -m regrade.held_out.snapshot {params.spec:q} {CONFIG:q}"


rule prove:
    """Hold a task against its gates: audit, nop and reference solution, coupling."""
    input:
        f"{SELFBENCH_TASK}/inputs.json",
    output:
        gates=f"{SELFBENCH_TASK}/gates.json",
        gate=f"{SELFBENCH_TASK}/gate.json",
    params:
        spec=prove_spec,
    shell:
        "{PYTHON:q} -m regrade.held_out.prove {params.spec:q} {CONFIG:q}"


use rule trial as selfbench_trial with:
    input:
        inputs=f"{SELFBENCH_TASK}/inputs.json",
        gate=f"{SELFBENCH_TASK}/gate.json",
    output:
        outcome=f"{SELFBENCH_RUN}/task/{{case}}/rep-{{repetition}}.trial.json",
        patch=f"{SELFBENCH_RUN}/patch/{{case}}/rep-{{repetition}}.diff",
    params:
        spec=selfbench_trial_spec,


rule grade_patch:
    """Run a task's held-out tests on what a trial left."""
    input:
        outcome=f"{SELFBENCH_RUN}/task/{{case}}/rep-{{repetition}}.trial.json",
        gates=f"{SELFBENCH_TASK}/gates.json",
    output:
        f"{SELFBENCH_RUN}/grade/{{case}}/rep-{{repetition}}.json",
    params:
        spec=grade_patch_spec,
    shell:
        "{PYTHON:q} -m regrade.held_out.grade_patch {params.spec:q} {CONFIG:q}"


rule harbor:
    """Compile a SelfBench task to a Harbor bundle."""
    output:
        f"{RESULTS}/harbor/{{task}}/task.toml",
    params:
        spec=harbor_spec,
    wildcard_constraints:
        task="[A-Za-z0-9][A-Za-z0-9._-]*",
    shell:
        "{PYTHON:q} -m regrade.harbor.bundle {params.spec:q}"
