"""Does a parcel that weighs exactly a band's limit belong to that band, in every tariff?"""

import sys
from collections.abc import Iterator
from pathlib import Path

from workspace_code import compare, raises, verify

STANDARD = """
from parcels.tariff import band_for

def answer(weight_g):
    return list(band_for(weight_g))
"""

OTHER = """
from parcels.tariff import Band, band_for

def answer(step, bands, weight_g):
    return band_for(weight_g, [Band(number * step, 10 * number * step) for number in range(1, bands + 1)]).cents
"""

PRICE = """
from parcels.quotes import quote

def answer(weight_g, zone):
    return quote({"weight_g": weight_g, "zone": zone})["cents"]
"""

KNOWN = [
    (1, [500, 390]),
    (499, [500, 390]),
    (500, [500, 390]),
    (501, [1000, 450]),
    (1000, [1000, 450]),
    (1001, [2000, 590]),
    (2000, [2000, 590]),
    (2001, [5000, 890]),
    (5000, [5000, 890]),
    (9999, [10000, 1290]),
    (10000, [10000, 1290]),
    (10001, raises("TooHeavyError")),
    (0, raises("ValueError")),
    (-500, raises("ValueError")),
]


def checks(workspace: Path) -> Iterator[str]:
    yield from compare(workspace, STANDARD, [([weight], expected) for weight, expected in KNOWN])
    many = [([7, 201, weight], 10 * (-(-weight // 7) * 7)) for weight in (1, 7, 8, 14, 700, 701, 1400, 1401, 1407)]
    yield from compare(workspace, OTHER, [*many, ([7, 201, 1408], raises("TooHeavyError")), ([3, 1, 3], 30)])
    yield from compare(workspace, PRICE, [([2000, "inland"], 590), ([10000, "abroad"], 2838), ([500, "island"], 527)])


if __name__ == "__main__":
    sys.exit(verify("fixtures/parcel-quotes", ["tests/**/*", "README.md"], checks))
