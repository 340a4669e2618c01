"""A limit on spending holds: for many requests at once, over several calls, and for processes side by side."""

import asyncio
import json
import math
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer
from models_support import model
from regrade.errors import BudgetSpent
from regrade.models.client import open_client
from regrade.models.entries import faults
from regrade.models.run import run
from regrade.models.types import ChatRequest, ProviderError
from regrade.spending import Spending, faults_without_prices
from regrade.store import Store

PRICES = {"input": 0.0, "output": 1.0}


def cent(**more: Any) -> dict[str, Any]:
    """A scripted answer that costs one cent under PRICES."""
    return {"text": "x", "usage": {"prompt_tokens": 1, "completion_tokens": 10_000}, **more}


def ask_many(url: str, folder: Path, limit: float | None, count: int, at_once: int = 64, **entry: Any) -> list[Any]:
    """What comes of so many different questions: texts, or the errors."""

    async def ask_all() -> list[Any]:
        spending = Spending(folder / "spending", limit)
        store = Store(folder / "cache")
        async with open_client(model(url, **{"prices": PRICES, **entry}), store, spending=spending) as client:
            room = asyncio.Semaphore(at_once)

            async def ask_one(number: int) -> str:
                async with room:
                    return (await client.complete(ChatRequest([{"role": "user", "content": str(number)}]))).text

            return await asyncio.gather(*map(ask_one, range(count)), return_exceptions=True)

    return run(ask_all())


def outcome(results: list[Any]) -> tuple[int, int]:
    """How many were answered, and how many came too late."""
    for result in results:
        assert isinstance(result, str | BudgetSpent), repr(result)
    return sum(isinstance(result, str) for result in results), sum(isinstance(item, BudgetSpent) for item in results)


@pytest.mark.parametrize(("limit", "answered"), [(0.02, 2), (0.0, 0), (0.025, 3), (0.005, 1), (None, 70)])
def test_a_limit_holds_with_many_at_once(limit: float | None, answered: int, tmp_path: Path) -> None:
    """With 64 in flight a cap of 0.02 lets exactly two answers of 0.01 through; 0 stops at once; none never does."""
    with ChatServer([cent(delay_s=0.02)]) as server:
        assert (answered, 70 - answered) == outcome(ask_many(server.base_url, tmp_path, limit, 70))
        assert answered == server.count


def test_many_are_in_flight_as_long_as_there_is_money(tmp_path: Path) -> None:
    """Once the first price is known the others are asked at the same time."""
    with ChatServer([cent(delay_s=0.3)]) as server:
        assert (30, 0) == outcome(ask_many(server.base_url, tmp_path, 10.0, 30))
        times = [seen["at"] for seen in server.requests]
    assert times[1] - times[0] >= 0.3
    # One after the other they would take eight seconds.
    assert times[-1] - times[1] < 3


def test_going_on_with_more_money(tmp_path: Path) -> None:
    """What was spent is remembered: a later call has only the rest, and answers that are there cost nothing."""
    with ChatServer([cent()]) as server:
        counts = []
        for limit in (0.02, 0.02, 0.05, 0.05, 1.0):
            counts.append(outcome(ask_many(server.base_url, tmp_path, limit, 8))[0])
        assert [2, 2, 5, 5, 8] == counts
        assert 8 == server.count
    assert pytest.approx(0.08) == Spending(tmp_path / "spending", None).spent_usd


def test_overshoot_is_bounded(tmp_path: Path) -> None:
    """Answers that get dearer go over the limit by no more than what the last ones cost beyond the dearest before."""
    dear = {"usage": {"prompt_tokens": 1, "completion_tokens": 30_000}, "text": "x", "delay_s": 0.05}
    with ChatServer([cent(), dear]) as server:
        ask_many(server.base_url, tmp_path, 0.05, 40)
    # Four of at least a cent fit beside the first one, and each may cost two cents more than that.
    assert 0.05 <= Spending(tmp_path / "spending", None).spent_usd <= 0.05 + 4 * 0.02 + 1e-9


def test_calls_that_fail_cost_nothing(tmp_path: Path) -> None:
    """A call that brought no answer is not counted, and holds up nobody behind it."""
    script = [{"status": 500, "body": "no"}, {"status": 400, "body": "no"}, cent()]
    with ChatServer(script) as server:
        results = ask_many(server.base_url, tmp_path, 0.02, 6)
        assert 4 == server.count
    assert [1, 2, 3] == [sum(isinstance(item, kind) for item in results) for kind in (ProviderError, str, BudgetSpent)]


def test_a_caller_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    """A request that was cancelled in flight no longer counts as one."""

    async def ask_two(url: str) -> str:
        spending = Spending(tmp_path / "spending", 1.0)
        async with open_client(model(url, prices=PRICES), Store(None), spending=spending) as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await client.complete(ChatRequest([{"role": "user", "content": "slow"}]))
            async with asyncio.timeout(20):
                return (await client.complete(ChatRequest([{"role": "user", "content": "b"}]))).text

    with ChatServer([{"when": "slow", "delay_s": 2, "text": "late"}, cent()]) as server:
        assert "x" == run(ask_two(server.base_url))


def test_free_models_are_never_stopped(tmp_path: Path) -> None:
    """A model whose prices are 0 goes on under any limit, and leaves nothing in the ledger."""
    with ChatServer([cent()]) as server:
        free = {"prices": {"input": 0, "output": 0}}
        assert (5, 0) == outcome(ask_many(server.base_url, tmp_path, 0.0, 5, **free))
    assert not (tmp_path / "spending").exists()


