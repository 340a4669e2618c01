"""Reading one turn of an agent loop: which action it asks for, and what is no action at all."""

import json
import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regrade.harnesses.loop.actions import NO_CALL, Action, Reading, Unreadable, parse, read_turn
from regrade.models.types import Answer
from suite_structured_support import vector, vectors

SUITE = ("list_files", "read_file", "write_file", "run_tests", "final")

OURS: dict[str, Action] = {
    "action_parse-016": Action("read_file", {"path": "a.py"}),
    "action_parse-034": Action("write_file", {"path": "a.py", "content": "x = 1\nnewline raw"}),
    "action_parse-045": Action("delete_everything", {}),
    "action_parse-050": Action("list_files", {"path": "."}),
    "action_parse-057": Action("read_file", {"path": "a"}),
    "action_parse-066": Action("list_files", {"path": ".", "depth": 2}),
}
"""Our answers where the format's tool does what would surprise a user."""

CASES = vectors("action_parse", OURS)


def read(text: str) -> tuple[str, dict[str, Any]] | None:
    action = parse(text)
    return None if isinstance(action, Unreadable) else tuple(action)


def why(text: str) -> str:
    action = parse(text)
    assert isinstance(action, Unreadable)
    return action.why


@pytest.mark.parametrize("name", CASES)
def test_known_turns_are_read_as_the_format_says(name: str) -> None:
    """Every form of a call, and what is none."""
    expected = CASES[name]["expected"]["action"]
    assert (None if expected is None else (expected["tool"], expected.get("args", {}))) == read(CASES[name]["response"])


@pytest.mark.parametrize("name", OURS)
def test_turns_that_the_format_s_tool_reads_oddly(name: str) -> None:
    """Positional arguments, raw line ends, thoughts and mentions are taken for what they are."""
    assert OURS[name] == parse(vector("action_parse", name)["response"])


