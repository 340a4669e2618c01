"""Benchpack manifests: what they mean, what is wrong with them, and what `check` and `new` make of packs."""

import copy
import json
import os
import subprocess
import sys

import pytest

from benchpack_support import edit, make_pack, make_tiny, vectors, write_inline
from regrade import cli
from regrade.errors import FaultsError
from regrade.formats import benchpack
from regrade.formats.benchpack import links
from regrade.formats.benchpack import pack as reading
from regrade.formats.benchpack.check import check_pack

DECIDED = {
    "man-unknown-kind": ("cases.c.kind", 'is "weird", expected one of chat, completion, replay, repo-task'),
    "man-int-version": ("pack.version", "is 3, expected a text that is not empty: put it into quotes"),
    "man-prompt-int": ("cases.c.prompt", "is 5, expected a text: put it into quotes"),
    "man-sc-regex-invalid": ("scoring.pattern", 'is "(", expected a regular expression'),
}
"""Vectors of behaviour that the format does not promise, and which we refuse."""

REPO = '[[fixtures]]\nid = "r"\nkind = "repo"\npath = "r"\n'
TASK = '[[cases]]\nid = "c"\nkind = "repo-task"\nprompt = "x"\nfixture_refs = ["r"]\n'
CASE = '[[cases]]\nid = "c"\nprompt = "x"\n'


def by_id(identifiers=None):
    every = vectors("manifest")
    return [pytest.param(row, id=row["id"]) for row in every if identifiers is None or row["id"] in identifiers]


def write_vector(row, folder):
    write_inline(folder / "pack", row["input"]["pack_files"])
    write_inline(folder, row["input"].get("files_beside_pack_dir", {}))
    return folder / "pack"


def faults_of(folder):
    with pytest.raises(FaultsError) as caught:
        benchpack.load(folder)
    return [(fault.field, fault.message) for fault in caught.value.faults]


def only(folder):
    [(field, message)] = faults_of(folder)
    return field, message


def stops(folder):
    return [(fault.field, fault.message) for fault in benchpack.preflight(benchpack.load(folder))]


def said(folder):
    """(severity, end of the path, field, message) of what `check` finds in a pack that can be run."""
    return [
        (fault.severity, os.path.relpath(fault.path, folder), fault.field, fault.message)
        for fault in check_pack(benchpack.load(folder))
    ]


def as_vectors_have_it(pack):
    """A loaded pack in the vectors' words: a case shows its own scoring only, what no mode knows is `extra`."""

    def scoring(table):
        known = ("mode", "expected", "pattern", "schema", "script", "timeout_s", "environment")
        if table is None:
            return None
        extra = {key: value for key, value in table.items() if key not in known}
        return {key: table[key] for key in known if key in table} | ({"extra": extra} if extra else {})

    return {
        "id": pack.id,
        "version": pack.version,
        "description": pack.description,
        "defaults": pack.defaults,
        "repetitions": pack.repetitions,
        "warmup": pack.warmup,
        "scoring": scoring(pack.scoring),
        "cases": [
            {
                "id": case.id,
                "kind": case.kind,
                "prompt": case.prompt,
                "fixture_refs": list(case.fixture_refs),
                "scoring": None if case.scoring is pack.scoring else scoring(case.scoring),
                "harness": case.harness,
            }
            for case in pack.cases
        ],
        "fixtures": [
            {
                "id": fixture.id,
                "kind": fixture.kind,
                "path": fixture.path,
                "description": fixture.description,
                "is_dir": fixture.is_directory,
            }
            for fixture in pack.fixtures
        ],
    }


# Vectors


@pytest.mark.parametrize("row", [row for row in by_id() if row.id not in {*DECIDED, "man-multiline-inline"}])
def test_a_vector_is_answered(tmp_path, row):
    """A pack is loaded as expected or refused with a fault, and stopped before a run where it should be."""
    folder, expected = write_vector(row, tmp_path), row["expected"]
    if expected["load"] == "reject":
        assert [] != faults_of(folder)
        return
    pack = benchpack.load(folder)
    assert expected["loaded"] == as_vectors_have_it(pack)
    assert ("reject" if benchpack.preflight(pack) else "accept") == expected["run_preflight"]


@pytest.mark.parametrize("row", by_id(DECIDED))
def test_what_the_format_does_not_promise_is_refused(tmp_path, row):
    """An unknown kind, a version or prompt that is no text and a broken pattern are faults before anything runs."""
    field, message = only(write_vector(row, tmp_path))
    assert (DECIDED[row["id"]][0], True) == (field, message.startswith(DECIDED[row["id"]][1]))


