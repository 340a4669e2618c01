"""Grades output/glob_match.py by calls in a second sandbox; what is right comes from the matcher in this file."""

import hashlib
import random
from functools import cache
from pathlib import Path

from regrade_agent import call_many
from regrade_artifact import GradeResult, graded, read_python

INSTANCE_ID = "verification_heavy__glob_match_medium"
ARTIFACT = "output/glob_match.py"
FUNCTION = "glob_match"
RANDOM_PAIRS = 400
SECONDS = 15

# (rule, pattern, path): every rule of RULES.md at its edges.
FIXED = [
    ("literals", "a", "a"),
    ("literals", "a", "A"),
    ("literals", "a/b.c", "a/b.c"),
    ("literals", "a/b", "a"),
    ("literals", "a", "a/b"),
    ("literals", "a.c", "abc"),
    ("literals", "(a|b)+$", "(a|b)+$"),
    ("literals", "a", "a\n"),
    ("literals", "", "a"),
    ("literals", "a/", "a"),
    ("literals", "/a", "a"),
    ("literals", "a//b", "a/b"),
    ("literals", "a//b", "a/x/b"),
    ("stars", "*", "a"),
    ("stars", "*", "a/b"),
    ("stars", "*", "a\nb"),
    ("stars", "a*", "a"),
    ("stars", "*a*", "bab"),
    ("stars", "*ab", "aab"),
    ("stars", "a***b", "axxb"),
    ("stars", "***", "abc"),
    ("stars", "***", "a/b"),
    ("stars", "a**/b", "ax/b"),
    ("stars", "a**/b", "a/x/b"),
    ("stars", "**b/c", "x/b/c"),
    ("question marks", "?", "a"),
    ("question marks", "?", "ab"),
    ("question marks", "a?c", "a/c"),
    ("question marks", "??", "a"),
    ("question marks", "?", "\u00fc"),
    ("double stars", "**", "a"),
    ("double stars", "**", "a/b/c"),
    ("double stars", "**/a", "a"),
    ("double stars", "a/**", "a"),
    ("double stars", "a/**", "a/b/c"),
    ("double stars", "a/**/b", "a/b"),
    ("double stars", "a/**/b", "a/x/y/b"),
    ("double stars", "a/**/b", "a/x/y/bb"),
    ("double stars", "**/**", "a"),
    ("double stars", "**/*", "a"),
    ("double stars", "**/a/**/b", "a/x/a/y/b"),
    ("double stars", "**/b/*/b", "b/b/b/x/b"),
    ("dots", "*", ".a"),
    ("dots", "*.a", ".a"),
    ("dots", "?a", ".a"),
    ("dots", "[.]a", ".a"),
    ("dots", "[!b]a", ".a"),
    ("dots", ".*", ".a"),
    ("dots", "\\.*", ".a"),
    ("dots", "{.,x}a", ".a"),
    ("dots", "**", ".a"),
    ("dots", "**", "a/.b/c"),
    ("dots", "**/.b/**", "a/.b/c"),
    ("dots", "**/.b", "a/.c/.b"),
    ("dots", "*", "a.b"),
    ("dots", "**/a", "./a"),
    ("dots", "./**/a", "./a"),
    ("sets", "[abc]", "b"),
    ("sets", "[a-c]", "b"),
    ("sets", "[a-c]", "d"),
    ("sets", "[a-c]", "-"),
    ("sets", "[!a-c]", "d"),
    ("sets", "[!a-c]", "b"),
    ("sets", "[^a]", "^"),
    ("sets", "[^a]", "b"),
    ("sets", "[a!]", "!"),
    ("sets", "[]]", "]"),
    ("sets", "[!]]", "]"),
    ("sets", "[!]]", "a"),
    ("sets", "[]a]", "a"),
    ("sets", "[]-a]", "^"),
    ("sets", "[]-a]", "-"),
    ("sets", "[-a]", "-"),
    ("sets", "[a-]", "-"),
    ("sets", "[a-c-e]", "d"),
    ("sets", "[a-c-e]", "-"),
    ("sets", "[a-c-e]", "e"),
    ("sets", "[--a]", "A"),
    ("sets", "[c-a]", "b"),
    ("sets", "[c-a]", "c"),
    ("sets", "[!c-a]", "b"),
    ("sets", "[a", "[a"),
    ("sets", "[]", "[]"),
    ("sets", "[!]", "[!]"),
    ("sets", "[*", "[ab"),
    ("sets", "[[]", "["),
    ("sets", "[*]", "*"),
    ("sets", "[*]", "a"),
    ("sets", "[?]", "a"),
    ("sets", "[a/b]", "a"),
    ("sets", "[a/b]", "[a/b]"),
    ("sets", "a[b]c", "abc"),
    ("sets", "[A-z]", "_"),
    ("backslashes", "\\*", "*"),
    ("backslashes", "\\*", "a"),
    ("backslashes", "\\a", "a"),
    ("backslashes", "\\\\", "\\"),
    ("backslashes", "a\\", "a\\"),
    ("backslashes", "a\\/b", "a\\/b"),
    ("backslashes", "a\\/b", "a/b"),
    ("backslashes", "\\[a]", "[a]"),
    ("backslashes", "\\[a]", "a"),
    ("backslashes", "[\\]]", "]"),
    ("backslashes", "[a\\]b]", "]"),
    ("backslashes", "[a\\]", "[a]"),
    ("backslashes", "[a\\-c]", "b"),
    ("backslashes", "[a\\-c]", "-"),
    ("backslashes", "[\\a-c]", "b"),
    ("backslashes", "[a-\\c]", "b"),
    ("backslashes", "[!\\!]", "!"),
    ("backslashes", "[\\!a]", "!"),
    ("backslashes", "\\**", "*abc"),
    ("backslashes", "*\\*", "abc*"),
    ("braces", "{a,b}", "a"),
    ("braces", "{a,b}", "b"),
    ("braces", "{a,b}", "{a,b}"),
    ("braces", "a{,b}", "a"),
    ("braces", "a{,b}c", "abc"),
    ("braces", "{a,}", "a"),
    ("braces", "{a}", "{a}"),
    ("braces", "{a}", "a"),
    ("braces", "{}", "{}"),
    ("braces", "{,}a", "a"),
    ("braces", "{a,{b,c}}", "c"),
    ("braces", "{a,b{c,d}e}f", "bdef"),
    ("braces", "{a{b,c}}", "{ab}"),
    ("braces", "{a{b,c}}", "ab"),
    ("braces", "{a,{b}", "{a,{b}"),
    ("braces", "{a,{b}}", "{a,{b}}"),
    ("braces", "{a,{b}}", "a"),
    ("braces", "{{a,b},c}", "b"),
    ("braces", "{{a,b}", "{b"),
    ("braces", "{a,b}}", "a}"),
    ("braces", "}{a,b}{", "}b{"),
    ("braces", "{a,b}{c,d}", "bc"),
    ("braces", "{a/b,c}/d", "a/b/d"),
    ("braces", "{a/**,c}/d", "a/x/d"),
    ("braces", "{*,?}b", "xxb"),
    ("braces", "{*,x}*/b", "a/c/b"),
    ("braces", "\\{a,b}", "{a,b}"),
    ("braces", "\\{a,b}", "a"),
    ("braces", "{a,b\\}", "{a,b}"),
    ("braces", "{a\\,b}", "{a,b}"),
    ("braces", "{a\\,b,c}", "a,b"),
    ("braces", "{a\\\\,b}", "a\\"),
    ("braces", "{a,\\}}", "}"),
    ("braces", "[{a,b}]", "b"),
    ("braces", "[{a,b}]", ","),
    ("braces", "[{,}]", "[]"),
    ("braces", "{[a,b]}", "[a"),
    ("braces", "{[,a]}", "b]"),
    ("braces", "a,b", "a,b"),
    ("braces", "*.{js,ts{,x}}", "a.tsx"),
    ("braces", "*.{js,ts{,x}}", "a.ts"),
]

