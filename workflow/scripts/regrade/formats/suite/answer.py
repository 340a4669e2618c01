"""From a row of answers to what scorers are given."""

from typing import Any

from regrade.scorers.suite.scored import Response
from regrade.scorers.suite.thinking import split_thinking


def response_of(row: dict[str, Any], thinking: str) -> Response:
    """The answer in a row of the `ask` stage. `thinking` is `tags` where the model marks thoughts by tags, else none.

    Thoughts are taken off once, here; a row whose call failed has only its error.
    """
    if row["status"] != "ok":
        return Response("", error=row["message"] or row["reason"])
    if "reply" not in row:
        return Response(row["text"])
    from regrade.models import protocols

    answer = protocols.of(row["adapter"]).answer_of(row["reply"])
    visible, thought = split_thinking(answer.text) if thinking == "tags" else (answer.text.strip(), "")
    return Response(
        visible,
        "\n".join(part for part in (answer.reasoning, thought) if part),
        truncated=(answer.finish_reason or "").lower() in ("length", "max_tokens"),
        declined=bool(answer.refusal) or answer.finish_reason == "content_filter",
        top_logprobs=answer.top_logprobs,
    )
