"""The configuration and the plan, for all other rule files.

REQUIRED INPUTS: config/config.yaml and the models file, tasks and sets (read, never written)
OUTPUTS: none
"""

import atexit
import gc
import json
import os
import sys
from pathlib import Path

# Jobs run under the interpreter that runs Snakemake, whether or not its environment is active.
PYTHON = sys.executable
LIBRARY = str(Path(workflow.basedir) / "workflow" / "scripts")
sys.path.insert(0, LIBRARY)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [LIBRARY, os.environ.get("PYTHONPATH")]))
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

# The plan lives as long as the process. Without this Python looks through all of it once more when it ends, which takes
# longer than writing a summary.
atexit.register(gc.freeze)

from regrade import config as configuration
from regrade import specification
from regrade.errors import RegradeError
from regrade.plan import Plan, Selection, Trial


def or_stop(function, *arguments):
    """A value of the plan. A user's mistake ends the call with its message alone, without a traceback."""
    try:
        return function(*arguments)
    except (RegradeError, OSError) as error:
        sys.exit(str(error))


PLAN = Plan(or_stop(configuration.load, config, [Path(path) for path in workflow.configfiles]))
RESULTS = PLAN.results


def task_of(wildcards, format="artifact"):
    """The task that a rule's wildcards name."""
    return or_stop(PLAN.task, format, wildcards.collection, wildcards.case)


def trial_of(wildcards, format="artifact"):
    """The trial that a rule's wildcards name; a rule over all repetitions of a case means the first."""
    or_stop(PLAN.require_arm, wildcards.arm)
    return Trial(task_of(wildcards, format), wildcards.arm, int(getattr(wildcards, "repetition", 1)))


def as_json(function, *arguments):
    """A specification of the plan as Snakemake keeps it in params and hands it to a job."""
    return specification.told(or_stop(function, *arguments), RESULTS)


wildcard_constraints:
    arm="[A-Za-z0-9][A-Za-z0-9._-]*",
    format="artifact|benchpack|suite|selfbench",
    collection="[A-Za-z0-9_][A-Za-z0-9._-]*",
    case="[A-Za-z0-9_][A-Za-z0-9._-]*",
    shard="shard-[0-9]+-of-[0-9]+",
    repetition="[0-9][0-9][0-9]+",
    set="(?!(?:runs|checks|harbor|tasks|cache)/)[A-Za-z0-9][A-Za-z0-9._-]*",


def slots_of(name, number):
    """How many slots of a model a job takes: `number` under an arm with that model, else none."""

    def slots(wildcards):
        return number if PLAN.config.arms[wildcards.arm].get("model") == name else 0

    return slots


# One slot a model: how many trials ask it at once, whatever --cores says.
MODEL_SLOTS = {}
# What is measured has its model for itself.
ALL_MODEL_SLOTS = {}
for name, model in PLAN.config.models.items():
    resource = "model_" + "".join(letter if letter.isalnum() else "_" for letter in name)
    most = model.get("max_concurrency", 4)
    if resource in workflow.global_resources:
        # The command line says --resources model_<name>=N.
        most = model["max_concurrency"] = workflow.global_resources[resource].value
    else:
        workflow.register_resource(resource, most)
    MODEL_SLOTS[resource] = slots_of(name, 1)
    ALL_MODEL_SLOTS[resource] = slots_of(name, most)

# Told to every job beside its specification: what it needs to know and what must not make it run again.
CONFIG = json.dumps(PLAN.config.to_value())
