"""Pack a set's SelfBench tasks as Harbor bundles into one tar.gz, or hold such a file against its own manifest.

regrade export harbor SET --out F.tar.gz
regrade export harbor --verify F.tar.gz
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from regrade import config
from regrade.config import Config
from regrade.errors import RegradeError, UsageError
from regrade.formats.selfbench import SelfbenchTask
from regrade.harbor import export
from regrade.nearest import nearest
from regrade.plan import Plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("kind", choices=("harbor",), metavar="harbor", help="for whom it is packed")
    parser.add_argument("set", nargs="?", metavar="SET", help="the set's name")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the tar.gz to write")
    parser.add_argument("--verify", type=Path, metavar="FILE", help="an export to check")
    parser.add_argument("--configfile", type=Path, default=Path("config/config.yaml"), help="default: %(default)s")


def run(args: argparse.Namespace) -> int:
    """Exit code 0, 1 for an export that is not what it says or a task that cannot be compiled, 2 for misuse."""
    if args.verify:
        if args.set or args.out:
            raise UsageError("--verify goes with neither a set nor --out, expected a file alone")
        return _verify(args.verify)
    if not (args.set and args.out):
        raise UsageError("expected SET --out FILE, or --verify FILE")
    ids = export.export(args.set, list(_tasks(args.configfile, args.set)), args.out)
    print(f"exported {len(ids)} tasks to {args.out}")
    return 0


def _verify(path: Path) -> int:
    found = export.differences(path)
    for line in found:
        print(line)
    print(f"{path}: {f'{len(found)} differences' if found else 'is what its manifest says'}")
    return 1 if found else 0


def _tasks(configfile: Path, name: str) -> Iterator[tuple[SelfbenchTask, Path]]:
    """The set's tasks of this format, each with its repository."""
    if not configfile.is_file():
        raise UsageError(f"{configfile}: no such file, expected the configuration: --configfile names it")
    settings = config.load_file(configfile)
    found = [task.source for task in Plan(settings).tasks_of_set(name) if task.format == "selfbench"]
    if not found:
        raise RegradeError(f"set {name!r}: has no SelfBench task, expected at least one to export")
    for task in found:
        yield task, _repository(settings, task, configfile)


def _repository(settings: Config, task: SelfbenchTask, configfile: Path) -> Path:
    known = settings.selfbench_repositories
    repo = task.definition.repo
    if repo not in known:
        place = f"{configfile}: selfbench.repositories"
        raise RegradeError(f"{place}: has no {repo!r}{nearest(repo, known)}, expected a clone or a git bundle of it")
    return Path(known[repo])