@pytest.mark.parametrize("row", by_id({"man-multiline-inline"}))
def test_an_inline_table_may_span_lines(tmp_path, row):
    """TOML 1.1 allows what the format's own example does."""
    [case] = benchpack.load(write_vector(row, tmp_path)).cases
    assert {"mode": "contains", "expected": "x"} == case.scoring


@pytest.mark.parametrize("row", by_id())
def test_check_ends_with_the_answer_of_a_vector(tmp_path, capsys, row):
    """Exit code 0 where a pack can be run, also with warnings; 1 where not; 2 where there is no pack."""
    folder, expected = write_vector(row, tmp_path), row["expected"]
    sound = (expected["load"], expected.get("run_preflight")) == ("accept", "accept") and row["id"] not in DECIDED
    code = cli.main(["check", str(folder)])
    assert code == (0 if sound or row["id"] == "man-multiline-inline" else 2 if row["id"] == "man-no-file" else 1)
    assert "Traceback" not in capsys.readouterr().err


# What a manifest means


def test_a_pack_is_read(tmp_path):
    """Scoring is what holds for a case, time limits are floats, and paths of fixtures are resolved."""
    pack = benchpack.load(make_pack(tmp_path))
    ask, mend = pack.cases
    assert ("chat", "Say yes.", None) == (ask.kind, ask.prompt, ask.harness)
    assert "Mend it.\n\n--- BEGIN FIXTURE note (context, note.md) ---\nA note.\n--- END FIXTURE note ---" == mend.prompt
    assert {"id": "fenced-patch", "timeout_s": 5.0} == mend.harness
    assert isinstance(mend.harness["timeout_s"], float)
    assert isinstance(mend.scoring["timeout_s"], float)
    assert tmp_path.resolve() / "demo/repo" == mend.repo_fixture(pack).place
    assert tmp_path.resolve() / "demo/verify/mend.py" == pack.script_of(mend)
    assert (None, None) == (pack.script_of(ask), pack.schema_of(ask))
    assert ["ask.md", "mend.diff"] == [pack.oracle_of(case).name for case in pack.cases]
    assert "fixture_refs" in mend.raw


def test_a_cases_scoring_replaces_the_packs_whole(tmp_path):
    """An empty table counts as absent, so the pack's holds; mode none does not."""
    folder = make_tiny(
        tmp_path,
        '[scoring]\nmode = "contains"\nexpected = "a"\ntimeout_s = 3\n'
        '[[cases]]\nid = "own"\nprompt = ""\nscoring = { mode = "equals", expected = "b" }\n'
        '[[cases]]\nid = "empty"\nprompt = ""\nscoring = {}\n'
        '[[cases]]\nid = "none"\nprompt = ""\nscoring = { mode = "none" }\n',
    )
    own, empty, none = benchpack.load(folder).cases
    assert {"mode": "equals", "expected": "b"} == own.scoring
    assert {"mode": "contains", "expected": "a", "timeout_s": 3.0} == empty.scoring
    assert {"mode": "none"} == none.scoring


def test_fixtures_follow_in_the_order_of_their_references(tmp_path):
    """Behind a footer, which ends without a line end, stands one blank line; folders are left out."""
    refs = '[[cases]]\nid = "c"\nprompt = "x"\nfixture_refs = ["b", "d", "a"]\n'
    declared = "".join(
        f'[[fixtures]]\nid = "{name}"\nkind = "k"\npath = "{path}"\n'
        for name, path in (("a", "a"), ("b", "b"), ("d", "d"))
    )
    [case] = benchpack.load(make_tiny(tmp_path, refs + declared, a="A\r", b="B", **{"d/x": "x"})).cases
    block = "--- BEGIN FIXTURE {0} (k, {0}) ---\n{1}\n--- END FIXTURE {0} ---"
    assert "\n\n".join(["x", block.format("b", "B"), block.format("a", "A")]) == case.prompt


def test_line_ends_of_a_prompt_file_become_one_kind(tmp_path):
    """CRLF and a lone CR become LF; a byte order mark stays."""
    folder = make_tiny(tmp_path, '[[cases]]\nid = "c"\nprompt_file = "a.md"\n', **{"a.md": "\ufeffa\r\nb\rc\n"})
    assert "\ufeffa\nb\nc\n" == benchpack.load(folder).cases[0].prompt


