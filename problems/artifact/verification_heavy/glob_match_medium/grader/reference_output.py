"""A known-good matcher: a greedy walk with one point to fall back to, for characters and again for components."""

from itertools import pairwise


def glob_match(pattern: str, path: str) -> bool:
    components = path.split("/")
    return any(_match_components(plain.split("/"), components) for plain in _expand(pattern))


def _expand(pattern: str) -> set[str]:
    plain: set[str] = set()
    seen = {pattern}
    waiting = [pattern]
    while waiting:
        text = waiting.pop()
        group = _find_group(text)
        if group is None:
            plain.add(text)
            continue
        start, end, commas = group
        edges = [start, *commas, end]
        for left, right in pairwise(edges):
            outcome = text[:start] + text[left + 1 : right] + text[end + 1 :]
            if outcome not in seen:
                seen.add(outcome)
                waiting.append(outcome)
    return plain


def _find_group(text: str) -> tuple[int, int, list[int]] | None:
    start, commas = None, []
    escaped = False
    for place, char in enumerate(text):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == "{":
            start, commas = place, []
        elif char == "," and start is not None:
            commas.append(place)
        elif char == "}":
            if start is not None and commas:
                return start, place, commas
            start = None
    return None


def _match_components(wanted: list[str], given: list[str]) -> bool:
    parsed = [None if component == "**" else _parse(component) for component in wanted]
    here = there = 0
    back = None
    while there < len(given):
        if here < len(parsed) and parsed[here] is None:
            back = (here, there)
            here += 1
        elif here < len(parsed) and _match_component(wanted[here], parsed[here], given[there]):
            here += 1
            there += 1
        elif back is not None and not given[back[1]].startswith("."):
            back = (back[0], back[1] + 1)
            here, there = back[0] + 1, back[1]
        else:
            return False
    return all(component is None for component in parsed[here:])


def _match_component(pattern: str, tokens: list, text: str) -> bool:
    if text.startswith(".") and not pattern.startswith((".", "\\.")):
        return False
    here = there = 0
    back = None
    while there < len(text):
        if here < len(tokens) and tokens[here] == "*":
            back = (here, there)
            here += 1
        elif here < len(tokens) and tokens[here](text[there]):
            here += 1
            there += 1
        elif back is not None:
            back = (back[0], back[1] + 1)
            here, there = back[0] + 1, back[1]
        else:
            return False
    return all(token == "*" for token in tokens[here:])


def _parse(component: str) -> list:
    tokens: list = []
    place = 0
    while place < len(component):
        char = component[place]
        found = _parse_set(component, place) if char == "[" else None
        if found is not None:
            test, place = found
            tokens.append(test)
        elif char == "\\" and place + 1 < len(component):
            tokens.append(component[place + 1].__eq__)
            place += 2
        else:
            tokens.append("*" if char == "*" else (lambda _: True) if char == "?" else char.__eq__)
            place += 1
    return tokens


def _parse_set(component: str, opening: int):
    place = opening + 1
    negated = component[place : place + 1] == "!"
    place += negated
    items: list[tuple[str, bool]] = []
    while place < len(component) and (component[place] != "]" or not items):
        escaped = component[place] == "\\" and place + 1 < len(component)
        place += escaped
        items.append((component[place], escaped))
        place += 1
    if place >= len(component):
        return None
    ranges = []
    while items:
        low = high = items.pop(0)[0]
        if len(items) >= 2 and items[0] == ("-", False):
            high = items[1][0]
            del items[:2]
        ranges.append((low, high))
    return (lambda char: any(low <= char <= high for low, high in ranges) != negated), place + 1
