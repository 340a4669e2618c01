"""A pack's cases: measured one request at a time, worked on where they are repo-tasks, verified and scored.

REQUIRED INPUTS: the pack's folder
OUTPUTS: results/tasks/benchpack/<pack>/<case>/inputs.json; below results/runs/<arm>/benchpack/<pack>/:
    task/<case>/measured.jsonl and raw/, task/<case>/rep-<NNN>.trial.json, patch/<case>/rep-<NNN>.diff,
    verify/<case>/rep-<NNN>.json, grade/<case>/rep-<NNN>.json
"""

PACK_RUN = f"{RESULTS}/runs/{{arm}}/benchpack/{{collection}}"


def pack_trial_of(wildcards):
    """The trial of a pack's case; a stage that covers all repetitions takes the first."""
    return trial_of(wildcards, "benchpack")


def pack_manifest_of(wildcards):
    """The pack's manifest, by path alone: what is in the pack counts by digest."""
    return ancient(str(task_of(wildcards, "benchpack").source.pack.folder / "benchpack.toml"))


def repository_spec(wildcards):
    return as_json(PLAN.benchpack.repository_spec, task_of(wildcards, "benchpack"))


def measure_spec(wildcards):
    return as_json(PLAN.benchpack.measure_spec, pack_trial_of(wildcards))


def session_spec(wildcards):
    return as_json(PLAN.benchpack.session_spec, pack_trial_of(wildcards))


def verify_spec(wildcards):
    return as_json(PLAN.benchpack.verify_spec, pack_trial_of(wildcards))


def score_spec(wildcards):
    return as_json(PLAN.benchpack.score_spec, pack_trial_of(wildcards))


def scored_files(wildcards):
    """What a case's score is made from; nothing for one that makes no sense under its arm."""
    return [str(path) for path in or_stop(PLAN.benchpack.scored_files, pack_trial_of(wildcards))]


rule repository:
    """Copy the repository that a pack's case works on, and list the digests."""
    input:
        manifest=pack_manifest_of,
    output:
        f"{RESULTS}/tasks/benchpack/{{collection}}/{{case}}/inputs.json",
    params:
        spec=repository_spec,
    shell:
        "{PYTHON:q} -m regrade.inputs.repository {params.spec:q}"


rule measure:
    """Ask about one case, warmups first, one request at a time and alone on the machine; never from the store."""
    input:
        manifest=pack_manifest_of,
    output:
        f"{PACK_RUN}/task/{{case}}/measured.jsonl",
    params:
        spec=measure_spec,
    threads: workflow.cores
    resources:
        **ALL_MODEL_SLOTS,
    shell:
        "{PYTHON:q} -m regrade.measure {params.spec:q} {CONFIG:q} {threads}"


rule session:
    """Apply an answer to the repository, or let an external agent work on it, and capture the patch."""
    input:
        inputs=f"{RESULTS}/tasks/benchpack/{{collection}}/{{case}}/inputs.json",
        measured=f"{PACK_RUN}/task/{{case}}/measured.jsonl",
    output:
        outcome=f"{PACK_RUN}/task/{{case}}/rep-{{repetition}}.trial.json",
        patch=f"{PACK_RUN}/patch/{{case}}/rep-{{repetition}}.diff",
    params:
        spec=session_spec,
    resources:
        **MODEL_SLOTS,
    shell:
        "{PYTHON:q} -m regrade.session {params.spec:q} {CONFIG:q}"


rule verify:
    """Run a pack's verify script on a copy of what a session left."""
    input:
        outcome=f"{PACK_RUN}/task/{{case}}/rep-{{repetition}}.trial.json",
    output:
        said=f"{PACK_RUN}/verify/{{case}}/rep-{{repetition}}.json",
        outcome=f"{PACK_RUN}/verify/{{case}}/rep-{{repetition}}.outcome.json",
    params:
        spec=verify_spec,
    shell:
        "{PYTHON:q} -m regrade.verify {params.spec:q}"


rule score:
    """Score one repetition of a case: its answer's text, or what its verify script said."""
    input:
        scored_files,
    output:
        f"{PACK_RUN}/grade/{{case}}/rep-{{repetition}}.json",
    params:
        spec=score_spec,
    shell:
        "{PYTHON:q} -m regrade.score {params.spec:q} {CONFIG:q}"
