"""The verdict on one trial, from its workspace and the pristine inputs.

REQUIRED INPUTS: results/runs/<arm>/artifact/<category>/task/<slug>/rep-<NNN>.trial.json, the task's grader folder
OUTPUTS: results/runs/<arm>/artifact/<category>/grade/<slug>/rep-<NNN>.json
"""


def grader_of(wildcards):
    """The grader, by path alone: its folder counts by digest."""
    return ancient(str(task_of(wildcards).source.grader))


def grade_spec(wildcards):
    return as_json(PLAN.artifact.grade_spec, trial_of(wildcards))


rule grade:
    """Run a task's hidden grader on what a trial left."""
    input:
        outcome=f"{RESULTS}/runs/{{arm}}/artifact/{{collection}}/task/{{case}}/rep-{{repetition}}.trial.json",
        grader=grader_of,
    output:
        f"{RESULTS}/runs/{{arm}}/artifact/{{collection}}/grade/{{case}}/rep-{{repetition}}.json",
    params:
        spec=grade_spec,
    shell:
        "{PYTHON:q} -m regrade.grade {params.spec:q}"
