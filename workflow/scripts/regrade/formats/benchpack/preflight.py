"""What stops a sound pack from being run, found before anything is asked."""

from collections.abc import Iterator
from pathlib import Path

from regrade.errors import Fault
from regrade.formats.benchpack import links, places
from regrade.formats.benchpack.pack import MANIFEST, Benchpack, Case, repositories
from regrade.formats.benchpack.places import PlaceError
from regrade.formats.benchpack.words import shown


def preflight(pack: Benchpack) -> list[Fault]:
    """Every fault of repo-tasks and verify scripts: fixtures, links, warmups, script paths."""
    return [fault for check in (_repositories, _links, _warmup, _verifiers) for fault in check(pack)]


def _fault(pack: Benchpack, field: str, message: str) -> Fault:
    return Fault(str(pack.folder / MANIFEST), field, message)


def _repo_tasks(pack: Benchpack) -> list[Case]:
    return [case for case in pack.cases if case.kind == "repo-task"]


def _repositories(pack: Benchpack) -> Iterator[Fault]:
    for case in _repo_tasks(pack):
        field = f"cases.{case.id}.fixture_refs"
        found = repositories(pack, case)
        if len(found) != 1:
            message = f"names {len(found)} folders of kind repo, expected exactly one for a repo-task to work on"
            yield _fault(pack, field, message)
        for fixture in pack.fixtures:
            if fixture.id in case.fixture_refs and fixture.is_directory and fixture not in found:
                message = (
                    f"names {fixture.id!r}, a folder of kind {fixture.kind!r}, expected only files beside the repo"
                )
                yield _fault(pack, field, message)


def _links(pack: Benchpack) -> Iterator[Fault]:
    """Faults of each repository that a repo-task works on, once."""
    used = {fixture.place: fixture for case in _repo_tasks(pack) for fixture in repositories(pack, case)}
    for place, fixture in used.items():
        try:
            for name, why in links.audit(place):
                yield Fault(str(pack.folder / fixture.path / name), "", f"{why}: a workspace cannot hold it")
        except OSError as error:
            yield Fault(str(pack.folder / fixture.path), "", f"cannot be read: {error.strerror}")


def _warmup(pack: Benchpack) -> Iterator[Fault]:
    if pack.warmup and _repo_tasks(pack):
        yield _fault(pack, "defaults.warmup", f"is {pack.warmup}, expected 0 in a pack with repo-tasks")


def _verifiers(pack: Benchpack) -> Iterator[Fault]:
    for case in pack.cases:
        if case.scoring is None or case.scoring["mode"] != "verify-script":
            continue
        field = f"cases.{case.id}.scoring" if case.raw.get("scoring") else "scoring"
        script = case.scoring.get("script")
        if case.kind != "repo-task":
            message = f"is verify-script for {case.id!r} of kind {case.kind}, expected it only with repo-task"
            yield _fault(pack, f"{field}.mode", message)
        elif not isinstance(script, str):
            found = "missing" if script is None else f"is {shown(script)}"
            yield _fault(pack, f"{field}.script", f"{found}, expected the path of a Python file inside the pack")
        else:
            yield from _script(pack, f"{field}.script", script)


def _script(pack: Benchpack, field: str, script: str) -> Iterator[Fault]:
    try:
        places.file(pack.folder, script)
    except PlaceError as error:
        yield _fault(pack, field, f"is {shown(script)}, {error}")


def script_paths(pack: Benchpack) -> list[Path]:
    """The verify scripts of a pack that has passed, each once, in the order of the cases."""
    found = (pack.script_of(case) for case in pack.cases)
    return list(dict.fromkeys(path for path in found if path))