def test_a_schema_is_parsed_for_its_case(tmp_path):
    """`schema_of` gives the object in the file, also through the pack's own scoring table."""
    folder = make_tiny(
        tmp_path, f'[scoring]\nmode = "json-schema"\nschema = "s.json"\n{CASE}', **{"s.json": '{"type": "object"}'}
    )
    pack = benchpack.load(folder)
    assert {"type": "object"} == pack.schema_of(pack.cases[0])


# What is wrong with one


@pytest.mark.parametrize(
    ("lines", "field", "fragment"),
    [
        ('[[cases]]\nid = "c\\n"\nprompt = ""\n', "cases.#1.id", "expected letters, digits"),
        ('[[cases]]\nid = "c"\n', "cases.c.prompt", "has neither, expected one of prompt and prompt_file"),
        ('[[cases]]\nid = "c"\nprompt = ""\nprompt_file = "a"\n', "cases.c.prompt", "has prompt and prompt_file"),
        ('[[cases]]\nprompt = "x"\n', "cases.#1.id", "missing, expected a text"),
        (f'{CASE}kind = "Chat"\n', "cases.c.kind", "did you mean 'chat'?"),
        (f"{CASE}kind = []\n", "cases.c.kind", "is [], expected one of"),
        (f'{CASE}fixture_refs = "f"\n', "cases.c.fixture_refs", "expected a list of texts"),
        (f'{CASE}[[fixtures]]\nid = "f\\n"\nkind = "k"\npath = "a"\n', "fixtures.#1.id", "expected letters, digits"),
        (f'{CASE}fixture_refs = ["..."]\n', "cases.c.fixture_refs", "expected the id of a fixture"),
        ("[defaults]\nwarmup = -1\n", "defaults.warmup", "is -1, expected a whole number of at least 0"),
        ("[defaults]\nrepetitions = 0\n", "defaults.repetitions", "is 0, expected a whole number of at least 1"),
        ("[defaults]\nwarmup = 1.0\n", "defaults.warmup", "without a point"),
        ("[defaults]\ntemperature = nan\n", "defaults.temperature", "is nan, expected a finite number"),
        ("[defaults]\ntop_p = true\n", "defaults.top_p", "is true, expected a number"),
        ("[defaults]\nseed = -inf\n", "defaults.seed", "is -inf, expected a finite number"),
        ("[defaults]\nday = 2020-01-01\n", "defaults.day", "is the date or time 2020-01-01"),
        ("[defaults]\nmax_tokens = 1.0\n", "defaults.max_tokens", "without a point"),
        ('[defaults]\nstream = "yes"\n', "defaults.stream", "expected true or false"),
        ("[requires]\nmin_context = true\n", "requires.min_context", "is true, expected a whole number"),
        ("[requires]\nstreaming = 1\n", "requires.streaming", "is 1, expected true or false"),
        ('[requires]\nmodel_family = ""\n', "requires.model_family", "expected a text that is not empty"),
        ('[scoring]\nmode = ["none"]\n', "scoring.mode", "expected one of contains"),
        ('[scoring]\nmode = "contains"\n', "scoring.expected", "missing, expected a text: mode contains needs it"),
        ('[scoring]\nmode = "equals"\nexpected = 4\n', "scoring.expected", "is 4, expected a text"),
        ('[scoring]\nmode = "regex"\n', "scoring.pattern", "missing, expected a text"),
        ('[scoring]\nmode = "regex"\npattern = "a{99999999999999999999}"\n', "scoring.pattern", "regular expression"),
        ('[scoring]\nmode = "json-schema"\n', "scoring.schema", "missing, expected the path of a JSON file"),
        ('[scoring]\nmode = "none"\nenvironment = {}\n', "scoring.environment", "only under verify-script"),
        ('[scoring]\nmode = "none"\ntimeout_s = true\n', "scoring.timeout_s", "is true, expected a number above 0"),
        ('[scoring]\nmode = "none"\ntimeout_s = -1\n', "scoring.timeout_s", "is -1, expected a number above 0"),
        ('[scoring]\nmode = "none"\ntimeout_s = "3"\n', "scoring.timeout_s", 'is "3", expected a number above 0'),
        ('[scoring]\nmode = "none"\ntimeout_s = inf\n', "scoring.timeout_s", "is inf, expected a finite number"),
        ('[scoring]\nmode = "none"\ntimeout_s = nan\n', "scoring.timeout_s", "is nan, expected a finite number"),
        (
            '[scoring]\nmode = "verify-script"\nenvironment = { "A\\n" = "" }\n',
            "scoring.environment",
            "expected letters, digits and _",
        ),
    ],
)  # fmt: skip
def test_a_fault_names_table_key_and_value(tmp_path, lines, field, fragment):
    """Each of these is the manifest's only fault."""
    found, message = only(make_tiny(tmp_path, lines, a="a"))
    assert field == found
    assert fragment in message


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ('harness = { id = "fenced-patch", timeout_s = inf }', "cases.c.harness.timeout_s"),
        ('harness = { id = "fenced-patch", timeout_s = nan }', "cases.c.harness.timeout_s"),
        ('harness = { id = "fenced-patch", timeout_s = true }', "cases.c.harness.timeout_s"),
        ('harness = { id = "fenced-patch", timeout_s = "5" }', "cases.c.harness.timeout_s"),
        ("harness = { timeout_s = 5 }", "cases.c.harness.id"),
        ("harness = { id = 5 }", "cases.c.harness.id"),
        ('harness = "fenced-patch"', "cases.c.harness"),
    ],
)
def test_a_fault_of_a_harness_table(tmp_path, lines, field):
    """Its id is a known one, its time limit a finite number above 0, and there is no other key."""
    assert field == only(make_tiny(tmp_path, f"{REPO}{TASK}{lines}\n", **{"r/a": "a"}))[0]


