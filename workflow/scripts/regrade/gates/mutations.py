"""The default wrong artifacts, applied here: their code is ours, and the text they work on is only text."""

from pathlib import Path

from regrade.graders.cases import Case
from regrade.graders.on_path.swebench import artifact_negative as standard

NAN = "nan_numbers"


def default_cases(reference: str) -> list[Case]:
    """The six, for a task that ships no cases of its own."""
    return [
        Case(case.name, case.mutate(reference), case.expected_substring, own=False)
        for case in standard.default_negative_cases()
    ]


def nan_case(reference: str) -> list[Case]:
    """Every number as NaN; no case at all for a text without numbers."""
    text = standard._mutate_nan_numbers(reference)
    return [Case(NAN, text, own=False)] if text != reference else []


def read_text(reference: Path) -> str:
    """A reference as mutations see it, line ends unified. Raises UnicodeDecodeError, OSError."""
    return reference.read_text(encoding="utf-8")
