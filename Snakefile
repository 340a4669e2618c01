"""Regrade: benchmarks built like software.

    snakemake --cores 8 results/seed-v1/summary.md

Results lie below results/: tasks/ (inputs), runs/<arm>/<format>/<collection>/ (answers, patches, grades, records),
<set>/ (records and a summary), checks/ (what the graders are worth), cache/ (every answer ever paid for).
"""


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/trial.smk"
include: "workflow/rules/grade.smk"
include: "workflow/rules/benchpack.smk"
include: "workflow/rules/suite.smk"
include: "workflow/rules/records.smk"
include: "workflow/rules/summary.smk"
include: "workflow/rules/checks.smk"


rule seed_v1:
    """The default benchmark: results/seed-v1/summary.md."""
    default_target: True
    input:
        f"{RESULTS}/seed-v1/summary.md",
