"""Does a quote depend on what is asked for alone, whatever was asked before in the same process?"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workspace_code import compare, raises, verify

PROBE = """
import copy
from parcels.quotes import quote

def answer(parcel, extras):
    given = copy.deepcopy((parcel, extras))
    found = quote(parcel) if extras is None else quote(parcel, extras)
    before = copy.deepcopy(found)
    # What a caller does with a quote is the caller's business.
    found["items"].append(["discount", -100])
    found["items"][0][1] = 1
    found["cents"] -= 100
    return [before["cents"], before["items"], (parcel, extras) == given]
"""

# In this order, in one process: every neighbour differs in one thing that a careless key forgets.
KNOWN: list[tuple[dict[str, Any], list[str] | None, list[list[Any]]]] = [
    ({"weight_g": 800, "zone": "inland"}, None, [["carriage", 450]]),
    ({"weight_g": 800, "zone": "abroad"}, None, [["carriage", 990]]),
    ({"weight_g": 800, "zone": "island"}, None, [["carriage", 608]]),
    ({"weight_g": 800, "zone": "inland", "insured_cents": 5001}, None, [["carriage", 450], ["insurance", 1]]),
    ({"weight_g": 800, "zone": "inland", "insured_cents": 9900}, None, [["carriage", 450], ["insurance", 49]]),
    ({"weight_g": 800, "zone": "inland", "remote": True}, None, [["carriage", 450], ["remote", 250]]),
    ({"weight_g": 800, "zone": "inland", "remote": True}, None, [["carriage", 450], ["remote", 250]]),
    ({"weight_g": 900, "zone": "inland", "remote": True}, None, [["carriage", 450], ["remote", 250]]),
    ({"weight_g": 900, "zone": "inland"}, None, [["carriage", 450]]),
    ({"weight_g": 800, "zone": "inland"}, ["evening"], [["carriage", 450], ["evening", 100]]),
    ({"weight_g": 800, "zone": "inland"}, ["signature"], [["carriage", 450], ["signature", 100]]),
    (
        {"weight_g": 800, "zone": "inland", "remote": True},
        ["evening", "signature"],
        [["carriage", 450], ["evening", 100], ["signature", 100], ["remote", 250]],
    ),
    ({"weight_g": 800, "zone": "inland"}, [], [["carriage", 450]]),
    ({"weight_g": 800, "zone": "inland", "insured_cents": 0}, None, [["carriage", 450]]),
    ({"weight_g": 800, "zone": "inland", "remote": False}, ["evening"], [["carriage", 450], ["evening", 100]]),
]


def checks(workspace: Path) -> Iterator[str]:
    once = [([parcel, extras], [sum(cents for _, cents in items), items, True]) for parcel, extras, items in KNOWN]
    unknown: tuple[list[Any], Any] = ([{"weight_g": 800, "zone": "moon"}, None], raises("ValueError"))
    yield from compare(workspace, PROBE, [*once, unknown, *once[::-1]])


if __name__ == "__main__":
    sys.exit(verify("fixtures/parcel-quotes", ["tests/**/*", "README.md"], checks))