WRITE = '{"tool": "write_file", "args": {"path": "a.py", "content": "x = 1\\n"}}'


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>',
        '<tool_call>{"name": "functions.read_file", "arguments": "{\\"path\\": \\"a.py\\"}"}',
        '{"name": "read_file", "parameters": {"path": "a.py"}}',
        '{"type": "function", "function": {"name": "read_file", "arguments": "{\\"path\\": \\"a.py\\"}"}}',
        '{"tool_calls": [{"function": {"name": "read_file", "arguments": {"path": "a.py"}}}]}',
        "<tool_call>\n<function=read_file>\n<parameter=path>\na.py\n</parameter>\n</function>\n</tool_call>",
        '{"tool": "functions.read_file", "path": "a.py"}',
        '{"tool": "read_file", "args": ["a.py"]}',
        '{"tool": "read_file", "args": "a.py"}',
        '```json  \r\n{"tool": "read_file", "args": {"path": "a.py"}}\r\n```  ',
        'I look first:\n```\nread_file("path": "a.py")\n```',
        "1. `read_file(a.py)`",
        "**Action:** read_file(path: 'a.py')",
        'call:functions.read_file{"path": "a.py"}',
        'Step {1}: {"tool": "..."} is the form, so {"tool": "read_file", "args": {"path": "a.py"}}',
        '{"tool": "read_file", "args": {"path": "a.py"}}\nObservation: x\n{"tool": "final", "args": {}}',
        '<think>final(summary="no")',
    ],
)  # fmt: skip
def test_the_forms_that_models_are_trained_on_are_understood(text: str) -> None:
    """Tags, OpenAI's and Llama's objects, markup of coders, lists, decoration: one call; of an open thought none."""
    assert read(text) == (None if text.startswith("<think>") else ("read_file", {"path": "a.py"}))


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('write_file("a.py", "x = 1\\n")', "x = 1\n"),
        ('write_file(path="a.py", content="print("a", "b")\nprint("c")\n")', 'print("a", "b")\nprint("c")\n'),
        ('write_file(path="a.py", content="f("a")")', 'f("a")'),
        ("write_file(content='it's', path='a.py')", "it's"),
        ('write_file(path="a.py", content="""def f():\n    """Say \\n."""\n    g("""x""")\n""")',
         'def f():\n    """Say \\n."""\n    g("""x""")\n'),
        ("write_file(path='a.py', content='''a = \"\"\"b\"\"\"\n''')", 'a = """b"""\n'),
        ('write_file(path="a.py", content="""def f():\n    \\"\\"\\"Say.\\"\\"\\"\n""")', 'def f():\n    """Say."""\n'),
        ('write_file(path="a.py", content="""x\\ny""")', "x\ny"),
        ('{"tool":"write_file","args":{"content":"""f(\n"""a""", {"b": 1}\n""","path":"a.py"}}',
         'f(\n"""a""", {"b": 1}\n'),
        ("tool:write_file {path: 'a.py', content: 'x'}", "x"),
        ('write_file(path="a.py", content="""```bash\nls\n```\n""")', "```bash\nls\n```\n"),
        ('write_file(path="a.py", content="""{"tool": "final", "args": {}}""")', '{"tool": "final", "args": {}}'),
        ('write_file(path="a.py", content="""\nfinal(summary="x")\n""")', '\nfinal(summary="x")\n'),
        ('{"tool": "write_file", "args": {"path": "a.py", "content": "{\\"tool\\": \\"final\\"}"}}',
         '{"tool": "final"}'),
        ("<function=write_file><parameter=path>a.py</parameter>\n<parameter=content>\n<b>\n</parameter>\nx\n"
         "</parameter></function>", "<b>\n</parameter>\nx"),
        ("<|tool_call_begin|>functions.write_file:3<|tool_call_argument_begin|>"
         '{"path": "a.py", "content": "final()"}<|tool_call_end|>', "final()"),
    ],
)  # fmt: skip
def test_what_a_file_holds_is_neither_cut_nor_carried_out(text: str, content: str) -> None:
    """Quotes, fences, docstrings and things like calls inside a file's content stay there, whole."""
    assert ("write_file", {"path": "a.py", "content": content}) == read(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("First list_files(), then I call final().", None),
        ("Once it works, run final(summary='done') to end.", None),
        ("Do not use write_file(path='a', content='b') here.", None),
        ("I have already called read_file(path='a').", None),
        ("There are list_files(path), read_file(path) and final(summary).", None),
        ("- list_files(path)\n- final(summary)\n", None),
        ("e.g. read_file(path='a.py')", None),
        ("def read_file(path='a.py'): ...", None),
        ("The tests pass now, so I call final(summary='done').", ("final", {"summary": "done"})),
        ("It works.\nfinal(summary='done')\nI am happy.", ("final", {"summary": "done"})),
        ("Let me call run_tests().", ("run_tests", {})),
        ("I see read_file(path='a.py') as the next step", ("read_file", {"path": "a.py"})),
        ("If in doubt: read. Now run_tests()", ("run_tests", {})),
    ],
)
def test_a_tool_that_is_named_in_a_sentence_is_not_carried_out(text: str, expected: Any) -> None:
    """Neither plans, refusals, memories, signatures nor lists are calls; a call that is meant is one."""
    assert expected == read(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "it is empty"),
        ("<think>I should run_tests()</think>", "it is empty"),
        ("Hello.", NO_CALL),
        ("I would use run_tests next.", "run_tests is named in it, but not called"),
        ('{"tool": "run_tests", "args": {},}', "its JSON cannot be read: "),
        (WRITE[:-12], "its JSON cannot be read: "),
        ('{"tool": "write_file", "args": {"path": "a", "content": "x = {"tool": "final", "args": {}}"}}', "its JSON"),
        ('write_file(path="a", content="""\nfinal()\nrun_tests()\n', "the call of write_file cannot be read: its text"),
        ('write_file(path="a", content="""\n{"tool": "final"}\n', "the call of write_file cannot be read"),
        ("call:read_file{path:", "its arguments cannot be read"),
        ("<function=read_file><parameter=path>a", "its arguments cannot be read: <parameter=path> has no end"),
    ],
)
def test_a_turn_that_is_none_says_why(text: str, fault: str) -> None:
    """What is wrong is said in words; a call that was cut off hides what its text holds."""
    assert why(text).startswith(fault)


