"""An external agent that calls a server of its own: one small request to this machine, the answer into the workspace.

    model-call-agent.py --model-call-url http://127.0.0.1:PORT/PATH      Regrade appends the other words

Only ids are sent, and the log gets one line of safe fields: never the prompt, the answer, or the address.
"""

import argparse
import ipaddress
import json
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

ANSWER = "model-call-answer.txt"
TIMEOUT_S = 30
LONGEST_ANSWER = 1 << 20


def main() -> int:
    """0, or 1 if the server gave no answer, which the log says too."""
    given = arguments()
    context = json.loads(given.context.read_text(encoding="utf-8"))
    model = context["adapter"]["model"] or "none"
    began = time.monotonic()
    answer, error = ask(given.model_call_url, {"case": given.case, "repetition": given.repetition, "model": model})
    call = {
        "schema_version": 1,
        "sequence": 1,
        "model": model,
        "ok": not error,
        "duration_s": round(time.monotonic() - began, 6),
        "endpoint": "loopback",
    }
    if error:
        call["error"] = error
    with open(context["run"]["model_call_log_path"], "a", encoding="utf-8") as log:
        log.write(json.dumps(call) + "\n")
    if error:
        print(f"model-call-agent: {error}", file=sys.stderr)
        return 1
    (given.workspace / ANSWER).write_text(answer, encoding="utf-8")
    return 0


def arguments() -> argparse.Namespace:
    """Our own option, and the appended words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model-call-url", type=loopback_url, required=True)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--case", required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--repetition", type=int, required=True)
    parser.add_argument("--context", type=Path, required=True)
    return parser.parse_args()


def loopback_url(text: str) -> str:
    """The address, if it is plain HTTP on this machine without credentials or a query."""
    parts = urlsplit(text)
    host = parts.hostname or ""
    if parts.scheme != "http" or not (host == "localhost" or is_loopback(host)):
        raise argparse.ArgumentTypeError("expected http:// and a loopback host such as 127.0.0.1")
    if "@" in parts.netloc or "?" in text or "#" in text:
        raise argparse.ArgumentTypeError("expected an address without credentials, query or fragment")
    return text


def is_loopback(host: str) -> bool:
    """Whether a host is written as an address of this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def ask(url: str, question: dict) -> tuple[str, str]:
    """The `content` of the server's JSON answer and no error, or no answer and a short error."""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(question).encode(), headers)  # noqa: S310 (checked: loopback http)
    # A proxy or a redirect would carry the request to another machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)
    try:
        with opener.open(request, timeout=TIMEOUT_S) as reply:
            content = json.loads(reply.read(LONGEST_ANSWER))["content"]
    except urllib.error.HTTPError as error:
        return "", f"HTTP {error.code}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return "", type(error).__name__
    return (content, "") if isinstance(content, str) else ("", "the answer's content is no text")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing."""

    def redirect_request(self, *_: object) -> None:
        """No further request."""


if __name__ == "__main__":
    sys.exit(main())
