"""Compilers of allow lists that get one rule wrong, and must be told so."""

from swebench.artifact_negative import NegativeCase, default_negative_cases

FAMILY_CHECK = '    if family != end_family:\n        raise FaultError("family")\n'
ORDER_CHECK = '    if last < first:\n        raise FaultError("order")\n'


def _swap(old: str, new: str):
    def mutate(text: str) -> str:
        return text.replace(old, new)

    return mutate


NEGATIVE_CASES = [
    *default_negative_cases(),
    NegativeCase(
        name="mapped_stay_ipv6",
        mutate=_swap('if family == "IPv6" and first', "if not family and first"),
        expected_substring="mapped addresses",
    ),
    NegativeCase(
        name="partly_mapped_moved",
        mutate=_swap("first >> 32 == last >> 32 == MAPPED", "last >> 32 == MAPPED"),
        expected_substring="mapped addresses",
    ),
    NegativeCase(
        name="host_bits_dropped", mutate=_swap("if first % size:", "if not size:"), expected_substring="blocks"
    ),
    NegativeCase(
        name="order_before_family",
        mutate=_swap(FAMILY_CHECK + ORDER_CHECK, ORDER_CHECK + FAMILY_CHECK),
        expected_substring="ranges",
    ),
    NegativeCase(
        name="one_zero_part_shortened", mutate=_swap("range(8, 1, -1)", "range(8, 0, -1)"), expected_substring="writing"
    ),
    NegativeCase(
        name="count_is_a_number", mutate=_swap("str(_count(result))", "_count(result)"), expected_substring="wrong on"
    ),
    NegativeCase(name="lines_from_zero", mutate=_swap("start=1", "start=0"), expected_substring="wrong on"),
    NegativeCase(
        name="other_digits",
        mutate=_swap('"0|[1-9][0-9]{0,5}"', '"0|[1-9]\\d{0,5}|\\d"'),
        expected_substring="addresses",
    ),
    NegativeCase(
        name="broken_group_kept",
        mutate=_swap("                    group = _apply", "                    groups[name] = group = _apply"),
        expected_substring="groups",
    ),
]