@pytest.mark.parametrize(
    ("path", "fragment"),
    [
        ("", "expected a path inside the pack"),
        ("/etc/hostname", "relative to the pack"),
        ("../beside.md", "found one that leaves it"),
        ("out.md", "found one that leaves it"),
        ("round.md", "links that go in circles"),
        ("gone.md", "no such file"),
        ("dangling.md", "no such file"),
        ("a.md/b", "no such file"),
        ("folder", "expected a regular file"),
        ("pipe", "expected a regular file"),
        ("x" * 300, "cannot be read: File name too long"),
        ("a\\u0000.md", "control characters"),
        ("latin.md", "expected UTF-8 text, found byte 0xff at offset 1"),
    ],
)
def test_a_path_that_cannot_be_a_prompt(tmp_path, path, fragment):
    """It is refused by name, is never waited for, and nothing outside the pack is read."""
    files = {
        "a.md": "a",
        "folder/x": "x",
        "out.md": {"symlink": "../beside.md"},
        "round.md": {"symlink": "round.md"},
        "dangling.md": {"symlink": "nowhere"},
        "latin.md": {"b64": "Yf8="},
    }
    folder = make_tiny(tmp_path, f'[[cases]]\nid = "c"\nprompt_file = "{path}"\n', **files)
    write_inline(tmp_path, {"beside.md": "secret"})
    os.mkfifo(folder / "pipe")
    field, message = only(folder)
    assert "cases.c.prompt_file" == field
    assert fragment in message
    assert "secret" not in message


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        ("{", "expected JSON"),
        ('{"minimum": NaN}', "NaN is no JSON"),
        ("[" * 100000, "expected JSON"),
        ('{"type": "date"}', "expected a valid JSON Schema: $.type"),
        ('{"items": [{}]}', "expected a valid JSON Schema: $.items"),
        ('{"$ref": "#/$defs/gone"}', "expected references within the file, found '#/$defs/gone'"),
        ('{"$ref": "http://127.0.0.1:1/x"}', "found 'http://127.0.0.1:1/x'"),
        ('{"properties": {"a": {"$ref": "#/x"}}}', "found '#/x'"),
    ],
)
def test_a_schema_that_cannot_decide_is_a_fault(tmp_path, content, fragment):
    """A schema file is checked when the pack is read, without the network."""
    folder = make_tiny(tmp_path, '[scoring]\nmode = "json-schema"\nschema = "s.json"\n', **{"s.json": content})
    field, message = only(folder)
    assert "scoring.schema" == field
    assert fragment in message


