"""What is printed about runs of packs: rows, medians, comparisons, reports, summaries; also of other runners' runs."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from regrade import hardware
from regrade.cli import main
from regrade.errors import RegradeError
from regrade.packs import compare, host_label, pack_summary, report, rows, run_metadata
from regrade.packs.medians import cases
from regrade.packs.outcome import outcome
from regrade.packs.read import Run, runs

VECTORS = Path(__file__).parent / "vectors/benchpack"


def vectors(area: str) -> list[Any]:
    lines = (VECTORS / f"{area}.jsonl").read_text().splitlines()
    return [pytest.param(json.loads(line), id=json.loads(line)["id"]) for line in lines]


def write_run(folder: Path, *found: dict[str, Any], **siblings: Any) -> Path:
    """A run directory with some rows, and files beside them as JSON (hardware, run_metadata)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in found))
    for name, value in siblings.items():
        (folder / f"{name.replace('_', '-')}.json").write_text(json.dumps(value))
    return folder


def made(case: str = "c", wall_s: float = 1.0, prompt: Any = 10, cached: Any = 0, **more: Any) -> dict[str, Any]:
    """A row as a runner of the format writes it."""
    timing = {"wall_s": wall_s, "ttft_s": 0.25, "prefill_tps": 40.0, "decode_tps": 8.0, "total_tps": 5.0}
    return {
        "pack": {"id": "p", "version": "1"},
        "case": case,
        "adapter": "openai-chat",
        "endpoint": "http://h/v1/chat/completions",
        "model": "m",
        "ok": True,
        "timing": timing,
        "tokens": {"prompt": prompt, "output": 5, "cached_prompt": cached},
        "scoring": {"mode": "contains", "passed": True},
        **more,
    }


def table_of(text: str, first: str) -> list[list[str]]:
    """The cells of the table whose heading starts with a word, without heading and rule."""
    lines = text.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith(f"| {first} |"))
    found = []
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


# Comparing


@pytest.mark.parametrize("vector", vectors("compare"))
def test_comparisons_are_what_the_vectors_say(vector: dict[str, Any], tmp_path: Path) -> None:
    """Labels, order, parity, warnings and cells."""
    given, expected = vector["input"]["runs"], vector["expected"]
    found = runs([write_run(tmp_path / item["path"], *item["records"]) for item in given])
    table = table_of(compare.page(found), "run")
    names = {"run": 0, "case": 1, "rows": 2, "ok": 3, "wall_s": 4, "prefill_tps": 6}
    names |= {"prompt": 10, "cached": 11, "cache_rows": 12}
    assert expected == {
        "labels": [run.label for run in found],
        "statuses": {case.name: case.parity for case in cases(found)},
        "warnings": compare.warnings(found),
        "rows": [
            {name: int(line[at]) if name in ("rows", "ok") else line[at] for name, at in names.items()}
            for line in table
        ],
    }


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ([made()], "comparable"),
        ([made("d")], "missing-case"),
        ([made(), made(prompt=None, cached=None)], "prompt-missing"),
        ([made(prompt=11, cached=3)], "prompt-diff"),
        ([made(cached=None)], "cache-missing"),
        ([made(cached=True)], "cache-missing"),
        ([made(cached=3)], "cache-diff"),
    ],
)
def test_parity_names_the_first_thing_that_differs(other: list[dict[str, Any]], expected: str) -> None:
    """Prefill speeds are shown for a comparable case only."""
    found = [Run(Path("a"), "a", [made()]), Run(Path("b"), "b", other)]
    [case] = [case for case in cases(found) if case.name == "c"]
    assert expected == case.parity
    shown = {line[6] for line in table_of(compare.page(found), "run") if line[1] == "c"}
    assert ({"40.00"} if expected == "comparable" else {"—"}) == shown


def test_warnings_about_prompts_and_caches() -> None:
    """Prompt medians and incomplete cache metadata may be warned of together; the latter keeps a third back."""
    base = Run(Path("a"), "a", [made()])

    def said(*found: dict[str, Any]) -> list[str]:
        return [line.split(" for case")[0] for line in compare.warnings([base, Run(Path("b"), "b", list(found))])]

    prompts, incomplete = "WARNING: prompt token medians differ", "WARNING: cache metadata incomplete"
    assert [prompts, "WARNING: cached prompt medians differ"] == said(made(prompt=12, cached=5))
    assert [prompts, incomplete] == said(made(prompt=12, cached=None))
    assert [incomplete] == said(made(prompt=None, cached=None))
    assert [incomplete] == said(made("d", cached=None))
    assert [] == said(made("d", prompt=12, cached=5))


