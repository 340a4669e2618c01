"""Set files: which lines they may have, and what is said about the others."""

import pytest

from regrade import sets
from regrade.errors import FaultsError, RegradeError


def known_ids(**ids):
    """Ids by format, each with the collection that it starts with."""
    joints = {"artifact": "__", "benchpack": "/", "selfbench": "-"}
    return {kind: {name: name.split(joints[kind])[0] for name in names} for kind, names in ids.items()}


KNOWN = known_ids(
    artifact=["algorithmic__graph_easy", "algorithmic__knapsack_hard", "enumeration__rooms_easy"],
    selfbench=["tidy-dates", "enumeration__rooms_easy"],
)
ARTIFACTS = {"artifact": KNOWN["artifact"]}


def write(tmp_path, content, name="demo.txt"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def faults_of(path, known=ARTIFACTS):
    with pytest.raises(FaultsError) as caught:
        sets.read_set(path, known)
    assert {str(path)} == {fault.path for fault in caught.value.faults}
    return [(fault.field, fault.message) for fault in caught.value.faults]


def test_ids_come_in_the_order_of_the_file(tmp_path):
    """Blank lines and comments, at the start or after a blank, say nothing."""
    path = write(
        tmp_path, "# a comment\n\nenumeration__rooms_easy  # the first\n  algorithmic__graph_easy\t#second\n   # none\n"
    )
    expected = [("artifact", "enumeration__rooms_easy"), ("artifact", "algorithmic__graph_easy")]
    assert expected == sets.read_set(path, ARTIFACTS)


def test_foreign_line_ends_and_a_byte_order_mark_are_accepted(tmp_path):
    """CRLF, lone CR, a byte order mark and a missing last line end change nothing."""
    path = write(
        tmp_path, b"\xef\xbb\xbfalgorithmic__graph_easy\r\nenumeration__rooms_easy\ralgorithmic__knapsack_hard"
    )
    assert 3 == len(sets.read_set(path, ARTIFACTS))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("artifact:*", list(KNOWN["artifact"])),
        ("artifact:algorithmic/*", list(KNOWN["artifact"])[:2]),
        ("artifact:enumeration__rooms_easy", list(KNOWN["artifact"])[2:]),
    ],
)
def test_selectors(tmp_path, line, expected):
    """A selector names a format's ids, a collection's, or one id of a format."""
    assert [("artifact", name) for name in expected] == sets.read_set(write(tmp_path, line), ARTIFACTS)


def test_an_id_of_two_formats_needs_its_format(tmp_path):
    """It is a fault until it is written with one."""
    [(field, message)] = faults_of(write(tmp_path, "enumeration__rooms_easy\n"), KNOWN)
    assert "line 1" == field
    assert "artifact:enumeration__rooms_easy or selfbench:enumeration__rooms_easy" in message
    path = write(tmp_path, "selfbench:enumeration__rooms_easy\ntidy-dates\n")
    assert [("selfbench", "enumeration__rooms_easy"), ("selfbench", "tidy-dates")] == sets.read_set(path, KNOWN)


@pytest.mark.parametrize(
    ("line", "fragments"),
    [
        ("algorithmic__graph_esy", ["unknown id 'algorithmic__graph_esy'", "'algorithmic__graph_easy'"]),
        ("artifact:enumeration__room_easy", ["unknown id", "'enumeration__rooms_easy'"]),
        ("zzz", ["unknown id 'zzz'", "3 ids"]),
        ("artefact:*", ["unknown format 'artefact'", "artifact"]),
        ("artifact:algoritmic/*", ["selects nothing", "'algorithmic'"]),
        ("artifact:algo*", ["no selector", "artifact:COLLECTION/*"]),
        ("artifact:*/*", ["no selector"]),
        ("algorithmic__graph_easy enumeration__rooms_easy", ["one id a line"]),
        ("algorithmic__graph_easy#x", ["unknown id"]),
    ],
)
def test_a_line_that_names_nothing_is_a_fault(tmp_path, line, fragments):
    """The message names the line, what stands there, and the nearest that exists."""
    [(field, message)] = faults_of(write(tmp_path, f"# first\n{line}\n"))
    assert "line 2" == field
    for fragment in fragments:
        assert fragment in message


@pytest.mark.parametrize(
    "lines",
    [
        ["algorithmic__graph_easy", "algorithmic__graph_easy"],
        ["algorithmic__graph_easy", "artifact:algorithmic__graph_easy"],
        ["artifact:algorithmic/*", "algorithmic__graph_easy"],
        ["algorithmic__graph_easy", "artifact:*"],
    ],
)
def test_a_task_named_twice_is_a_fault(tmp_path, lines):
    """Also when a selector is one of the two; the message has both lines."""
    [(field, message)] = faults_of(write(tmp_path, "\n".join(lines)))
    assert "line 2" == field
    assert "repeats 'algorithmic__graph_easy' (line 1)" in message