def test_a_schema_with_references_of_its_own_is_fine(tmp_path):
    """`$defs`, `$id`, anchors, the drafts' own schema and words that only look like a reference."""
    schema = {
        "$defs": {"word": {"type": "string"}, "named": {"$anchor": "here"}, "part": {"$id": "part", "$ref": "#"}},
        "properties": {
            "a": {"$ref": "#/$defs/word"},
            "b": {"$ref": "#here"},
            "c": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
            "$ref": {"const": {"$ref": "#/nowhere"}},
        },
    }
    lines = f'[scoring]\nmode = "json-schema"\nschema = "s.json"\n{CASE}'
    pack = benchpack.load(make_tiny(tmp_path, lines, **{"s.json": json.dumps(schema)}))
    assert schema == pack.schema_of(pack.cases[0])


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        ({"b64": "YSA9IDEKYiA9ICL/Igo="}, "line 2: is not UTF-8"),
        ("\ufeff[pack]\n", "line 1: starts with a byte order mark"),
        ("a = [\n", "(expected valid TOML)"),
        ("x = " + "9" * 5000, "(expected valid TOML)"),
        ("x = " + "[" * 5000, "(expected valid TOML)"),
        ({"dir": True}, "expected a regular file"),
        ({"symlink": "nowhere"}, "cannot be read"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_one_fault(tmp_path, content, fragment):
    """The message has the file, and the line where there is one."""
    write_inline(tmp_path / "p", {"benchpack.toml": content})
    with pytest.raises(FaultsError) as caught:
        benchpack.load(tmp_path / "p")
    assert str(caught.value).startswith(f"{tmp_path}/p/benchpack.toml: ")
    assert fragment in str(caught.value)


def test_all_faults_come_at_once(tmp_path):
    """Those of the manifest and those of the files that it names."""
    folder = make_pack(tmp_path, files={"mend.md": {"b64": "/w=="}})
    edit(folder, "max_tokens = 5", "max_tokens = 0")
    edit(folder, 'path = "note.md"', 'path = "gone.md"')
    assert ["defaults.max_tokens", "fixtures.note.path", "cases.mend.prompt_file"] == [
        name for name, _ in faults_of(folder)
    ]


ODD = [
    None, True, -1, 1.0, float("nan"), 10**400, "", "\n", "../x", "a\0b", [], [1], [[]], {}, {"x": 1}, {"id": []},
    "repo-task",
]  # fmt: skip


def places(value, parts=()):
    yield parts
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*parts, key))


def test_no_value_anywhere_is_more_than_a_fault(tmp_path):
    """An odd value, or nothing, in place of each part of a manifest is loaded or refused, and never a crash."""
    import tomli

    folder = make_pack(tmp_path)
    whole = tomli.loads((folder / "benchpack.toml").read_text())
    refused = 0
    for parts in list(places(whole))[1:]:
        for odd in ODD:
            value = copy.deepcopy(whole)
            above = value
            for part in parts[:-1]:
                above = above[part]
            if odd is None:
                del above[parts[-1]]
            else:
                above[parts[-1]] = odd
            if reading.faults(value, folder):
                refused += 1
            else:
                benchpack.preflight(reading.build(value, folder))
    assert 400 < refused


# What stops a run


@pytest.mark.parametrize(
    ("lines", "field", "fragment"),
    [
        (REPO + TASK.replace('["r"]', "[]"), "cases.c.fixture_refs", "names 0 folders of kind repo"),
        (
            REPO + REPO.replace('"r"\n', '"s"\n', 1) + TASK.replace('["r"]', '["r", "s"]'),
            "cases.c.fixture_refs",
            "names 2 folders of kind repo",
        ),
        (
            REPO + REPO.replace('"r"\n', '"s"\n', 1).replace('"repo"', '"docs"') + TASK.replace('["r"]', '["r", "s"]'),
            "cases.c.fixture_refs",
            "names 's', a folder of kind 'docs', expected only files",
        ),
        (REPO.replace('path = "r"', 'path = "v.py"') + TASK, "cases.c.fixture_refs", "names 0 folders of kind repo"),
        (f"[defaults]\nwarmup = 1\n{REPO}{TASK}", "defaults.warmup", "is 1, expected 0"),
        (
            f'{REPO}{TASK}scoring = {{ mode = "verify-script", script = "../v.py" }}\n',
            "cases.c.scoring.script",
            "found one that leaves it",
        ),
        (
            f'{REPO}{TASK}scoring = {{ mode = "verify-script", script = "r" }}\n',
            "cases.c.scoring.script",
            "expected a regular file",
        ),
        (
            f'[scoring]\nmode = "verify-script"\nscript = "/v.py"\n{REPO}{TASK}',
            "scoring.script",
            "expected a path relative to the pack",
        ),
    ],
)
def test_a_pack_that_loads_and_cannot_be_run(tmp_path, lines, field, fragment):
    """Fixtures of repo-tasks, warmups and scripts are looked at before anything runs."""
    [(found, message)] = stops(make_tiny(tmp_path, lines, **{"r/a": "a", "v.py": ""}))
    assert field == found
    assert fragment in message