def test_samples_are_finite_numbers_and_halves_show() -> None:
    """Booleans, texts, NaN, infinities and numbers beyond a float do not count; failed rows do."""
    odd = [True, "3", None, float("nan"), float("inf"), 10**400, [1]]
    found = [made(prompt=value, wall_s=value, ok=False) for value in odd]
    page = compare.page([Run(Path("a"), "a", [*found, made(prompt=10, wall_s=1), made(prompt=11, wall_s=2)])] * 2)
    line = table_of(page, "run")[0]
    assert ["9", "2", "1.500", "10.5", "0"] == [line[at] for at in (2, 3, 4, 10, 11)]


def test_markup_in_names_stays_in_its_cell() -> None:
    """Bars, line ends and tags of a foreign run do not become markup."""
    page = compare.page([Run(Path("a|b"), "a|b", [made("x|y\n<b>")]), Run(Path("c"), "c", [made("x|y\n<b>")])])
    line = next(line for line in page.splitlines() if line.startswith("| a"))
    assert line.startswith("| a\\|b | x\\|y &lt;b> | 1 |")


def test_labels_of_awkward_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dot is the folder that it means; only equal names are made longer."""
    place = write_run(tmp_path / "here", made())
    monkeypatch.chdir(place)
    other = write_run(tmp_path / "there/here", made())
    assert [f"{tmp_path.name}/here", "there/here", "c"] == [
        run.label for run in runs([Path("."), other, write_run(tmp_path / "c", made())])
    ]


BROKEN = {
    "no directory": (None, "is no directory"),
    "no rows": (b"\n\n", "holds no rows"),
    "not JSON": (b'{"case": "c"}\n{broken\n', "run.jsonl:2: is not JSON"),
    "a list": (b"[1]\n", "run.jsonl:1: is a list, expected a JSON object"),
    "not UTF-8": (b'{"case": "\xff"}\n', "run.jsonl:1: is not JSON"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_directories_that_hold_no_run_are_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 and the place; for both commands."""
    content, message = BROKEN[name]
    folder = tmp_path / "b"
    if content is not None:
        folder.mkdir()
        (folder / "run.jsonl").write_bytes(content)
    good = write_run(tmp_path / "a", made())
    for words in (["compare", str(good), str(folder)], ["report", str(folder)]):
        assert 1 == main(words)
        captured = capsys.readouterr()
        assert ("", True) == (captured.out, message in captured.err)


