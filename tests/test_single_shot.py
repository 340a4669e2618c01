"""One answer of a model becomes files, a hint and a record."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer
from regrade import prompts
from trial_support import Bench

SINGLE_SHOT = {"harness": "single-shot"}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


def asked(folder: Path, server: ChatServer, answer: dict[str, Any], **settings: Any) -> Bench:
    server.script([answer])
    return Bench(folder, server, SINGLE_SHOT | settings.pop("arm", {}), **settings)


def test_an_answer_is_written_graded_and_recorded(tmp_path: Path, server: ChatServer) -> None:
    """A named block becomes the artifact, byte for byte, and the record holds what it took."""
    bench = asked(tmp_path, server, {"text": "Here you are.\n```output/answer.txt\n42\n```", "delay_s": 0.1})
    record = bench.run()
    assert b"42\n" == (bench.workspace / "output/answer.txt").read_bytes()
    assert ("passed", None, 1.0, 1, False) == tuple(
        record[name] for name in ("status", "reason", "score", "turns", "cached")
    )
    assert {"prompt": 10, "output": 2, "cached_prompt": None, "reasoning": None} == record["tokens"]
    assert 0 < record["timing"]["ttft_s"] <= record["timing"]["wall_s"] + 1e-4
    assert 2 / record["timing"]["wall_s"] == pytest.approx(record["timing"]["total_tps"], rel=0.01)


def test_a_model_of_another_protocol_is_not_asked(tmp_path: Path, server: ChatServer) -> None:
    """An Ollama address holds no conversations: not_applicable, and not tried again."""
    bench = asked(tmp_path, server, {"text": "42"}, model={"adapter": "ollama-generate"})
    record = bench.run()
    assert ("not_run", "not_applicable") == (record["status"], record["reason"])
    assert "its adapter is ollama-generate" in record["message"]
    assert 0 == server.count


def test_the_prompt_names_places_inside_and_holds_the_task_s_prompt_verbatim(
    tmp_path: Path, server: ChatServer
) -> None:
    """Two lines, a blank one, every byte of prompt.md, then the inputs; no path of this machine anywhere."""
    bench = asked(tmp_path, server, {"text": "42"})
    prompt = "  Write 42.\r\nTwo  blanks,\ttab, é, no ``` closing:\n```\n\n\n"
    (bench.task / "prompt.md").write_bytes(prompt.encode())
    bench.act()
    body = server.requests[0]["body"]
    assert ["system", "user"] == [message["role"] for message in body["messages"]]
    head = f"Input directory: /workspace\nOutput artifact: /workspace/output/answer.txt\n\n{prompt}\n"
    text = body["messages"][1]["content"]
    assert text.startswith(head)
    assert "Files (beginnings):\ninput.txt (15 bytes)\n--- input.txt\ninput of alpha\n" in text
    assert str(tmp_path) not in json.dumps(body)


def test_two_machines_ask_the_same(tmp_path: Path, server: ChatServer) -> None:
    """Two folders make the same request, so one answer in the store serves both."""
    outcomes = [asked(tmp_path / name, server, {"text": "42"}).act() for name in ("here", "elsewhere/with a blank")]
    assert 1 == len({outcome["digests"]["request"] for outcome in outcomes})
    assert server.requests[0]["body"] == server.requests[1]["body"]


@pytest.mark.parametrize(
    ("answer", "reason", "message"),
    [
        ({"text": ""}, "no_response", "the answer has no text (finish_reason 'stop')"),
        ({"text": " \n\t\n"}, "no_response", "the answer has no text (finish_reason 'stop')"),
        ({"text": "", "reasoning": "so 42"}, "no_response", "the answer has no text, only reasoning"),
        ({"text": "", "reasoning": "hm", "finish_reason": "length"}, "truncated", "2 tokens, all of them reasoning"),
        ({"text": "```output/answer.txt\n4", "finish_reason": "length"}, "truncated", "token limit after 2 tokens"),
        ({"text": "I", "finish_reason": "content_filter"}, "refusal", "the provider's filter ended the answer"),
        ({"text": "41"}, "wrong_answer", None),
        ({"text": "```other.txt\n42\n```"}, "missing_artifact", None),
    ],
)
def test_why_a_trial_failed_reaches_its_record(
    tmp_path: Path, server: ChatServer, answer: dict[str, Any], reason: str, message: str | None
) -> None:
    """Nothing, refusal, a cut answer and a wrong one are told apart in the final record."""
    record = asked(tmp_path, server, answer).run()
    assert ("failed", reason) == (record["status"], record["reason"])
    assert message is None or message in record["message"]


def test_a_spoken_refusal_is_kept_in_its_words(tmp_path: Path, server: ChatServer) -> None:
    """The refusal field of a whole reply is the reason and the message."""
    message = {"role": "assistant", "content": None, "refusal": "I will not count."}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    record = asked(tmp_path, server, {"body": body}).run()
    assert ("refusal", "I will not count.") == (record["reason"], record["message"])


def test_a_cut_answer_that_is_right_passes(tmp_path: Path, server: ChatServer) -> None:
    """A hint explains a failure and spoils no pass."""
    answer = {"text": "```output/answer.txt\n42\n```\nLet me explain", "finish_reason": "length"}
    record = asked(tmp_path, server, answer).run()
    assert ("passed", None, "length") == (record["status"], record["reason"], record["finish_reason"])
    assert "truncated" in record["message"]


@pytest.mark.parametrize("name", ["/etc/passwd.txt", "../evil.txt", "output/../../evil.txt", "x" * 300 + ".txt"])
def test_a_name_that_leads_out_is_a_warning(tmp_path: Path, server: ChatServer, name: str) -> None:
    """It is not written, not even nearby, and the rest of the answer is."""
    bench = asked(tmp_path, server, {"text": f"```{name}\nevil\n```\n```output/answer.txt\n42\n```"})
    record = bench.run()
    assert "passed" == record["status"]
    assert [True] == [name in warning for warning in record["warnings"]]
    assert ["input.txt", "output", "output/answer.txt"] == sorted(
        path.relative_to(bench.workspace).as_posix() for path in bench.workspace.rglob("*")
    )
    assert not list(tmp_path.rglob("*evil*"))


def test_a_name_that_runs_into_a_file_or_a_folder_is_a_warning(tmp_path: Path, server: ChatServer) -> None:
    """A file where the workspace has a folder, and a file below a file."""
    text = "```data.d\nx\n```\n```input.txt/more.txt\nx\n```\n```output/answer.txt\n42\n```"
    bench = asked(tmp_path, server, {"text": text})
    (bench.task / "workspace/data.d").mkdir()
    (bench.task / "workspace/data.d/one.txt").write_text("1\n")
    record = bench.run()
    assert ["'data.d': is a folder", "'input.txt/more.txt': 'input.txt' is not a folder"] == [
        warning.removeprefix("answer: ") for warning in record["warnings"]
    ]
    assert "passed" == record["status"]


def test_a_rewritten_input_leaves_the_pristine_one_alone(tmp_path: Path, server: ChatServer) -> None:
    """The workspace has the new text, the pristine file its bytes, its mode and its place in other trials."""
    bench = asked(tmp_path, server, {"text": "```input.txt\nnew\n```\n```output/answer.txt\n42\n```"}, repetitions=2)
    bench.act(1)
    server.script([{"text": "42"}])
    bench.act(2)
    assert "new\n" == (bench.paths(1).workspace / "input.txt").read_text()
    assert "input of alpha\n" == (bench.pristine / "input.txt").read_text()
    assert 0o444 == (bench.pristine / "input.txt").stat().st_mode & 0o777
    assert (bench.pristine / "input.txt").samefile(bench.paths(2).workspace / "input.txt")


def test_the_raw_files_hold_what_was_sent_and_what_came(tmp_path: Path, server: ChatServer) -> None:
    """raw/alpha.request.json is the body that the server saw, response.json the answer; a hit says so."""
    answer = {"text": "```output/answer.txt\n42\n```", "reasoning": "six times seven"}
    bench = asked(tmp_path, server, answer, model={"request": {"temperature": 0.5, "max_tokens": 99}})
    for cached in (False, True):
        bench.act()
        raw = bench.paths().run / "raw"
        assert server.requests[0]["body"] == json.loads((raw / "alpha.request.json").read_text())
        response = json.loads((raw / "alpha.response.json").read_text())
        assert (answer["text"], answer["reasoning"], cached) == tuple(
            response[name] for name in ("text", "reasoning", "cached")
        )
    assert 1 == server.count


def test_an_enforced_wall_budget_fails_a_slow_answer(tmp_path: Path, server: ChatServer) -> None:
    """The task's budget, if enforced, outweighs a right artifact; both facts are in the record."""
    budget = {"execution_budget": {"max_code_runs": 0, "max_wall_seconds": 1}}
    bench = asked(tmp_path, server, {"text": "42", "delay_s": 1.1}, enforce_budgets=True)
    bench.project.add_task("alpha", **budget)
    record = bench.run()
    assert ("failed", "budget_exceeded") == (record["status"], record["reason"])
    assert "max_wall_seconds = 1 s: ended after " in record["message"]
    assert "graded passed, score 1" in record["detail"]
    bench.project.config["enforce_budgets"] = False
    bench.project.write_config()
    record = bench.run()
    assert ("passed", {"max_code_runs": 0, "max_wall_seconds": 1, "enforced": False}) == (
        record["status"], record["limits"]
    )  # fmt: skip


