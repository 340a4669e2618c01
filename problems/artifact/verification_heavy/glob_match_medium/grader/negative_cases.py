"""Matchers that get one rule wrong, and must be told so."""

from swebench.artifact_negative import NegativeCase, default_negative_cases


def _swap(old: str, new: str):
    def mutate(text: str) -> str:
        return text.replace(old, new)

    return mutate


NEGATIVE_CASES = [
    *default_negative_cases(),
    NegativeCase(
        name="stars_match_dots", mutate=_swap('if text.startswith(".")', 'if text == ""'), expected_substring="dots"
    ),
    NegativeCase(name="sets_never_negated", mutate=_swap(") != negated)", "))"), expected_substring="sets"),
    NegativeCase(name="braces_kept", mutate=_swap("if group is None:", "if True:"), expected_substring="braces"),
    NegativeCase(
        name="escaped_dash_is_a_range",
        mutate=_swap('items[0] == ("-", False)', 'items[0][0] == "-"'),
        expected_substring="backslashes",
    ),
    NegativeCase(
        name="answers_are_numbers",
        mutate=_swap("return any(_match", "return +any(_match"),
        expected_substring="wrong on",
    ),
    NegativeCase(
        name="always_true",
        mutate=lambda text: "def glob_match(pattern, path):\n    return True\n",
        expected_substring="wrong on",
    ),
    NegativeCase(
        name="other_name", mutate=_swap("def glob_match(", "def match_glob("), expected_substring="gave no answer"
    ),
    NegativeCase(
        name="ends_the_process", mutate=lambda text: text + "\nraise SystemExit\n", expected_substring="gave no answer"
    ),
]
