"""What a benchpack is, and reading one from its folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regrade.errors import Fault, FaultsError
from regrade.formats.benchpack import json_schema, manifest, places, toml_file
from regrade.formats.benchpack.places import PlaceError
from regrade.formats.benchpack.words import shown

MANIFEST = "benchpack.toml"

ORACLE = "oracle"
"""The folder of a pack's right answers, `<case>.md` or `<case>.diff`."""


@dataclass(frozen=True)
class Fixture:
    """A file or folder of a pack. `path` as declared, `place` as it really is, links followed."""

    id: str
    kind: str
    path: str
    description: str
    place: Path
    is_directory: bool


@dataclass(frozen=True, eq=False)
class Case:
    """One case. `prompt` holds its fixtures' texts; `scoring` is what holds for it, the pack's if it has none of
    its own, times in seconds as floats; `raw` is the manifest's table as it stands."""

    id: str
    kind: str
    prompt: str
    fixture_refs: tuple[str, ...]
    scoring: dict[str, Any] | None
    harness: dict[str, Any] | None
    raw: dict[str, Any]

    def repo_fixture(self, pack: "Benchpack") -> Fixture:
        """The folder that a repo-task works on. Raises ValueError for a case without exactly one."""
        [fixture] = repositories(pack, self)
        return fixture


@dataclass(frozen=True, eq=False)
class Benchpack:
    """A pack whose manifest has no fault. `defaults` and `requires` as declared; `scoring` None if the table is
    missing or empty."""

    id: str
    version: str
    description: str
    folder: Path
    defaults: dict[str, Any]
    repetitions: int
    warmup: int
    scoring: dict[str, Any] | None
    requires: dict[str, Any]
    cases: tuple[Case, ...]
    fixtures: tuple[Fixture, ...]

    def schema_of(self, case: Case) -> dict[str, Any] | None:
        """The parsed JSON Schema that a case's answers are held against, None under any other mode."""
        if case.scoring is None or case.scoring["mode"] != "json-schema":
            return None
        return json_schema.read(self.folder, case.scoring["schema"])

    def script_of(self, case: Case) -> Path | None:
        """The script that verifies a case, None under any other mode. The pack must have passed `preflight`."""
        if case.scoring is None or case.scoring["mode"] != "verify-script":
            return None
        return places.file(self.folder, case.scoring["script"])

    def oracle_of(self, case: Case) -> Path | None:
        """The file with a case's right answer: `.diff` before `.md`. None if there is none."""
        for ending in ("diff", "md"):
            path = self.folder / ORACLE / f"{case.id}.{ending}"
            if path.is_file():
                return path
        return None


def repositories(pack: Benchpack, case: Case) -> list[Fixture]:
    """The folders of kind repo that a case refers to."""
    return [
        fixture
        for fixture in pack.fixtures
        if fixture.id in case.fixture_refs and fixture.is_directory and fixture.kind == "repo"
    ]


def load(folder: Path) -> Benchpack:
    """The pack in a folder. Raises FaultsError with every fault of its manifest and of the files that it names.

    What only stops it from being run, such as a missing verify script, is said by `preflight`.
    """
    value, found = examine(folder)
    if found:
        raise FaultsError(found)
    return build(value, folder)


def examine(folder: Path) -> tuple[dict[str, Any], list[Fault]]:
    """What a folder's manifest says (nothing if it cannot be parsed), and every fault in it."""
    path = folder / MANIFEST
    if path.exists() and not path.is_file():
        return {}, [Fault(str(path), "", "expected a regular file")]
    try:
        value = toml_file.load(path)
    except FaultsError as error:
        return {}, error.faults
    return value, faults(value, folder)


def faults(value: dict[str, Any], folder: Path) -> list[Fault]:
    """Every fault of a parsed manifest and of the files that it names."""
    return [*manifest.faults(value, folder), *_faults_of_places(value, folder)]


def _faults_of_places(value: dict[str, Any], folder: Path) -> Iterator[Fault]:
    source = str(folder / MANIFEST)
    for number, fixture in manifest.tables(value, "fixtures"):
        if isinstance(fixture.get("path"), str):
            try:
                place, is_directory = places.file_or_folder(folder, fixture["path"])
                if not is_directory and fixture.get("id") in _referenced(value):
                    places.read_text(place)
            except PlaceError as error:
                field = manifest.name_of(value, ["fixtures", number, "path"])
                yield Fault(source, field, f"is {shown(fixture['path'])}, {error}")
    for number, case in manifest.tables(value, "cases"):
        if isinstance(case.get("prompt_file"), str):
            try:
                places.read_text(places.file(folder, case["prompt_file"]))
            except PlaceError as error:
                field = manifest.name_of(value, ["cases", number, "prompt_file"])
                yield Fault(source, field, f"is {shown(case['prompt_file'])}, {error}")


def _referenced(value: dict[str, Any]) -> list[Any]:
    """What any case refers to, whatever it is."""
    lists = [case.get("fixture_refs") for _, case in manifest.tables(value, "cases")]
    return [name for names in lists if isinstance(names, list) for name in names]


def build(value: dict[str, Any], folder: Path) -> Benchpack:
    """The pack that a manifest without faults describes."""
    pack, defaults = value["pack"], value.get("defaults", {})
    fixtures = tuple(_fixture(fixture, folder) for fixture in value.get("fixtures", []))
    scoring = _with_seconds(value.get("scoring"))
    return Benchpack(
        id=pack["id"],
        version=pack["version"],
        description=pack.get("description", ""),
        folder=folder,
        defaults=defaults,
        repetitions=defaults.get("repetitions", 1),
        warmup=defaults.get("warmup", 0),
        scoring=scoring,
        requires=value.get("requires", {}),
        cases=tuple(_case(case, folder, fixtures, scoring) for case in value.get("cases", [])),
        fixtures=fixtures,
    )


def _fixture(value: dict[str, Any], folder: Path) -> Fixture:
    place, is_directory = places.file_or_folder(folder, value["path"])
    return Fixture(value["id"], value["kind"], value["path"], value.get("description", ""), place, is_directory)


def _case(value: dict[str, Any], folder: Path, fixtures: tuple[Fixture, ...], scoring: dict[str, Any] | None) -> Case:
    by_id = {fixture.id: fixture for fixture in fixtures}
    references = tuple(value.get("fixture_refs", ()))
    return Case(
        id=value["id"],
        kind=value.get("kind", "chat"),
        prompt=_prompt(value, folder, [by_id[name] for name in references]),
        fixture_refs=references,
        scoring=_with_seconds(value.get("scoring")) or scoring,
        harness=_with_seconds(value.get("harness")),
        raw=value,
    )


def _prompt(value: dict[str, Any], folder: Path, fixtures: list[Fixture]) -> str:
    """The case's own words, and behind them each file between two lines that name it."""
    inline = "prompt" in value
    text: str = value["prompt"] if inline else places.read_text(places.file(folder, value["prompt_file"]))
    for fixture in fixtures:
        if not fixture.is_directory:
            content = places.read_text(fixture.place)
            text += "\n" if text.endswith("\n") else "\n\n"
            text += f"--- BEGIN FIXTURE {fixture.id} ({fixture.kind}, {fixture.path}) ---\n{content}"
            text += "" if content.endswith("\n") or not content else "\n"
            text += f"--- END FIXTURE {fixture.id} ---"
    return text


def _with_seconds(table: dict[str, Any] | None) -> dict[str, Any] | None:
    """A table with its time limit as a float; None for one that says nothing."""
    if not table:
        return None
    return {key: float(value) if key == "timeout_s" else value for key, value in table.items()}
