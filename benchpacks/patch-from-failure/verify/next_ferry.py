"""Is the next ferry found at every time of the day, and the waiting time over midnight right?"""

import sys
from collections.abc import Iterator
from pathlib import Path

from workspace_code import compare, raises, verify

PROBE = """
from ferry.timetable import Timetable

def answer(departures, now):
    timetable = Timetable(iter(departures))
    return [timetable.next_departure(now), timetable.waiting_minutes(now), timetable.next_departure(now)]
"""

WINTER = ["06:30", "09:15", "13:00", "21:40"]

# departures, now, the next departure, minutes until then
KNOWN = [
    (WINTER, "07:00", "09:15", 135),
    (WINTER, "09:15", "09:15", 0),
    (WINTER, "21:40", "21:40", 0),
    (WINTER, "21:41", "06:30", 529),
    (WINTER, "21:50", "06:30", 520),
    (WINTER, "00:00", "06:30", 390),
    (WINTER[::-1], "07:00", "09:15", 135),
    (["13:00", "06:30", "21:40", "09:15"], "22:00", "06:30", 510),
    (["9:05", "9:5", "23:59"], "09:06", "23:59", 893),
    (["00:00"], "00:01", "00:00", 1439),
    (["00:00"], "00:00", "00:00", 0),
    (["23:59"], "00:00", "23:59", 1439),
    ([], "12:00", None, None),
]


def checks(workspace: Path) -> Iterator[str]:
    cases = [([departures, now], [departure, wait, departure]) for departures, now, departure, wait in KNOWN]
    yield from compare(workspace, PROBE, [*cases, ([WINTER, "24:00"], raises("ValueError"))])


if __name__ == "__main__":
    sys.exit(verify("fixtures/ferry-times", ["tests/**/*", "README.md"], checks))
