"""Stage `verify`: a pack's verify script looks at what one repetition of a repo-task left.

    python -m regrade.verify SPEC      JSON, as the rule hands it over

SPEC: case, pack {id, version, folder}, script (relative to the pack), timeout_s, environment, verifier_env (names to
take over from ours), source_fixture_id, workspace, patch, output, logs, sandbox, digest, attempt, errors.

The script works in the sandbox on a copy of the workspace; the pack is its working folder, read-only, without the
right answers. Writes <rep>.stdout.log, <rep>.stderr.log, <rep>.outcome.json (how it ran, for the stage `score`), and
last what the script itself said, <rep>.json, in which exit code and verdict are always the process's own.
"""

import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regrade import files, sandbox, specification, workspace
from regrade.errors import RegradeError, SandboxError, ending_in_one_line
from regrade.graders import static
from regrade.layout import verify_outcome

MEMORY_MB = 4096
PROCESSES = 512
DISK_MB = 1024
CPU_PER_WALL = 8
"""As with graders the time limit by the clock is the one that is meant."""

LARGEST_ANSWER = 1 << 20
USUAL = {"PYTHONHASHSEED": "0", "TZ": "UTC"}
"""What the manifest and the configuration may replace, so that a verifier says the same everywhere."""

_PACK, _PATCH, _ANSWER = "/pack", "/patch", "/verify"


def main(spec_text: str) -> None:
    """Run the stage for one specification."""
    spec = specification.read(spec_text)
    output = Path(spec["output"])
    for path in (output, verify_outcome(output)):
        path.unlink(missing_ok=True)
    outcome = _outcome(spec)
    said, ran = _ran(spec, outcome)
    for name in ("stdout", "stderr"):
        files.write_bytes(Path(spec["logs"]) / f"{output.stem}.{name}.log", getattr(ran, name) if ran else b"")
    if outcome["reason"]:
        row = {"stage": "verify", "digest": spec["digest"], "at": outcome["verified_at"]}
        files.append_jsonl(Path(spec["errors"]), {**row, "reason": outcome["reason"], "message": outcome["message"]})
    files.write_json(verify_outcome(output), outcome)
    files.write_text(output, json.dumps(said | _process_result(spec, outcome), indent=2, sort_keys=True) + "\n")