def test_all_faults_of_a_set_come_at_once(tmp_path):
    """Every bad line has its fault, in order."""
    path = write(tmp_path, "one\nenumeration__rooms_easy\ntwo\nenumeration__rooms_easy\n")
    assert ["line 1", "line 3", "line 4"] == [field for field, _ in faults_of(path)]


def test_a_set_without_a_task_is_a_fault(tmp_path):
    """A file of comments makes no benchmark."""
    assert [("", "names no task, expected an id a line")] == faults_of(write(tmp_path, "# later\n"))


def test_a_file_that_is_no_text_is_a_fault(tmp_path):
    """Bytes that are not UTF-8 are refused with their line; a file that is not there too."""
    assert [("line 2", "is not UTF-8, expected UTF-8 text")] == faults_of(write(tmp_path, b"# fine\n\xff\xfe\n"))
    assert "cannot be read" in faults_of(tmp_path / "nowhere.txt")[0][1]


@pytest.mark.parametrize("name", ["runs", "checks", "harbor", "tasks", "cache", "two words", ".hidden"])
def test_names_that_are_no_set_names(tmp_path, name):
    """Names of other folders of the results, and odd ones, are refused."""
    [(_, message)] = faults_of(write(tmp_path, "artifact:*\n", f"{name}.txt"))
    assert f"{name!r} is no set name" in message


def test_a_set_is_found_by_name(tmp_path):
    """An unknown name is refused with the nearest there is."""
    path = write(tmp_path, "artifact:*\n", "seed-v1.txt")
    assert path == sets.path_of(tmp_path, "seed-v1")
    with pytest.raises(RegradeError, match="no set 'seed-v2'; did you mean 'seed-v1'"):
        sets.path_of(tmp_path, "seed-v2")


PACKS = known_ids(artifact=KNOWN["artifact"], benchpack=["smoke/one", "smoke/two", "sweep/one", "broken"])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("smoke", ["smoke/one", "smoke/two"]),
        ("smoke/two", ["smoke/two"]),
        ("benchpack:smoke", ["smoke/one", "smoke/two"]),
        ("benchpack:smoke/one", ["smoke/one"]),
        ("benchpack:smoke/*", ["smoke/one", "smoke/two"]),
        ("benchpack:*", list(PACKS["benchpack"])),
        ("broken", ["broken"]),
    ],
)
def test_packs_and_cases_are_named(tmp_path, line, expected):
    """A pack stands for its cases in their order, beside tasks of another format."""
    path = write(tmp_path, f"enumeration__rooms_easy\n{line}\n")
    pairs = [("artifact", "enumeration__rooms_easy"), *(("benchpack", name) for name in expected)]
    assert pairs == sets.read_set(path, PACKS)


@pytest.mark.parametrize(
    ("line", "fragments"),
    [
        ("smoke/three", ["unknown id 'smoke/three'", "did you mean 'smoke/"]),
        ("smok", ["unknown id 'smok'", "did you mean 'smoke'"]),
        ("smoke/*", ["unknown id 'smoke/*'"]),
        ("benchpack:smok/*", ["selects nothing", "'smoke'"]),
        ("artifact:smoke", ["unknown id 'smoke'"]),
        ("algorithmic", ["unknown id 'algorithmic'"]),
        ("broken/one", ["the cases of 'broken' cannot be read"]),
    ],
)
def test_a_pack_or_case_that_is_not_there_is_a_fault(tmp_path, line, fragments):
    """A category is named by a selector alone; a pack whose manifest is broken is spoken of as such."""
    [(_, message)] = faults_of(write(tmp_path, line), PACKS)
    for fragment in fragments:
        assert fragment in message


def test_a_case_named_beside_its_pack_is_a_fault(tmp_path):
    """The message has both lines."""
    [(field, message)] = faults_of(write(tmp_path, "smoke/two\nsmoke\n"), PACKS)
    assert ("line 2", "'smoke' repeats 'smoke/two' (line 1), expected each id once") == (field, message)


def test_a_pack_with_the_name_of_a_task_needs_its_format(tmp_path):
    """An id that is a task's and a pack's is a fault until it is written with its format."""
    known = known_ids(artifact=["a__b"], benchpack=["a__b/c"])
    [(_, message)] = faults_of(write(tmp_path, "a__b"), known)
    assert "expected artifact:a__b or benchpack:a__b" in message
    assert [("benchpack", "a__b/c")] == sets.read_set(write(tmp_path, "benchpack:a__b"), known)
