"""Set files: which tasks a benchmark is made of. Adding a set is adding a file."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from regrade.errors import Fault, FaultsError, RegradeError
from regrade.nearest import nearest

RESERVED = ("cache", "checks", "harbor", "runs", "tasks")
"""Folders of results/ that a set's results would collide with."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

Known = Mapping[str, Mapping[str, str]]
"""By format: every id that exists, in order, and the collection it belongs to (`format:collection/*` selects it)."""

NAMED_WHOLE = ("benchpack",)
"""Formats whose collections may stand on a line by their bare names, for all that is in them."""


class _Line(NamedTuple):
    number: int
    text: str


def path_of(folder: Path, name: str) -> Path:
    """The file of a set. Raises RegradeError if there is none, naming the nearest that there is."""
    path = folder / f"{name}.txt"
    if not path.is_file():
        known = {file.stem for file in folder.glob("*.txt")}
        raise RegradeError(f"{path}: there is no set {name!r}{nearest(name, known)}")
    return path


def read_set(path: Path, known: Known) -> list[tuple[str, str]]:
    """The (format, id) pairs that a set file names, in its order.

    Raises FaultsError for every line that names nothing, something unknown, or something named before.
    """
    faults = list(_faults_of_name(path))
    chosen: dict[tuple[str, str], int] = {}
    for line in _lines(path):
        found, message = _resolve(line.text, known)
        repeated = [pair for pair in found if pair in chosen]
        if repeated:
            message = _repeated(line.text, [(pair[1], chosen[pair]) for pair in repeated])
        if message:
            faults.append(Fault(str(path), f"line {line.number}", message))
        for pair in found:
            chosen.setdefault(pair, line.number)
    if not chosen and not faults:
        faults.append(Fault(str(path), "", "names no task, expected an id a line"))
    if faults:
        raise FaultsError(faults)
    return list(chosen)


def _faults_of_name(path: Path) -> Iterator[Fault]:
    name = path.stem
    if name in RESERVED:
        yield Fault(str(path), "", f"{name!r} is no set name: results/{name}/ holds something else, rename the file")
    elif not _NAME.fullmatch(name):
        yield Fault(str(path), "", f"{name!r} is no set name, expected letters, digits, '.', '_' and '-'")


def _lines(path: Path) -> Iterator[_Line]:
    """The lines that say something, without comments, which start the line or follow a blank."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise FaultsError([Fault(str(path), "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        bad = error.object.count(b"\n", 0, error.start) + 1
        raise FaultsError([Fault(str(path), f"line {bad}", "is not UTF-8, expected UTF-8 text")]) from error
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        words = re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip()
        if words:
            yield _Line(number, words)


def _resolve(words: str, known: Known) -> tuple[list[tuple[str, str]], str | None]:
    """What one line names, or the message that says why it names nothing."""
    prefix, colon, rest = words.partition(":")
    if colon and prefix not in known:
        return [], f"{words!r} has the unknown format {prefix!r}, expected one of {', '.join(known)}"
    formats = [prefix] if colon else list(known)
    if colon and rest.endswith("*"):
        return _select(prefix, rest, known[prefix])
    name = rest if colon else words
    found = {kind: ids for kind in formats if (ids := _named(kind, name, known[kind]))}
    if len(found) > 1:
        choices = " or ".join(f"{kind}:{name}" for kind in found)
        return [], f"{name!r} is an id in several formats, expected {choices}"
    if not found:
        return [], f"unknown id {name!r}{_instead(name, {kind: known[kind] for kind in formats})}"
    return [(kind, identifier) for kind, ids in found.items() for identifier in ids], None


def _named(kind: str, name: str, ids: Mapping[str, str]) -> list[str]:
    """The ids of one format that a name stands for: itself, or all of a collection that may be named whole."""
    if name in ids:
        return [name]
    return [identifier for identifier, of in ids.items() if of == name] if kind in NAMED_WHOLE else []


def _select(kind: str, selector: str, ids: Mapping[str, str]) -> tuple[list[tuple[str, str]], str | None]:
    collection = selector.removesuffix("*").removesuffix("/")
    if selector not in ("*", f"{collection}/*") or "*" in collection:
        return [], f"'{kind}:{selector}' is no selector, expected {kind}:* or {kind}:COLLECTION/*"
    found = [(kind, identifier) for identifier, of in ids.items() if selector == "*" or of == collection]
    if not found:
        near = nearest(collection, set(ids.values()))
        return [], f"'{kind}:{selector}' selects nothing, expected at least one task{near}"
    return found, None


def _instead(name: str, known: Known) -> str:
    """What may have been meant in place of a name that nothing bears."""
    if len(name.split()) > 1:
        return ", expected one id a line"
    whole = {of for kind in NAMED_WHOLE for of in known.get(kind, {}).values()}
    pack = name.split("/", 1)[0]
    if pack != name and any(pack in known[kind] for kind in NAMED_WHOLE if kind in known):
        return f": the cases of {pack!r} cannot be read, look at it with regrade check"
    every = [identifier for ids in known.values() for identifier in ids]
    hint = nearest(name, [*whole, *every])
    return hint or f", expected one of the {len(every)} ids that there are"


def _repeated(words: str, repeated: list[tuple[str, int]]) -> str:
    shown = ", ".join(f"{identifier!r} (line {number})" for identifier, number in repeated[:3])
    more = f" and {len(repeated) - 3} more" if len(repeated) > 3 else ""
    return f"{words!r} repeats {shown}{more}, expected each id once"
