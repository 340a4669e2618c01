"""Are the numbers of the dashboard right, and does a query set never change, as the README promises?"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workspace_code import compare, verify

DASHBOARD = """
from datetime import date
from orders.models import Order, Orders
from orders.views import dashboard
from orders.web import Request, User

ROWS = [
    (11, "mill", "Choir", (2031, 5, 1), "paid", 700),
    (12, "mill", "School", (2031, 5, 7), "collected", 1000),
    (13, "mill", "Fox & Sons", (2031, 5, 8), "collected", 2000),
    (14, "quay", "Boat crew", (2031, 5, 8), "cancelled", 4000),
    (15, "mill", "<b>Fire brigade</b>", (2031, 5, 13), "new", 300),
    (16, "quay", "Lighthouse", (2031, 5, 14), "baked", 500),
    (17, "mill", "School", (2031, 5, 14), "cancelled", 9000),
    (18, "farm", "Fair", (2031, 5, 15), "paid", 80000),
]
ORDERS = Orders([Order(*row[:3], date(*row[3]), *row[4:]) for row in ROWS])

def answer(owner, branches, asked):
    user = User("someone", tuple(branches), owner)
    response = dashboard(Request(user, asked), ORDERS, date(2031, 5, 14))
    names = ("week_cents", "week_orders", "open", "late", "cancelled", "latest")
    shown = all(f'<dd id="{name.replace("_", "-")}">{response.context[name]}</dd>' in response.body
                for name in names[:5] if name in response.context)
    return [response.status, *(response.context.get(name) for name in names), shown, "<b>" in response.body]
"""

QUERY = """
from types import SimpleNamespace
from orders.query import QuerySet

def answer(steps):
    first = QuerySet([SimpleNamespace(n=n, even=n % 2 == 0) for n in (3, 1, 4, 2, 5)])
    made = [first]
    for position, name, arguments in steps:
        if isinstance(arguments, dict):
            made.append(getattr(made[position], name)(**arguments))
        else:
            made.append(getattr(made[position], name)(arguments))
    found = [[row.n for row in query] for query in made]
    again = [[row.n for row in query] for query in reversed(made)][::-1]
    return [found, found == again, [query.count() for query in made], first.total("n")]
"""


def _page(week_cents: int, week_orders: int, other: list[int], latest: str) -> list[Any]:
    return [200, week_cents, week_orders, *other, latest, True, False]


REFUSED = [403, *[None] * 6, True, False]

KNOWN = [
    ([True, [], {}], _page(2500, 3, [4, 2, 2], "18 Fair, 17 School, 16 Lighthouse")),
    ([True, [], {"branch": "quay"}], _page(500, 1, [1, 0, 1], "16 Lighthouse, 14 Boat crew")),
    ([False, ["mill"], {}], _page(2000, 2, [2, 2, 1], "17 School, 15 <b>Fire brigade</b>, 13 Fox & Sons")),
    ([False, ["mill", "quay"], {"branch": "quay"}], _page(500, 1, [1, 0, 1], "16 Lighthouse, 14 Boat crew")),
    ([False, ["quay", "farm"], {}], _page(500, 1, [2, 0, 1], "18 Fair, 16 Lighthouse, 14 Boat crew")),
    ([False, [], {}], _page(0, 0, [0, 0, 0], "")),
    ([False, ["mill"], {"branch": "quay"}], REFUSED),
    ([True, [], {"branch": "farm"}], _page(0, 0, [1, 0, 0], "18 Fair")),
]

# steps as [position of the query set, method, arguments], and the rows of every query set that came about
QUERIES = [
    ([[]], [[3, 1, 4, 2, 5]]),
    ([[[0, "filter", {"even": True}], [0, "exclude", {"even": True}]]], [[3, 1, 4, 2, 5], [4, 2], [3, 1, 5]]),
    ([[[0, "order_by", "n"], [0, "order_by", "-n"]]], [[3, 1, 4, 2, 5], [1, 2, 3, 4, 5], [5, 4, 3, 2, 1]]),
    (
        [[[0, "filter", {"n__gte": 2}], [1, "filter", {"n__lt": 5}], [1, "order_by", "-n"], [2, "order_by", "n"]]],
        [[3, 1, 4, 2, 5], [3, 4, 2, 5], [3, 4, 2], [5, 4, 3, 2], [2, 3, 4]],
    ),
    ([[[0, "exclude", {"n__in": [1, 2], "even": True}]]], [[3, 1, 4, 2, 5], [3, 1, 4, 5]]),
]


def checks(workspace: Path) -> Iterator[str]:
    yield from compare(workspace, DASHBOARD, [*KNOWN, *KNOWN[::-1]])
    queries = [(steps, [lists, True, [len(rows) for rows in lists], 15]) for steps, lists in QUERIES]
    yield from compare(workspace, QUERY, queries)


if __name__ == "__main__":
    sys.exit(verify("fixtures/orders-dashboard", ["tests/**/*", "templates/**/*", "README.md"], checks))
