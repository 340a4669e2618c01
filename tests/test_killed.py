"""A run that is killed in the middle goes on where it was."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from chat_server import ChatServer
from project import Project

SUMMARY = "results/tiny/summary.md"
NAMES = [f"task{number}" for number in range(8)]


def launch(project: Project) -> list[str]:
    arguments = project.command()[3:]
    return [sys.executable, "-m", "regrade.launch", *arguments, "--quiet", "all", "--", SUMMARY]


def start(project: Project, words: list[str]) -> "subprocess.Popen[bytes]":
    """Start a command in a process group of its own, in the project's folder."""
    silent = subprocess.DEVNULL
    return subprocess.Popen(words, cwd=project.folder, start_new_session=True, stdout=silent, stderr=silent)


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.02)


def asked_about(server: ChatServer) -> Counter[str]:
    """How often each task's question came in."""
    bodies = [json.dumps(request["body"]) for request in server.requests]
    return Counter(name for name in NAMES for body in bodies if f"answer to {name} " in body)


def asking_project(make_project: Callable[..., Project], server: ChatServer, **arm: object) -> Project:
    model = {"adapter": "openai-chat", "model": "m", "base_url": server.base_url}
    harness = {"harness": "single-shot", "model": "asked", **arm}
    project = make_project({"asked": harness}, {"asked": model})
    for name in NAMES:
        project.add_task(name)
    project.add_set("tiny", "artifact:*")
    return project


def test_kill_9_of_the_whole_group_pays_only_what_was_in_flight_twice(make_project: Callable[..., Project]) -> None:
    """After kill -9 in the asking stage the next launch unlocks, keeps what is whole, and asks what is missing."""
    with ChatServer([{"text": "```output/answer.txt\n42\n```", "delay_s": 0.5}]) as server:
        project = asking_project(make_project, server)
        process = start(project, launch(project))
        wait_for(lambda: server.count >= 4)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert any((project.folder / ".snakemake/locks").iterdir())
        assert not (project.folder / SUMMARY).exists()
        done = project.call(launch(project), True, {})
        assert ["passed"] * 8 == [row["status"] for row in project.records("tiny")], done.stdout
        asked = asked_about(server)
        assert set(NAMES) == set(asked)
        assert sum(asked.values()) <= len(NAMES) + 2
        assert {} == project.planned(SUMMARY)


def test_jobs_left_by_a_killed_snakemake_are_ended_before_its_lock_is_taken(
    make_project: Callable[..., Project],
) -> None:
    """Snakemake alone is killed, its asking job lives on; the next launch ends the job and asks anew."""
    with ChatServer([{"text": "```output/answer.txt\n42\n```", "delay_s": 30}]) as server:
        project = asking_project(make_project, server)
        process = start(project, [*project.command(), "--quiet", "all", "--", SUMMARY])
        wait_for(lambda: server.count >= 2)
        process.kill()
        process.wait()
        orphans = jobs_in(project)
        assert orphans
        server.script([{"text": "```output/answer.txt\n42\n```"}])
        project.call(launch(project), True, {})
        assert not jobs_in(project)
        assert ["passed"] * 8 == [row["status"] for row in project.records("tiny")]


def jobs_in(project: Project) -> list[int]:
    """Processes of the asking stage that work in the project's folder."""
    found = []
    for name in os.listdir("/proc"):
        try:
            here = name.isdigit() and os.readlink(f"/proc/{name}/cwd") == str(project.folder)
            if here and b"regrade.trial" in Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0"):
                found.append(int(name))
        except OSError:
            continue
    return found


def test_a_second_launch_in_the_same_folder_is_refused(make_project: Callable[..., Project]) -> None:
    """While one run is at work another one says so in one line and changes nothing."""
    with ChatServer([{"text": "42", "delay_s": 2}]) as server:
        project = asking_project(make_project, server)
        first = start(project, launch(project))
        wait_for(lambda: server.count >= 1)
        second = project.call(launch(project), False, {})
        assert 1 == second.returncode
        assert "another run is at work here" in second.stdout
        assert 0 == first.wait()