@pytest.mark.parametrize(
    ("links_in_r", "why"),
    [
        ({"l": "/etc"}, "is a link to '/etc', expected a relative one"),
        ({"l": "../v.py"}, "is a link to '../v.py', which leaves the folder"),
        ({"l": "sub/../../v.py"}, "is a link to 'sub/../../v.py', which leaves the folder"),
        ({"sub/l": "../../v.py"}, "is a link to '../../v.py', which leaves the folder"),
        ({"l": "l"}, "is a link to 'l', which goes in circles"),
        ({"l": "nowhere"}, None),
        ({"l": "sub"}, None),
        ({"sub/l": "../a"}, None),
        ({"sub/l": "../../r/a"}, None),
    ],
)
def test_links_of_a_repository_stay_inside(tmp_path, links_in_r, why):
    """Absolute ones, ways out and circles stop a run; a link to nothing inside and one to a folder do not."""
    files = {f"r/{name}": {"symlink": target} for name, target in links_in_r.items()}
    folder = make_tiny(tmp_path, REPO + TASK, **{"r/a": "a", "r/sub/b": "b", "v.py": ""}, **files)
    expected = [("", f"{why}: a workspace cannot hold it")] if why else []
    assert expected == stops(folder)


def test_a_link_over_a_link_that_leaves_is_found_too(tmp_path):
    """What a linked folder leads to counts, and each link has its fault."""
    files = {"r/a": "a", "r/out": {"symlink": "../.."}, "r/l": {"symlink": "out/x"}}
    folder = make_tiny(tmp_path, REPO + TASK, **files)
    assert ["l", "out"] == [name for name, _ in links.audit(folder / "r")]


def test_an_unused_repository_is_nobodys_business(tmp_path):
    """Links are looked at where a repo-task works on the folder; a fifo in it stops the run, too."""
    folder = make_tiny(tmp_path, REPO + CASE, **{"r/l": {"symlink": "/etc"}})
    assert [] == stops(folder)
    os.mkfifo(folder / "r/pipe")
    assert [
        ("l", "is a link to '/etc', expected a relative one"),
        ("pipe", "is neither a file, a folder nor a link"),
    ] == list(links.audit(folder / "r"))


# All packs of a folder


def test_packs_are_loaded_side_by_side(tmp_path):
    """A faulty pack, also one that only cannot be run, stops no other; hidden folders and files are passed over."""
    good, bad, stopped = (make_pack(tmp_path, name) for name in ("good", "bad", "stopped"))
    edit(bad, "max_tokens = 5", "max_tokens = 0")
    (stopped / "verify/mend.py").unlink()
    write_inline(tmp_path, {".hidden/benchpack.toml": "x", "empty/x": "x", "broken/benchpack.toml": "[", "file": "x"})
    loaded = benchpack.load_all(tmp_path)
    assert ["good"] == list(loaded.packs)
    assert {"bad": ["defaults.max_tokens"], "broken": ["line 1"], "stopped": ["cases.mend.scoring.script"]} == {
        name: [fault.field for fault in faults] for name, faults in loaded.faults.items()
    }
    cases = [f"{pack}/{case}" for pack in ("good", "stopped") for case in ("ask", "mend")]
    assert ("bad/ask", "bad/mend", "broken", *cases) == loaded.ids
    assert good == loaded.packs["good"].folder


def test_an_id_stands_in_one_folder(tmp_path):
    """A copy is to blame, and the folder that bears the name is not; without one, both are."""
    make_pack(tmp_path, "demo")
    make_pack(tmp_path, "copy")
    edit(tmp_path / "copy", '"copy"', '"demo"')
    loaded = benchpack.load_all(tmp_path)
    assert (["demo"], ["copy"]) == (list(loaded.packs), list(loaded.faults))
    (tmp_path / "demo").rename(tmp_path / "other")
    loaded = benchpack.load_all(tmp_path)
    assert ([], ["demo"], 2) == (list(loaded.packs), list(loaded.faults), len(loaded.faults["demo"]))


