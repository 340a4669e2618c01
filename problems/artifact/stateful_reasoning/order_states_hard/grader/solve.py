"""Makes the reference from a materialized workspace: python solve.py WORKSPACE > reference_output.jsonl"""

import json
import sys
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

CLOCKS = {"placed": 2 * 3600, "packed": 24 * 3600}
RETURNABLE = 14 * 86400


class Order:
    """One order; `left` is what its clock had left when it was held."""

    def __init__(self) -> None:
        self.state, self.since, self.due = "none", None, None
        self.held_in, self.left = "", None
        self.sku, self.units, self.total = "", 0, 0
        self.balance = self.refunded = self.refused = 0

    def enter(self, state: str, now: int, left: int | None = None) -> None:
        self.state, self.since = state, now
        clock = CLOCKS.get(state) if left is None else left
        self.due = None if clock is None else now + clock

    def refund(self, amount: int) -> None:
        self.balance -= amount
        self.refunded += amount


class Shop:
    """All orders and the stock they share. Handlers return False where they refuse."""

    def __init__(self, stock: dict[str, int]) -> None:
        self.stock = dict(stock)
        self.orders: dict[str, Order] = {}

    def happen(self, event: dict, now: int) -> None:
        if event["type"] == "restock":
            self.stock[event["sku"]] += event["qty"]
            return
        order = self.orders.setdefault(event["order"], Order())
        if not getattr(self, "_" + event["type"])(order, event, now):
            order.refused += 1

    def run_clocks(self, until: int) -> None:
        """Run out every clock that is due up to and at this instant, in the order of time."""
        while running := [order for order in self.orders.values() if order.due is not None and order.due <= until]:
            due = min(order.due for order in running)
            for order in running:
                if order.due == due and order.state == "placed":
                    self._close(order, "expired", due)
                elif order.due == due:
                    order.enter("paid", due)

    def _close(self, order: Order, state: str, now: int) -> bool:
        self.stock[order.sku] += order.units
        order.refund(order.balance)
        order.enter(state, now)
        return True

    def _place(self, order: Order, event: dict, now: int) -> bool:
        if order.state != "none" or event["qty"] > self.stock[event["sku"]]:
            return False
        order.sku, order.units, order.total = event["sku"], event["qty"], event["total"]
        self.stock[order.sku] -= order.units
        order.enter("placed", now)
        return True

    def _pay(self, order: Order, event: dict, now: int) -> bool:
        if order.state not in ("placed", "held"):
            return False
        order.balance += event["amount"]
        if order.state == "placed" and order.balance >= order.total:
            order.enter("paid", now)
        return True

    def _amend(self, order: Order, event: dict, now: int) -> bool:
        if order.state not in ("placed", "paid") or event["qty"] - order.units > self.stock[order.sku]:
            return False
        self.stock[order.sku] -= event["qty"] - order.units
        order.units, order.total = event["qty"], event["total"]
        state = "paid" if order.balance >= order.total else "placed"
        if state != order.state:
            order.enter(state, now)
        return True

    def _hold(self, order: Order, event: dict, now: int) -> bool:
        if order.state not in ("placed", "paid", "packed"):
            return False
        order.held_in, order.left = order.state, None if order.due is None else order.due - now
        order.enter("held", now)
        return True

    def _unhold(self, order: Order, event: dict, now: int) -> bool:
        if order.state != "held":
            return False
        if order.held_in == "placed" and order.balance >= order.total:
            order.enter("paid", now)
        else:
            order.enter(order.held_in, now, order.left)
        return True

    def _pack(self, order: Order, event: dict, now: int) -> bool:
        if order.state != "paid":
            return False
        order.refund(order.balance - order.total)
        order.enter("packed", now)
        return True

    def _ship(self, order: Order, event: dict, now: int) -> bool:
        return self._advance(order, "packed", "shipped", now)

    def _deliver(self, order: Order, event: dict, now: int) -> bool:
        return self._advance(order, "shipped", "delivered", now)

    def _advance(self, order: Order, old: str, new: str, now: int) -> bool:
        if order.state != old:
            return False
        order.enter(new, now)
        return True

    def _cancel(self, order: Order, event: dict, now: int) -> bool:
        state = order.held_in if order.state == "held" else order.state
        return state in ("placed", "paid") and self._close(order, "cancelled", now)

    def _return(self, order: Order, event: dict, now: int) -> bool:
        in_time = order.state == "shipped" or (order.state == "delivered" and now - order.since <= RETURNABLE)
        return in_time and self._close(order, "returned", now)


def read_instant(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def read_events(folder: Path, end: int) -> list[dict]:
    """The events that happen, in their order, each with its instant as `now`."""
    counting: dict[str, dict] = {}
    for part in sorted(folder.glob("part-*.jsonl")):
        for line in part.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            earlier = counting.get(record["event"])
            if earlier is None or record["rev"] > earlier["rev"]:
                counting[record["event"]] = record
    events = [{**record, "now": read_instant(record["at"])} for record in counting.values() if not record.get("void")]
    return sorted((event for event in events if event["now"] <= end), key=lambda event: (event["now"], event["event"]))


def solve(workspace: Path) -> str:
    setup = json.loads((workspace / "setup.json").read_text(encoding="utf-8"))
    end = read_instant(setup["end"])
    shop = Shop(setup["stock"])
    for now, events in groupby(read_events(workspace / "events", end), key=lambda event: event["now"]):
        shop.run_clocks(now - 1)
        for event in events:
            shop.happen(event, now)
        shop.run_clocks(now)
    shop.run_clocks(end)
    return "".join(json.dumps(describe(name, shop.orders[name])) + "\n" for name in sorted(shop.orders))


def describe(name: str, order: Order) -> dict:
    since = None
    if order.since is not None:
        since = datetime.fromtimestamp(order.since, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "order": name,
        "state": order.state,
        "since": since,
        "balance": order.balance,
        "refunded": order.refunded,
        "refused": order.refused,
    }


if __name__ == "__main__":
    sys.stdout.write(solve(Path(sys.argv[1])))
