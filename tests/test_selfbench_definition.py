"""SelfBench definitions: which are sound, what is said about the others, and the text that their digest is made of."""

import json
import re
import shutil
import subprocess

import pytest

from regrade.errors import FaultsError
from regrade.formats.selfbench import canonical, digest, parse, pretty
from regrade.formats.selfbench.javascript import joined, number, order, stringify, trimmed
from regrade.formats.selfbench.urls import is_url
from selfbench_tasks import definition, vectors

UNKNOWN_KEYS = {"extra.timeouts", "extra.resources", "extra.candidateId", "raw.__proto__"}
"""Vectors that the format's tool lets pass, and we refuse: no unknown key, at no level."""


def faults_of(text):
    with pytest.raises(FaultsError) as caught:
        parse(text, "definition.json")
    return [(fault.field, fault.message) for fault in caught.value.faults]


def only(**changes):
    [(field, message)] = faults_of(json.dumps(definition(**changes)))
    return f"{field}: {message}"


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"][:40]) for row in vectors("schema")])
def test_vectors(row):
    """A definition is taken if the format's own schema takes it, and comes out in its canonical form."""
    if not row["zod"]["accepted"] or row["id"] in UNKNOWN_KEYS:
        assert faults_of(row["json"])
        return
    found, _ = parse(row["json"], "definition.json")
    assert row["normalized"] == canonical(found)
    assert row["definitionSha256"] == digest(found)
    assert canonical(found) == canonical(parse(pretty(found), "again")[0])


def test_the_unknown_keys_of_the_vectors_are_named():
    """With the nearest key that there is."""
    rows = {row["id"]: row for row in vectors("schema")}
    found = {name: faults_of(rows[name]["json"])[0] for name in sorted(UNKNOWN_KEYS)}
    assert ("timeouts.buildSeconds", "unknown key; did you mean 'setupSeconds'?") == found["extra.timeouts"]
    assert ["candidateId", "resources.gpus", "timeouts.buildSeconds", "__proto__"] == [
        field for field, _ in found.values()
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"taskId": "a\n"},
            'taskId: is "a\\n", expected a letter or digit, then letters, digits, dots, underscores and',
        ),
        ({"baseCommit": "0" * 40 + "\n"}, "expected a full commit SHA (40 hexadecimal digits)"),
        ({"baseCommit": "0" * 39}, "expected a full commit SHA (40 hexadecimal digits)"),
        ({"taskId": "ä"}, 'is "ä"'),
        ({"schemaVersion": True}, "schemaVersion: is true, expected the number 1"),
        ({"sourcePr": 2**53}, "sourcePr: is 9007199254740992, expected a whole number from 1 to 9007199254740991"),
        ({"resources": 3}, "resources: is 3, expected an object with cpus, memoryMb and storageMb"),
        ({"toolchains": ["deno"]}, 'toolchains.0: is "deno", expected one of uv, bun, go, node, python, rust'),
        ({"testCommand": "pytest"}, 'testCommand: is "pytest", expected a command that must contain "{tests}"'),
        ({"prompt": "x" * 200, "workdir": ["x"]}, "workdir: is a list, expected a folder"),
    ],
)
def test_a_fault_names_field_value_and_what_was_expected(changes, message):
    """On one line."""
    assert message in only(**changes)


def test_every_fault_is_named():
    """Not only the first."""
    text = json.dumps({**definition(failToPass=[], passToPass=["a", 3]), "timeouts": {"setupSeconds": 1.5}})
    assert [
        "failToPass",
        "passToPass.1",
        "timeouts.setupSeconds",
        "timeouts.agentSeconds",
        "timeouts.testsSeconds",
    ] == [field for field, _ in faults_of(text)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xef\xbb\xbf{}", "starts with a byte order mark, expected plain UTF-8: remove it"),
        (b"\xff", "is not UTF-8 at byte 0, expected UTF-8 text"),
        (b"[" * 100_000, "is nested too deeply, expected a definition"),
        (b'{"a": NaN}', "is no JSON: NaN is no number of JSON"),
        (b"", "is no JSON: Expecting value"),
        (b"[]", "is an empty list, expected an object with the fields of a definition"),
        (b"1" * 10_000, "is too large a number, expected an object with the fields of a definition"),
    ],
)
def test_what_is_no_definition_at_all(content, message):
    """One line each, whatever the bytes are."""
    [(_, found)] = faults_of(content)
    assert message == found


