"""The hunks of a unified diff between two lists of lines, at a bounded cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

CONTEXT = 3


@dataclass
class Steps:
    """How many more steps of comparing are allowed. When they are used up, what differs is shown as replaced whole."""

    left: int


class _Block(NamedTuple):
    """Lines that are the same on both sides."""

    before: int
    after: int
    length: int


def hunks(before: list[bytes], after: list[bytes], steps: Steps) -> list[bytes]:
    """The lines of all hunks, without line ends; none where both sides are alike."""
    output: list[bytes] = []
    for group in _groups(_blocks(before, after, steps)):
        output += _hunk(before, after, group)
    return output


def _blocks(before: list[bytes], after: list[bytes], steps: Steps) -> list[_Block]:
    shortest = min(len(before), len(after))
    head = next((at for at in range(shortest) if before[at] != after[at]), shortest)
    rest = shortest - head
    tail = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    blocks = [_Block(0, 0, head)]
    for left, right in _middle(before, after, head, tail, steps):
        last = blocks[-1]
        if (left, right) == (last.before + last.length, last.after + last.length):
            blocks[-1] = last._replace(length=last.length + 1)
        else:
            blocks.append(_Block(left, right, 1))
    return [*blocks, _Block(len(before) - tail, len(after) - tail, tail)]


def _middle(before: list[bytes], after: list[bytes], head: int, tail: int, steps: Steps) -> Iterator[tuple[int, int]]:
    """Pairs of equal lines between the common head and tail. Lines that one side alone has can be in no pair."""
    lefts, rights = range(head, len(before) - tail), range(head, len(after) - tail)
    shared = {before[at] for at in lefts} & {after[at] for at in rights}
    number = {line: at for at, line in enumerate(shared)}
    lefts_shared = [at for at in lefts if before[at] in shared]
    rights_shared = [at for at in rights if after[at] in shared]
    first, second = [number[before[at]] for at in lefts_shared], [number[after[at]] for at in rights_shared]
    for left, right in _common(first, second, steps):
        yield lefts_shared[left], rights_shared[right]


def _common(first: list[int], second: list[int], steps: Steps) -> list[tuple[int, int]]:
    """A longest common subsequence as pairs of places (Myers' greedy search), or none if it costs too much.

    Row d holds, for each diagonal from -d to d in steps of two, how far d edits lead into `first`.
    """
    rows: list[list[int]] = []
    for edits in range(len(first) + len(second) + 1):
        row = []
        for at in range(edits + 1):
            diagonal = 2 * at - edits
            start = left = _start(rows[-1], at) if rows else 0
            while left < len(first) and left - diagonal < len(second) and first[left] == second[left - diagonal]:
                left += 1
            row.append(left)
            steps.left -= 1 + left - start
            if left >= len(first) and left - diagonal >= len(second):
                return _walk_back([*rows, row], at)
        rows.append(row)
        if steps.left < 0:
            return []
    return []


def _start(row: list[int], at: int) -> int:
    """Where a diagonal starts: an insertion after its right neighbour or a removal after its left one."""
    if at == 0:
        return row[0]
    if at == len(row) or row[at - 1] >= row[at]:
        return row[at - 1] + 1
    return row[at]


def _walk_back(rows: list[list[int]], at: int) -> list[tuple[int, int]]:
    pairs = []
    for edits in range(len(rows) - 1, -1, -1):
        diagonal, end = 2 * at - edits, rows[edits][at]
        start = _start(rows[edits - 1], at) if edits else 0
        pairs += [(left, left - diagonal) for left in range(end - 1, start - 1, -1)]
        removal = edits and at > 0 and (at == edits or rows[edits - 1][at - 1] >= rows[edits - 1][at])
        at -= bool(removal)
    return pairs[::-1]


def _groups(blocks: list[_Block]) -> Iterator[list[tuple[int, int, int, int]]]:
    """Changes (from, to before; from, to after), those together whose contexts would touch."""
    group: list[tuple[int, int, int, int]] = []
    for last, block in pairwise([_Block(0, 0, 0), *blocks]):
        change = (last.before + last.length, block.before, last.after + last.length, block.after)
        if change[0] == change[1] and change[2] == change[3]:
            continue
        if group and change[0] - group[-1][1] > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _hunk(before: list[bytes], after: list[bytes], group: list[tuple[int, int, int, int]]) -> Iterator[bytes]:
    lead = min(CONTEXT, group[0][0], group[0][2])
    trail = min(CONTEXT, len(before) - group[-1][1], len(after) - group[-1][3])
    start, end = group[0][0] - lead, group[-1][1] + trail
    old, new = _range(start, end), _range(group[0][2] - lead, group[-1][3] + trail)
    yield f"@@ -{old} +{new} @@".encode()
    for old_from, old_to, new_from, new_to in group:
        yield from (b" " + line for line in before[start:old_from])
        yield from (b"-" + line for line in before[old_from:old_to])
        yield from (b"+" + line for line in after[new_from:new_to])
        start = old_to
    yield from (b" " + line for line in before[start:end])


def _range(start: int, end: int) -> str:
    """A hunk header's range: a length of one is left out, an empty range names the line before it."""
    if end - start == 1:
        return str(start + 1)
    return f"{start + (end > start)},{end - start}"