def test_a_folder_of_packs_that_is_not_there_has_none(tmp_path):
    """No packs and no faults."""
    loaded = benchpack.load_all(tmp_path / "nowhere")
    assert ({}, {}, ()) == (loaded.packs, loaded.faults, loaded.ids)


# check


def test_a_sound_pack_has_no_finding(tmp_path):
    """The pack that the other tests break has nothing to be said about."""
    assert [] == said(make_pack(tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "field", "fragment"),
    [
        ('id = "ask"', 'id = "ask"\nkind = "replay"', "cases.ask.kind", "sent as 'chat' is"),
        ('id = "ask"', 'id = "ask"\nkind = "completion"', "cases.ask.kind", "sent as 'chat' is"),
        ("max_tokens", "repetition = 3\nmax_tokens", "defaults.repetition", "'repetitions'"),
        ('kind = "context"', 'kind = "context"\npaht = 1', "fixtures.note.paht", "'path'"),
        ('id = "ask"', 'id = "ask"\nfixture_ref = []', "cases.ask.fixture_ref", "'fixture_refs'"),
        ("[defaults]", "[requires]\ngpu = true\n[defaults]", "requires.gpu", "nothing reads"),
        ("[defaults]", "[default]\n[defaults]", "default", "did you mean 'defaults'"),
        (
            'expected = "yes"',
            'expected = "yes", timeout_s = 3',
            "cases.ask.scoring.timeout_s",
            "nothing reads",
        ),
        (
            'mode = "verify-script", script = "verify/mend.py", timeout_s = 2, environment = { A = "x" }',
            'mode = "regex", pattern = "x"',
            "cases.mend.scoring.mode",
            "sees the answer but not the repository",
        ),
    ],
)  # fmt: skip
def test_a_warning_names_table_and_key(tmp_path, old, new, field, fragment):
    """Each of these is the pack's only finding, and no fault."""
    folder = make_pack(tmp_path)
    edit(folder, old, new)
    [(severity, where, found, message)] = said(folder)
    assert ("warning", "benchpack.toml", field) == (severity, where, found)
    assert fragment in message


def test_keys_that_are_not_in_the_manifest_are_judges_business(tmp_path):
    """A judge's table may hold anything that the judge knows."""
    folder = make_pack(tmp_path)
    edit(folder, 'mode = "contains", expected = "yes"', 'mode = "llm-judge", rubric = "kind"')
    assert [] == said(folder)


def test_an_empty_scoring_table_is_warned_of_where_the_packs_holds(tmp_path):
    """It looks like no scoring and is not."""
    lines = '[scoring]\nmode = "contains"\nexpected = "a"\n' + CASE + "scoring = {}\n"
    [(severity, _, field, message)] = said(make_tiny(tmp_path, lines, **{"oracle/c.md": "a"}))
    assert ("warning", "cases.c.scoring") == (severity, field)
    assert 'write mode = "none"' in message


@pytest.mark.parametrize(
    ("files", "without", "expected"),
    [
        ({}, "oracle/ask.md", ("warning", "oracle/ask.md", "missing: without a right answer")),
        ({}, "oracle/mend.diff", ("warning", "oracle/mend.md", "a .diff will do for a repo-task")),
        ({"oracle/mind.md": "x"}, None, ("warning", "oracle/mind.md", "belongs to no case")),
        ({"oracle/mend.md": "x"}, None, ("fault", "oracle/mend.md", "stands beside mend.diff")),
        ({"oracle/ask.md": {"b64": "/w=="}}, None, ("fault", "oracle/ask.md", "expected UTF-8 text")),
        ({"verify/mend.py": "def\n"}, None, ("fault", "verify/mend.py", "is not valid Python")),
        ({"repo/l": {"symlink": "../repo/a.txt"}}, None, ("warning", "repo/l", "by the folder's own name")),
    ],
)
def test_files_of_a_pack_are_looked_at(tmp_path, files, without, expected):
    """Right answers are there, one a case; scripts parse; links still lead somewhere in a copy."""
    folder = make_pack(tmp_path, files=files)
    if without:
        (folder / without).unlink()
    [(severity, path, _, message)] = said(folder)
    assert expected[:2] == (severity, path)
    assert expected[2] in message