def test_one_directory_is_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1 for one, 2 for none; report takes one."""
    folder = str(write_run(tmp_path / "a", made()))
    assert 1 == main(["compare", folder])
    assert 0 == main(["report", folder])
    for command in ("compare", "report"):
        with pytest.raises(SystemExit) as stopped:
            main([command])
        assert 2 == stopped.value.code
    assert "at least two" in capsys.readouterr().err


def foreign(folder: Path) -> Path:
    """A run of another runner, older than cached counts, repetitions and everything behind `raw`."""
    timing = {"wall_s": 2.5, "ttft_s": None, "prefill_tps": 100.0, "decode_tps": 20.0, "total_tps": 6.4}
    row = {
        "pack": {"id": "p", "version": "1"},
        "case": "c",
        "adapter": "ollama-generate",
        "endpoint": "http://localhost:11434/api/generate",
        "model": "llama",
        "ok": True,
        "timing": timing,
        "tokens": {"prompt": 10, "output": 16},
        "resources": {"memory_mb": None, "gpu_memory_mb": 812},
        "scoring": {"mode": "contains", "passed": False},
        "raw": {"request_path": "raw/c.request.json", "response_path": "raw/c.response.json"},
        "backend": {"eval_count": 16, "eval_duration": 800000000},
    }
    return write_run(folder, row, {**row, "case": "d", "ok": False, "scoring": None, "error": "HTTP 500: x"})


def test_our_runs_compare_with_those_of_another_runner(tmp_path: Path) -> None:
    """Through the command as users call it; rows of ours carry an object that the other has not."""
    ours = write_run(tmp_path / "ours", made(regrade={"status": "passed"}))
    command = [sys.executable, "-m", "regrade.cli", "compare", str(ours), str(foreign(tmp_path / "theirs"))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    table = table_of(done.stdout, "run")
    assert [["ours", "c", "cache-missing"], ["theirs", "c", "cache-missing"], ["ours", "d"], ["theirs", "d"]] == [
        [*line[:2], line[-1]] if line[1] == "c" else line[:2] for line in table
    ]
    assert ["theirs", "c", "1", "1", "2.500", "—", "—", "20.00", "6.40", "16", "10", "—", "0/1"] == table[1][:-1]
    assert "Pack: `p` version `1`" in done.stdout


# Reporting


def test_a_report_says_what_runs_were(tmp_path: Path) -> None:
    """Metadata, outcomes and medians of ours and of another runner, with what is missing named."""
    machine = {"hostname": "m4", "chip": "Apple M4", "ram_mb": 16384, "os": "Darwin", "gpus": [{"model": "M4 GPU"}]}
    told = {"runtime": {"name": "llama.cpp", "flags": ["-fa"], "note": ""}, "model": None, "notes": "a|b\nc"}
    second = made("d", model="n", scoring={"mode": "contains", "passed": False})
    ours = write_run(tmp_path / "ours", made(), second, hardware=machine, run_metadata=told)
    page = report.page(runs([ours, foreign(tmp_path / "theirs")]))
    made_with = ["ours", "p 1", "openai-chat", "mixed: m, n", "http://h/v1/chat/completions"]
    machine_cell = "hostname=m4; chip=Apple M4; ram_mb=16384; os=Darwin; gpu=M4 GPU"
    assert [*made_with, machine_cell] == table_of(page, "run")[0]
    assert "hardware.json missing" == table_of(page, "run")[1][-1]
    user = page[page.index("## User-Supplied") : page.index("## Case Outcomes")]
    assert ["ours", 'flags=\\["-fa"]; name=llama.cpp', "—", "—", "a\\|b c"] == table_of(user, "run")[0]
    assert ["theirs", "run-metadata.json missing", "—", "—", "—"] == table_of(user, "run")[1]
    outcomes = table_of(page[page.index("## Case Outcomes") :], "run")
    assert [
        ["ours", "c", "1", "1", "1", "0", "0"], ["ours", "d", "1", "1", "0", "1", "0"],
        ["theirs", "c", "1", "1", "0", "1", "0"], ["theirs", "d", "1", "0", "0", "0", "1"],
    ] == outcomes  # fmt: skip
    assert 4 == len(table_of(page[page.index("## Compare Medians") :], "run"))
    assert "## External-Agent" not in page


@pytest.mark.parametrize("name", ["hardware.json", "run-metadata.json"])
def test_broken_files_beside_the_rows_end_a_report(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 and the file's name."""
    folder = write_run(tmp_path / "a", made())
    for content in ("{broken", "[1]"):
        (folder / name).write_text(content)
        assert 1 == main(["report", str(folder)])
        assert str(folder / name) in capsys.readouterr().err