def test_of_a_repeated_key_the_last_counts_with_a_warning():
    """At every level."""
    text = json.dumps(definition()).replace('"memoryMb": 8192', '"memoryMb": 1, "memoryMb": 2')
    found, warnings = parse(text, "d.json")
    assert 2 == found.resources.memory_mb
    assert ["d.json: resources.memoryMb: warning: stands more than once: the last one counts"] == [
        str(warning) for warning in warnings
    ]


def test_numbers_are_those_of_javascript():
    """9e2 is a whole number, 0.5 cpus are fine, and 4.0 is written 4."""
    text = json.dumps(definition()).replace("2400", "9e2").replace('"cpus": 4', '"cpus": 4.0')
    found, _ = parse(text, "d.json")
    assert (900, '"cpus":4,') == (found.timeouts.agent_seconds, re.search('"cpus":[^,]*,', canonical(found))[0])
    small, _ = parse(json.dumps(definition(resources={"cpus": 1e-7, "memoryMb": 1, "storageMb": 1})), "d.json")
    assert '"cpus":1e-7,' in canonical(small)


def test_number():
    """The shortest digits, and an exponent from 1e21 and below 1e-6 only."""
    values = [0.0, 4.0, 0.5, 1e-6, 1e-7, 1.25e-9, 1e20, 1e21, 1.5e300, 123456789012345680000.0, -2.5]
    expected = ["0", "4", "0.5", "0.000001", "1e-7", "1.25e-9", "100000000000000000000", "1e+21", "1.5e+300"]
    assert [*expected, "123456789012345680000", "-2.5"] == [number(value) for value in values]


def test_stringify_escapes_lone_surrogates_only():
    """Everything else that JSON allows stays raw; an empty list has no lines in it."""
    assert '["é\u2028\U0001f600\\ud800\\u0001\\""]' == stringify(['é\u2028\U0001f600\ud800\x01"'])
    assert '{\n  "a": [],\n  "b": [\n    1\n  ]\n}' == stringify({"a": [], "b": [1]}, indent=2)


def test_trimmed_knows_other_blanks_than_python():
    """The byte order mark is one, the separators of files and records are none."""
    assert "\x1fa\x85" == trimmed("\ufeff\u00a0 \x1fa\x85\u3000\n")


def test_order_is_that_of_utf_16():
    """An emoji stands before U+FF5E."""
    assert ["Z", "a", "\U0001f600", "\uff5e"] == sorted(["\uff5e", "a", "\U0001f600", "Z"], key=order)


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        (("pkg/", "tests/"), "pkg/tests/"),
        ((".", "."), "."),
        (("a", "../../b"), "../b"),
        (("", ""), "."),
        (("/a", "../../b"), "/b"),
        (("./", ""), "./"),
    ],
)
def test_joined(parts, path):
    """Paths as the format's tool joins them."""
    assert path == joined(*parts)


ADDRESSES = [
    *("http:foo", "https:///x", "c:/x", "mailto:", "file:", "foo://", "http://0x7f.1", "http://[::1]:80", "foo:x y"),
    *("http://a%20b", "http://256.1.1.1", "http://09", "https://h:65536", "//h", "https://", "http://u@:1/x"),
    *("http://\uff11\uff12\uff17.0.0.1", "http://[::g]", "file://h:80/x", "foo://h x", "http:\\\\h\\x", "http://a:b:c"),
]


def test_addresses():
    """The first nine are URLs, as are the one in full-width digits and the one with backslashes."""
    assert [True] * 9 + [False] * 7 + [True, False, False, False, True, False] == [is_url(url) for url in ADDRESSES]


@pytest.mark.skipif(not shutil.which("node"), reason="needs node to compare with")
def test_addresses_are_read_as_node_reads_them():
    """The same answer for each."""
    program = (
        "const reads = u => { try { return !!new URL(u) } catch { return false } };"
        "console.log(JSON.stringify(JSON.parse(process.argv[1]).map(reads)))"
    )
    done = subprocess.run(["node", "-e", program, json.dumps(ADDRESSES)], capture_output=True, check=True)
    assert json.loads(done.stdout) == [is_url(url) for url in ADDRESSES]
