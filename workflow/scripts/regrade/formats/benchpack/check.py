"""What a program can see of a sound pack's quality. Each check takes a pack and gives its faults and warnings."""

from collections.abc import Callable, Iterator
from typing import Any

from regrade import schemas
from regrade.errors import Fault
from regrade.formats.artifact import code
from regrade.formats.benchpack import links, manifest, places, toml_file
from regrade.formats.benchpack.pack import MANIFEST, ORACLE, Benchpack, Case, repositories
from regrade.formats.benchpack.places import PlaceError
from regrade.formats.benchpack.preflight import script_paths
from regrade.nearest import nearest

Check = Callable[[Benchpack], Iterator[Fault]]

AS_CHAT = ("completion", "replay")

MODE_KEYS = {
    "contains": ("expected",),
    "equals": ("expected",),
    "regex": ("pattern",),
    "json-schema": ("schema",),
    "verify-script": ("script", "timeout_s", "environment"),
    "none": (),
}
"""What is read of a scoring table beside its mode. A judge's table is the judge's business."""


def check_pack(pack: Benchpack) -> list[Fault]:
    """Everything found in a pack that can be run, by file."""
    found: set[Fault] = set()
    for check in CHECKS:
        try:
            found.update(check(pack))
        except OSError as error:
            found.add(Fault(str(error.filename or pack.folder), "", f"cannot be read: {error.strerror}"))
    return sorted(found)


def _warning(pack: Benchpack, field: str, message: str) -> Fault:
    return Fault(str(pack.folder / MANIFEST), field, message, "warning")


def check_cases(pack: Benchpack) -> Iterator[Fault]:
    """There are cases, of kinds that are what they are called, with names that no file system mixes up."""
    if not pack.cases:
        yield _warning(pack, "cases", "are missing, expected at least one")
    seen: dict[str, str] = {}
    for case in pack.cases:
        if case.kind in AS_CHAT:
            message = f"is {case.kind!r}, which is sent as 'chat' is: one message by a user"
            yield _warning(pack, f"cases.{case.id}.kind", message)
        other = seen.setdefault(case.id.lower(), case.id)
        if other != case.id:
            message = f"differs from {other!r} in capitals alone, and so do their files: expected another name"
            yield _warning(pack, f"cases.{case.id}.id", message)


def check_scoring(pack: Benchpack) -> Iterator[Fault]:
    """Scoring does what it seems to."""
    for case in pack.cases:
        field = f"cases.{case.id}.scoring"
        if case.raw.get("scoring") == {} and pack.scoring:
            yield _warning(pack, field, 'is empty, so the pack\'s holds: write mode = "none" for no scoring')
        if case.kind == "repo-task" and case.scoring and case.scoring["mode"] not in ("none", "verify-script"):
            message = f"is {case.scoring['mode']}, which sees the answer but not the repository: expected verify-script"
            yield _warning(pack, f"{field}.mode", message)


def check_keys(pack: Benchpack) -> Iterator[Fault]:
    """No key is misspelt: those that nothing reads are named."""
    value = toml_file.load(pack.folder / MANIFEST)
    schema = schemas.schema(manifest.SCHEMA)
    for parts, known in [*_unknown(value, schema, []), *_unknown_in_scoring(value)]:
        hint = nearest(parts[-1], known)
        yield _warning(pack, manifest.name_of(value, parts), f"is a key that nothing reads{hint}")


def _unknown(value: Any, schema: dict[str, Any], parts: list[Any]) -> Iterator[tuple[list[Any], list[str]]]:
    """(place, known keys) of every key that the schema does not have, down to the scoring tables."""
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from _unknown(item, schema["items"], [*parts, number])
    elif isinstance(value, dict) and "properties" in schema:
        for key, item in value.items():
            if key in schema["properties"]:
                yield from _unknown(item, schema["properties"][key], [*parts, key])
            else:
                yield [*parts, key], list(schema["properties"])


def _unknown_in_scoring(value: dict[str, Any]) -> Iterator[tuple[list[Any], list[str]]]:
    for parts, table in manifest.scoring_tables(value):
        if table.get("mode") in MODE_KEYS:
            known = ["mode", *MODE_KEYS[table["mode"]]]
            yield from (([*parts, key], known) for key in table if key not in known)


def check_repositories(pack: Benchpack) -> Iterator[Fault]:
    """Links in a repository still lead somewhere in a copy of it."""
    used = {fixture for case in pack.cases for fixture in repositories(pack, case)}
    for fixture in sorted(used, key=lambda fixture: fixture.id):
        for name, target in links.by_own_name(fixture.place):
            message = f"is a link to {target!r} by the folder's own name, which no copy has: link within the folder"
            yield Fault(str(pack.folder / fixture.path / name), "", message, "warning")


def check_verifiers(pack: Benchpack) -> Iterator[Fault]:
    """Verify scripts are Python that parses."""
    for path in script_paths(pack):
        yield from code.syntax(path)


def check_oracle(pack: Benchpack) -> Iterator[Fault]:
    """Every case that is scored has one right answer to be tried with, and no other file lies among them."""
    folder = pack.folder / ORACLE
    for case in pack.cases:
        yield from _oracle(pack, case)
    names = {case.id for case in pack.cases}
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.suffix in (".md", ".diff") and path.stem not in names:
            message = f"belongs to no case, expected the name of one{nearest(path.stem, names)}"
            yield Fault(str(path), "", message, "warning")


def _oracle(pack: Benchpack, case: Case) -> Iterator[Fault]:
    path = pack.oracle_of(case)
    if path is None:
        if case.scoring and case.scoring["mode"] != "none":
            message = "missing: without a right answer nobody can try the scoring; a .diff will do for a repo-task"
            yield Fault(str(pack.folder / ORACLE / f"{case.id}.md"), "", message, "warning")
        return
    try:
        places.read_text(places.file(pack.folder, f"{ORACLE}/{path.name}"))
    except PlaceError as error:
        yield Fault(str(path), "", str(error))
    if path.suffix == ".diff" and path.with_suffix(".md").exists():
        yield Fault(str(path.with_suffix(".md")), "", f"stands beside {path.name}, expected one of them")


CHECKS: tuple[Check, ...] = (
    check_cases,
    check_scoring,
    check_keys,
    check_repositories,
    check_verifiers,
    check_oracle,
)
