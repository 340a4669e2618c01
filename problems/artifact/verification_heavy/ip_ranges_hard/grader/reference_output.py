"""A known-good compiler of allow lists: regular expressions read, sets are trees of binary blocks."""

import re

BITS = dict(zip(("IPv4", "IPv6"), (32, 128), strict=True))
NUMBER = re.compile(r"0|[1-9][0-9]{0,5}")
PART = re.compile(r"[0-9A-Fa-f]{1,4}")
NAME = re.compile(r"[a-z][a-z0-9_]*")
MAPPED = 0xFFFF << 32


class FaultError(Exception):
    """An entry in error; its argument is the code."""


def summarize(lines: list[str]) -> dict:
    groups: dict[str, dict] = {}
    result = _nothing()
    errors = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip(" \t")
        try:
            if text.startswith("@") and "=" in text:
                name, _, items = text[1:].partition("=")
                name = name.rstrip(" \t")
                if not NAME.fullmatch(name):
                    raise FaultError("group")
                group = _nothing()
                for item in items.split(","):
                    group = _apply(group, item.strip(" \t"), groups)
                groups[name] = group
            elif text:
                result = _apply(result, text, groups)
        except FaultError as fault:
            errors.append([number, fault.args[0]])
    return {"cidrs": _list_blocks(result), "count": str(_count(result)), "errors": errors}


def _nothing() -> dict:
    return dict.fromkeys(BITS, False)


def _apply(trees: dict, item: str, groups: dict) -> dict:
    removes = item.startswith("!")
    wanted = _read_entry(item[1:].strip(" \t") if removes else item, groups)
    merge = _without if removes else _union
    return {family: merge(trees[family], wanted[family]) for family in BITS}


# A tree is True (all of the block), False (none of it) or a pair of the trees of its halves.


def _join(left, right):
    return left if left is right and isinstance(left, bool) else (left, right)


def _halves(tree):
    return (tree, tree) if isinstance(tree, bool) else tree


def _union(one, other):
    if one is True or other is False:
        return one
    if other is True or one is False:
        return other
    return _join(*(_union(left, right) for left, right in zip(_halves(one), _halves(other), strict=True)))


def _without(one, other):
    if one is False or other is True:
        return False
    if other is False:
        return one
    return _join(*(_without(left, right) for left, right in zip(_halves(one), _halves(other), strict=True)))


def _range_tree(first: int, last: int, bits: int, base: int = 0):
    end = base + (1 << bits) - 1
    if first <= base and end <= last:
        return True
    if last < base or end < first:
        return False
    half = bits - 1
    return _join(_range_tree(first, last, half, base), _range_tree(first, last, half, base + (1 << half)))


def _walk(tree, bits: int, base: int = 0):
    if tree is True:
        yield base, bits
    elif tree is not False:
        yield from _walk(tree[0], bits - 1, base)
        yield from _walk(tree[1], bits - 1, base + (1 << bits - 1))


def _count(trees: dict) -> int:
    return sum(1 << bits for family, width in BITS.items() for _, bits in _walk(trees[family], width))


def _list_blocks(trees: dict) -> list[str]:
    write = dict(zip(BITS, (_write_ipv4, _write_ipv6), strict=True))
    return [
        f"{write[family](base)}/{width - bits}"
        for family, width in BITS.items()
        for base, bits in _walk(trees[family], width)
    ]


def _write_ipv4(value: int) -> str:
    return ".".join(str(byte) for byte in value.to_bytes(4, "big"))


def _write_ipv6(value: int) -> str:
    parts = [f"{value >> shift & 0xFFFF:x}" for shift in range(112, -1, -16)]
    for length in range(8, 1, -1):
        for start in range(9 - length):
            if parts[start : start + length] == ["0"] * length:
                return ":".join(parts[:start]) + "::" + ":".join(parts[start + length :])
    return ":".join(parts)


def _read_entry(entry: str, groups: dict) -> dict:
    if entry.startswith("@"):
        if entry[1:] not in groups:
            raise FaultError("group")
        return groups[entry[1:]]
    if "-" in entry:
        return _read_range(*(end.strip(" \t") for end in entry.split("-", 1)))
    if "/" in entry:
        return _read_block(*entry.split("/", 1))
    if "*" in entry:
        found = re.fullmatch(r"([0-9.]+?)((?:\.\*){1,3})", entry)
        stars = found[2].count("*") if found else 0
        family, first = _read_address(found[1] + ".0" * stars if found else "")
        return _make(family, first, first + (1 << 8 * stars) - 1)
    family, address = _read_address(entry)
    return _make(family, address, address)


def _read_range(start: str, end: str) -> dict:
    family, first = _read_address(start)
    if family == "IPv4" and NUMBER.fullmatch(end):
        end = start.rpartition(".")[0] + "." + end
    end_family, last = _read_address(end)
    if family != end_family:
        raise FaultError("family")
    if last < first:
        raise FaultError("order")
    return _make(family, first, last)


def _read_block(start: str, behind: str) -> dict:
    family, first = _read_address(start)
    bits = _read_prefix(behind, family)
    size = 1 << BITS[family] - bits
    if first % size:
        raise FaultError("host-bits")
    return _make(family, first, first + size - 1)


def _read_prefix(text: str, family: str) -> int:
    if NUMBER.fullmatch(text) and int(text) <= BITS[family]:
        return int(text)
    mask = _read_ipv4(text) if family == "IPv4" else None
    if mask is None or "01" in f"{mask:032b}":
        raise FaultError("prefix")
    return f"{mask:b}".count("1")


def _make(family: str, first: int, last: int) -> dict:
    if family == "IPv6" and first >> 32 == last >> 32 == MAPPED >> 32:
        family, first, last = "IPv4", first - MAPPED, last - MAPPED
    return {**_nothing(), family: _range_tree(first, last, BITS[family])}


def _read_address(text: str) -> tuple[str, int]:
    family, value = ("IPv6", _read_ipv6(text)) if ":" in text else ("IPv4", _read_ipv4(text))
    if value is None:
        raise FaultError("address")
    return family, value


def _read_ipv4(text: str) -> int | None:
    parts = text.split(".")
    if len(parts) != 4 or not all(NUMBER.fullmatch(part) and int(part) < 256 for part in parts):
        return None
    return int.from_bytes(bytes(int(part) for part in parts), "big")


def _read_ipv6(text: str) -> int | None:
    head, colon, tail = text.rpartition(":")
    if "." in tail:
        ending = _read_ipv4(tail)
        if ending is None:
            return None
        text = f"{head}{colon}{ending >> 16:x}:{ending & 0xFFFF:x}"
    left, gap, right = text.partition("::")
    before = left.split(":") if left else []
    after = right.split(":") if right else []
    missing = 8 - len(before) - len(after)
    parts = before + ["0"] * missing + after
    if (missing < 1 if gap else missing != 0) or not all(PART.fullmatch(part) for part in parts):
        return None
    return int("".join(part.zfill(4) for part in parts), 16)
