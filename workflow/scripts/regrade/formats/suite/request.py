"""What a model is asked for a task, and with which parameters."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from regrade.formats.suite import pictures
from regrade.formats.suite.task import SuiteTask
from regrade.models import openai_responses, protocols
from regrade.models.entries import NOT_FOR_REQUEST
from regrade.models.parameters import is_in, merge

FIELDS = (
    *("temperature", "max_tokens", "top_p", "top_k", "repetition_penalty"),
    *("thinking", "reasoning_effort", "reasoning_summary", "text_verbosity"),
)
"""Fields of a task that are parameters, each under the word that protocols know it by."""

_RAW = "openai-chat"
"""The protocol whose bodies `extra_body` is for."""

_ONE_TOKEN = {"max_tokens": 1, "logprobs": True, "top_logprobs": 5, "stream": False}


def messages(task: SuiteTask) -> list[dict[str, Any]]:
    """The conversation that asks a task, in the form of chat completions: system, examples, prompt with pictures.

    Pictures from files are sent as data, those on the web as their address. Raises InputsError for a bad file.
    """
    said: list[dict[str, Any]] = []
    if task.fields.get("system"):
        said.append({"role": "system", "content": task.fields["system"]})
    for example in task.fields.get("few_shot") or ():
        said += [{"role": role, "content": example[role]} for role in ("user", "assistant")]
    shown = [*_words(task.fields.get("image_url")), *(pictures.data_url(Path(path)) for path in task.images)]
    content: Any = task.prompt
    if shown:
        parts = [{"type": "image_url", "image_url": {"url": address}} for address in shown]
        content = [{"type": "text", "text": task.prompt}, *parts]
    return [*said, {"role": "user", "content": content}]


def _words(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def parameters(task: SuiteTask, adapter: str) -> dict[str, Any]:
    """The parameters that a task sets, as far as an adapter's protocol has them; `unsent` tells the others."""
    known = protocols.of(adapter).WORDS
    fields = task.fields
    chosen = {name: fields[name] for name in FIELDS if name in known and fields.get(name) is not None}
    if adapter == "openai-responses" and fields.get("max_output_tokens") is not None:
        chosen["max_tokens"] = fields["max_output_tokens"]
    if adapter == _RAW:
        extra = {key: value for key, value in (fields.get("extra_body") or {}).items() if key not in NOT_FOR_REQUEST}
        chosen = {**merge(chosen, extra), **_silenced(extra, adapter)}
    if asks_one_token(task):
        chosen |= _ONE_TOKEN
        if adapter == "openai-responses":
            chosen["max_tokens"] = openai_responses.FEWEST_TOKENS
    return chosen


def _silenced(extra: Mapping[str, Any], adapter: str) -> dict[str, None]:
    """None for each word whose other name is in the extra body, so that an entry's word does not win over it."""
    protocol = protocols.of(adapter)
    others = [*protocol.WORDS.items(), *protocol.RENAMED.items()]
    return {word: None for word, place in others if word != place and word not in extra and is_in(extra, place)}


def asks_one_token(task: SuiteTask) -> bool:
    """Whether only the first token of an answer counts, with what else it might have been."""
    kinds = [task.scoring_type] if task.scoring_type != "pass_at_k" else [task.scoring.get("inner_type")]
    return "logprob_choice" in kinds


def unsent(task: SuiteTask, adapter: str) -> list[str]:
    """A warning for each parameter of a task that an adapter's protocol does not have."""
    return [f"{name} of the task was not sent: {adapter} has no such parameter" for name in _unsent(task, adapter)]


def _unsent(task: SuiteTask, adapter: str) -> Iterator[str]:
    known = protocols.of(adapter).WORDS
    for name in FIELDS:
        # `thinking: false` asks for nothing, and `max_output_tokens` is only meant for one protocol.
        if task.fields.get(name) not in (None, False) and name not in known:
            yield name
    for key in task.fields.get("extra_body") or ():
        if adapter != _RAW or key in NOT_FOR_REQUEST:
            yield f"extra_body.{key}"


def merged(model_request: Mapping[str, Any], of_task: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a request: the arm's overrides over the task's own over the model's, objects key by key."""
    return merge(merge(model_request, of_task), override)
