"""What asking many tasks costs: whole commands, from nothing to summary.md, against a local server.

    python benchmarks/asking.py [--tasks 1000 10000] [--repeats 3]

The server answers every request after 50 ms, 64 are in flight, scoring is exact match. Beside Regrade a bare aiohttp
loop asks the same, and each of Inspect AI (`inspect`), lm-evaluation-harness (`lm_eval`) and promptfoo that is on PATH;
the server counts what everybody asked. Prints Markdown tables. CPU is that of a command and its children.
"""

import argparse
import asyncio
import hashlib
import json
import os
import platform
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from peers import PEERS

from project import Project

LATENCY_S = 0.05
IN_FLIGHT = 64
FILES = 10
SUMMARY = "results/many/summary.md"
WORDS = 160
"""Of a long answer: about a kilobyte, in which nothing repeats."""


class Cost(NamedTuple):
    """CPU and wall seconds of a command, the largest memory of a process of it in MB, and the requests it made."""

    cpu_s: float
    wall_s: float
    memory_mb: float
    requests: int


def serve() -> None:
    """Answer chat completions after a while, count them, for ever; prints the port."""
    from aiohttp import web

    counts = {"requests": 0}

    async def complete(request: web.Request) -> web.Response:
        asked = await request.json()
        counts["requests"] += 1
        await asyncio.sleep(LATENCY_S)
        number = asked["messages"][-1]["content"].split("task ")[1].split(":")[0]
        words = (hashlib.sha256(f"{number} {place}".encode()).hexdigest()[:6] for place in range(WORDS))
        long = "\n" + " ".join(words) if "long" in asked["messages"][-1]["content"] else ""
        message = {"role": "assistant", "content": f"{number}{long}"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
        return web.json_response(
            {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
        )

    async def count(request: web.Request) -> web.Response:
        return web.json_response(counts)

    async def start() -> None:
        app = web.Application()
        app.add_routes([web.post("/v1/chat/completions", complete), web.get("/count", count)])
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.Event().wait()

    import uvloop

    uvloop.run(start())


@contextmanager
def server() -> Iterator[int]:
    """The port of a server of its own process, while the block lasts."""
    process = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.terminate()
        process.wait()


def requests_of(port: int) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/count") as reply:
        return int(json.load(reply)["requests"])


def cost_of(words: list[str], folder: Path, port: int, environment: dict[str, str] | None = None) -> Cost:
    """What one command costs; it must end well."""
    before, asked, begin = resource.getrusage(resource.RUSAGE_CHILDREN), requests_of(port), time.perf_counter()
    done = subprocess.run(
        ["/usr/bin/time", "-f", "%M", "-o", str(folder / "memory"), *words] if shutil.which("time") else words,
        cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})},
    )  # fmt: skip
    wall_s = time.perf_counter() - begin
    if done.returncode:
        raise SystemExit(f"{words} ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    memory = folder / "memory"
    memory_mb = int(memory.read_text().split()[-1]) / 1024 if memory.exists() else after.ru_maxrss / 1024
    return Cost(cpu_s, wall_s, memory_mb, requests_of(port) - asked)


def task(number: int, extra: str = "") -> dict[str, Any]:
    return {
        "id": f"task_{number:05d}",
        "prompt": f"This is task {number}: answer with its number alone.{extra}",
        "scoring": {"type": "exact", "value": str(number)},
    }


def make(folder: Path, port: int, tasks: int, *, extra: str = "", in_flight: int = IN_FLIGHT) -> Project:
    """A benchmark of some tasks in ten files under one arm."""
    model = {
        "adapter": "openai-chat",
        "model": "m",
        "base_url": f"http://127.0.0.1:{port}/v1",
        "stream": False,
        "request": {"temperature": 0, "max_tokens": 64},
        "max_concurrency": in_flight,
    }
    project = Project(folder, {"asked": {"harness": "direct", "model": "asked"}}, {"asked": model})
    for place in range(FILES):
        write(project, place, [task(number, extra) for number in range(place, tasks, FILES)])
    project.add_set("many", "suite:*")
    return project


def write(project: Project, place: int, tasks: list[dict[str, Any]]) -> None:
    project.add_suite(f"part{place}", *tasks)


def snakemake(project: Project) -> list[str]:
    return [*project.command(), "--quiet", "all", "--", SUMMARY]


def rescored(project: Project, tasks: int, which: set[int], text: str) -> None:
    """Change the scoring of some tasks."""
    for place in range(FILES):
        numbers = range(place, tasks, FILES)
        if which.intersection(numbers):
            changed = [task(number) for number in numbers]
            for one, number in zip(changed, numbers, strict=True):
                if number in which:
                    one["scoring"] = {**one["scoring"], "value": text}
            write(project, place, changed)


def size_of(folder: Path) -> int:
    """Bytes of all files, one that has several names once."""
    found = {(stat.st_dev, stat.st_ino): stat.st_size for path in folder.rglob("*") if (stat := path.lstat())}
    return sum(found.values())


def bare_loop(port: int, tasks: int) -> list[str]:
    code = f"""
import asyncio, aiohttp, json, uvloop
async def main():
    waiting = iter(range({tasks}))
    out = open("answers.jsonl", "w")
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        async def work():
            for number in waiting:
                prompt = f"This is task {{number}}: answer with its number alone."
                body = {{"model": "m", "messages": [{{"role": "user", "content": prompt}}], "temperature": 0}}
                async with session.post("http://127.0.0.1:{port}/v1/chat/completions", json=body) as reply:
                    value = await reply.json()
                text = value["choices"][0]["message"]["content"]
                out.write(json.dumps({{"id": number, "text": text, "passed": text.strip() == str(number)}}) + "\\n")
                out.flush()
        await asyncio.gather(*(work() for _ in range({IN_FLIGHT})))
uvloop.run(main())
"""
    return [sys.executable, "-c", code]


def killed(folder: Path, port: int, tasks: int) -> tuple[int, int]:
    """Kill a run at half, run it again: the requests beyond one each, and those in flight."""
    project = make(folder, port, tasks)
    before = requests_of(port)
    run = subprocess.Popen(
        snakemake(project), cwd=folder, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while requests_of(port) - before < tasks // 2:
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    time.sleep(1)
    subprocess.run([*project.command(), "--unlock"], cwd=folder, check=True, capture_output=True)
    subprocess.run(snakemake(project), cwd=folder, check=True, capture_output=True)
    return requests_of(port) - before - tasks, IN_FLIGHT


def median(costs: list[Cost]) -> Cost:
    return Cost(*(statistics.median(values) for values in zip(*costs, strict=True)))  # type: ignore[arg-type]


def line(what: str, cost: Cost, target: str) -> str:
    return f"| {what} | {cost.cpu_s:.2f} | {cost.wall_s:.2f} | {cost.memory_mb:.0f} | {cost.requests:.0f} | {target} |"


def measure(folder: Path, sizes: list[int], repeats: int) -> Iterator[str]:
    """The lines of the tables."""
    small, large = min(sizes), max(sizes)
    yield "| what | CPU s | wall s | memory MB | requests | target |\n| --- | --- | --- | --- | --- | --- |"
    with server() as port:
        loops = [cost_of(bare_loop(port, small), folder, port) for _ in range(repeats)]
        yield line(f"bare aiohttp loop, {small:,} tasks", median(loops), "")
        first = []
        for number in range(repeats):
            project = make(folder / f"first{number}", port, small)
            first.append(cost_of(snakemake(project), project.folder, port))
        yield line(f"{small:,} tasks, first run", median(first), "7 CPU s")
        for peer in PEERS:
            if peer.is_here():
                costs = [peer.run(folder, port, small, IN_FLIGHT, cost_of) for _ in range(repeats)]
                ratio = median(first).wall_s / median(costs).wall_s
                yield line(f"{peer.name}, {small:,} tasks", median(costs), f"ours takes {ratio:.2f} of its wall time")
        project = make(folder / "large", port, large)
        yield line(f"{large:,} tasks, first run", cost_of(snakemake(project), project.folder, port), "25 CPU s, 500 MB")
        nothing = [cost_of(snakemake(project), project.folder, port) for _ in range(repeats)]
        yield line(f"{large:,} tasks, nothing to do", median(nothing), "4 CPU s")
        edits = []
        for number in range(repeats):
            rescored(project, large, {3}, f"other {number}")
            edits.append(cost_of(snakemake(project), project.folder, port))
        yield line(f"{large:,} tasks, one scoring changed", median(edits), "6 CPU s, 0 requests")
        every = []
        for number in range(repeats):
            rescored(project, large, set(range(large)), f"all {number}")
            every.append(cost_of(snakemake(project), project.folder, port))
        yield line(f"{large:,} tasks, every scoring changed", median(every), "12 CPU s, 0 requests")
        yield ""
        repeated, in_flight = killed(folder / "killed", port, small)
        yield f"- {small:,} tasks killed at half and run again: {repeated} requests repeated, {in_flight} in flight"
        yield from disk(folder / "disk", port, large)


def disk(folder: Path, port: int, tasks: int) -> Iterator[str]:
    """Bytes on disk against bytes of requests and responses, for answers of more than a kilobyte."""
    project = make(folder, port, tasks, extra=" A long answer, please.")
    cost_of(snakemake(project), folder, port)
    traffic = 0
    for path in (folder / "results" / "many" / "raw").rglob("shard-*-of-*.jsonl"):
        for row in path.read_text().splitlines():
            value = json.loads(row)
            traffic += len(json.dumps(value["request"])) + len(value["reply"])
    stored = size_of(folder / "results")
    ratio = stored / traffic
    both = f"{stored / 1e6:.1f} MB on disk, {traffic / 1e6:.1f} MB asked and answered"
    yield f"- {tasks:,} answers of 1 kB: {both}: {ratio:.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--tasks", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return
    packages = ", ".join(f"{package} {version(package)}" for package in ("snakemake", "aiohttp", "uvloop"))
    system = f"{os.cpu_count()} cores, {platform.system()} {platform.release()}"
    print(f"Python {platform.python_version()}, {packages}, {system}\n")
    with tempfile.TemporaryDirectory() as name:
        for text in measure(Path(name), arguments.tasks, arguments.repeats):
            print(text, flush=True)


if __name__ == "__main__":
    main()
