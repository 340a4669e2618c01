"""Exports: bundles in one file, the same each time, and held against their own manifest."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from harbor_support import Calc
from regrade.cli import main
from regrade.errors import RegradeError
from regrade.harbor.export import differences, export


def repacked(source: Path, target: Path, leave_out: str = "", **changed: bytes) -> Path:
    """An export with members left out, or replaced."""
    with tarfile.open(source) as archive, tarfile.open(target, "w:gz") as made:
        for member in archive:
            data = archive.extractfile(member)
            assert data is not None
            content = changed.get(Path(member.name).name.split(".")[0], data.read())
            if member.name != leave_out:
                member.size = len(content)
                made.addfile(member, io.BytesIO(content))
    return target


@pytest.fixture
def calc(tmp_path: Path) -> Calc:
    return Calc(tmp_path)


@pytest.fixture
def exported(calc: Calc) -> Path:
    tasks = [(calc.task(taskId=task_id), calc.repo) for task_id in ("b", "a")]
    assert ["a", "b"] == export("mine", tasks, calc.folder / "F.tar.gz")
    return calc.folder / "F.tar.gz"


def test_what_is_in_it(exported: Path) -> None:
    """A manifest, and for each task an archive that holds its bundle as harbor-task/."""
    with tarfile.open(exported) as archive:
        assert ["manifest.json", "tasks/a.tar.gz", "tasks/b.tar.gz"] == archive.getnames()
        value = json.load(archive.extractfile("manifest.json"))  # type: ignore[arg-type]
        with tarfile.open(fileobj=archive.extractfile("tasks/a.tar.gz")) as inner:
            modes = {member.name: member.mode for member in inner}
    assert ["schemaVersion", "runId", "version", "acceptedCount", "tasks"] == list(value)
    assert (1, "mine", 2, ["a", "b"]) == (
        value["schemaVersion"],
        value["runId"],
        value["acceptedCount"],
        [task["taskId"] for task in value["tasks"]],
    )
    assert (11, 0o755) == (len(modes), modes["harbor-task/tests/test.sh"])


def test_what_its_audit_refuses_is_not_exported(calc: Calc) -> None:
    """A count of accepted tasks holds no other; nothing is written."""
    tasks = [(calc.task(taskId="a"), calc.repo), (calc.task(taskId="b", difficulty="hard"), calc.repo)]
    with pytest.raises(RegradeError, match="hard mode requires at least 100 changed implementation lines"):
        export("mine", tasks, calc.folder / "F.tar.gz")
    assert not (calc.folder / "F.tar.gz").exists()


def test_same_bytes_each_time(calc: Calc, exported: Path) -> None:
    """The order in which tasks are named changes nothing, nor does the time."""
    tasks = [(calc.task(taskId=task_id), calc.repo) for task_id in ("a", "b")]
    export("mine", tasks, calc.folder / "again.tar.gz")
    assert exported.read_bytes() == (calc.folder / "again.tar.gz").read_bytes()


def test_verify(exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is what it says ends with 0, one that differs with 1 and a line for each difference."""
    assert [] == differences(exported)
    assert 0 == main(["export", "harbor", "--verify", str(exported)])
    changed = repacked(exported, tmp_path / "changed.tar.gz", "tasks/b.tar.gz", a=b"other")
    capsys.readouterr()
    assert 1 == main(["export", "harbor", "--verify", str(changed)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "a: sha256 is d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa, expected "
    )
    assert "b: tasks/b.tar.gz is missing" == lines[1]


def test_verify_finds_more_than_is_listed(exported: Path, tmp_path: Path) -> None:
    """A task that the manifest does not know is a difference."""
    manifest = json.dumps({"tasks": []}).encode()
    found = differences(repacked(exported, tmp_path / "more.tar.gz", manifest=manifest))
    assert [f"tasks/{name}.tar.gz: is not in manifest.json" for name in ("a", "b")] == found


@pytest.mark.parametrize("data", [None, b"", b"no archive"], ids=["missing", "empty", "other"])
def test_verify_what_is_no_export(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes | None) -> None:
    """A file that is no export ends in one line."""
    if data is not None:
        (tmp_path / "F").write_bytes(data)
    assert 1 == main(["export", "harbor", "--verify", str(tmp_path / "F")])
    said = capsys.readouterr().err
    assert (1, True) == (said.count("\n"), said.startswith(f"{tmp_path / 'F'}: "))


def test_verify_a_file_that_was_cut(exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So does one of which a part is missing."""
    (tmp_path / "cut").write_bytes(exported.read_bytes()[:-2000])
    assert 1 == main(["export", "harbor", "--verify", str(tmp_path / "cut")])
    assert "is no whole tar.gz" in capsys.readouterr().err


def test_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    """A set without a file to write, and both at once, are misuse."""
    for words in (["SET"], ["--out", "F"], ["SET", "--verify", "F"], ["SET", "--out", "F", "--configfile", "none"]):
        assert 2 == main(["export", "harbor", *words])
    assert 4 == capsys.readouterr().err.count("\n")
