"""Bundles: what is in them, that they are the same each time, and what is refused."""

import gzip
import hashlib
import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from harbor_support import GOLD, Calc, changes, definition, git, write
from regrade.cli import main
from regrade.errors import RegradeError
from regrade.formats import selfbench
from regrade.harbor.bundle import compile_task, refresh

FILES = {
    ".selfbench-manifest.json": 0o644,
    "environment/Dockerfile": 0o644,
    "environment/repo.tar.gz": 0o644,
    "instruction.md": 0o644,
    "solution/gold.patch": 0o644,
    "solution/solve.sh": 0o755,
    "task.toml": 0o644,
    "tests/Dockerfile": 0o644,
    "tests/repo.tar.gz": 0o644,
    "tests/test.patch": 0o644,
    "tests/test.sh": 0o755,
}


@pytest.fixture
def calc(tmp_path: Path) -> Calc:
    return Calc(tmp_path)


@pytest.fixture
def bundle(calc: Calc) -> Path:
    compile_task(calc.task(), calc.repo, calc.folder / "bundle")
    return calc.folder / "bundle"


def content(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file of a folder: its mode and the digest of its bytes."""
    places = [place for place in sorted(folder.rglob("*")) if place.is_file()]
    return {
        place.relative_to(folder).as_posix(): (
            place.stat().st_mode & 0o777,
            hashlib.sha256(place.read_bytes()).hexdigest(),
        )
        for place in places
    }


def instructions(dockerfile: str) -> list[str]:
    """The first words of a Dockerfile's instructions, lines that go on and comments taken together."""
    joined = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", dockerfile))
    return [line.split()[0] for line in joined.splitlines() if line.strip()]


def test_files_and_modes(bundle: Path) -> None:
    """A bundle has eleven files, two of which can be run, and both images have the same repository."""
    found = content(bundle)
    assert FILES == {name: mode for name, (mode, _) in found.items()}
    assert found["environment/repo.tar.gz"] == found["tests/repo.tar.gz"]


def test_same_bytes_each_time(calc: Calc, bundle: Path) -> None:
    """Compiled into another folder, from a bare clone, from a git bundle, and over itself: all the same."""
    before = content(bundle)
    git(calc.folder, "clone", "--quiet", "--bare", str(calc.repo), "bare.git")
    git(calc.repo, "bundle", "create", "--quiet", str(calc.folder / "calc.bundle"), "HEAD")
    for number, repo in enumerate((calc.folder / "bare.git", calc.folder / "calc.bundle")):
        compile_task(calc.task(), repo, calc.folder / f"again{number}")
        assert before == content(calc.folder / f"again{number}")
    (bundle / "old").write_text("")
    compile_task(calc.task(), calc.repo, bundle)
    assert before == content(bundle)


def test_settings_of_git_do_not_count(calc: Calc, bundle: Path) -> None:
    """Neither the repository's nor the user's settings change a byte."""
    before, task = content(bundle), calc.task()
    for setting in (("tar.umask", "0077"), ("core.autocrlf", "true"), ("core.abbrev", "5")):
        git(calc.repo, "config", *setting)
    (calc.repo / ".git/info/attributes").write_text("* export-ignore\n")
    compile_task(task, calc.repo, bundle)
    assert before == content(bundle)


def test_snapshot_has_no_history(bundle: Path) -> None:
    """The archive holds the files of the base commit and nothing of git."""
    listed = subprocess.run(["tar", "tzf", bundle / "tests/repo.tar.gz"], capture_output=True, check=True).stdout
    assert {".gitignore", "calc/__init__.py", "calc/ops.py", "tests/test_ops.py", "tests/test_shape.py"} == {
        name for name in listed.decode().split() if not name.endswith("/")
    }
    assert 0 == int.from_bytes((bundle / "tests/repo.tar.gz").read_bytes()[4:8], "little")
    assert b"" != gzip.decompress((bundle / "tests/repo.tar.gz").read_bytes())


def test_manifest(calc: Calc, bundle: Path) -> None:
    """The manifest names what the bundle was made from, key after key."""
    text = (bundle / ".selfbench-manifest.json").read_text()
    task = calc.task()
    hashes = [hashlib.sha256(data).hexdigest() for data in (task.test_patch, task.gold_patch)]
    expected = {
        "generator": "regrade", "harborSchemaVersion": "1.4", "compilerRevision": 23, "taskId": "calc-pr-7",
        "difficulty": "medium", "definitionSha256": selfbench.digest(task.definition),
        "testPatchSha256": hashes[0], "goldPatchSha256": hashes[1],
    }  # fmt: skip
    assert list(expected.items()) == list(json.loads(text).items())


def test_instruction(calc: Calc, bundle: Path) -> None:
    """The prompt without the blanks that JavaScript trims, and a line end."""
    compile_task(calc.task(prompt="\ufeff\n  Teach it.\u2028\x1c \n"), calc.repo, bundle)
    assert "Teach it.\u2028\x1c\n" == (bundle / "instruction.md").read_bytes().decode()


def test_task_toml(bundle: Path) -> None:
    """Tables, keys and values are those of the format, in its order; times are floats."""
    text = (bundle / "task.toml").read_text()
    value = tomllib.loads(text)
    assert ["schema_version", "artifacts", "task", "metadata", "agent", "verifier", "environment"] == list(value)
    assert ["name", "version", "description", "keywords"] == list(value["task"])
    names = ("selfbench_task_id", "difficulty", "repo", "base_commit", "workdir", "source_pr", "compiler_revision")
    assert list(names) == list(value["metadata"])
    assert ("1.4", ["/opt/selfbench/agent.patch"]) == (value["schema_version"], value["artifacts"])
    assert ("selfbench/calc-pr-7", "1.0.0") == (value["task"]["name"], value["task"]["version"])
    assert (4, "medium") == (len(value["task"]["keywords"]), value["task"]["keywords"][3])
    agent, verifier = value["agent"], value["verifier"]
    assert ("allowlist", 4, "agent") == (agent["network_mode"], len(agent["allowed_hosts"]), agent["user"])
    expected = {"timeout_sec": 960.0, "user": "root", "environment_mode": "separate", "network_mode": "public"}
    assert expected == {key: verifier[key] for key in expected}
    assert ("main", "root", 60.0) == tuple(verifier["collect"][0][key] for key in ("service", "user", "timeout_sec"))
    machine = {"network_mode": "public", "build_timeout_sec": 1500.0, "cpus": 4, "memory_mb": 8192, "storage_mb": 20480}
    assert (machine, machine) == (value["environment"], verifier["environment"])
    assert ["agent.timeout_sec = 2400.0"] == [f"agent.{line}" for line in text.splitlines() if "2400" in line]


@pytest.mark.parametrize("repo", ['a"b\\c', "a\x7fb", "a\nb\tc\x01", "größe 😀", "a\ud800b", "'''", '"""'])
def test_texts_in_task_toml(calc: Calc, repo: str) -> None:
    """Whatever a definition holds, the file is TOML, and says the same where TOML can."""
    compile_task(calc.task(repo=repo), calc.repo, calc.folder / "bundle")
    value = tomllib.loads((calc.folder / "bundle/task.toml").read_text())
    assert repo.replace("\ud800", "\ufffd") == value["metadata"]["repo"]


@pytest.mark.parametrize(("cpus", "expected"), [(0.5, "0.5"), (4.0, "4"), (1e-7, "1e-7"), (2e21, "2e+21")])
def test_numbers_in_task_toml(calc: Calc, cpus: float, expected: str) -> None:
    """Numbers are written as in the definition's canonical form."""
    resources = {"cpus": cpus, "memoryMb": 1, "storageMb": 9007199254740991}
    compile_task(calc.task(resources=resources), calc.repo, calc.folder / "bundle")
    text = (calc.folder / "bundle/task.toml").read_text()
    assert (2, 2) == (text.count(f"\ncpus = {expected}\n"), text.count("\nstorage_mb = 9007199254740991\n"))
    assert cpus == tomllib.loads(text)["environment"]["cpus"]


TOOLCHAINS = [
    (["uv"], "uv"),
    (["python"], "uv python"),
    (["rust", "go", "bun"], "node bun go rust"),
    (["node", "python", "node"], "uv python node"),
]


@pytest.mark.parametrize(("declared", "expected"), TOOLCHAINS)
def test_toolchains(calc: Calc, declared: list[str], expected: str) -> None:
    """Declared toolchains and implied ones are installed once each, in the fixed order, in both images."""
    compile_task(calc.task(toolchains=declared), calc.repo, calc.folder / "bundle")
    for image in ("environment", "tests"):
        text = (calc.folder / "bundle" / image / "Dockerfile").read_text()
        assert expected == " ".join(re.findall(r"(?m)^# Toolchain: (\w+)$", text))


def test_versions_of_toolchains(calc: Calc) -> None:
    """Every version is the one that the format names."""
    compile_task(calc.task(toolchains=["bun", "go", "rust", "python"]), calc.repo, calc.folder / "bundle")
    text = (calc.folder / "bundle/environment/Dockerfile").read_text()
    for said in ("FROM ubuntu:24.04", "3.11 3.12 3.13", "v22.14.0", "bun@1.3.14", "go1.25.0.linux", "1.90.0"):
        assert said in text
    assert "PLAYWRIGHT_BROWSERS_PATH=/opt/playwright" in text


def test_what_a_set_up_fetches_is_shared(calc: Calc) -> None:
    """What root fetches outside of the repository is there for the users that work and test."""
    compile_task(calc.task(toolchains=["rust", "go", "node"]), calc.repo, calc.folder / "bundle")
    for image in ("environment", "tests"):
        text = (calc.folder / "bundle" / image / "Dockerfile").read_text()
        assert 1 == text.count("chmod --recursive a+rwX /opt/go /opt/cargo\n")


def test_setup_of_several_lines(calc: Calc) -> None:
    """A set-up of many lines, with every sign that Dockerfiles know, is one instruction that says exactly this."""
    setup = "uv venv\n# no comment\nUSER nobody\nprintf '%s' \"$HOME\" \\\n  a\\\n\t`id` \\\\"
    compile_task(calc.task(setupCommand=setup, workdir="a b/$c"), calc.repo, calc.folder / "bundle")
    known = {"FROM", "ENV", "SHELL", "RUN", "COPY", "USER", "WORKDIR"}
    for image, users in (("environment", 1), ("tests", 0)):
        text = (calc.folder / "bundle" / image / "Dockerfile").read_text()
        found = instructions(text)
        assert (set(), users) == (set(found) - known, found.count("USER"))
        runs = [json.loads(line.removeprefix("RUN ")) for line in text.splitlines() if line.startswith("RUN [")]
        assert ["env", "-C", "/app/a b/$c", "/bin/bash", "-lc", setup] in runs


def test_dependency_patch(calc: Calc) -> None:
    """A solution that changes a manifest has the verifier, and it alone, set up a second time."""
    manifest = {"pyproject.toml": '[project]\nname = "calc"\n'}
    gold = changes(calc.repo, {**calc.solved, **manifest})
    compile_task(calc.task(gold), calc.repo, calc.folder / "bundle")
    patch = (calc.folder / "bundle/tests/dependency-setup.patch").read_text()
    assert ["diff --git a/pyproject.toml b/pyproject.toml"] == re.findall(r"(?m)^diff .*", patch)
    texts = [(calc.folder / "bundle" / image / "Dockerfile").read_text() for image in ("environment", "tests")]
    assert [1, 2] == [text.count('"-lc", "true"]') for text in texts]
    assert [False, True] == ["dependency-setup.patch" in text for text in texts]


def test_solution_applies(calc: Calc, bundle: Path) -> None:
    """What solve.sh calls makes the reference solution of a fresh copy of the base."""
    command = next(line for line in (bundle / "solution/solve.sh").read_text().splitlines() if "git apply" in line)
    git(calc.repo, *command.replace("/solution", str(bundle / "solution")).split()[1:])
    assert "mul" in (calc.repo / "calc/ops.py").read_text()


def test_collected_patch(calc: Calc, bundle: Path) -> None:
    """The patch that is collected is what the agent changed, whatever it did with its own git."""
    command = tomllib.loads((bundle / "task.toml").read_text())["verifier"]["collect"][0]["command"]
    app, kept = calc.folder / "app", calc.folder / "kept"
    subprocess.run(["cp", "-a", calc.repo, app], check=True)
    subprocess.run(["cp", "-a", app / ".git", kept], check=True)
    write(app, {**calc.solved, "tests/test_ops.py": None, "größe\n.bin": "\0\1"})
    (app / "calc/cli.py").chmod(0o755)
    git(app, "add", "--all")
    git(app, "commit", "--quiet", "--message=mine")
    git(app, "checkout", "--quiet", "--orphan", "other")
    words = command.replace("/opt/selfbench/base.git", str(kept)).replace("/app", str(app))
    subprocess.run(["bash", "-c", words.replace("/opt/selfbench", str(calc.folder))], check=True)
    (app / ".git").rename(calc.folder / "gone")
    git(calc.repo, "apply", "--binary", str(calc.folder / "agent.patch"))
    (calc.repo / ".git").rename(calc.folder / "gone too")
    assert content(app) == content(calc.repo)


def test_scripts_are_valid(bundle: Path) -> None:
    """Both scripts are syntax that bash takes."""
    for name in ("tests/test.sh", "solution/solve.sh"):
        subprocess.run(["bash", "-n", bundle / name], check=True)


def test_repository_without_the_commit(calc: Calc) -> None:
    """A repository that lacks the base commit is told in one line, and nothing is written."""
    task = calc.task(baseCommit="0" * 40)
    with pytest.raises(RegradeError, match=r"^git exited 128: fatal: Not a valid object name 0{40}\^\{commit\} \("):
        compile_task(task, calc.repo, calc.folder / "bundle")
    assert not (calc.folder / "bundle").exists()


def test_repository_that_is_none(calc: Calc) -> None:
    """A repository that is not there, or that is no repository, is told so."""
    with pytest.raises(RegradeError, match="does not exist, expected a clone or a git bundle"):
        compile_task(calc.task(), calc.folder / "nowhere", calc.folder / "bundle")
    (calc.folder / "empty").mkdir()
    (calc.folder / "file").write_text("x")
    for name in ("empty", "file"):
        with pytest.raises(RegradeError, match=r"^git exited \d+: (?:fatal|error): "):
            compile_task(calc.task(), calc.folder / name, calc.folder / "bundle")


def test_name_that_harbor_refuses(calc: Calc) -> None:
    """Two dots in a row make a name that Harbor does not take."""
    with pytest.raises(RegradeError, match=r"taskId: is 'a\.\.b', expected none with '\.\.'"):
        compile_task(calc.task(taskId="a..b"), calc.repo, calc.folder / "bundle")


def test_folder_that_holds_something_else(calc: Calc, bundle: Path) -> None:
    """A folder with anything but an earlier bundle of the task stays as it is."""
    other = calc.folder / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(RegradeError, match="holds other files, expected"):
        compile_task(calc.task(), calc.repo, other)
    assert "mine" == (other / "thesis.txt").read_text()
    with pytest.raises(RegradeError, match="is the bundle of 'calc-pr-7', expected"):
        compile_task(calc.task(taskId="calc-pr-8"), calc.repo, bundle)


KEPT = ("instruction.md", "solution/gold.patch", "environment/repo.tar.gz", "tests/repo.tar.gz")


def test_refresh(calc: Calc, bundle: Path) -> None:
    """A refresh makes anew what a definition decides and leaves prompt, solution and repository alone."""
    for name in KEPT:
        with (bundle / name).open("ab") as stream:
            stream.write(b"\n")
    before = content(bundle)
    task = calc.task(setupCommand="uv sync", prompt="Other words", testCommand="pytest {tests}")
    refresh(bundle, task)
    after = content(bundle)
    assert FILES == {name: mode for name, (mode, _) in after.items()}
    changed = {".selfbench-manifest.json", "environment/Dockerfile", "tests/Dockerfile", "tests/test.sh"}
    assert changed == {name for name in after if after[name] != before[name]}
    found = json.loads((bundle / ".selfbench-manifest.json").read_text())
    assert selfbench.digest(task.definition) == found["definitionSha256"]
    assert after["solution/gold.patch"][1] == found["goldPatchSha256"]


def test_refresh_is_a_compilation(calc: Calc, bundle: Path) -> None:
    """What a refresh makes of a bundle is what compiling the repaired task makes."""
    task = calc.task(timeouts={"setupSeconds": 1, "agentSeconds": 2, "testsSeconds": 3})
    refresh(bundle, task)
    compile_task(task, calc.repo, calc.folder / "again")
    assert content(calc.folder / "again") == content(bundle)


def test_refresh_of_another_task(calc: Calc, bundle: Path) -> None:
    """A bundle is refreshed from its own task only."""
    before = content(bundle)
    with pytest.raises(RegradeError, match=r"^bundle task calc-pr-7 does not match calc-pr-8$"):
        refresh(bundle, calc.task(taskId="calc-pr-8"))
    assert before == content(bundle)


def run(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[int, str, str]:
    """The command's exit code and what it prints."""
    code = main(["compile", *map(str, words)])
    return code, *capsys.readouterr()


def test_command(calc: Calc, capsys: pytest.CaptureFixture[str]) -> None:
    """`regrade compile` compiles, refreshes with the task given or found, and ends a mistake in one line."""
    task, out = calc.task().folder, calc.folder / "out"
    assert (0, f"compiled {out}\n", "") == run(capsys, task, "--repo", calc.repo, "--out", out)
    assert (0, f"refreshed {out}\n", "") == run(capsys, task, "--refresh", out)
    task.rename(calc.folder / "calc-pr-7")
    assert (0, f"refreshed {out}\n", "") == run(capsys, "--refresh", out, "--tasks-dir", calc.folder)
    code, _, said = run(capsys, calc.folder / "calc-pr-7", "--out", out)
    assert (2, 1) == (code, said.count("\n"))
    (calc.folder / "calc-pr-7/definition.json").write_text(json.dumps(definition(calc.base, workdir="..")))
    code, _, said = run(capsys, calc.folder / "calc-pr-7", "--repo", calc.repo, "--out", out)
    assert (1, True) == (code, "task path escapes repository: .." in said)
    assert GOLD == (out / "solution/gold.patch").read_text()
