"""Task suites: prompts asked many at once in shards, data sets, and agent loops as single trials.

REQUIRED INPUTS: the folder of suites
OUTPUTS: <answers>/raw/[<arm>/]<shard>.jsonl and <answers>/grade/[<arm>/]<shard>.jsonl, where <answers> is
    results/<set> or results/runs/<arm>/suite/<collection>; results/tasks/suite/<collection>/<case>/rows.jsonl of a data
    set; results/tasks/suite/<collection>/<case>/inputs.json and, in the run directory, task/, patch/ and grade/ of an
    agent loop
"""

SUITE_RUN = f"{RESULTS}/runs/{{arm}}/suite/{{collection}}"


def selection_of(wildcards):
    """What a shard belongs to: a set's answers under an arm, or a collection's."""
    or_stop(PLAN.require_arm, wildcards.arm)
    return Selection(wildcards.arm, getattr(wildcards, "set", ""), getattr(wildcards, "collection", ""))


def shard_of(wildcards):
    return wildcards.shard if hasattr(wildcards, "shard") else f"dataset-{wildcards.case}"


def ask_spec(wildcards):
    return as_json(PLAN.ask_spec, selection_of(wildcards), shard_of(wildcards))


def score_answers_spec(wildcards):
    return as_json(PLAN.score_spec, selection_of(wildcards), shard_of(wildcards))


def suite_manifest_of(wildcards):
    """The task's file, by path alone: what stands in it counts by digest. Braces would be taken for wildcards."""
    path = str(task_of(wildcards, "suite").source.file)
    return [] if "{" in path else ancient(path)


def fixture_spec(wildcards):
    return as_json(PLAN.suite.fixture_spec, task_of(wildcards, "suite"))


def dataset_spec(wildcards):
    return as_json(PLAN.suite.dataset_spec, task_of(wildcards, "suite"))


def loop_spec(wildcards):
    return as_json(PLAN.suite.loop_spec, trial_of(wildcards, "suite"))


def score_loop_spec(wildcards):
    return as_json(PLAN.suite.score_loop_spec, trial_of(wildcards, "suite"))


rule ask:
    """Ask a shard of a set's suite tasks, many requests at once; what was paid before comes from the store."""
    output:
        f"{RESULTS}/{{set}}/raw/{{arm}}/{{shard}}.jsonl",
    params:
        spec=ask_spec,
    resources:
        **ALL_MODEL_SLOTS,
    shell:
        "{PYTHON:q} -m regrade.ask {params.spec:q} {CONFIG:q}"


use rule ask as ask_run with:
    output:
        f"{SUITE_RUN}/raw/{{shard}}.jsonl",


use rule ask as ask_dataset with:
    input:
        f"{RESULTS}/tasks/suite/{{collection}}/{{case}}/rows.jsonl",
    output:
        f"{SUITE_RUN}/raw/dataset-{{case}}.jsonl",


rule score_answers:
    """Score a shard of answers; code that models wrote runs in the sandbox, verdicts that stand are kept."""
    input:
        f"{RESULTS}/{{set}}/raw/{{arm}}/{{shard}}.jsonl",
    output:
        f"{RESULTS}/{{set}}/grade/{{arm}}/{{shard}}.jsonl",
    params:
        spec=score_answers_spec,
    threads: 2
    shell:
        "{PYTHON:q} -m regrade.score_answers {params.spec:q} {CONFIG:q} {threads}"


use rule score_answers as score_answers_run with:
    input:
        f"{SUITE_RUN}/raw/{{shard}}.jsonl",
    output:
        f"{SUITE_RUN}/grade/{{shard}}.jsonl",


use rule score_answers as score_dataset with:
    input:
        answers=f"{SUITE_RUN}/raw/dataset-{{case}}.jsonl",
        rows=f"{RESULTS}/tasks/suite/{{collection}}/{{case}}/rows.jsonl",
    output:
        f"{SUITE_RUN}/grade/dataset-{{case}}.jsonl",


rule dataset:
    """Make the rows of a data set into tasks."""
    input:
        suite_manifest_of,
    output:
        f"{RESULTS}/tasks/suite/{{collection}}/{{case}}/rows.jsonl",
    params:
        spec=dataset_spec,
    shell:
        "{PYTHON:q} -m regrade.inputs.dataset {params.spec:q}"


rule fixture:
    """Copy the repository that an agent loop works on, and list the digests."""
    input:
        suite_manifest_of,
    output:
        f"{RESULTS}/tasks/suite/{{collection}}/{{case}}/inputs.json",
    params:
        spec=fixture_spec,
    shell:
        "{PYTHON:q} -m regrade.inputs.repository {params.spec:q}"


rule loop:
    """Let one arm's model work on a repository in turns."""
    input:
        inputs=f"{RESULTS}/tasks/suite/{{collection}}/{{case}}/inputs.json",
    output:
        outcome=f"{SUITE_RUN}/task/{{case}}/rep-{{repetition}}.trial.json",
        patch=f"{SUITE_RUN}/patch/{{case}}/rep-{{repetition}}.diff",
    params:
        spec=loop_spec,
    resources:
        **MODEL_SLOTS,
    shell:
        "{PYTHON:q} -m regrade.trial {params.spec:q} {CONFIG:q}"


rule score_loop:
    """Run the hidden tests on what an agent loop left."""
    input:
        outcome=f"{SUITE_RUN}/task/{{case}}/rep-{{repetition}}.trial.json",
    output:
        f"{SUITE_RUN}/grade/{{case}}/rep-{{repetition}}.json",
    params:
        spec=score_loop_spec,
    shell:
        "{PYTHON:q} -m regrade.score_loop {params.spec:q}"
