"""Other harnesses doing the same work, as far as their commands are on PATH."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Run = Callable[..., Any]

_PROMPT = "This is task {number}: answer with its number alone."

INSPECT = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import exact
from inspect_ai.solver import generate

@task
def numbers():
    samples = [
        Sample(id=n, input=f"This is task {{n}}: answer with its number alone.", target=str(n)) for n in range({tasks})
    ]
    return Task(dataset=samples, solver=generate(), scorer=exact())
"""

LM_EVAL = """
task: numbers
dataset_path: json
dataset_kwargs:
  data_files: {data}
test_split: train
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: [], max_gen_toks: 64}}
metric_list: [{{metric: exact_match}}]
"""


@dataclass(frozen=True)
class Peer:
    """A harness: its command, and what writes its files and gives the words and the environment to run."""

    name: str
    command: str
    prepare: Callable[[Path, int, int, int], tuple[list[str], dict[str, str]]]

    def is_here(self) -> bool:
        """Whether it can be run."""
        return shutil.which(self.command) is not None

    def run(self, folder: Path, port: int, tasks: int, in_flight: int, cost_of: Run) -> Any:
        """Its cost for the same tasks, in a folder of its own."""
        place = folder / self.command
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        words, environment = self.prepare(place, port, tasks, in_flight)
        cost = cost_of(words, place, port, environment)
        if cost.requests < tasks:
            raise SystemExit(f"{words} ended well, but asked {cost.requests} of {tasks} times: see {place}")
        return cost


def _inspect(place: Path, port: int, tasks: int, in_flight: int) -> tuple[list[str], dict[str, str]]:
    (place / "numbers.py").write_text(INSPECT.format(tasks=tasks))
    words = ["inspect", "eval", "numbers.py", "--model", "openai/m", "-M", "responses_api=false"]
    words += ["--max-connections", str(in_flight)]
    words += ["--max-samples", str(in_flight), "--display", "none", "--temperature", "0", "--max-tokens", "64"]
    return words, {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}


def _lm_eval(place: Path, port: int, tasks: int, in_flight: int) -> tuple[list[str], dict[str, str]]:
    rows = [{"prompt": _PROMPT.format(number=number), "answer": str(number)} for number in range(tasks)]
    (place / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (place / "numbers.yaml").write_text(LM_EVAL.format(data=place / "rows.jsonl"))
    model = f"model=m,base_url=http://127.0.0.1:{port}/v1/chat/completions,num_concurrent={in_flight},max_retries=1"
    words = ["lm_eval", "--model", "local-chat-completions", "--model_args", model, "--tasks", "numbers"]
    words += ["--include_path", ".", "--apply_chat_template", "--output_path", "out", "--log_samples"]
    return words, {"OPENAI_API_KEY": "none", "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(place / "cache")}


def _promptfoo(place: Path, port: int, tasks: int, in_flight: int) -> tuple[list[str], dict[str, str]]:
    config = {"apiBaseUrl": f"http://127.0.0.1:{port}/v1", "apiKey": "none", "temperature": 0, "max_tokens": 64}
    tests = [
        {"vars": {"number": number}, "assert": [{"type": "equals", "value": str(number)}]} for number in range(tasks)
    ]
    suite = {
        "prompts": ["This is task {{number}}: answer with its number alone."],
        "providers": [{"id": "openai:chat:m", "config": config}],
        "tests": tests,
    }
    (place / "promptfooconfig.json").write_text(json.dumps(suite))
    words = ["promptfoo", "eval", "-c", "promptfooconfig.json", "-j", str(in_flight), "--no-progress-bar", "--no-table"]
    environment = {"PROMPTFOO_CONFIG_DIR": str(place / "state"), "PROMPTFOO_DISABLE_TELEMETRY": "1"}
    return words, {**environment, "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CACHE_ENABLED": "false"}


PEERS = (
    Peer("Inspect AI", "inspect", _inspect),
    Peer("lm-evaluation-harness", "lm_eval", _lm_eval),
    Peer("promptfoo", "promptfoo", _promptfoo),
)
