"""Stock files that get one thing wrong, and must be told so."""

from swebench.artifact_negative import NegativeCase, default_negative_cases


def _rows_reversed(text: str) -> str:
    header, *rows = text.splitlines()
    return "\n".join([header, *reversed(rows)]) + "\n"


def _last_cell_raised(text: str) -> str:
    head, _, cell = text.rstrip("\n").rpartition(",")
    return f"{head},{int(cell) + 1}\n"


def _on_hand_raised(text: str) -> str:
    head, row = text.rstrip("\n").rsplit("\n", 1)
    sku, on_hand, refused = row.split(",")
    return f"{head}\n{sku},{int(on_hand) + 1},{refused}\n"


NEGATIVE_CASES = [
    *default_negative_cases(),
    NegativeCase(name="rows_reversed", mutate=_rows_reversed, expected_substring="order"),
    NegativeCase(
        name="last_row_lost",
        mutate=lambda text: text.rstrip("\n").rpartition("\n")[0] + "\n",
        expected_substring="one for each sku",
    ),
    NegativeCase(name="one_refused_more", mutate=_last_cell_raised, expected_substring="refused wrong for 1"),
    NegativeCase(name="one_on_hand_more", mutate=_on_hand_raised, expected_substring="on_hand wrong for 1"),
    NegativeCase(name="decimals", mutate=lambda text: text.rstrip("\n") + ".0\n", expected_substring="whole numbers"),
    NegativeCase(
        name="columns_swapped",
        mutate=lambda text: text.replace("on_hand,refused", "refused,on_hand"),
        expected_substring="header",
    ),
]