def test_odd_cases_are_warned_of(tmp_path):
    """A pack without any, and two whose files some systems cannot tell apart."""
    assert [("warning", "benchpack.toml", "cases", "are missing, expected at least one")] == said(
        make_tiny(tmp_path, "")
    )
    both = CASE + CASE.replace('"c"', '"C"')
    assert ["cases.C.id"] == [field for _, _, field, _ in said(make_tiny(tmp_path / "two", both))]


def check(capsys, *words):
    code = cli.main(["check", *map(str, words)])
    return code, capsys.readouterr()


def test_check_takes_a_pack_its_manifest_or_a_tree(tmp_path, capsys):
    """Tasks inside a pack's fixtures are none, and a set may name packs and cases."""
    folder = make_pack(tmp_path / "packs", files={"repo/task.yaml": "x", "repo/sets/x.txt": "x"})
    write_inline(tmp_path, {"sets/mine.txt": "demo/ask\n", "sets/all.txt": "demo\n"})
    for path in (folder, folder / "benchpack.toml", tmp_path / "packs"):
        code, output = check(capsys, path)
        assert (0, "", "checked: 0 tasks, 1 packs, 0 sets, 0 faults, 0 warnings\n") == (code, output.out, output.err)
    code, output = check(capsys, tmp_path, "--packs-dir", tmp_path / "packs")
    assert (0, "checked: 0 tasks, 1 packs, 2 sets, 0 faults, 0 warnings\n") == (code, output.err)


def test_check_prints_faults_of_packs_as_json(tmp_path, capsys):
    """A line for each, exit code 1; a fault that only stops a run is among them."""
    edit(make_pack(tmp_path, "bad"), "max_tokens = 5", "max_tokens = 0")
    (make_pack(tmp_path, "stopped") / "verify/mend.py").unlink()
    (make_pack(tmp_path, "warned") / "oracle/ask.md").unlink()
    code, output = check(capsys, tmp_path, "--json")
    rows = [json.loads(line) for line in output.out.splitlines()]
    assert 1 == code
    assert [("defaults.max_tokens", "fault"), ("cases.mend.scoring.script", "fault"), ("", "warning")] == [
        (row["field"], row["severity"]) for row in rows
    ]
    assert {"path", "field", "message", "severity"} == set(rows[0])
    assert str(tmp_path / "bad/benchpack.toml") == rows[0]["path"]


# new


def test_a_skeleton_has_no_finding(tmp_path, capsys):
    """`regrade new` writes a pack with a question and a repository to mend, which `check` has nothing to say about."""
    assert 0 == cli.main(["new", "benchpack", "my-pack", "--dir", str(tmp_path)])
    assert str(tmp_path / "my-pack") == capsys.readouterr().out.splitlines()[0]
    code, output = check(capsys, tmp_path / "my-pack")
    assert (0, "") == (code, output.out)
    assert "0 warnings" in output.err
    assert ["my-pack"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("change", "passed"),
    [
        (None, False),
        ("oracle", True),
        ("raise SystemExit(0)", False),
        ("import os; os._exit(0)", False),
    ],
)
def test_the_skeletons_verifier_tells_right_from_wrong(tmp_path, change, passed):
    """The untouched repository fails, the oracle passes, and code that ends early passes nothing it has not said."""
    cli.main(["new", "benchpack", "demo", "--dir", str(tmp_path)])
    pack = tmp_path / "demo"
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "shop.py").write_bytes((pack / "fixtures/shop/shop.py").read_bytes())
    if change == "oracle":
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path)}
        words = ["git", "apply", str(pack / "oracle/total.diff")]
        subprocess.run(words, cwd=workspace, check=True, env=environment)
    elif change:
        (workspace / "shop.py").write_text(f"{change}\n")
    words = ["--workspace", str(workspace), "--case", "total", "--output", str(tmp_path / "out.json")]
    done = subprocess.run([sys.executable, pack / "verify/total.py", *words], cwd=pack, capture_output=True)
    assert passed == (done.returncode == 0)
    assert passed == (json.loads((tmp_path / "out.json").read_text())["wrong"] == [])


@pytest.mark.parametrize("name", ["", "a.b", "-a", "../x", "a b", "a\n"])
def test_a_name_that_cannot_be_a_packs_is_misuse(tmp_path, capsys, name):
    """It is refused with what was expected, and nothing is written."""
    assert 2 == cli.main(["new", "benchpack", "--dir", str(tmp_path), "--", name])
    assert "expected letters, digits, _ and -" in capsys.readouterr().err
    assert [] == list(tmp_path.iterdir())
