"""The page results/checks/<set>.md."""

from collections import Counter
from collections.abc import Iterable

from regrade.gates import Finding, shown

POSITIVE = ("PASS", "FAIL", "ERROR")
NEGATIVE = ("PASS", "MISS", "WEAK_MISS", "WRONG_REASON", "EXPECTED_MISS", "ERROR")
LINTS = ("PASS", "LEAK", "MISSING_DECLARATION", "MISSING_FILE", "ERROR")


def page(title: str, accepted: list[Finding], rejected: list[Finding], linted: list[Finding]) -> str:
    """A Markdown page with a section for each gate."""
    bad = sum(finding.is_bad for finding in (*accepted, *rejected, *linted))
    verdict = "Every grader holds." if not bad else f"**{bad} findings need work.**"
    return "\n".join(
        [
            f"# Graders of {title}",
            "",
            verdict,
            "",
            "## References are accepted",
            "",
            "Each reference is graded twice, the second time with another hash seed, clock and time zone.",
            "",
            *_table(accepted, POSITIVE, with_case=False),
            "",
            "## Wrong artifacts are rejected",
            "",
            *_table(_summed(rejected), NEGATIVE, with_case=True, counted=rejected),
            "",
            "## Details tell no answer, verifiers are declared",
            "",
            *_table(linted, LINTS, with_case=False),
            "",
        ]
    )


def counts(findings: Iterable[Finding], statuses: tuple[str, ...]) -> str:
    """`3 PASS, 0 FAIL, ...`, every status named."""
    number = Counter(finding.status for finding in findings)
    return ", ".join(f"{number[status]} {status}" for status in statuses)


def _summed(findings: list[Finding]) -> list[Finding]:
    """All that is not PASS by itself, and one row for each task with the number of cases that passed."""
    passed = Counter(finding.instance_id for finding in findings if finding.status == "PASS")
    rows = [Finding(task, "PASS", f"{number} wrong artifacts rejected", case="") for task, number in passed.items()]
    rows += [finding for finding in findings if finding.status != "PASS"]
    return sorted(rows, key=lambda finding: (finding.instance_id, finding.case))


def _table(
    findings: list[Finding], statuses: tuple[str, ...], with_case: bool, counted: list[Finding] | None = None
) -> list[str]:
    lines = [f"{counts(findings if counted is None else counted, statuses)}.", ""]
    names = ["task", *(["case"] if with_case else []), "status", "detail"]
    lines += [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    for finding in findings:
        detail = "; ".join([shown(finding.detail), *(f"warning: {warning}" for warning in finding.warnings)])
        cells = [finding.instance_id, *([finding.case] if with_case else []), finding.status, detail]
        lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return lines


def _cell(text: str) -> str:
    """Text that Markdown shows as it is."""
    escaped = "".join(f"\\{letter}" if letter in "|`*<>[]\\" else letter for letter in text)
    return escaped.replace("_", "\\_") if text.startswith("_") or " _" in text else escaped