def test_waiting_for_the_provider_is_not_working_time(tmp_path: Path, server: ChatServer) -> None:
    """Two seconds of Retry-After are in nobody's wall time."""
    server.script([{"status": 429, "headers": {"Retry-After": "2"}, "body": {}}, {"text": "42"}])
    bench = Bench(tmp_path, server, SINGLE_SHOT, model={"max_retries": 2})
    record = bench.run()
    assert "passed" == record["status"]
    assert record["timing"]["wall_s"] < 1.9


class TestExcerpt:
    """What the model sees of the inputs."""

    def fill(self, folder: Path, contents: dict[str, bytes]) -> Path:
        for name, content in contents.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder

    @pytest.mark.parametrize("budget", [0, 1, 7, 20, 21, 40, 41, 100, 239, 1000, 8000])
    def test_it_keeps_to_its_budget(self, tmp_path: Path, budget: int) -> None:
        """However small, and whatever lies there."""
        contents = {f"deep/er/file{number}.txt": b"text " * number for number in range(60)}
        contents |= {"empty": b"", "picture.png": bytes(range(256)), "latin.txt": "caf\xe9 ".encode("latin-1") * 99}
        assert len(prompts.excerpt(self.fill(tmp_path, contents), budget)) <= budget

    def test_a_small_budget_shows_the_names(self, tmp_path: Path) -> None:
        """Where sizes and beginnings have no room, the names still do."""
        contents = {"events.jsonl": b"{}\n" * 99, "rules.md": b"Rules.\n"}
        assert "events.jsonl, rules.md\n" == prompts.excerpt(self.fill(tmp_path, contents), 30)

    def test_a_budget_that_holds_all_shows_all(self, tmp_path: Path) -> None:
        """Names, sizes, and text files whole; binary, empty and hidden ones are not shown."""
        contents = {
            "b.txt": b"two\r\nlines\n",
            "a/x.csv": "é,1\n".encode(),
            "blob": b"\0\1",
            "empty": b"",
            ".mark": b"ok",
        }
        assert (
            "a/x.csv (5 bytes)\nb.txt (11 bytes)\nblob (2 bytes)\nempty (0 bytes)\n"
            "--- a/x.csv\né,1\n--- b.txt\ntwo\r\nlines\n"
        ) == prompts.excerpt(self.fill(tmp_path, contents), 1000)

    def test_a_huge_file_is_cut_and_small_ones_stay_whole(self, tmp_path: Path) -> None:
        """A sparse gigabyte is binary, a long text gives its beginning; the small file beside it is whole."""
        self.fill(tmp_path, {"long.txt": b"0123456789" * 200_000, "small.txt": b"all of it\n"})
        with (tmp_path / "sparse").open("wb") as stream:
            stream.truncate(1 << 30)
        text = prompts.excerpt(tmp_path, 500)
        assert "sparse (1073741824 bytes)\n" in text
        assert "--- small.txt\nall of it\n" in text
        assert 300 < text.count("0123456789") * 10 < 500
        assert "--- sparse" not in text

    def test_many_files_are_counted(self, tmp_path: Path) -> None:
        """Two thousand files: some are listed, the others counted, and the small ones are shown."""
        self.fill(tmp_path, {f"part{number:04}.txt": b"x" * (number + 1) for number in range(2000)})
        text = prompts.excerpt(tmp_path, 1000)
        listed = text.count(" bytes)\n")
        assert f"... and {2000 - listed} more\n" in text
        assert "--- part0000.txt\nx\n" in text
        assert len(text) <= 1000

    def test_files_chars_is_the_budget(self, tmp_path: Path, server: ChatServer) -> None:
        """An arm with files_chars: 0 shows no files."""
        asked(tmp_path, server, {"text": "42"}, arm={"files_chars": 0}).act()
        assert "input.txt" not in server.requests[0]["body"]["messages"][1]["content"]
