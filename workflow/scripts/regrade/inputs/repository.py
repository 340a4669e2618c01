"""Stage `repository`: the pristine copy of the repository that a task works on, and a manifest that lists it.

    python -m regrade.inputs.repository SPEC      JSON, as the rule hands it over

SPEC: id, source (a folder, only read), leave_out (names that are no part of it), output, digest. Links inside the
repository stay links.
"""

import shutil
import sys
from pathlib import Path

from regrade import digests, files, specification, workspace
from regrade.errors import RegradeError, StaleError, ending_in_one_line
from regrade.formats.benchpack import links
from regrade.inputs.stage import SCHEMA_VERSION, seal


def main(spec_text: str) -> None:
    """Run the stage for one specification .

    Raises RegradeError for a link out, StaleError for a folder that is not the one of the plan any more.
    """
    spec = specification.read(spec_text)
    source, output = Path(spec["source"]), Path(spec["output"])
    for name, why in links.audit(source, spec["leave_out"]):
        raise RegradeError(f"{source / name}: {why}")
    pristine = output.parent / "workspace"
    temporary = pristine.with_name(f".{pristine.name}.copying")
    for leftover in (pristine, temporary):
        workspace.remove(leftover)
    leave_out = spec["leave_out"]
    ignore = shutil.ignore_patterns(*leave_out) if leave_out else None
    shutil.copytree(source, temporary, symlinks=True, copy_function=shutil.copy, ignore=ignore)
    if digests.of_folder(source, leave_out) != spec["digest"]:
        raise StaleError(f"{source}: changed while it was copied; run again")
    listed = seal(temporary)
    temporary.rename(pristine)
    manifest = {"schema_version": SCHEMA_VERSION, "task": spec["id"], "made_from": spec["digest"]}
    manifest |= {"status": "ok", "reason": None, "message": None, "files": listed, "digest": digests.of_value(listed)}
    files.write_json(output, manifest)


if __name__ == "__main__":
    with ending_in_one_line("the repository"):
        main(*sys.argv[1:])
