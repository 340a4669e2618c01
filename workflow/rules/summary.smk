"""Records to pages that people read.

REQUIRED INPUTS: results/runs/<arm>/<format>/<collection>/run.jsonl, or results/<set>/records.jsonl
OUTPUTS: summary.md beside them
"""


def summary_code(wildcards):
    return PLAN.recording_code()


rule run_summary:
    """The summary of one arm over one collection: results/runs/<arm>/<format>/<collection>/summary.md."""
    input:
        f"{RESULTS}/runs/{{arm}}/{{format}}/{{collection}}/run.jsonl",
    output:
        f"{RESULTS}/runs/{{arm}}/{{format}}/{{collection}}/summary.md",
    wildcard_constraints:
        format="artifact|suite|selfbench",
    params:
        code=summary_code,
    shell:
        "{PYTHON:q} -m regrade.summary {input:q} {output:q} {wildcards.arm:q}/{wildcards.collection:q}"


def pack_of(wildcards):
    """The pack's id, version and description, for the head of its summary."""
    pack = or_stop(PLAN.tasks_of_collection, "benchpack", wildcards.collection)[0].source.pack
    return json.dumps({"id": pack.id, "version": pack.version, "description": pack.description}, sort_keys=True)


rule pack_summary:
    """The summary of one arm over one pack: results/runs/<arm>/benchpack/<pack>/summary.md."""
    input:
        f"{RESULTS}/runs/{{arm}}/benchpack/{{collection}}/run.jsonl",
    output:
        f"{RESULTS}/runs/{{arm}}/benchpack/{{collection}}/summary.md",
    params:
        code=summary_code,
        pack=pack_of,
    shell:
        '{PYTHON:q} -m regrade.packs.pack_summary "$(dirname {output:q})" {params.pack:q}'


rule set_summary:
    """The main job: every task of a set under every arm, graded and summarised: results/<set>/summary.md."""
    input:
        f"{RESULTS}/{{set}}/records.jsonl",
    output:
        f"{RESULTS}/{{set}}/summary.md",
    params:
        code=summary_code,
    shell:
        "{PYTHON:q} -m regrade.summary {input:q} {output:q} {wildcards.set:q}"