def _outcome(spec: dict[str, Any]) -> dict[str, Any]:
    """What there is to say before anything ran; docs/data_files.md explains each field."""
    return {
        "schema_version": 1,
        "status": "ok",
        "reason": "",
        "message": "",
        "passed": None,
        "exit_code": None,
        "stopped_by": None,
        "empty_patch": not Path(spec["patch"]).stat().st_size,
        "in_process": False,
        "sandbox": None,
        "cpu_s": None,
        "wall_s": 0.0,
        "digest": spec["digest"],
        "attempt": spec["attempt"],
        "verified_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _process_result(spec: dict[str, Any], outcome: dict[str, Any]) -> dict[str, Any]:
    """The part of a verifier's JSON that is not the script's to say."""
    result = {"exit_code": outcome["exit_code"], "passed": outcome["passed"] is True}
    return result | ({"timed_out": True, "timeout_s": spec["timeout_s"]} if outcome["stopped_by"] == "wall" else {})


def _ran(spec: dict[str, Any], outcome: dict[str, Any]) -> tuple[dict[str, Any], sandbox.Outcome | None]:
    """Run the script and note in `outcome` how that went; what it said, and the process's own account."""
    if not Path(spec["workspace"]).is_dir():
        # The session ended in an error and says so itself.
        outcome |= {"status": "not_run", "message": f"{spec['workspace']}: there is no workspace to verify"}
        return {}, None
    try:
        script = _script(spec)
        outcome["in_process"] = static.inspect(script.parent).in_process
        with _scratch(Path(spec["output"])) as scratch:
            ran = sandbox.run(_command(spec, scratch))
            said = _said(scratch / "answer" / Path(spec["output"]).name)
    except (SandboxError, OSError) as error:
        missing = sandbox.available() if spec["sandbox"] == "bubblewrap" else None
        if missing:
            outcome |= {"status": "not_run", "reason": "code_not_allowed"}
            outcome["message"] = f"code does not run here: {missing}"
        else:
            outcome |= {"status": "error", "reason": "sandbox_error", "message": str(error)}
        return {}, None
    except RegradeError as error:
        outcome |= {"status": "error", "reason": "verifier_error", "message": str(error)}
        return {}, None
    outcome |= _how(spec, ran)
    return said, ran


def _script(spec: dict[str, Any]) -> Path:
    pack = Path(spec["pack"]["folder"]).resolve()
    script = Path(pack, spec["script"]).resolve()
    if not script.is_relative_to(pack) or not script.is_file():
        raise RegradeError(f"{pack}: has no file {spec['script']!r}, expected the verify script of {spec['case']}")
    return script


@contextmanager
def _scratch(output: Path) -> Iterator[Path]:
    folder = output.with_name(f".{output.stem}.verifying")
    workspace.remove(folder)
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        workspace.remove(folder)


def _command(spec: dict[str, Any], scratch: Path) -> sandbox.Command:
    answer = Path(spec["output"]).name
    patch = f"{_PATCH}/{Path(spec['patch']).name}"
    arguments = {
        "--workspace": workspace.INSIDE,
        "--case": spec["case"],
        "--pack-id": spec["pack"]["id"],
        "--pack-version": spec["pack"]["version"],
        "--source-fixture-id": spec["source_fixture_id"],
        "--patch": patch,
        "--output": f"{_ANSWER}/{answer}",
    }
    seconds = spec["timeout_s"]
    return sandbox.Command(
        argv=["python", f"{_PACK}/{spec['script']}", *(word for pair in arguments.items() for word in pair)],
        mounts=[
            *_pack(spec, scratch),
            sandbox.Mount(_copy(Path(spec["workspace"]), scratch / "workspace"), workspace.INSIDE, writable=True),
            sandbox.Mount(Path(spec["patch"]), patch),
            sandbox.Mount(_empty(scratch / "answer"), _ANSWER, writable=True),
        ],
        cwd=_PACK,
        limits=sandbox.Limits(
            wall_s=seconds,
            cpu_s=CPU_PER_WALL * seconds,
            memory_mb=MEMORY_MB,
            processes=PROCESSES,
            disk_mb=DISK_MB,
        ),
        environment=_environment(spec),
        mode=spec["sandbox"],
    )


def _environment(spec: dict[str, Any]) -> dict[str, str]:
    ours = {name: os.environ[name] for name in spec["verifier_env"] if name in os.environ}
    return USUAL | ours | (spec["environment"] or {})


def _pack(spec: dict[str, Any], scratch: Path) -> Iterator[sandbox.Mount]:
    """The pack, or a copy where its modes would keep the sandbox's user out; its right answers are covered, since a
    verifier may run the model's code."""
    pack = Path(spec["pack"]["folder"])
    entries = [pack, *pack.rglob("*")]
    if not all(path.is_symlink() or path.stat().st_mode & 0o004 for path in entries):
        pack = _copy(pack, scratch / "pack")
    yield sandbox.Mount(pack, _PACK)
    if spec["sandbox"] == "bubblewrap" and (pack / "oracle").is_dir():
        yield sandbox.Mount(_empty(scratch / "nothing"), f"{_PACK}/oracle")


def _copy(source: Path, target: Path) -> Path:
    """Real copies with open modes, links as links: a workspace's files may be links to the pristine ones."""
    shutil.copytree(source, target, symlinks=True, copy_function=_copy_file)
    for folder, _, _ in os.walk(target):
        Path(folder).chmod(0o755)
    return target


def _copy_file(source: str, target: str) -> None:
    workspace.copy_file(Path(source), Path(target))


def _empty(folder: Path) -> Path:
    workspace.make_folder(folder)
    return folder


def _how(spec: dict[str, Any], ran: sandbox.Outcome) -> dict[str, Any]:
    code = ran.exit_code if ran.exit_code is not None else -(ran.signal or 0)
    return {
        "passed": code == 0 and ran.stopped_by != "wall",
        "exit_code": None if ran.stopped_by == "wall" else code,
        "stopped_by": ran.stopped_by,
        "message": f"stopped by its {ran.stopped_by} limit after {ran.wall_s:.1f} s" if ran.stopped_by else "",
        "sandbox": {"mode": spec["sandbox"], "bounds": ran.bounds},
        "cpu_s": ran.cpu_s,
        "wall_s": round(ran.wall_s, 3),
    }


def _said(path: Path) -> dict[str, Any]:
    """The JSON object that a script wrote, nothing for whatever else lies there: a link, a fifo, too much of it."""
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST_ANSWER:
            return {}
        value = json.loads(path.read_bytes())
        files.to_json(value)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


if __name__ == "__main__":
    with ending_in_one_line("the verifier's result"):
        main(*sys.argv[1:])
