"""Type `llm_judge`: a judge reads the task and the answer, and ends with SCORE: a number from 0 to 10."""

from regrade.formats.suite.task import SuiteTask
from regrade.judge import JudgeError, messages, read_number
from regrade.scorers.suite.judging import Reply, ask, material
from regrade.scorers.suite.normalised import text_of
from regrade.scorers.suite.scored import Response, Score, Tools, partly

CRITERIA = "The answer does what the task asks for, is correct, and says no more than it has to."
MOST = 10
MAX_TOKENS = 512
TIMEOUT_S = 60


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """A tenth of the judge's number; one that cannot be read or is out of range is no verdict (judge_error)."""
    said = task.scoring.get("criteria") or CRITERIA
    criteria = "\n".join(map(text_of, said)) if isinstance(said, list) else text_of(said)
    asked = messages(material(task, response, criteria), f"SCORE: a number from 0 to {MOST}")
    reply = ask(tools.judge, asked, MAX_TOKENS, TIMEOUT_S)
    if not isinstance(reply, Reply):
        return reply
    try:
        number = read_number(reply.text, 0, MOST)
    except JudgeError as error:
        return reply.unreadable(error)
    return partly(number / MOST, f"the judge gave {number:g} of {MOST}", judge=reply.about)