def test_unknown_costs_stop_everything(tmp_path: Path) -> None:
    """Where the server counts no tokens a limit cannot be kept: after one answer nobody is asked, and why is said."""
    with ChatServer([{"text": "x", "usage": None}]) as server:
        results = ask_many(server.base_url, tmp_path, 1.0, 5)
        assert ((1, 4), 1) == (outcome(results), server.count)
        assert (6, 0) == outcome(ask_many(server.base_url, tmp_path / "other", None, 6))
    assert "the answers of tested come without token counts" in str(results[-1])


def test_message(tmp_path: Path) -> None:
    """The error names the key, what was spent, the limit, and what to do."""
    with ChatServer([cent()]) as server:
        error = ask_many(server.base_url, tmp_path, 0.01, 2)[1]
    told = "budget.usd: 0.010000 of 0.01 US dollars are spent; allow more in config/config.yaml and start again"
    assert told == str(error)


_PROCESS = """
import asyncio, sys
from pathlib import Path
from regrade.errors import BudgetSpent
from regrade.spending import Spending

async def main() -> None:
    spending = Spending(Path(sys.argv[1]), float(sys.argv[2]))
    try:
        while True:
            await spending.admit("m")
            await asyncio.sleep(0.1)
            spending.settle("m", 0.01)
            print("paid", flush=True)
    except BudgetSpent:
        pass

asyncio.run(main())
"""


def test_processes_share_a_limit(tmp_path: Path) -> None:
    """Three processes together go over the limit by what two of them have in flight and ask for in a tenth second."""
    command = [sys.executable, "-c", _PROCESS, str(tmp_path), "0.3"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    paid = sum(process.communicate()[0].count("paid") for process in processes)
    assert 30 <= paid <= 34
    assert pytest.approx(paid / 100) == Spending(tmp_path, None).spent_usd


def test_a_killed_process_leaves_what_it_paid(tmp_path: Path) -> None:
    """What was noted before kill -9 counts, half a line does not, and what was in flight blocks nobody."""
    command = [sys.executable, "-c", _PROCESS, str(tmp_path), "100"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(5):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    (ledger,) = tmp_path.iterdir()
    rows = ledger.read_bytes().splitlines()
    ledger.write_bytes(b"\n".join(rows[:5]) + b"\n" + rows[4][:-4])
    assert pytest.approx(0.05) == Spending(tmp_path, None).spent_usd
    asyncio.run(Spending(tmp_path, 0.06).admit("m"))
    with pytest.raises(BudgetSpent):
        asyncio.run(Spending(tmp_path, 0.05).admit("m"))


def test_what_is_added_is_read_once(tmp_path: Path) -> None:
    """Rows that others add, also in two pieces, are counted once; odd ones not at all."""
    spending = Spending(tmp_path, None)
    other = tmp_path / "other.jsonl"
    row = json.dumps({"at": 1.0, "model": "m", "usd": 0.5}) + "\n"
    seen = []
    for piece in (row, row[:10], row[10:], "null\n[]\n{}\n\xff\n", '{"model": "m", "usd": NaN}\n', row):
        with other.open("a") as stream:
            stream.write(piece)
        seen.append(_spent(spending))
    assert [0.5, 0.5, 1.0, 1.0, 1.0, 1.5] == seen


def _spent(spending: Spending) -> float:
    """What is spent, after the time in which nothing is read again."""
    threading.Event().wait(0.12)
    return spending.spent_usd


def test_full_disk(tmp_path: Path) -> None:
    """A cost that cannot be noted is an error that names the file; what was noted before is not counted twice."""
    code = (
        "import asyncio, resource, signal, sys; from pathlib import Path; from regrade.spending import Spending\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))\n"
        "spending = Spending(Path(sys.argv[1]), 100)\n"
        "for _ in range(12):\n"
        "    asyncio.run(spending.admit('m'))\n"
        "    try:\n"
        "        spending.settle('m', 1.0)\n"
        "    except Exception as error:\n"
        "        print(error)\n"
        "print(round(spending.spent_usd))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    *messages, spent = done.stdout.splitlines()
    assert messages
    assert all("what an answer cost could not be noted: the disk took" in message for message in messages)
    assert 12 == int(spent)


def test_threads_share_a_ledger(tmp_path: Path) -> None:
    """Threads with event loops of their own, such as those that ask a judge, share one limit."""
    spending = Spending(tmp_path, 0.5)

    def pay() -> None:
        try:
            while True:
                asyncio.run(spending.admit("m"))
                spending.settle("m", 0.01)
        except BudgetSpent:
            pass

    threads = [threading.Thread(target=pay) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pytest.approx(0.5) == spending.spent_usd


def test_models_without_prices() -> None:
    """Under a limit each model that is asked needs prices, once; nobody else's matter. Prices are finite numbers."""
    models = {"a": {"prices": PRICES}, "b": {}, "c": {}}
    found = faults_without_prices(["a", "b", "b"], models, "my/models.yaml")
    told = (
        "my/models.yaml: b.prices: is missing, and without it budget.usd cannot be kept, expected dollars per million"
    )
    assert [True] == [str(fault).startswith(told) for fault in found]
    entry = {"adapter": "openai-chat", "model": "m", "base_url": "http://h/v1"}
    assert faults({"a": {**entry, "prices": {"input": math.nan, "output": 1}}}, "my/models.yaml")


def test_the_ledger_names_no_more_than_it_must(tmp_path: Path) -> None:
    """A row has the time, the model's name and the dollars."""
    with ChatServer([cent()]) as server:
        ask_many(server.base_url, tmp_path, None, 1)
    (path,) = (tmp_path / "spending").iterdir()
    row = json.loads(path.read_text())
    assert (["at", "model", "usd"], "tested", pytest.approx(0.01)) == (sorted(row), row["model"], row["usd"])
