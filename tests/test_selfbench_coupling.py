"""Names that hidden tests assert and only the solution says."""

import json
import subprocess

import pytest

from regrade import cli
from regrade.errors import RegradeError
from regrade.formats.selfbench.candidates import candidates
from regrade.formats.selfbench.coupling import gather, resolve
from regrade.formats.selfbench.repository import opened
from selfbench_tasks import task, vectors, write


def patch(path, *lines):
    """A patch that adds lines to a file."""
    body = "".join(f"+{line}\n" for line in lines)
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}"


def names(*lines):
    return [(found.category, found.artifact) for found in candidates(patch("tests/t.py", *lines).encode())]


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in vectors("coupling")])
def test_vectors(row, tmp_path):
    """Candidates with their places, and the evidence that is left of them."""
    found = task(tmp_path, row["testPatch"], row["goldPatch"], prompt=row["prompt"])
    assert row["candidates"] == [
        {"artifact": one.artifact, "category": one.category, "testLocations": list(one.locations)}
        for one in candidates(found.test_patch)
    ]
    assert row["evidence"] == gather(found, row["baseArtifacts"].__contains__).report


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('client.post("http://localhost:8000/v2/jobs?x=1")', [("endpoint_path", "/v2/jobs"), ("field_name", "post")]),
        ("get('GET /v2/jobs/{id}')", [("endpoint_path", "/v2/jobs/{id}")]),
        ('{"retry_after": 3}', [("field_name", "retry_after")]),
        ("expect(x).toEqual({ retryAfter: 3 })", [("field_name", "toEqual"), ("field_name", "retryAfter")]),
        ('assert "retry_after" not in body', [("field_name", "retry_after")]),
        ('hasattr(job, "retry_after")', [("field_name", "retry_after")]),
        ("a?.retryAfter", [("field_name", "retryAfter")]),
        ('"x-rate-limit"', [("header_name", "x-rate-limit")]),
        ('"Retry-After"', [("header_name", "Retry-After")]),
        ("src/text/plain.py and a.b and 1.25", []),
    ],
)
def test_shapes_of_names(line, expected):
    """Paths, members and keys, headers, media types; not what only looks like one."""
    assert expected == names(line)


def test_places_are_lines_of_the_patch():
    """All of them, once each; lines that are removed or only shown do not count."""
    text = (
        patch("a", "x.total", "y.total x.total")
        + "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n x.total\n-x.total\n+x.total\n"
    )
    [found] = candidates(text.encode())
    assert ("a:patch-line-5", "a:patch-line-6", "b:patch-line-13") == found.locations


def review(*dispositions, verdict="independent"):
    findings = [{"artifact": "routing_strategy", "disposition": disposition} for disposition in dispositions]
    return {"verdict": verdict, "reason": "because", "findings": findings}


@pytest.fixture
def evidence(tmp_path):
    """Evidence with one name that blocks."""
    found = task(tmp_path, patch("tests/t.py", "x.routing_strategy"), patch("src/a.py", "routing_strategy = 1"))
    return gather(found, lambda _: False)


def test_the_resolution_of_the_vector(evidence):
    """A review that finds a task coupled is believed."""
    [row] = vectors("couplingResolution")
    assert row["resolution"] == resolve(evidence, row["review"])


@pytest.mark.parametrize(
    ("said", "verdict", "missing", "gold_only"),
    [
        (review("not_contract"), "independent", [], []),
        (review(), "coupled", ["routing_strategy"], []),
        (review("gold_only"), "coupled", [], ["routing_strategy"]),
    ],
)
def test_a_review_cannot_pass_over_a_blocking_name(said, verdict, missing, gold_only, evidence):
    """Nor call it gold-only and find the task independent."""
    expected = {"verdict": verdict, "reason": "because", "missingArtifacts": missing, "goldOnlyArtifacts": gold_only}
    assert expected == resolve(evidence, said)


@pytest.mark.parametrize("value", [[], {"verdict": "x"}, {**review(), "findings": [3]}, {**review(), "reason": None}])
def test_a_review_of_another_form_is_refused(value, evidence):
    """With one line."""
    with pytest.raises(RegradeError, match=r"^coupling review: .*expected"):
        resolve(evidence, value)


def git(folder, *words):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """A repository whose base commit has a few names, and a later one with more."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a.py").write_text('known_name = "/v1/known"\nx_known = 1\n$dollar{}\n')
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "base")
    (folder / "a.py").write_text("routing_strategy = 1\n")
    git(folder, "commit", "-qam", "later")
    return folder


def test_the_base_commit_is_asked_and_not_the_newest(repository):
    """For names as wholes, of a clone and of a bundle alike."""
    commit = git(repository, "rev-parse", "HEAD~1")
    git(repository, "bundle", "create", "-q", "../all.bundle", "--all")
    asked = ["known_name", "known", "/v1/known", "routing_strategy", "$dollar{}", "/v1"]
    for place in (repository, repository.parent / "all.bundle"):
        with opened(place, commit) as base:
            assert [True, True, True, False, True, True] == [base.holds(name) for name in asked]


def test_the_command(repository, tmp_path, capsys):
    """Prints evidence; ends with 1 if a name blocks, unless a review speaks for it."""
    commit = git(repository, "rev-parse", "HEAD~1")
    tests, gold = (
        patch("tests/t.py", "x.routing_strategy", "x.known_name"),
        patch("a.py", "routing_strategy known_name"),
    )
    folder = write(tmp_path / "task", tests, gold, baseCommit=commit)
    arguments = ["coupling", str(folder), "--repo", str(repository)]
    assert 1 == cli.main([*arguments, "--json"])
    report = json.loads(capsys.readouterr().out)
    assert [("routing_strategy", False), ("known_name", True)] == [
        (found["artifact"], found["presentInBase"]) for found in report["artifacts"]
    ]
    blocker = 'held-out tests assert gold-only field_name "routing_strategy" at tests/t.py:patch-line-5'
    assert [blocker] == report["blockers"]
    assert 1 == cli.main(arguments)
    assert f"{blocker}\n2 names in hidden tests and solution, 1 blockers\n" == capsys.readouterr().out
    (tmp_path / "review.json").write_text(json.dumps(review("not_contract")))
    assert 0 == cli.main([*arguments, "--review", str(tmp_path / "review.json")])
    assert "independent: because\n" == capsys.readouterr().out


@pytest.mark.parametrize("place", ["nowhere", "empty", "file"])
def test_a_repository_that_cannot_be_read_ends_in_one_line(place, tmp_path, capsys):
    """And so does one without the base commit."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("no bundle")
    assert 1 == cli.main(["coupling", str(write(tmp_path / "task")), "--repo", str(tmp_path / place)])
    [line] = capsys.readouterr().err.splitlines()
    assert str(tmp_path / place) in line