def test_a_report_can_be_written_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Then nothing is printed; a file that cannot be written is a message."""
    folder = write_run(tmp_path / "a", made())
    assert 0 == main(["report", str(folder), "--out", str(tmp_path / "sub/report.md")])
    assert ("", report.page(runs([folder]))) == (capsys.readouterr().out, (tmp_path / "sub/report.md").read_text())
    assert 1 == main(["report", str(folder), "--out", str(folder)])
    assert "cannot be written" in capsys.readouterr().err


CALL = {"schema_version": 1, "sequence": 1, "model": "agent-model", "ok": True, "duration_s": 0.5, "prompt_tokens": 7}


def with_calls(folder: Path, content: bytes) -> Path:
    place = {"path": "workspace/c/rep-001"}
    run = write_run(folder, made(workspace=place), made("../../c", workspace=place), hardware={"gpus": None})
    path = run / "task/c/rep-001.model-calls.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return run


def test_model_calls_of_agents_are_summed_up(tmp_path: Path) -> None:
    """In the report and in the summary, from allowed fields only; never from outside of the directory."""
    lines = [
        json.dumps(CALL),
        json.dumps({**CALL, "ok": False, "error": "hidden"}),
        json.dumps({**CALL, "prompt": "hidden"}),
    ]
    folder = with_calls(tmp_path / "a", "\n".join(lines).encode())
    [run] = runs([folder])
    expected = ["c", "1", "3", "2", "1", "1", "1", "1", "agent-model", *["—"] * 5, "1.000000", "14", "—", "—"]
    report_page = report.page([run])
    assert [["a", *expected]] == table_of(report_page[report_page.index("## External") :], "run")
    summary = pack_summary.page(run, {"id": "p", "version": "1", "description": ""})
    assert [expected] == table_of(summary[summary.index("## External") :], "case")
    assert "hidden" not in report_page + summary


def test_model_calls_that_are_not_utf_8(tmp_path: Path) -> None:
    """A note in the summary, the end of a report."""
    [run] = runs([with_calls(tmp_path / "a", b"\xff\n")])
    assert "of c, repetition 1, are not UTF-8" in pack_summary.page(run, {"id": "p", "version": "1"})
    with pytest.raises(RegradeError, match="is not UTF-8"):
        report.page([run])


# The summary of a run directory


def test_the_summary_of_a_run(tmp_path: Path) -> None:
    """Machine, metadata, outcomes that add up, and a line for each row."""
    machine = {
        "hostname": "big.example.org", "host_label": "big", "platform": "linux", "cpu_model": "X|1", "ram_mb": 2048,
        "gpus": [{"model": "G", "vram_mb": 8192}, {"model": "H", "vram_mb": None}],
    }  # fmt: skip
    states = [("passed", None), ("failed", "wrong_answer"), ("error", "provider_error"), ("not_run", "no_judge")]
    found = [
        made(regrade={"status": status, "reason": reason, "message": f"about {reason}", "detail": None})
        for status, reason in states
    ]
    found[2] |= {"ok": False, "scoring": None}
    found.append(
        made("d", scoring=None, regrade={"status": "unscored", "reason": "no_scoring", "message": None, "detail": None})
    )
    told = {"operating_conditions": {"power": "battery", "fan": None}, "notes": "hot day"}
    folder = write_run(tmp_path / "a", *found, hardware=machine, run_metadata=told)
    pack_summary.main(str(folder), json.dumps({"id": "p", "version": "1", "description": "A test"}))
    page = (folder / "summary.md").read_text()
    assert page.startswith(
        "# p (1)\n\nA test\n\n- Host: `big` (linux)\n- CPU: X\\|1\n- RAM: 2048 MB\n- GPU: G (8192 MB), H\n"
    )
    assert "- Runtime: —\n- Model: —\n- Operating conditions: power=battery\n- Notes: hot day\n" in page
    assert "**PARTIAL: 1 of 5 trials were not run.**" in page
    outcomes = table_of(page, "case")
    assert [
        ["c", "4", "1", "1", "1", "1", "0"],
        ["d", "1", *"00001"],
        ["all", "5", "1", "1", "1", "1", "1"],
    ] == outcomes
    assert ["c", "error", "provider_error", "1", "about provider_error"] == table_of(
        page[page.index("| case | status") :], "case"
    )[1]
    lines = table_of(page[page.index("| case | adapter") :], "case")
    assert ["c#1", "openai-chat", "m", "yes", "1.000", "5.00", "contains: pass"] == lines[0]
    assert [["c#3", "no", "—"], ["d", "yes", "—"]] == [[line[0], line[3], line[6]] for line in (lines[2], lines[4])]


def test_the_summary_without_anything_beside_the_rows(tmp_path: Path) -> None:
    """Rows of another runner are enough."""
    [run] = runs([foreign(tmp_path / "a")])
    page = pack_summary.page(run, {"id": "p", "version": "1"})
    assert page.startswith("# p (1)\n\n| case |")
    assert "Outcomes" not in page


# Rows


@dataclass
class Fixture:
    id: str = "repo"
    path: str = "fixtures/repo"


@dataclass
class Case:
    id: str
    scoring: dict[str, Any] | None

    def repo_fixture(self, _: object) -> Fixture:
        return Fixture()


@dataclass
class Pack:
    id: str = "p"
    version: str = "1"


MEASURED = {
    "repetition": 2,
    "ok": False,
    "error": "HTTP 500: x",
    "text": "the answer text",
    "adapter": "ollama-generate",
    "endpoint": "http://h/api/generate",
    "model": "m",
    "timing": {"wall_s": 0.5, "ttft_s": None, "prefill_tps": None, "decode_tps": None, "total_tps": None},
    "tokens": {"prompt": None, "output": None, "cached_prompt": None},
    "resources": {"memory_mb": None, "gpu_memory_mb": None},
    "backend": {"eval_count": 1},
    "finish_reason": None,
    "warnings": ["w"],
    "raw": {"request_path": "raw/c.rep-002.request.json", "response_path": "raw/c.rep-002.response.json"},
    "request": "r",
    "digest": "d",
}
GRADE = {
    "passed": False, "score": 0.0, "detail": "no", "status": "failed", "reason": "tests_failed", "message": "",
    "sandbox": {"mode": "bubblewrap", "bounds": []}, "in_process": False,
    "digests": {"task": "t", "code": "c"}, "earlier": [],
}  # fmt: skip


def test_a_full_row_has_the_keys_of_the_format_in_their_order() -> None:
    """And Regrade's own record behind them; neither prompt nor answer."""
    case = Case("c", {"mode": "verify-script", "script": "verify/c.py"})
    row = rows.row(Pack(), case, 3, MEASURED, GRADE, {"status": "failed"}, session=True, verify={"exit_code": None})
    assert [
        "pack", "case", "adapter", "endpoint", "model", "ok", "timing", "tokens", "resources", "scoring", "raw",
        "repetition", "workspace", "patch", "task", "verify", "repo_task", "backend", "error", "regrade",
    ] == list(row)  # fmt: skip
    assert {"mode": "verify-script", "passed": False} == row["scoring"]
    assert {"status": "failed", "verify_exit_code": None} == row["repo_task"]
    assert {"path": "workspace/c/rep-002", "source_fixture_id": "repo", "source_path": "fixtures/repo"} == row[
        "workspace"
    ]
    assert "patch/c/rep-002.diff" == row["patch"]["path"]
    assert "task/c/rep-002.stderr.log" == row["task"]["stderr_path"]
    assert "verify/c/rep-002.json" == row["verify"]["path"]
    assert "answer text" not in json.dumps(row)


