"""One trial: a harness lets a model (or nobody) work on a fresh copy of the inputs.

REQUIRED INPUTS: results/tasks/artifact/<category>/<slug>/inputs.json
OUTPUTS: results/runs/<arm>/artifact/<category>/task/<slug>/rep-<NNN>.trial.json and patch/<slug>/rep-<NNN>.diff;
    workspace/, raw/ and the other files of task/ beside them
"""


def trial_spec(wildcards):
    return as_json(PLAN.artifact.trial_spec, trial_of(wildcards))


rule trial:
    """Let one arm work on one task once; an answer that was paid before comes from the store."""
    input:
        inputs=f"{RESULTS}/tasks/artifact/{{collection}}/{{case}}/inputs.json",
    output:
        outcome=f"{RESULTS}/runs/{{arm}}/artifact/{{collection}}/task/{{case}}/rep-{{repetition}}.trial.json",
        patch=f"{RESULTS}/runs/{{arm}}/artifact/{{collection}}/patch/{{case}}/rep-{{repetition}}.diff",
    params:
        spec=trial_spec,
    resources:
        **MODEL_SLOTS,
    shell:
        "{PYTHON:q} -m regrade.trial {params.spec:q} {CONFIG:q}"
