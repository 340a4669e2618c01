"""Grades to records: per run directory, and per set.

REQUIRED INPUTS: results/runs/<arm>/<format>/<collection>/grade/<case>/rep-<NNN>.json of every trial, and the shards
    of verdicts (grade/) of the suite tasks among them
OUTPUTS: results/runs/<arm>/<format>/<collection>/run.jsonl, hardware.json; results/<set>/records.jsonl, records.csv
"""


def trials_of_run(wildcards):
    return or_stop(PLAN.trials_of_run, wildcards.arm, wildcards.format, wildcards.collection)


def trials_of_set(wildcards):
    return or_stop(PLAN.trials_of_set, wildcards.set)


def grades_of_run(wildcards):
    trials = trials_of_run(wildcards)
    asked = [Selection(wildcards.arm, collection=wildcards.collection)] if wildcards.format == "suite" else []
    return [str(path) for path in or_stop(PLAN.verdict_files, trials, asked)]


def grades_of_set(wildcards):
    trials = trials_of_set(wildcards)
    return [str(path) for path in or_stop(PLAN.verdict_files, trials, PLAN.selections_of_set(wildcards.set))]


def run_records_spec(wildcards):
    return as_json(PLAN.records_spec, trials_of_run(wildcards))


def set_records_spec(wildcards):
    return as_json(PLAN.records_spec, trials_of_set(wildcards))


rule run_records:
    """All records of one arm over one collection: results/runs/<arm>/<format>/<collection>/run.jsonl."""
    input:
        grades_of_run,
    output:
        records=f"{RESULTS}/runs/{{arm}}/{{format}}/{{collection}}/run.jsonl",
        hardware=f"{RESULTS}/runs/{{arm}}/{{format}}/{{collection}}/hardware.json",
    params:
        spec=run_records_spec,
    shell:
        "{PYTHON:q} -m regrade.records run {wildcards.arm:q} {wildcards.format:q} {wildcards.collection:q} {params.spec:q} {CONFIG:q}"


rule set_records:
    """All records of a set as data: results/<set>/records.jsonl and records.csv."""
    input:
        grades_of_set,
    output:
        records=f"{RESULTS}/{{set}}/records.jsonl",
        table=f"{RESULTS}/{{set}}/records.csv",
    params:
        spec=set_records_spec,
    shell:
        "{PYTHON:q} -m regrade.records set {wildcards.set:q} {params.spec:q} {CONFIG:q}"
