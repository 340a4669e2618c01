"""What a grader sees of a trial, and what is decided before it."""

import os
from pathlib import Path

import pytest

from artifact_support import write_files
from graders_support import ARTIFACT, Scene
from regrade.graders import view

ANYTHING = """
def grade(scratch_dir):
    return GradeResult(True, 1.0, (scratch_dir / ARTIFACT).read_text())
"""


def build(scene: Scene, artifact: str = ARTIFACT) -> Path:
    """The view of a scene."""
    made = scene.folder / "view"
    view.build(scene.pristine, scene.workspace, artifact, made, 2**20, view.link_file)
    return made


def names(folder: Path) -> set[str]:
    """Everything below a folder but folders."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or path.is_file()}


def test_inputs_are_restored(tmp_path: Path) -> None:
    """A changed, deleted, replaced or covered input is back, and the trial's own files are there."""
    scene = Scene(tmp_path)
    write_files(scene.pristine, {"deep/er/input.txt": "in", "gone.txt": "gone", "folder/x": "x", "link.txt": "link"})
    write_files(scene.workspace, {"data.csv": "edited", "notes/own.txt": "own", "deep": "a file now"})
    (scene.workspace / "folder").symlink_to("notes")
    (scene.workspace / "link.txt").symlink_to("/etc/passwd")
    made = build(scene)
    expected = {"data.csv", "deep/er/input.txt", "gone.txt", "folder/x", "link.txt", "notes/own.txt", ARTIFACT}
    assert expected == names(made)
    contents = [(made / name).read_text() for name in ("data.csv", "deep/er/input.txt", "folder/x", "link.txt")]
    assert ["a,b\n", "in", "x", "link"] == contents
    assert "edited" == (scene.workspace / "data.csv").read_text()


def test_artifact_that_is_an_input_is_the_trials(tmp_path: Path) -> None:
    """Where the artifact has an input's place, the trial's file counts; a deleted one is not brought back."""
    scene = Scene(tmp_path)
    (scene.workspace / "data.csv").write_text("edited in place")
    assert "edited in place" == (build(scene, "data.csv") / "data.csv").read_text()
    (scene.workspace / "data.csv").unlink()
    assert "missing_artifact" == scene.grade(artifact="data.csv").reason


def test_links(tmp_path: Path) -> None:
    """Links that stay inside are kept, those that leave are dropped, however they leave."""
    scene = Scene(tmp_path)
    inside = {"a": ARTIFACT, "b": "a", "output/c": "../data.csv", "d": "/workspace/data.csv", "e": "not/there"}
    outside = {
        "v": "/etc/passwd", "w": "../grader/hidden.py", "output/x": "../../pristine", "y": "v", "z": "/grader/x.py",
        "loop": "loop", "u": "/workspace/../etc/passwd", "t": "output/../../grader",
    }  # fmt: skip
    for name, target in {**inside, **outside}.items():
        (scene.workspace / name).symlink_to(target)
    made = build(scene)
    assert {*inside, "data.csv", ARTIFACT} == names(made)
    assert ["a,b\n", "42\n"] == [(made / name).read_text() for name in ("d", "b")]


def test_special_files_are_left_out(tmp_path: Path) -> None:
    """A fifo beside the artifact is nothing that a grader could trip over."""
    scene = Scene(tmp_path)
    os.mkfifo(scene.workspace / "trap.txt")
    assert {"data.csv", ARTIFACT} == names(build(scene))


@pytest.mark.parametrize("target", ["kept.txt", "../output/kept.txt", "/workspace/output/kept.txt", "../hop"])
def test_artifact_behind_an_inside_link(tmp_path: Path, target: str) -> None:
    """An artifact that is a link inside the workspace is graded as the file that it leads to."""
    scene = Scene(tmp_path, ANYTHING)
    write_files(scene.workspace, {"output/kept.txt": "kept"})
    (scene.workspace / "hop").symlink_to("output/kept.txt")
    (scene.workspace / ARTIFACT).unlink()
    (scene.workspace / ARTIFACT).symlink_to(target)
    made = build(scene)
    assert (False, "kept") == ((made / ARTIFACT).is_symlink(), (made / ARTIFACT).read_text())
    assert "kept" == scene.grade().detail


def test_artifact_link_to_an_input_changes_no_input(tmp_path: Path) -> None:
    """An artifact that leads to an edited input is graded as edited, and the input is pristine beside it."""
    scene = Scene(tmp_path)
    (scene.workspace / "data.csv").write_text("edited")
    (scene.workspace / ARTIFACT).unlink()
    (scene.workspace / "output").rmdir()
    write_files(scene.pristine, {"in/answer.txt": "given"})
    write_files(scene.workspace, {"in/answer.txt": "edited"})
    (scene.workspace / "output").symlink_to("in")
    made = build(scene)
    assert ["edited", "given"] == [(made / name).read_text() for name in (ARTIFACT, "in/answer.txt")]


