"""All packs below a folder laid out as <pack>/benchpack.toml: those that can be run, and the others' faults."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regrade.errors import Fault
from regrade.formats.benchpack import manifest
from regrade.formats.benchpack.pack import MANIFEST, Benchpack, build, examine
from regrade.formats.benchpack.preflight import preflight


@dataclass(frozen=True)
class Loaded:
    """Packs that can be run and the faults of the others, both by id and sorted by it.

    A pack with a fault, also one that `preflight` finds, stands only in `faults`: under its id if that can be read,
    else under its folder's name. `ids` is every `pack/case` that a set may name, pack by pack in the manifest's
    order; a faulty pack whose cases cannot be read stands there as `pack`.
    """

    packs: dict[str, Benchpack]
    faults: dict[str, list[Fault]]
    ids: tuple[str, ...]

    def all_faults(self) -> list[Fault]:
        """Every fault, pack by pack."""
        return [fault for faults in self.faults.values() for fault in faults]


def discover(packs_dir: Path) -> list[Path]:
    """The folders of packs directly below a folder, sorted; none if it is not there. Nothing is parsed."""
    if not packs_dir.is_dir():
        return []
    with os.scandir(packs_dir) as entries:
        folders = [packs_dir / entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
    return sorted(folder for folder in folders if os.path.lexists(folder / MANIFEST))


def load_all(packs_dir: Path) -> Loaded:
    """Every pack below a folder. Never raises for a fault in a pack."""
    return load_folders(discover(packs_dir))


def load_folders(folders: Iterable[Path]) -> Loaded:
    """The packs in these folders, which are taken for one collection: an id may stand in one of them only."""
    examined = [(folder, *examine(folder)) for folder in folders]
    claims: dict[str, list[Path]] = {}
    for folder, value, _ in examined:
        claims.setdefault(_id(value, folder), []).append(folder)
    packs: dict[str, Benchpack] = {}
    faults: dict[str, list[Fault]] = {}
    ids: dict[str, list[str]] = {}
    for folder, value, found in examined:
        identifier = _id(value, folder)
        repeated = list(_repeated(identifier, folder, claims[identifier]))
        pack = None if found else build(value, folder)
        found = [*found, *repeated, *(preflight(pack) if pack else [])]
        if pack and not found:
            packs[identifier] = pack
            ids[identifier] = [f"{identifier}/{case.id}" for case in pack.cases]
            continue
        bears_it = any(claimant.name == identifier for claimant in claims[identifier])
        place = folder.name if repeated and bears_it else identifier
        faults.setdefault(place, []).extend(found)
        ids.setdefault(place, _readable(value, place))
    every = tuple(identifier for _, cases in sorted(ids.items()) for identifier in cases)
    return Loaded(dict(sorted(packs.items())), dict(sorted(faults.items())), every)


def _id(value: dict[str, Any], folder: Path) -> str:
    pack = value.get("pack")
    declared = pack.get("id") if isinstance(pack, dict) else None
    return declared if isinstance(declared, str) and manifest.ID.fullmatch(declared) else folder.resolve().name


def _readable(value: dict[str, Any], identifier: str) -> list[str]:
    """What a set may call the cases of a faulty pack."""
    cases = [case["id"] for _, case in manifest.tables(value, "cases") if isinstance(case.get("id"), str)]
    readable = [f"{identifier}/{case}" for case in cases if manifest.ID.fullmatch(case)]
    return list(dict.fromkeys(readable)) or [identifier]


def _repeated(identifier: str, folder: Path, claimants: list[Path]) -> Iterator[Fault]:
    """The fault of an id that several folders claim. The one that bears its name is not to blame for a copy."""
    bearers = [claimant for claimant in claimants if claimant.name == identifier]
    if len(claimants) == 1 or bearers == [folder]:
        return
    others = " and ".join(str(other / MANIFEST) for other in claimants if other != folder)
    message = f"is {identifier!r}, also in {others}: expected each id once"
    yield Fault(str(folder / MANIFEST), "pack.id", message)