SLOW = [
    ("speed", "*a" * 60 + "b", "a" * 200),
    ("speed", "*a" * 60 + "b", "a" * 199 + "b"),
    ("speed", "*[ab]?" * 33, "ab" * 100),
    ("speed", "**/" * 60 + "b", "/".join("a" * 100)),
    ("speed", "**/" * 60 + "b", "/".join("a" * 99 + "b")),
    ("speed", "**/*a*/" * 28 + "b", "/".join(["aa"] * 66)),
    ("speed", "{*a,*b}" * 6 + "*c" * 60, "ab" * 100),
]


@graded
def grade(scratch_dir: Path) -> GradeResult:
    read_python(scratch_dir, ARTIFACT)
    cases = FIXED + _random_cases() + SLOW
    replies = call_many(ARTIFACT, FUNCTION, [[pattern, path] for _, pattern, path in cases], seconds=SECONDS)
    wrong = [
        (rule, reply)
        for (rule, pattern, path), reply in zip(cases, replies, strict=True)
        if reply.error or reply.value is not _matches(pattern, path)
    ]
    if not wrong:
        return GradeResult(True, 1.0, f"all {len(cases)} pairs right")
    return GradeResult(False, (len(cases) - len(wrong)) / len(cases), _describe(wrong, len(cases)))


def _describe(wrong: list, total: int) -> str:
    rules = sorted({rule for rule, _ in wrong})
    text = f"wrong on {len(wrong)} of {total} pairs ({', '.join(rules)})"
    errors = [reply.error for _, reply in wrong if reply.error]
    if errors:
        text += f"; {len(errors)} calls gave no answer, the first: {ascii(errors[0])[:200]}"
    return text