def test_links_that_cannot_be_followed(tmp_path: Path) -> None:
    """A link whose target no file system could hold is dropped like one that leaves, and spoils no grading."""
    scene = Scene(tmp_path)
    (scene.workspace / "long").symlink_to("x" * 300)
    (scene.workspace / "deep").symlink_to("d/" * 2000)
    (scene.workspace / "nested").mkdir()
    (scene.workspace / "nested/absolute").symlink_to("/workspace/" + "d/" * 2035 + "e")
    assert {"data.csv", ARTIFACT} <= names(build(scene)) <= {"data.csv", ARTIFACT, "deep"}
    assert scene.grade().passed


def test_paths_too_long_for_one_side_only(tmp_path: Path) -> None:
    """A file too deep to be named in the workspace is left out, though its name in the view would do."""
    base = tmp_path / ("w" * 250) / ("w" * 250)
    base.mkdir(parents=True)
    scene = Scene(tmp_path)
    scene.workspace = scene.workspace.rename(base / "workspace")
    descriptor = os.open(scene.workspace, os.O_RDONLY)
    for _ in range(17):
        os.mkdir("d" * 200, dir_fd=descriptor)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=descriptor)
        os.close(os.open("f" * 200, os.O_CREAT | os.O_WRONLY, dir_fd=inner))
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    assert scene.grade().passed


def replace_artifact(scene: Scene, kind: str) -> None:
    """Put something that is no regular file in the artifact's place."""
    place = scene.workspace / ARTIFACT
    place.unlink()
    links = {
        "grader": "../../grader/hidden.py", "grader inside": "/grader/hidden.py", "passwd": "/etc/passwd",
        "itself": "answer.txt", "device": "/dev/zero", "long": "x" * 300,
    }  # fmt: skip
    if kind in links:
        place.symlink_to(links[kind])
    elif kind == "folder":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place)
    elif kind == "parent leaves":
        place.parent.rmdir()
        place.parent.symlink_to(scene.grader)
        (scene.grader / "answer.txt").write_text("42")
    elif kind == "sparse":
        place.touch()
        os.truncate(place, 2**30)


@pytest.mark.parametrize(
    ("kind", "detail"),
    [
        ("folder", "is a folder, expected a regular file"),
        ("fifo", "is a fifo, expected a regular file"),
        ("grader", "behind a link that leaves the workspace"),
        ("grader inside", "behind a link that leaves the workspace"),
        ("passwd", "behind a link that leaves the workspace"),
        ("long", "behind a link that leaves the workspace"),
        ("device", "behind a link that leaves the workspace"),
        ("itself", "behind a link that leaves the workspace, or that leads in circles"),
        ("parent leaves", "behind a link that leaves the workspace"),
        ("sparse", "has 1073741824 bytes, expected at most 1048576"),
    ],
)
def test_artifact_that_is_no_readable_file(tmp_path: Path, kind: str, detail: str) -> None:
    """What is no regular file of the workspace, or too large, fails before the grader."""
    scene = Scene(tmp_path, "\nraise SystemExit\n")
    replace_artifact(scene, kind)
    verdict = scene.grade()
    assert (False, 0.0, "failed", "invalid_format") == (
        verdict.passed, verdict.score, verdict.status, verdict.reason,
    )  # fmt: skip
    assert detail in (verdict.detail or "")


def test_no_artifact(tmp_path: Path) -> None:
    """Nothing where the artifact should be, or a link to nothing inside, is a missing artifact."""
    scene = Scene(tmp_path, "\nraise SystemExit\n")
    (scene.workspace / ARTIFACT).unlink()
    verdict = scene.grade()
    assert ("missing_artifact", "output artifact not produced") == (verdict.reason, verdict.detail)
    (scene.workspace / ARTIFACT).symlink_to("nowhere.txt")
    assert "missing_artifact" == scene.grade().reason
    (scene.workspace / ARTIFACT).unlink()
    (scene.workspace / "output").rmdir()
    (scene.workspace / "output").write_text("a file")
    assert "missing_artifact" == scene.grade().reason


def test_no_workspace_is_no_missing_artifact(tmp_path: Path) -> None:
    """Where the workspace itself is gone, nobody can say that the trial wrote nothing."""
    scene = Scene(tmp_path)
    scene.workspace.rename(tmp_path / "elsewhere")
    assert ("error", "sandbox_error") == (scene.grade().status, scene.grade().reason)


def test_endless_folders(tmp_path: Path) -> None:
    """Folders nested deeper than a path can say are left out, and nothing else is."""
    scene = Scene(tmp_path)
    descriptor = os.open(scene.workspace, os.O_RDONLY)
    try:
        for _ in range(40):
            os.mkdir("d" * 200, dir_fd=descriptor)
            inner = os.open("d" * 200, os.O_RDONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
    finally:
        os.close(descriptor)
    assert scene.grade().passed


def test_unreadable_files_of_others_are_copied(tmp_path: Path) -> None:
    """A file or a grader that only its owner can read is graded all the same."""
    scene = Scene(tmp_path)
    (scene.workspace / ARTIFACT).chmod(0o600)
    (scene.grader / "hidden.py").chmod(0o600)
    scene.grader.chmod(0o700)
    assert scene.grade().passed
    assert 0o600 == (scene.workspace / ARTIFACT).stat().st_mode & 0o777


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    """Odd file names in a workspace are bytes like any other."""
    scene = Scene(tmp_path)
    (scene.workspace / os.fsdecode(b"caf\xe9\n.txt")).write_text("x")
    assert scene.grade().passed
