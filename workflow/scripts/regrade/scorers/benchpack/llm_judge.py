"""Mode `llm-judge`: a model reads the prompt and the answer and says PASS or FAIL.

criteria    what the answer is held against (a default stands below)
expected    a reference answer, optional
judge       who judges, by the name in the models file; else the configuration's judge
"""

from typing import Any

from regrade.judge import Judge, JudgeError, messages, read_choice
from regrade.scorers.benchpack.scored import NoJudgeFault, Scored, wanted_text, with_error

MODE = "llm-judge"
CRITERIA = "The answer does what the task asks for, and what it says is correct."
GRADES = ("PASS", "FAIL")


def score(scoring: dict[str, Any], output: str, prompt: str, judge: Judge | None) -> Scored:
    """Raises ScoringFault for a faulty table, or without a judge. A verdict that cannot be read is a `judge_error`."""
    criteria = wanted_text({"criteria": CRITERIA, **scoring}, "criteria")
    material = {"task": prompt, "criteria": criteria}
    if "expected" in scoring:
        material["reference answer"] = wanted_text(scoring, "expected")
    if judge is None:
        raise NoJudgeFault(f"scoring mode {MODE!r} needs a judge, and none is configured")
    try:
        reply = judge.ask(messages({**material, "answer": output}, f"GRADE: {GRADES[0]} or GRADE: {GRADES[1]}"))
        passed = read_choice(reply, GRADES) == GRADES[0]
    except JudgeError as error:
        scored = with_error(MODE, None, "judge_error", str(error))
    else:
        scored = Scored({"mode": MODE, "passed": passed}, "" if passed else "wrong_answer", reply.strip())
    return Scored({**scored.row, "judge": judge.about}, scored.reason, scored.detail)
