"""Type `logprob_choice`: the likeliest next token is the expected one."""

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite.normalised import expected, shown, text_of
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Trimmed and in upper case; the answer's text counts where the server sent no probabilities."""
    wanted = text_of(expected(task.scoring)).strip()
    picked = pick(response)
    if wanted and picked.strip().upper() == wanted.upper():
        return right(f"picked {shown(picked)}", picked=picked)
    return wrong(f"picked {shown(picked)}, expected {shown(wanted)}", picked=picked)


def pick(response: Response) -> str:
    """The candidate with the highest log-probability, blanks around it aside; the text without candidates."""
    best: dict[str, float] = {}
    for token, logprob in response.top_logprobs or []:
        word = token.strip()
        best[word] = max(logprob, best.get(word, float("-inf")))
    return max(best, key=lambda word: best[word]) if best else response.text
