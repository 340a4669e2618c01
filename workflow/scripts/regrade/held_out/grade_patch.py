"""Stage `grade_patch`: what a trial left of a SelfBench task, by its held-out tests, to grade/<case>/rep-NNN.json.

    python -m regrade.held_out.grade_patch SPEC CONFIG      both JSON, as the rule hands them over

SPEC (plan.selfbench.grade_spec). The patch is collected anew from the workspace, against the base, whatever was done
with git in it; verify/<case>/rep-NNN.patch and .log keep it and what the tests printed.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from regrade import files, specification, verdicts
from regrade.config import Config
from regrade.errors import RegradeError, ending_in_one_line
from regrade.formats import selfbench
from regrade.formats.selfbench import redaction
from regrade.held_out import base
from regrade.held_out.grading import Graded, grade
from regrade.held_out.prepared import Prepared
from regrade.verdicts import Verdict, broken, failed


def main(spec_text: str, config_text: str) -> None:
    """Grade one trial."""
    spec, config = specification.read(spec_text), Config(**json.loads(config_text))
    trial = files.read_json(Path(spec["trial"]))
    made_of = {**trial["digests"], **spec["digests"]}
    if trial["status"] != "ok":
        verdicts.write("grade_patch", spec, made_of, verdicts.passed_on(trial), attempted=False)
        return
    try:
        graded = _graded(spec, config.sandbox)
    except (RegradeError, OSError) as error:
        verdicts.write("grade_patch", spec, made_of, broken("sandbox_error", str(error)), attempted=True)
        return
    verdict = verdicts.with_hint(_verdict(graded), trial["reason"], trial["message"])
    more: dict[str, Any] = {
        "rewards": graded.rewards,
        "tests": graded.tests,
        "selectors": graded.selectors,
        "restored": graded.restored[:50],
    }
    verdicts.write("grade_patch", spec, made_of, verdict, attempted=True, ran_in=graded.about or None, **more)


def _graded(spec: dict[str, Any], mode: str) -> Graded:
    task, prepared = selfbench.load(Path(spec["task"]["folder"])), Prepared(Path(spec["prepared"]))
    gates = files.read_json(prepared.gates)
    patch = base.changes(prepared.repository, Path(spec["workspace"]))
    verify = Path(spec["verify"])
    files.write_bytes(verify.with_suffix(".patch"), patch)
    graded = grade(task, patch, prepared, mode, reported=gates["reports"], least=gates["least"])
    files.write_text(verify.with_suffix(".log"), redaction.redact(graded.log.decode(errors="backslashreplace")))
    return graded


def _verdict(graded: Graded) -> Verdict:
    decided = failed(graded.reason, graded.detail) if graded.reason else Verdict(True, 1.0, graded.detail, "passed")
    return replace(decided, in_process=True, cpu_s=graded.cpu_s, wall_s=graded.wall_s)


if __name__ == "__main__":
    with ending_in_one_line("the grade"):
        main(*sys.argv[1:])