def _random_cases() -> list[tuple[str, str, str]]:
    seed = int(hashlib.sha256(INSTANCE_ID.encode()).hexdigest()[:16], 16)
    rng = random.Random(seed)
    cases = []
    for _ in range(RANDOM_PAIRS):
        components = ["".join(rng.choices("aaabbc.-]", k=rng.randint(1, 4))) for _ in range(rng.randint(1, 4))]
        pattern = "/".join(_loosen(rng, component) for component in components)
        if rng.random() < 0.4:
            pattern = pattern.replace(
                rng.choice("/ab"), rng.choice(["/**/", "**", "{a,b}", "{a,b/a,}", "{,a{b,c}}"]), 1
            )
        cases.append(("random pairs", pattern, "/".join(components)))
    return cases


def _loosen(rng: random.Random, component: str) -> str:
    if rng.random() < 0.12:
        return "**"
    return "".join(_loosen_char(rng, char) for char in component)


def _loosen_char(rng: random.Random, char: str) -> str:
    if rng.random() < 0.6:
        return char
    choices = ["*", "?", "\\" + char, f"[{char}]", f"[!{char}]", "[a-b]", "[b-]", "[]a-]", "[!c-a]", "*?", "**"]
    return rng.choice([*choices, f"{{{char},x}}", f"{{{char}}}", f"{{a,{{{char},b}}}}", "[", "\\", ""])


def _matches(pattern: str, path: str) -> bool:
    components = path.split("/")
    return any(_reach(plain.split("/"), components) for plain in _plain_patterns(pattern))


def _plain_patterns(pattern: str) -> list[str]:
    """Expand on tokens, so that an escaped character can never be taken for a brace or a comma."""
    tokens: list[str] = []
    for char in pattern:
        if tokens and tokens[-1] == "\\":
            tokens[-1] += char
        else:
            tokens.append(char)
    return ["".join(plain) for plain in _expand(tuple(tokens))]


@cache
def _expand(tokens: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    for end, token in enumerate(tokens):
        start = max((place for place in range(end) if tokens[place] in "{}"), default=-1)
        if token == "}" and start >= 0 and tokens[start] == "{" and "," in tokens[start:end]:
            commas = [place for place in range(start, end) if tokens[place] == ","]
            edges = list(zip([start, *commas], [*commas, end], strict=True))
            options = [tokens[left + 1 : right] for left, right in edges]
            outcomes = [_expand(tokens[:start] + option + tokens[end + 1 :]) for option in options]
            return tuple(sorted({plain for outcome in outcomes for plain in outcome}))
    return (tokens,)


def _reach(wanted: list[str], given: list[str]) -> bool:
    """Walk all places in the path that the pattern's components so far can end at."""
    places = {0}
    for component in wanted:
        if component == "**":
            for place in sorted(places):
                while place < len(given) and not given[place].startswith("."):
                    place += 1
                    places.add(place)
        else:
            places = {place + 1 for place in places if place < len(given) and _fits(component, given[place])}
    return len(given) in places


@cache
def _fits(component: str, text: str) -> bool:
    if text.startswith(".") and not component.startswith((".", "\\.")):
        return False
    places = {0}
    for kind, members in _atoms(component):
        if kind == "many":
            places = set(range(min(places, default=len(text) + 1), len(text) + 1))
        else:
            places = {place + 1 for place in places if place < len(text) and _holds(kind, members, text[place])}
    return len(text) in places


def _holds(kind: str, members: list[tuple[str, str]], char: str) -> bool:
    inside = any(low <= char <= high for low, high in members)
    return {"one": True, "in": inside, "out": not inside}[kind]


@cache
def _atoms(component: str) -> list[tuple[str, list[tuple[str, str]]]]:
    atoms: list[tuple[str, list[tuple[str, str]]]] = []
    rest = component
    while rest:
        if rest[0] == "[" and (found := _read_set(rest)):
            atom, length = found
        elif rest[0] == "\\" and len(rest) > 1:
            atom, length = ("in", [(rest[1], rest[1])]), 2
        else:
            atom, length = {"*": ("many", []), "?": ("one", [])}.get(rest[0], ("in", [(rest[0], rest[0])])), 1
        atoms.append(atom)
        rest = rest[length:]
    return atoms


def _read_set(text: str) -> tuple[tuple[str, list[tuple[str, str]]], int] | None:
    """Read the set that text opens with; give its atom and its length, or None where no bracket closes it."""
    kind, first = ("out", 2) if text.startswith("[!") else ("in", 1)
    members: list[tuple[str, str]] = []
    place = first
    while place < len(text):
        if text[place] == "]" and place > first:
            return (kind, members), place + 1
        low, place = _read_item(text, place)
        high = low
        if text[place : place + 1] == "-" and text[place + 1 : place + 2] not in ("", "]"):
            high, place = _read_item(text, place + 1)
        members.append((low, high))
    return None


def _read_item(text: str, place: int) -> tuple[str, int]:
    if text[place] == "\\" and place + 1 < len(text):
        return text[place + 1], place + 2
    return text[place], place + 1
