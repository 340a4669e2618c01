"""Does the matcher in Rust follow the rules? Without cargo the answer is that nobody can say."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from matching import problems
from workspace_code import arguments, report, run, verify

BUILD_SECONDS = 200


def checks(workspace: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "target"
        environment = {**os.environ, "CARGO_TARGET_DIR": str(built), "CARGO_NET_OFFLINE": "true"}
        _, trouble = run(["cargo", "build", "--quiet", "--bin", "offers"], workspace, b"", BUILD_SECONDS, environment)
        program = built / "debug" / "offers"
        if not program.is_file():
            yield f"cargo builds no program `offers`: {trouble}"
            return
        yield from problems(Path(folder), lambda tables: run([str(program), *tables], workspace))


def main() -> int:
    if shutil.which("cargo"):
        return verify("fixtures/offers-rust", ["tests/**/*", "examples/**/*", "README.md"], checks)
    given = arguments()
    missing = "needs the program cargo, which is not on PATH"
    report(given.output, {"case": given.case, "not_applicable": missing, "problems": [missing]})
    return 1


if __name__ == "__main__":
    sys.exit(main())