@pytest.mark.parametrize(
    ("table", "grade", "expected"),
    [
        (None, {}, None),
        ({"mode": "none"}, {"passed": None}, None),
        ({"mode": "contains"}, {"passed": True}, {"mode": "contains", "passed": True}),
        ({"mode": "llm-judge"}, {"passed": None}, None),
        ({"mode": "json-schema"}, {"scoring": {"mode": "json-schema", "passed": False, "error": "$: no"}},
         {"mode": "json-schema", "passed": False, "error": "$: no"}),
    ],
)  # fmt: skip
def test_a_small_row_leaves_out_what_it_has_no_use_for(table: Any, grade: Any, expected: Any) -> None:
    """One repetition has no number; what was not scored has scoring null."""
    measured = {name: value for name, value in MEASURED.items() if name not in ("error", "backend")}
    row = rows.row(Pack(), Case("c", table), 1, measured, {**GRADE, **grade}, {})
    assert ["scoring", "raw", "regrade"] == list(row)[9:]
    assert expected == row["scoring"]


def test_a_case_that_was_not_run_has_a_row_that_readers_take(tmp_path: Path) -> None:
    """It counts as not ok, and tables show dashes for what was not measured."""
    row = rows.not_run(
        Pack(), Case("c", None), {"status": "not_run", "reason": "no_judge", "message": "", "detail": None}
    )
    [run] = runs([write_run(tmp_path / "a", row)])
    line = table_of(report.page([run]), "run")[0]
    assert ["a", "p 1", "—", "—", "—"] == line[:5]
    assert ["a", "c", "1", "0", *["—"] * 8, "0/1"] == table_of(compare.page([run, run]), "run")[0][:-1]
    assert "| c | — | — | no | — | — | — |" in pack_summary.page(run, {"id": "p", "version": "1"})


def test_the_outcome_of_a_measured_case() -> None:
    """Times and tokens as they were measured; warnings of asking and of working, each once."""
    found = outcome(MEASURED, {"warnings": ["w", "v"], "limits": None}, asked=True)
    assert (MEASURED["timing"], 1, False, ["w", "v"]) == (
        found["timing"], found["turns"], found["cached"], found["warnings"],
    )  # fmt: skip
    assert 0 == outcome(MEASURED, None, asked=False)["turns"]