class TestWholeTurns:
    """Native calls and reasoning beside the text."""

    def test_a_native_call_counts_whatever_the_text_says(self) -> None:
        """Prose beside it is fine, whatever the finish_reason, and name spaces are taken off."""
        call = {"id": "c", "name": "functions.read_file", "arguments": '{"path": "a.py"}'}
        answer = Answer("I call final(summary='x').", tool_calls=[call], finish_reason="stop")
        assert Reading(Action("read_file", {"path": "a.py"}), call=0) == read_turn(answer, SUITE)

    @pytest.mark.parametrize(
        ("arguments", "args"), [("", {}), ("null", None), ('{"path": "a\nb"}', {"path": "a\nb"}), ('["a"]', None)]
    )
    def test_native_arguments_are_an_object_or_nothing(self, arguments: str, args: dict[str, Any] | None) -> None:
        """An empty text is no arguments, anything but an object is said to be unreadable."""
        action = read_turn(Answer(tool_calls=[{"id": "c", "name": "list_files", "arguments": arguments}]), SUITE).action
        broken = Unreadable("the arguments of list_files are no JSON object")
        assert (broken if args is None else Action("list_files", args)) == action

    def test_of_several_calls_the_first_of_a_known_tool_is_taken(self) -> None:
        """Natively and in text, and that there are more is known; where none is known that is said."""
        calls = [{"id": name, "name": name, "arguments": "{}"} for name in ("bash", "run_tests", "final")]
        assert Reading(Action("run_tests", {}), call=1, more=True) == read_turn(Answer(tool_calls=calls), SUITE)
        unknown = read_turn(Answer(tool_calls=calls[:1]), SUITE)
        assert (0, True) == (unknown.call, "there is no tool 'bash'" in unknown.action.why)  # type: ignore[union-attr]
        assert read_turn(Answer("run_tests()\nfinal()"), SUITE).more

    @pytest.mark.parametrize(
        ("reasoning", "action"),
        [
            ('Let me see. {"tool": "list_files", "args": {"path": "."}}', Action("list_files", {"path": "."})),
            ('I could {"tool": "final"}, but first:\n```\nrun_tests()\n```', Action("run_tests", {})),
            ('I could answer {"tool": "final", "args": {}} but I will not.', Unreadable("it is empty")),
        ],
    )
    def test_reasoning_alone_is_an_action_only_at_its_end(self, reasoning: str, action: Any) -> None:
        """A server that puts the whole answer under reasoning loses nothing; what is only thought about is not done."""
        assert action == read_turn(Answer("  ", reasoning), SUITE).action
        assert Action("run_tests", {}) == read_turn(Answer("run_tests()", reasoning), SUITE).action

    def test_tags_are_text_for_a_model_that_marks_no_thoughts(self) -> None:
        """`thinking: none` in a model's entry."""
        answer = Answer("<think>\nrun_tests()")
        assert isinstance(read_turn(answer, SUITE).action, Unreadable)
        assert Action("run_tests", {}) == read_turn(answer, SUITE, tagged_thoughts=False).action


@pytest.mark.parametrize(
    "piece",
    [
        "{", "[", '{"a":', '{"a":1,"b":', '{"a":[' + "1," * 500, '{"tool":"read_file"', '{"tool":"x"} ', 'final("',
        '\nfinal("', 'x final("a" b ', "final(", '" ', "call:final{", "tool:final {", "<think>", "</think>", "```\n",
        "<function=final><parameter=a>", "a.", "\\", '"""', " ", "\0", "\ud800", "if final(summary='a') ",
        "<|tool_call_begin|>", "9", "'\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", ["", 'write_file(path="a", content="""', '{"tool":"write_file","args":{"content":"'])
def test_no_turn_takes_for_ever(before: str, piece: str) -> None:
    """A megabyte of anything is read within seconds, and raises nothing."""
    text = before + piece * (1_000_000 // len(piece))
    begin = time.process_time()
    parse(text)
    assert time.process_time() - begin < 10


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([
    "{", "}", "[", "]", "(", ")", '"', "'", '"""', "\\", ",", ":", "=", "\n", " ", "tool", "args", "final", "path",
    "write_file", "content", '{"tool":', '"final"', "call:", "<think>", "</think>", "<tool_call>", "1e999", "NaN", "é",
    "\ud800",
]), max_size=40))  # fmt: skip
def test_nothing_raises_and_every_action_can_be_written_down(pieces: list[str]) -> None:
    """Whatever stands in whatever order is an action or a reason, and its arguments are JSON."""
    action = parse("".join(pieces))
    if isinstance(action, Action):
        assert action.args == json.loads(json.dumps(action.args, allow_nan=False))
    else:
        assert action.why


def test_the_command_reads_a_line_after_the_other() -> None:
    """JSON lines in and out; a line that is none is told so, and the exit code says it."""
    lines = ['{"id": 1, "response": "run_tests()"}', "", '{"id": 2, "response": ""}', '{"id": 3}', "x"]
    done = subprocess.run(
        [sys.executable, "-m", "regrade.cli", "parse-action"], input="\n".join(lines), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    first, second, *others = map(json.loads, done.stdout.splitlines())
    assert {"id": 1, "action": {"tool": "run_tests", "args": {}}} == first
    assert {"id": 2, "action": None} == second
    assert [(3, True), (None, True)] == [(row["id"], "error" in row) for row in others]
    assert (1, "") == (done.returncode, done.stderr)
