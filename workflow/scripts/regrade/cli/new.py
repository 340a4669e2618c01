"""Write the skeleton of a task, a pack or a suite: a small one that works, to be changed into yours piece by piece."""

import argparse
import re
import shutil
import tempfile
from pathlib import Path
from string import Template

from regrade import files
from regrade.config import CATEGORIES
from regrade.errors import RegradeError, UsageError
from regrade.formats.artifact.manifest import ID
from regrade.formats.benchpack.manifest import ID as PACK_ID
from regrade.git import git
from regrade.nearest import nearest

SKELETON = Path(__file__).parents[1] / "skeleton"
_ENDING = ".template"
_TASK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PATCHES = {"gold": "solution", "test": "held_out"}
_SUITE = re.compile(r"[a-z][a-z0-9_]*")
PLACES = {
    "artifact": Path("problems/artifact"),
    "benchpack": Path("benchpacks"),
    "suite": Path("problems/suites"),
    "selfbench": Path("problems/selfbench"),
}
"""Where tasks of each format lie."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("format", choices=PLACES, metavar="FORMAT", help=" or ".join(PLACES))
    parser.add_argument(
        "name",
        metavar="NAME",
        help="category__slug or category/slug; a pack's id; a suite's name; a SelfBench task's id",
    )
    default = ", ".join(f"{place} for {name}" for name, place in PLACES.items())
    parser.add_argument("--dir", type=Path, help=f"the folder of tasks, packs or suites (default: {default})")


def run(args: argparse.Namespace) -> int:
    """Exit code 0; 1 if there is such a task or pack; 2 for a name that cannot be one."""
    make = {"artifact": _artifact, "benchpack": _benchpack, "suite": _suite, "selfbench": _selfbench}[args.format]
    make(args.name, args.dir or PLACES[args.format])
    return 0


def _artifact(name: str, tasks_dir: Path) -> None:
    category, slug = _parts(name)
    folder = tasks_dir / category / slug
    _make("artifact", folder, {"instance_id": f"{category}__{slug}", "category": category})
    for gate in ("positive", "negative"):
        print(f"  regrade graders --{gate} --tasks-dir {tasks_dir} --filter {category}__{slug}")
    print(f"and name {category}__{slug} in a set, sets/<name>.txt.")


def _benchpack(name: str, packs_dir: Path) -> None:
    if not PACK_ID.fullmatch(name):
        raise UsageError(f"NAME: is {name!r}, expected letters, digits, _ and -, with no _ or - in front")
    _make("benchpack", packs_dir / name, {"pack": name})
    print(f"and name {name}, or one of its cases such as {name}/capital, in a set, sets/<name>.txt.")


def _suite(name: str, suites_dir: Path) -> None:
    """Two files in a folder that others share: the tasks, and their reference answers."""
    if not _SUITE.fullmatch(name):
        raise UsageError(f"NAME: is {name!r}, expected small letters, digits and _, with a letter in front")
    places = {"suite.yaml": suites_dir / f"{name}.yaml", "oracle/suite.yaml": suites_dir / "oracle" / f"{name}.yaml"}
    for place in places.values():
        if place.exists():
            raise RegradeError(f"{place}: exists already, expected a name that is free")
    try:
        for source, place in places.items():
            text = (SKELETON / "suite" / f"{source}{_ENDING}").read_text()
            files.write_text(place, Template(text).substitute({"suite": name}))
    except OSError as error:
        raise RegradeError(f"{suites_dir}: cannot be written: {error.strerror or error}") from error
    print(*places.values(), "It works as it stands. Change the files, then try them:", sep="\n")
    print(f"  regrade check {places['suite.yaml']}")
    print(f"and name suite:{name}/*, or one of its tasks, in a set, sets/<name>.txt.")


def _selfbench(name: str, tasks_dir: Path) -> None:
    """A task, and the repository that it works on as a git bundle."""
    if not _TASK.fullmatch(name):
        raise UsageError(f"NAME: is {name!r}, expected letters, digits, ., _ and -, with a letter or digit in front")
    folder, bundle = tasks_dir / name, tasks_dir / "repositories" / f"{name}.bundle"
    if folder.exists() or bundle.exists():
        raise RegradeError(f"{folder if folder.exists() else bundle}: exists already, expected a name that is free")
    skeleton = SKELETON / "selfbench"
    try:
        with tempfile.TemporaryDirectory(prefix="regrade-new-") as place:
            work = Path(place) / "work"
            commit = _commit(skeleton / "base", work)
            patches = {f"{part}.patch": _patch(skeleton / source, work) for part, source in _PATCHES.items()}
            bundle.parent.mkdir(parents=True, exist_ok=True)
            git(work, "bundle", "create", "--quiet", str(bundle.absolute()), "HEAD", "main")
        text = (skeleton / f"definition.json{_ENDING}").read_text()
        files.write_text(folder / "definition.json", Template(text).substitute({"name": name, "commit": commit}))
        for file, patch in patches.items():
            files.write_bytes(folder / file, patch)
    except OSError as error:
        raise RegradeError(f"{tasks_dir}: cannot be written: {error.strerror or error}") from error
    print(folder, bundle, "It works as it stands. Change the files, then try them:", sep="\n")
    print(f"  regrade check {folder}", f"  regrade gates {folder} --repo {bundle}", sep="\n")
    print(f"and name {name} in a set, sets/<name>.txt, and its repository in config/config.yaml:")
    print(f"  selfbench: {{repositories: {{example/{name}: {bundle}}}}}")


def _commit(files_dir: Path, work: Path) -> str:
    """A repository with these files in its only commit; the commit's id."""
    work.mkdir()
    git(work, "init", "--quiet")
    _write_templates(files_dir, work, {})
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "--message", "Greet people")
    return git(work, "rev-parse", "HEAD").decode().strip()


def _patch(files_dir: Path, work: Path) -> bytes:
    """What these files change in the repository, which is as before afterwards."""
    _write_templates(files_dir, work, {})
    git(work, "add", "--all")
    patch = git(work, "diff", "--cached", "--binary", "HEAD")
    git(work, "reset", "--quiet", "--hard")
    return patch


def _make(skeleton: str, folder: Path, words: dict[str, str]) -> None:
    """Write a skeleton and say what to do with it. Raises RegradeError if something is there or nothing can be."""
    if folder.exists():
        raise RegradeError(f"{folder}: exists already, expected a name that is free")
    try:
        _write(SKELETON / skeleton, folder, words)
    except OSError as error:
        raise RegradeError(f"{folder}: cannot be written: {error.strerror or error}") from error
    print(folder)
    print("It works as it stands. Change the files, then try them:", f"  regrade check {folder}", sep="\n")


def _parts(name: str) -> tuple[str, str]:
    category, _, slug = name.partition("/" if "/" in name else "__")
    if not ID.fullmatch(f"{category}__{slug}"):
        raise UsageError(f"NAME: is {name!r}, expected category__slug in small letters, digits and _")
    if category not in CATEGORIES:
        known = f"expected one of {', '.join(CATEGORIES)}{nearest(category, CATEGORIES)}"
        raise UsageError(f"NAME: unknown category {category!r}, {known}")
    return category, slug


def _write(skeleton: Path, folder: Path, words: dict[str, str]) -> None:
    """All files or none: under another name first."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        _write_templates(skeleton, temporary, words)
        temporary.chmod(0o755)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write_templates(skeleton: Path, folder: Path, words: dict[str, str]) -> None:
    for source in sorted(skeleton.rglob(f"*{_ENDING}")):
        target = folder / source.relative_to(skeleton).with_suffix("")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(source.read_text()).substitute(words))