# Metadata, labels, hardware


@pytest.mark.parametrize("vector", vectors("run-metadata"))
def test_run_metadata_is_taken_as_the_vectors_say(
    vector: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is accepted is written sorted; what is not is named with its field and file."""
    monkeypatch.chdir(tmp_path)
    path, expected = Path("run-metadata.json"), vector["expected"]
    path.write_text(json.dumps(vector["input"]["metadata"]))
    if expected["result"] == "accept":
        assert expected["written"] == run_metadata.to_text(run_metadata.load(path))
    else:
        with pytest.raises(RegradeError) as stopped:
            run_metadata.load(path)
        assert expected["message"] == str(stopped.value)


@pytest.mark.parametrize("content", [b"{", b'{"x": NaN}', b"\xff"])
def test_run_metadata_that_is_no_json_is_refused(content: bytes, tmp_path: Path) -> None:
    """So is a file that is not there."""
    path = tmp_path / "told.json"
    for action in (lambda: path.write_bytes(content), path.unlink):
        action()
        with pytest.raises(RegradeError, match=r"told\.json"):
            run_metadata.load(path)


@pytest.mark.parametrize("vector", vectors("host-label"))
def test_host_labels_are_what_the_vectors_say(vector: dict[str, Any]) -> None:
    """Empty names and edges."""
    assert vector["expected"]["label"] == host_label.from_hostname(vector["input"]["hostname"])


def test_host_labels_of_usual_names() -> None:
    """The first part, in lower case, one hyphen for any other signs."""
    names = ["Lab-Node__7.example.org", "Böse Maschine", "...", "a"]
    assert ["lab-node-7", "b-se-maschine", "host", "a"] == [host_label.from_hostname(name) for name in names]


def test_this_machine_is_described() -> None:
    """With every field that readers look for, and a label where one is configured."""
    found = hardware.describe("lab")
    fields = {"hostname", "platform", "os", "kernel", "cpu_model", "cpu_count", "ram_mb", "gpus", "host_label"}
    assert set() == fields - set(found)
    assert "collector_error" not in found
    assert ("lab", True) == (found["host_label"], found["ram_mb"] > 100)
    assert "host_label" not in hardware.describe()


def test_what_a_mac_says_about_itself_is_read() -> None:
    """From the JSON of system_profiler; nothing at all gives unknown fields."""
    profile = {
        "SPHardwareDataType": [
            {
                "chip_type": "Apple M4",
                "machine_name": "MacBook Pro",
                "machine_model": "Mac16,1",
                "model_number": "MW2U3",
            }
        ],
        "SPDisplaysDataType": [{"sppci_model": "Apple M4"}, {"_name": "Radeon", "spdisplays_vram": "8 GB"}],
    }
    found = hardware.read_mac(json.dumps(profile))
    assert {
        "chip": "Apple M4",
        "hardware_model": "MW2U3",
        "hardware_model_name": "MacBook Pro",
        "hardware_model_identifier": "Mac16,1",
        "gpus": [{"model": "Apple M4", "vram_mb": None}, {"model": "Radeon", "vram_mb": 8192}],
    } == found
    assert {None} == {value for name, value in hardware.read_mac("").items() if name != "gpus"}


def test_a_collector_that_breaks_does_not_break_a_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A command that prints nonsense leaves its error beside what is known."""
    for name in ("sysctl", "system_profiler"):
        (tmp_path / name).write_text("#!/bin/sh\necho nonsense\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(sys, "platform", "darwin")
    found = hardware.describe()
    assert ("darwin", True) == (found["platform"], found["collector_error"].startswith("ValueError: "))


def test_gpus_are_what_nvidia_smi_lists(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two of them; memory in use is that of the fullest."""
    listed = 'echo "G, 8192, 1.2"; echo "H, [N/A], 1.2"'
    script = f'case "$1" in *memory.used*) echo 10; echo 812;; *) {listed};; esac'
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert 812 == hardware.gpu_memory_used_mb()
    assert [("G", 8192), ("H", None)] == [(gpu["model"], gpu["vram_mb"]) for gpu in hardware.describe()["gpus"]]
