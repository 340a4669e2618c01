"""Grades output/ip_ranges.py by calls in a second sandbox; what is right comes from the compiler in this file."""

import hashlib
import random
from pathlib import Path

from regrade_agent import call_many
from regrade_artifact import GradeResult, graded, read_python

INSTANCE_ID = "verification_heavy__ip_ranges_hard"
ARTIFACT = "output/ip_ranges.py"
FUNCTION = "summarize"
RANDOM_LISTS = 150
SECONDS = 15
WIDTHS = (32, 128)
MAPPED = 0xFFFF << 32
SPACE = " \t"
DIGITS = "0123456789"
LETTERS = "abcdefghijklmnopqrstuvwxyz"

# Rule -> lists of lines, each rule of RULES.md at its edges.
FIXED: dict[str, list[list[str]]] = {
    "lines": [
        [],
        ["", "   ", "# all", "\t# nothing"],
        ["10.0.0.1 # gate", "", "10.0.0.2#x"],
        ["10.0.0.1", "!10.0.0.1", "10.0.0.1"],
        ["!10.0.0.1", "10.0.0.0/31"],
        ["10.0.0.0/24", "! 10.0.0.7"],
        ["!!10.0.0.1", "!", "! # nothing", "x"],
        ["10.0.0.1 10.0.0.2", "10.0.0.1,10.0.0.2", "10.0.0.1;"],
        ["\u00a010.0.0.1", "10.0.0.1\u3000"],
    ],
    "IPv4 addresses": [
        ["0.0.0.0", "255.255.255.255"],
        ["256.0.0.1", "1.2.3", "1.2.3.4.5", "1..2.3", "1.2.3.", ".1.2.3"],
        ["01.2.3.4", "1.2.3.00", "1.2.3.+4", "1.2.3.-4", "1.2.3.0x1", "1.2.3.4e0"],
        ["\u0661.2.3.4", "1.2.3.\u00b2", "1.2.3.\uff14"],
        ["1.2.3.99999999999999999999", "16909060"],
    ],
    "IPv6 addresses": [
        ["::", "::1", "1::", "1:2:3:4:5:6:7:8"],
        ["1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::8", "1:2:3::5:6:7:8"],
        ["1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4::5:6:7:8", "::1::", ":::", ":", ":1", "1:"],
        ["1::2::3", "12345::", "g::", "::00001", "fe80::1%eth0", "[::1]", "::1 ::2"],
        ["ABCD:EF01::0", "0001::000a", "0:0:0:0:0:0:0:0"],
        ["64:ff9b::10.0.0.1", "1:2:3:4:5:6:1.2.3.4", "::1.2.3.4", "::1.2.3.256", "1.2.3.4::", "::1.2.3.4:5"],
        ["1:2:3:4:5:6:7:1.2.3.4", "::01.2.3.4", "1::1.2.3.4.5", "1:2:3:4:5:1.2.3.4"],
        ["::\uff11", "::\u0661"],
    ],
    "writing": [
        ["2001:db8:0:0:1:0:0:1", "2001:db8:0:1:1:1:1:1", "2001:0:0:1:0:0:0:1"],
        ["1:0:0:2:3:0:0:4", "0:0:1:0:0:0:0:2", "1:0:0:0:0:0:0:0", "0:1:2:3:4:5:6:0", "0:0:2:3:4:5:6:7"],
        ["1:2:3:4:5:6:0:0/127", "::/0"],
        ["::fffe:0:0/95", "!::fffe:0:0/96"],
        ["::fffe:ffff:ff00-::ffff:10.0.0.5"],
        ["::2", "9.9.9.9", "::1", "1.1.1.1", "10.0.0.0/8"],
        ["0.0.0.0/0", "::/0", "!255.255.255.255"],
    ],
    "fewest blocks": [
        ["10.0.0.0/25", "10.0.0.128/25"],
        ["10.0.0.1-6", "10.0.0.0", "10.0.0.7"],
        ["10.0.0.128/25", "10.0.1.0/25"],
        ["0.0.0.0-255.255.255.255", "!128.0.0.0"],
        ["::1-::ffff"],
        ["1.1.1.1", "1.1.1.0", "1.1.1.1"],
        ["::/1", "8000::/1", "!7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
        ["1.0.0.0/8", "!1.0.0.0-1.127.255.255", "!1.128.0.0/9"],
    ],
    "ranges": [
        ["10.0.0.9-10.0.1.3", "10.0.0.9 - 10.0.0.12", "10.0.0.9\t-\t20"],
        ["10.0.0.9-8", "10.0.1.0-10.0.0.255", "::2-::1"],
        ["10.0.0.9-256", "10.0.0.9-09", "10.0.0.9-", "-10.0.0.9", "-", "10.0.0.9--12"],
        ["10.0.0.9-10.0.0.12-14", "10.0.0.9-0.12", "::1-5", "fe80::1-fe80::5"],
        ["1.2.3.4-::5", "::1-1.2.3.4", "::5-x", "x-::5", "::ffff:1.2.3.4-1.2.3.9"],
        ["10.0.0.0/8-10.1.0.0", "10.0.0.0-10.1.0.0/16", "1.2.3.*-5", "1.2.3.4-5 6", "@a-5"],
        ["10.0.0.7-7", "10.0.0.9-0"],
        ["9.9.9.9-::1", "255.255.255.255-0.0.0.0", "255.0.0.0-::"],
    ],
    "blocks": [
        ["10.0.0.0/8", "10.0.0.1/8", "10.0.0.1/32", "0.0.0.0/0", "128.0.0.0/0"],
        ["10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "/8", "/"],
        ["10.0.0.0/255.0.0.0", "10.0.0.1/255.255.255.255", "0.0.0.0/0.0.0.0", "10.0.0.1/255.0.0.0"],
        ["10.0.0.0/255.0.255.0", "10.0.0.0/0.0.0.255", "10.0.0.0/255.0.0", "10.0.0.0/256.0.0.0", "10.0.0.0/0255.0.0.0"],
        ["::/129", "::1/128", "::1/127", "2001:db8::/32", "2001:db8::/255.0.0.0", "2001:db8::/ffff::"],
        ["10.0.0.0 /8", "10.0.0.0/ 8", "10.0.0.1/99", "10.0.0.x/99", "10.0/16"],
        ["10.0.0.0/\u0668", "10.0.0.0/99999999999999999999", "10.0.0.0/8.0"],
        ["10.*.*.*/8", "192.0.2.128/25", "192.0.2.64/25"],
    ],
    "stars": [
        ["10.*.*.*", "10.1.*.*", "10.1.2.*"],
        ["*.*.*.*", "*", "10.*", "10.*.1.*", "10.*.1.1", "10.1.2.3.*", "10.**.*.*"],
        ["256.*.*.*", "01.1.1.*", "1.1.1*", "1:*", "::*", "10.1.*.", "::ffff:10.0.0.*", "!10.1.*.*"],
        ["10.1.2.*", "!10.1.*.*"],
    ],
    "mapped addresses": [
        ["::ffff:1.2.3.4", "::FFFF:102:305", "::ffff:0:0/96"],
        ["::ffff:10.0.0.0/104", "::ffff:10.0.0.0/105", "::ffff:10.0.0.0/103"],
        ["::ffff:10.0.0.0/95", "::fffe:0:0/95"],
        ["::ffff:10.0.0.1-::ffff:10.0.0.4", "::ffff:255.255.255.255-::1:0:0:0"],
        ["10.0.0.0/24", "!::ffff:10.0.0.5", "!::ffff:10.0.0.128/121"],
        ["::/0", "!::ffff:10.0.0.5", "!::ffff:0:0-::1:0:0:0"],
        ["::ffff:10.0.0.9-20", "::ffff:10.0.0.9-::ffff:10.0.0.2", "::ffff:10.0.0.1/96"],
        ["0:0:0:0:0:ffff:0a00:1", "::ffff:0:0", "::fffe:1.2.3.4", "::1:ffff:1.2.3.4"],
        ["::ffff:10.0.0.1/255.255.255.255", "::ffff:10.0.0.0/32"],
    ],
    "groups": [
        ["@a = 10.0.0.0/24, !10.0.0.7", "@a"],
        ["@a=10.0.0.1", "10.0.0.0/30", "!@a", "! @a"],
        ["@a", "@a = 1.1.1.1", "@a", "@a = 2.2.2.2", "@a"],
        ["@a = 1.1.1.1", "@a = @a, 2.2.2.2", "@a"],
        ["@a = 1.1.1.1", "@a = 2.2.2.2, x", "@a"],
        ["@a = !1.1.1.1, 1.1.1.0/30, !1.1.1.2", "@b = @a, !1.1.1.0-1", "0.0.0.0/0", "!@b"],
        ["@a =", "@a = ,1.1.1.1", "@a = 1.1.1.1,", "@a = 1.1.1.1,,2.2.2.2", "@a"],
        ["@A = 1.1.1.1", "@1a = 1.1.1.1", "@ = 1.1.1.1", "@a b = 1.1.1.1", "@a-b = 1.1.1.1", "@a_1 = 1.1.1.1", "@a_1"],
        ["@\u00e4 = 1.1.1.1", "@a\u0663 = 1.1.1.1", "@ a = 1.1.1.1", "@ a", "@"],
        ["@a = @a", "@a = @b, x", "@a = x, @b", "@A = x", "!@a = 1.1.1.1"],
        ["@a = 1.1.1.1 # , 2.2.2.2", "@a"],
        ["@b = 1.1.1.1", "@a = @b = 1.1.1.1", "@a", "@b, 1.1.1.1", "@b-5", "@b/32", "@b*"],
        ["@a = 10.0.0.0/8", "@b = @a, !10.0.0.0/9", "@a = !10.0.0.0/8", "@b", "@a", "!@a"],
        ["@a = 5.5.5.5-4, 1.1.1.1/31, ::1-2.2.2.2", "@a = 1.1.1.1/31, x", "@a = 1.1.1.1/x, @b"],
        ["@a = ::ffff:1.1.1.1, ::2", "@a", "!1.1.1.1"],
    ],
}


@graded
def grade(scratch_dir: Path) -> GradeResult:
    read_python(scratch_dir, ARTIFACT)
    cases = [(rule, lines) for rule, lists in FIXED.items() for lines in lists]
    cases += [("random lists", lines) for lines in _random_lists()]
    replies = call_many(ARTIFACT, FUNCTION, [[lines] for _, lines in cases], seconds=SECONDS)
    wrong = [
        (rule, reply)
        for (rule, lines), reply in zip(cases, replies, strict=True)
        if reply.error or not _same(_Compiler().summarize(lines), reply.value)
    ]
    if not wrong:
        return GradeResult(True, 1.0, f"all {len(cases)} lists right")
    return GradeResult(False, (len(cases) - len(wrong)) / len(cases), _describe(wrong, len(cases)))


def _same(known, given) -> bool:
    """Tell whether two JSON values are equal, types too (True is not 1, 1.0 is not 1)."""
    if type(known) is not type(given):
        return False
    if isinstance(known, dict):
        return known.keys() == given.keys() and all(_same(known[key], given[key]) for key in known)
    if isinstance(known, list):
        return len(known) == len(given) and all(map(_same, known, given))
    return known == given


def _describe(wrong: list, total: int) -> str:
    rules = sorted({rule for rule, _ in wrong})
    text = f"wrong on {len(wrong)} of {total} lists ({', '.join(rules)})"
    errors = [reply.error for _, reply in wrong if reply.error]
    if errors:
        text += f"; {len(errors)} calls gave no answer, the first: {ascii(errors[0])[:200]}"
    return text


def _random_lists() -> list[list[str]]:
    seed = int(hashlib.sha256(INSTANCE_ID.encode()).hexdigest()[:16], 16)
    rng = random.Random(seed)
    return [[_random_line(rng) for _ in range(rng.randint(4, 24))] for _ in range(RANDOM_LISTS)]


def _random_line(rng: random.Random) -> str:
    if rng.random() < 0.25:
        items = ", ".join(_random_item(rng) for _ in range(rng.randint(1, 3)))
        return f"@{rng.choice('abc')} = {items}"
    return _random_item(rng) + rng.choice(["", "", "", "  # note"])


def _random_item(rng: random.Random) -> str:
    if rng.random() < 0.06:
        return rng.choice(["10.0.0", "10.0.0.1/31", "10.0.0.9-3", "::1-10.0.0.2", "10.0.0.0/40", "@d", "1:::2", ""])
    entry = rng.choice([_random_ipv4, _random_ipv4, _random_ipv6, lambda rng: f"@{rng.choice('abc')}"])(rng)
    return rng.choice(["", "", "!", "! "]) + entry


def _random_ipv4(rng: random.Random) -> str:
    first, bits = (10 << 24) + rng.randrange(600), rng.randint(22, 32)
    block = first >> 32 - bits << 32 - bits
    mapped = "::ffff:" if rng.random() < 0.15 else ""
    forms = [
        _ipv4_text(first),
        f"{mapped}{_ipv4_text(block)}/{bits + 96 if mapped else bits}",
        f"{_ipv4_text(block)}/{_ipv4_text((1 << 32) - (1 << 32 - bits))}",
        f"{mapped}{_ipv4_text(first)}-{mapped}{_ipv4_text(first + rng.randrange(300))}",
        f"{_ipv4_text(first)}-{rng.randint(first & 255, 255)}",
        f"10.0.{rng.randrange(3)}.*",
    ]
    return rng.choice(forms)


def _random_ipv6(rng: random.Random) -> str:
    base = rng.choice([0x20010DB8 << 96, 0xFFFE << 32 | 0xFFFFFF00, 0, 0x20010DB8 << 96 | 1 << 64])
    first, bits = base + rng.randrange(600), rng.randint(118, 128)
    block = first >> 128 - bits << 128 - bits
    texts = [f"{block:032x}", f"{first:032x}", f"{first + rng.randrange(300):032x}"]
    block_text, first_text, last_text = (":".join(text[at : at + 4] for at in range(0, 32, 4)) for text in texts)
    return rng.choice([f"{block_text}/{bits}", first_text.upper(), f"{first_text} - {last_text}"])


class _FaultError(Exception):
    """An entry in error; its argument is the code."""


class _Compiler:
    """Holds the groups; sets are sorted lists of (first, last), addresses of IPv6 counted from 2**32 on."""

    def __init__(self) -> None:
        self.groups: dict[str, list[tuple[int, int]]] = {}

    def summarize(self, lines: list[str]) -> dict:
        result: list[tuple[int, int]] = []
        errors: list[list] = []
        for number, line in enumerate(lines, start=1):
            text = line.split("#")[0].strip(SPACE)
            try:
                if text[:1] == "@" and "=" in text:
                    self._define(*text[1:].split("=", 1))
                elif text:
                    result = self._apply(result, text)
            except _FaultError as fault:
                errors.append([number, str(fault)])
        cidrs = [text for span in _split_families(result) for text in _blocks(*span)]
        count = sum(last - first + 1 for first, last in result)
        return {"cidrs": cidrs, "count": str(count), "errors": errors}

    def _define(self, name: str, items: str) -> None:
        name = name.rstrip(SPACE)
        if not ("a" <= name[:1] <= "z" and all(char in LETTERS + DIGITS + "_" for char in name)):
            raise _FaultError("group")
        members: list[tuple[int, int]] = []
        for item in items.split(","):
            members = self._apply(members, item.strip(SPACE))
        self.groups[name] = members

    def _apply(self, members: list[tuple[int, int]], item: str) -> list[tuple[int, int]]:
        if item.startswith("!"):
            spans = self._spans(item[1:].lstrip(SPACE))
            for span in spans:
                members = _cut(members, *span)
            return members
        return _merge(members + self._spans(item))

    def _spans(self, entry: str) -> list[tuple[int, int]]:
        if entry.startswith("@"):
            if entry[1:] not in self.groups:
                raise _FaultError("group")
            return self.groups[entry[1:]]
        if "-" in entry:
            family, first, last = _range(*entry.split("-", 1))
        elif "/" in entry:
            family, first, last = _block(*entry.split("/", 1))
        elif "*" in entry:
            family, first, last = _starred(entry.split("."))
        else:
            family, first = _address(entry)
            last = first
        if family == 1 and first >= MAPPED and last < MAPPED + (1 << 32):
            family, first, last = 0, first - MAPPED, last - MAPPED
        return [(first + (family << 32), last + (family << 32))]


def _merge(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _cut(spans: list[tuple[int, int]], low: int, high: int) -> list[tuple[int, int]]:
    pieces = []
    for first, last in spans:
        pieces += [(first, min(last, low - 1)), (max(first, high + 1), last)]
    return _merge([piece for piece in pieces if piece[0] <= piece[1]])


def _split_families(spans: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    border = 1 << 32
    low = [(0, first, min(last, border - 1)) for first, last in spans if first < border]
    return low + [(1, max(first, border) - border, last - border) for first, last in spans if last >= border]


def _blocks(family: int, first: int, last: int) -> list[str]:
    write = (_ipv4_text, _ipv6_text)[family]
    texts = []
    while first <= last:
        size = first & -first or 1 << WIDTHS[family]
        while first + size - 1 > last:
            size >>= 1
        texts.append(f"{write(first)}/{WIDTHS[family] - size.bit_length() + 1}")
        first += size
    return texts


def _ipv4_text(value: int) -> str:
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _ipv6_text(value: int) -> str:
    parts = [value >> shift & 0xFFFF for shift in range(112, -16, -16)]
    best, start = (1, 0), 0
    while start < 8:
        end = start
        while end < 8 and parts[end] == 0:
            end += 1
        if end - start > best[0]:
            best = (end - start, start)
        start = end + 1
    words = [f"{part:x}" for part in parts]
    if best[0] == 1:
        return ":".join(words)
    return ":".join(words[: best[1]]) + "::" + ":".join(words[best[1] + best[0] :])


def _number(text: str, limit: int) -> int | None:
    if not text or len(text) > 3 or any(char not in DIGITS for char in text) or (text[0] == "0" and text != "0"):
        return None
    return int(text) if int(text) <= limit else None


def _range(start: str, end: str) -> tuple[int, int, int]:
    start, end = start.strip(SPACE), end.strip(SPACE)
    family, first = _address(start)
    short = _number(end, 255)
    end_family, last = (0, first - first % 256 + short) if family == 0 and short is not None else _address(end)
    if family != end_family:
        raise _FaultError("family")
    if first > last:
        raise _FaultError("order")
    return family, first, last


def _block(start: str, behind: str) -> tuple[int, int, int]:
    family, first = _address(start)
    bits = _number(behind, WIDTHS[family])
    if bits is None and family == 0 and (mask := _ipv4(behind)) is not None:
        bits = next((count for count in range(33) if mask == (1 << 32) - (1 << 32 - count)), None)
    if bits is None:
        raise _FaultError("prefix")
    rest = (1 << WIDTHS[family] - bits) - 1
    if first & rest:
        raise _FaultError("host-bits")
    return family, first, first + rest


def _starred(parts: list[str]) -> tuple[int, int, int]:
    numbers = [part for part in parts if part != "*"]
    stars = len(parts) - len(numbers)
    if not numbers or parts != numbers + ["*"] * stars:
        raise _FaultError("address")
    first = _ipv4(".".join(numbers + ["0"] * stars))
    if first is None:
        raise _FaultError("address")
    return 0, first, first + (1 << 8 * stars) - 1


def _address(text: str) -> tuple[int, int]:
    family, value = (1, _ipv6(text)) if ":" in text else (0, _ipv4(text))
    if value is None:
        raise _FaultError("address")
    return family, value


def _ipv4(text: str) -> int | None:
    numbers = [_number(part, 255) for part in text.split(".")]
    if len(numbers) != 4 or None in numbers:
        return None
    return sum(number << shift for number, shift in zip(numbers, (24, 16, 8, 0), strict=True))


def _ipv6(text: str) -> int | None:
    sides = [_words(side, at_end) for side, at_end in _sides(text)]
    if len(sides) > 2 or None in sides:
        return None
    given = sum(map(len, sides))
    if given > 7 if len(sides) == 2 else given != 8:
        return None
    value = 0
    for word in sides[0]:
        value = value << 16 | word
    value <<= 16 * (8 - len(sides[0]))
    for place, word in enumerate(reversed(sides[-1] if len(sides) == 2 else [])):
        value |= word << 16 * place
    return value


def _sides(text: str) -> list[tuple[str, bool]]:
    sides = text.split("::")
    return [(side, place == len(sides) - 1) for place, side in enumerate(sides)]


def _words(side: str, at_end: bool) -> list[int] | None:
    words: list[int] = []
    parts = side.split(":") if side else []
    for place, part in enumerate(parts):
        if at_end and place == len(parts) - 1 and "." in part:
            ending = _ipv4(part)
            if ending is None:
                return None
            words += [ending >> 16, ending & 0xFFFF]
        elif 1 <= len(part) <= 4 and all(char in "0123456789abcdefABCDEF" for char in part):
            words.append(int(part, 16))
        else:
            return None
    return words
