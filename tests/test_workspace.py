"""A trial's workspace from its making to its freezing: nothing that happens there reaches anything else."""

import os
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat_server import ChatServer
from regrade import digests, workspace
from regrade.errors import RegradeError
from trial_support import DONE, WRITE_42, Bench, calling

CODE_ONLY = {"harness": "code-only"}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


@pytest.fixture
def pristine(tmp_path: Path) -> Path:
    """Two read-only inputs, one of them executable."""
    folder = tmp_path / "pristine"
    (folder / "deep/er").mkdir(parents=True)
    (folder / "deep/er/in.txt").write_text("input\n")
    (folder / "deep/er/in.txt").chmod(0o444)
    (folder / "tool.sh").write_text("#!/bin/sh\n")
    (folder / "tool.sh").chmod(0o555)
    return folder


def manifest(pristine: Path) -> dict[str, dict[str, str]]:
    return {name: {"sha256": digests.of_file(Path(entry.path))} for name, entry in digests.walk(pristine)}


def freeze(place: Path, pristine: Path) -> workspace.Frozen:
    return workspace.freeze(place, pristine, manifest(pristine))


def state(folder: Path) -> list[tuple[str, int, bytes]]:
    """Names, modes and bytes of all files."""
    return [
        (path.relative_to(folder).as_posix(), path.lstat().st_mode, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def test_code_that_writes_in_place_moves_nothing_but_its_own_workspace(tmp_path: Path, server: ChatServer) -> None:
    """Appending, truncating, linking and chmod in one trial: inputs, digests and another trial stay as they were."""
    bench = Bench(tmp_path, server, CODE_ONLY, repetitions=2)
    (bench.task / "workspace/tool.sh").write_text("#!/bin/sh\necho 42\n")
    (bench.task / "workspace/tool.sh").chmod(0o755)
    server.script([calling("import os; print(os.access('tool.sh', os.X_OK))"), DONE])
    bench.act(1)
    first, inputs = state(bench.paths(1).workspace), state(bench.pristine)
    listed = bench.plan().task_paths(bench.trial().task).inputs.read_bytes()
    code = (
        "import os, pathlib\n"
        "with open('input.txt', 'r+b') as stream: stream.write(b'OVERWRITTEN')\n"
        "with open('tool.sh', 'ab') as stream: stream.write(b'more')\n"
        "os.link('input.txt', 'second name'); os.chmod('second name', 0o777); os.truncate('second name', 3)\n"
        f"{WRITE_42}"
    )
    server.script([calling(code), DONE])
    assert "passed" == bench.run(2)["status"]
    assert b"OVE" == (bench.paths(2).workspace / "input.txt").read_bytes()
    assert inputs == state(bench.pristine)
    assert listed == bench.plan().task_paths(bench.trial().task).inputs.read_bytes()
    assert first == state(bench.paths(1).workspace)
    assert (bench.pristine / "tool.sh").samefile(bench.paths(1).workspace / "tool.sh")
    told = [message["content"] for message in server.requests[1]["body"]["messages"] if message["role"] == "tool"]
    assert ["exit code 0\nstdout:\nTrue"] == told


def test_a_copy_has_its_own_files_and_a_workspace_of_links_the_pristine_ones(tmp_path: Path, pristine: Path) -> None:
    """A copy may be written and keeps the right to be run; everybody may read folders and files of both."""
    previous = os.umask(0o077)
    try:
        for make in (workspace.copy_inputs, workspace.link_inputs):
            place = tmp_path / make.__name__
            make(pristine, place)
            is_link = make is workspace.link_inputs
            assert is_link == (place / "tool.sh").samefile(pristine / "tool.sh")
            modes = {"deep": 0o755, "deep/er": 0o755, "deep/er/in.txt": 0o444 if is_link else 0o644}
            modes["tool.sh"] = 0o555 if is_link else 0o755
            assert modes == {name: stat.S_IMODE((place / name).stat().st_mode) for name in modes}
            workspace.write_into(place, "output/new.txt", b"1")
            assert 0o644 == stat.S_IMODE((place / "output/new.txt").stat().st_mode)
            assert 0o755 == stat.S_IMODE((place / "output").stat().st_mode)
    finally:
        os.umask(previous)


def test_freezing_links_what_is_unchanged_and_only_that(tmp_path: Path, pristine: Path) -> None:
    """Also a file that was written anew with the same bytes; not one with other bytes or another right to be run."""
    place = tmp_path / "work"
    workspace.copy_inputs(pristine, place)
    (place / "deep/er/in.txt").unlink()
    (place / "deep/er/in.txt").write_text("input\n")
    before = freeze(place, pristine)
    assert (place / "deep/er/in.txt").samefile(pristine / "deep/er/in.txt")
    assert (place / "tool.sh").samefile(pristine / "tool.sh")
    assert before == freeze(place, pristine)
    shutil.rmtree(place)
    workspace.copy_inputs(pristine, place)
    (place / "tool.sh").chmod(0o644)
    (place / "deep/er/in.txt").write_text("other\n")
    after = freeze(place, pristine)
    assert not (place / "tool.sh").samefile(pristine / "tool.sh")
    assert not (place / "deep/er/in.txt").samefile(pristine / "deep/er/in.txt")
    assert before.digest != after.digest
    assert ["work"] == [path.name for path in tmp_path.iterdir() if path.name.startswith(("work", "."))]


def test_inputs_on_another_file_system_are_copied(tmp_path: Path, pristine: Path) -> None:
    """Where no link can be made the workspace holds copies, and they count as unchanged all the same."""
    elsewhere = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        assert elsewhere.stat().st_dev != tmp_path.stat().st_dev, "expected another file system"
        workspace.link_inputs(pristine, elsewhere / "work")
        here = tmp_path / "work"
        workspace.link_inputs(pristine, here)
        assert freeze(here, pristine).digest == freeze(elsewhere / "work", pristine).digest
        assert [b"input\n", b"#!/bin/sh\n"] == [
            (elsewhere / "work" / name).read_bytes() for name in ("deep/er/in.txt", "tool.sh")
        ]
        assert (elsewhere / "work/tool.sh").stat().st_mode & 0o100
        assert 1 == (elsewhere / "work/tool.sh").stat().st_nlink
    finally:
        shutil.rmtree(elsewhere)


def test_a_workspace_s_digest_knows_names_bytes_modes_and_links(tmp_path: Path, pristine: Path) -> None:
    """Each of them changes it, and nothing else does."""
    seen = set()

    def digest_of(name: str) -> str:
        place = tmp_path / name
        workspace.copy_inputs(pristine, place)
        match name:
            case "extra":
                (place / "extra").touch()
            case "no text":
                Path(os.fsdecode(os.fsencode(place) + b"/\xff")).touch()
            case "its escape":
                (place / "\\xff").touch()
            case "link":
                (place / "extra").symlink_to("tool.sh")
            case "other link":
                (place / "extra").symlink_to("deep")
            case "mode":
                (place / "deep/er/in.txt").chmod(0o755)
        return freeze(place, pristine).digest

    for name in ("plain", "extra", "no text", "its escape", "link", "other link", "mode"):
        seen.add(digest_of(name))
    assert 7 == len(seen)
    assert digest_of("plain again") in seen


def test_what_is_neither_file_nor_link_is_taken_out_and_named(tmp_path: Path, pristine: Path) -> None:
    """A fifo and a socket; links stay what they are, also those that lead out or nowhere."""
    place = tmp_path / "work"
    workspace.copy_inputs(pristine, place)
    os.mkfifo(place / "deep/fifo")
    here = Path.cwd()
    os.chdir(place)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock")
    os.chdir(here)
    (place / "out").symlink_to("/etc/passwd")
    (place / "loop").symlink_to("loop")
    (place / "nowhere").symlink_to("gone")
    assert ["deep/fifo", "sock"] == freeze(place, pristine).special_files
    assert ["deep", "loop", "nowhere", "out", "tool.sh"] == sorted(path.name for path in place.iterdir())
    assert "/etc/passwd" == str((place / "out").readlink())


def test_what_an_agent_leaves_is_graded_whatever_it_is(tmp_path: Path, server: ChatServer) -> None:
    """Locked files and folders, fifos, sockets, links, deep and odd names: a right artifact passes."""
    code = (
        "import os, pathlib, socket\n"
        f"{WRITE_42}\n"
        "os.mkfifo('fifo'); socket.socket(socket.AF_UNIX).bind('sock')\n"
        "os.symlink('/etc/shadow', 'out'); os.symlink('loop', 'loop'); os.symlink('/', 'root')\n"
        "os.makedirs('/'.join('d' * 40)); pathlib.Path('locked/in').mkdir(parents=True)\n"
        "pathlib.Path('locked/in/f').write_text('x'); open(b'caf\\xe9 \\n', 'w').close()\n"
        "os.chmod('locked/in/f', 0); os.chmod('locked/in', 0); os.chmod('locked', 0)\n"
        "os.chmod('output/answer.txt', 0); os.chmod('input.txt', 0o4606); os.chmod('output', 0); os.chmod('.', 0)\n"
    )
    server.script([calling(code), DONE])
    bench = Bench(tmp_path, server, CODE_ONLY)
    record = bench.run()
    assert ("passed", None) == (record["status"], record["reason"])
    outcome = bench.act()
    assert ["fifo", "sock"] == outcome["special_files"]
    assert b"x" == (bench.workspace / "locked/in/f").read_bytes()
    assert 0o444 == stat.S_IMODE((bench.workspace / "input.txt").stat().st_mode)


@pytest.mark.parametrize(
    "make",
    [
        "os.mkfifo('output/answer.txt')",
        "os.mkdir('output/answer.txt')",
        "os.symlink('/etc/hostname', 'output/answer.txt')",
    ],
)
def test_an_artifact_that_is_no_file_is_an_invalid_format(tmp_path: Path, server: ChatServer, make: str) -> None:
    """A fifo, a folder, a link that leads out: the model's doing, and said."""
    server.script([calling(f"import os; os.mkdir('output'); {make}"), DONE])
    record = Bench(tmp_path, server, CODE_ONLY).run()
    assert ("failed", "invalid_format") == (record["status"], record["reason"])


def test_a_workspace_of_two_thousand_files(tmp_path: Path, server: ChatServer) -> None:
    """Two changed files among 2,000 are the patch; the others cost links."""
    bench = Bench(tmp_path, server, CODE_ONLY)
    for number in range(2000):
        bench.project.write(
            f"problems/artifact/algorithmic/alpha/workspace/part{number % 40}/{number}.txt", f"{number}\n"
        )
    server.script([calling(f"{WRITE_42}; pathlib.Path('part7/7.txt').write_text('seven')"), DONE])
    bench.prepare()
    began = time.process_time()
    outcome = bench.act()
    assert time.process_time() - began < 5
    assert "ok" == outcome["status"]
    patch = bench.paths().patch.read_text().splitlines()
    assert ["+++ b/output/answer.txt", "+++ b/part7/7.txt"] == [line for line in patch if line.startswith("+++")]
    own = [path for path in bench.workspace.rglob("*") if path.is_file() and 1 == path.stat().st_nlink]
    assert ["7.txt", "answer.txt"] == sorted(path.name for path in own)


def test_write_into_never_goes_through_a_link(tmp_path: Path, pristine: Path) -> None:
    """A link on the way is refused, one at the end is replaced, and so is a hard link to a pristine file."""
    place = tmp_path / "work"
    workspace.link_inputs(pristine, place)
    (tmp_path / "outside").mkdir()
    (place / "way").symlink_to(tmp_path / "outside")
    (place / "end").symlink_to(tmp_path / "outside/file")
    with pytest.raises(RegradeError, match="'way' is not a folder"):
        workspace.write_into(place, "way/file", b"x")
    workspace.write_into(place, "end", b"x")
    workspace.write_into(place, "tool.sh", b"x")
    assert [] == list((tmp_path / "outside").iterdir())
    assert b"x" == (place / "end").read_bytes()
    assert b"#!/bin/sh\n" == (pristine / "tool.sh").read_bytes()


def test_remove_takes_away_anything(tmp_path: Path, pristine: Path) -> None:
    """A tree deeper than Python walks, locked folders, links; not what links lead to, and no pristine mode."""
    place = tmp_path / "work"
    workspace.link_inputs(pristine, place)
    (place / "out").symlink_to(pristine)
    here = os.open(place, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    (place / "locked/in").mkdir(parents=True)
    (place / "locked/in").chmod(0)
    (place / "locked").chmod(0)
    workspace.remove(place)
    assert not place.exists()
    assert ["deep", "tool.sh"] == sorted(path.name for path in pristine.iterdir())
    assert 0o555 == stat.S_IMODE((pristine / "tool.sh").stat().st_mode)
    workspace.remove(place)
    (tmp_path / "link").symlink_to(pristine)
    workspace.remove(tmp_path / "link")
    assert (pristine / "tool.sh").exists()


def test_a_trial_clears_what_a_killed_one_left(tmp_path: Path, server: ChatServer) -> None:
    """A half workspace, raw files and an old outcome are removed, never merged; the history of errors stays."""
    server.script([{"text": "42"}])
    bench = Bench(tmp_path, server, {"harness": "single-shot"})
    bench.act()
    paths = bench.paths()
    for leftover in (".rep-001.working", ".rep-001.working.patch", "rep-001"):
        (paths.workspace.parent / leftover).mkdir(exist_ok=True)
        (paths.workspace.parent / leftover / "leftover").touch()
    paths.log("transcript.jsonl").write_text("old")
    paths.raw("calls.jsonl", True).write_text("old")
    paths.errors.write_text('{"digest": "other"}\n')
    bench.act()
    assert ["rep-001"] == [path.name for path in paths.workspace.parent.iterdir()]
    assert ["input.txt", "output"] == sorted(path.name for path in paths.workspace.iterdir())
    assert not paths.log("transcript.jsonl").exists()
    assert not paths.raw("calls.jsonl", True).exists()
    assert '{"digest": "other"}\n' == paths.errors.read_text()
