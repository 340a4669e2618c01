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
include: "workflow/rules/selfbench.smk"
include: "workflow/rules/records.smk"
include: "workflow/rules/summary.smk"
include: "workflow/rules/checks.smk"


onstart:
    # Snakemake's limit on jobs a second looks again after every round, from timers that pile up while jobs wait and that
    # hold back the end of each run by a second. Clusters need it, this machine does not.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


rule seed_v1:
    """The default benchmark: results/seed-v1/summary.md."""
    default_target: True
    input:
        f"{RESULTS}/seed-v1/summary.md",
