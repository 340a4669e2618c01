"""Reading artifact tasks: sound ones load, and every fault of every manifest is named at once."""

import os
import shutil
import time
from pathlib import Path

import pytest

from artifact_support import edit, make_generator_task, make_task
from regrade.errors import FaultsError, UsageError
from regrade.formats import artifact
from regrade.formats.artifact.load import pick


def faults_of(folder, **options):
    with pytest.raises(FaultsError) as caught:
        artifact.load(folder, **options)
    found = {}
    for fault in caught.value.faults:
        found[fault.field] = f"{found[fault.field]}; {fault.message}" if fault.field in found else fault.message
    return found


def test_a_sound_task_is_read_with_every_field(tmp_path):
    """All fields of a manifest stand in the task, and optional ones are None or empty when left out."""
    folder = make_task(tmp_path)
    task = artifact.load(folder)
    assert ("algorithmic__demo", "algorithmic", "demo", "easy") == (task.id, task.category, task.slug, task.difficulty)
    assert folder / "prompt.md" == task.prompt
    assert folder / "workspace" == task.workspace
    assert "output/answer.txt" == task.output_artifact
    assert (None, None, ()) == (task.verifier, task.generator, task.tags)
    assert (0, 0) == (task.max_code_runs, task.max_wall_seconds)


def test_optional_fields_are_read(tmp_path):
    """A verifier, a generator and tags are taken over when a manifest has them."""
    folder = make_generator_task(tmp_path, "", **{"workspace/verify.py": "x = 1\n"})
    edit(folder, "difficulty: easy", "difficulty: hard\ntags: [one, two]\nstructural_verifier: workspace/verify.py")
    task = artifact.load(folder)
    assert (folder / "workspace/verify.py", folder / "workspace/generator.py") == (task.verifier, task.generator)
    assert (("one", "two"), "hard") == (task.tags, task.difficulty)


def test_tags_left_empty_are_no_tags(tmp_path):
    """`tags:` without a value is the same as none."""
    assert () == artifact.load(make_task(tmp_path, extra="tags:\n")).tags


@pytest.mark.parametrize(
    ("old", "new", "field", "fragments"),
    [
        ("difficulty: easy", "difficulty: easy\ncolour: red", "colour", ["unknown field", "difficulty"]),
        ("  max_code_runs: 0", "  max_code_runs: 0\n  max_tokens: 1", "execution_budget.max_tokens", ["unknown field"]),
        ("difficulty: easy\n", "", "difficulty", ["missing required field"]),
        ("  max_code_runs: 0\n", "", "execution_budget.max_code_runs", ["missing required field", "int >= 0"]),
        ("difficulty: easy", "difficulty: tricky", "difficulty", ["difficulty must be", "easy", "'tricky'"]),
        ("difficulty: easy", "difficulty: 3", "difficulty", ["difficulty must be", "3"]),
        ("max_code_runs: 0", "max_code_runs: -1", "execution_budget.max_code_runs", ["must be int >= 0", "-1"]),
        ("max_code_runs: 0", "max_code_runs: true", "execution_budget.max_code_runs", ["must be int >= 0", "True"]),
        ("max_code_runs: 0", "max_code_runs: 2.0", "execution_budget.max_code_runs", ["must be int >= 0", "2.0"]),
        ("max_code_runs: 0", "max_code_runs: '2'", "execution_budget.max_code_runs", ["must be int >= 0", "'2'"]),
        ("max_wall_seconds: 0", "max_wall_seconds:", "execution_budget.max_wall_seconds", ["int >= 0", "nothing"]),
        ("instance_id: algorithmic", "instance_id: enumeration", "instance_id", ["category prefix mismatch"]),
        ("instance_id: algorithmic__demo", 'instance_id: "algorithmic__demo\\n"', "instance_id", ["\\n"]),
        ("instance_id: algorithmic__demo", "instance_id: algorithmic__Demo", "instance_id", ["small letters"]),
        ("instance_id: algorithmic__demo", "instance_id: algorithmic_demo", "instance_id", ["<category>__<slug>"]),
        ("instance_id: algorithmic__demo", "instance_id: algorithmic__other", "instance_id", ["'other'", "'demo'"]),
        ("instance_id: algorithmic__demo", "instance_id: 7", "instance_id", ["must be a string", "7"]),
        ("category: algorithmic", "category: algorithms", "category", ["unknown category", "algorithmic"]),
        ("category: algorithmic", "category: enumeration", "category", ["'algorithmic'"]),
        ("difficulty: easy", "difficulty: easy\ntags: one", "tags", ["a list of strings", "'one'"]),
        ("difficulty: easy", "difficulty: easy\ntags: [one, 2]", "tags.1", ["a string", "2"]),
        ("difficulty: easy", "difficulty: easy\nworkspace_generator: 3", "workspace_generator",
         ["workspace_generator must be a string", "3"]),
        ("difficulty: easy", "difficulty: easy\nstructural_verifier:", "structural_verifier", ["a string", "leave"]),
        ("difficulty: easy", "difficulty: easy\ndifficulty: hard", "line 4", ["duplicate key", "'difficulty'"]),
        ("difficulty: easy", "difficulty: {easy", "line 4", ["expected"]),
        ("difficulty: easy", "\tdifficulty: easy", "line 3", ["tab"]),
    ],
)  # fmt: skip
def test_a_fault_names_field_value_and_expectation(tmp_path, old, new, field, fragments):
    """Each fault of a manifest is found under its field, with what was found and what was expected."""
    folder = make_task(tmp_path)
    edit(folder, old, new)
    faults = faults_of(folder)
    assert field in faults
    for fragment in fragments:
        assert fragment in faults[field]


@pytest.mark.parametrize(
    ("field", "value", "fragment"),
    [
        ("output_artifact", ".", "inside the workspace"),
        ("output_artifact", "''", "expected a path"),
        ("output_artifact", "output/", "a file inside"),
        ("output_artifact", "../answer.txt", "'..'"),
        ("output_artifact", "/tmp/answer.txt", "relative"),
        ("output_artifact", '"answer.txt\\n"', "line ends"),
        ("problem_statement", "missing.md", "no such file"),
        ("problem_statement", "workspace", "a regular file"),
        ("problem_statement", "/etc/passwd", "relative"),
        ("problem_statement", "../demo/prompt.md", "'..'"),
        ("workspace_dir", ".", "folder of its own"),
        ("workspace_dir", "grader", "folder of its own"),
        ("workspace_dir", "nowhere", "no such folder"),
        ("workspace_dir", "prompt.md", "found a file"),
        ("hidden_grader", "grader/grade.py", "grader/hidden.py"),
        ("hidden_grader", "hidden.py", "grader/hidden.py"),
        ("reference_output", "workspace/data.csv", "agent"),
        ("reference_output", "grader", "a regular file"),
    ],
)
def test_a_path_stays_inside_and_leads_somewhere(tmp_path, field, value, fragment):
    """A path that is absolute, goes up, leads nowhere or to the wrong kind of thing is refused."""
    folder = make_task(tmp_path)
    lines = (folder / "task.yaml").read_text().splitlines()
    lines = [f"{field}: {value}" if line.startswith(f"{field}:") else line for line in lines]
    (folder / "task.yaml").write_text("\n".join(lines) + "\n")
    assert fragment in faults_of(folder)[field]


def test_a_generator_lies_below_the_workspace_folder(tmp_path):
    """A generator beside the manifest is refused."""
    folder = make_task(tmp_path, files={"generator.py": "x = 1\n"}, extra="workspace_generator: generator.py\n")
    assert "below the workspace folder" in faults_of(folder)["workspace_generator"]


def test_a_link_that_leaves_the_task_is_refused(tmp_path):
    """A prompt, a grader's folder or a workspace that is a link to a place outside is a fault."""
    folder = make_task(tmp_path / "tasks")
    outside = tmp_path / "outside"
    shutil.move(folder / "grader", outside)
    (folder / "grader").symlink_to(outside)
    (folder / "prompt.md").unlink()
    (folder / "prompt.md").symlink_to("/etc/hostname")
    faults = faults_of(folder)
    assert ["hidden_grader", "problem_statement", "reference_output"] == sorted(faults)
    assert all("leaves it" in message for message in faults.values())


def test_a_link_inside_the_task_is_followed(tmp_path):
    """A prompt that is a link to another file of the task loads."""
    folder = make_task(tmp_path, files={"text/prompt.md": "Do it.\n"})
    (folder / "prompt.md").unlink()
    (folder / "prompt.md").symlink_to("text/prompt.md")
    assert "Do it.\n" == artifact.load(folder).prompt.read_text()


def test_a_fifo_as_manifest_is_a_fault_and_not_a_wait(tmp_path):
    """A task.yaml that is no regular file is refused without being opened."""
    folder = make_task(tmp_path)
    (folder / "task.yaml").unlink()
    os.mkfifo(folder / "task.yaml")
    assert {"": "expected a regular file"} == faults_of(folder)


def test_a_byte_order_mark_is_a_fault(tmp_path):
    """A manifest that starts with a byte order mark is refused by that name."""
    folder = make_task(tmp_path)
    (folder / "task.yaml").write_bytes(b"\xef\xbb\xbf" + (folder / "task.yaml").read_bytes())
    assert "byte order mark" in faults_of(folder)["line 1"]


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words\n"])
def test_a_manifest_that_is_no_mapping_is_a_fault(tmp_path, text):
    """An empty file, a list and a sentence are no manifests."""
    folder = make_task(tmp_path)
    (folder / "task.yaml").write_text(text)
    assert "must be a mapping" in faults_of(folder)[""]


def test_all_faults_of_a_manifest_come_at_once(tmp_path):
    """Four unrelated faults in one file are four faults in one error, and the message has a line for each."""
    folder = make_task(tmp_path)
    edit(folder, "difficulty: easy", "difficulty: odd\ncolour: red")
    edit(folder, "prompt.md", "nowhere.md")
    edit(folder, "max_code_runs: 0", "max_code_runs: -2")
    with pytest.raises(FaultsError) as caught:
        artifact.load(folder)
    lines = str(caught.value).splitlines()
    assert 4 == len(lines)
    assert all(line.startswith(f"{folder}/task.yaml: ") for line in lines)


def test_categories_are_a_parameter(tmp_path):
    """The public corpus's three further categories load by default; others only when they are listed."""
    assert "data_science" == artifact.load(make_task(tmp_path, "data_science__demo")).category
    folder = make_task(tmp_path, "cooking__soup")
    assert "unknown category" in faults_of(folder)["category"]
    assert "cooking__soup" == artifact.load(folder, ["cooking"]).id


def test_a_slug_may_hold_two_underscores(tmp_path):
    """An id is the category, two underscores and the folder's name, whatever that name holds."""
    task = artifact.load(make_task(tmp_path, "algorithmic__a__b"))
    assert ("algorithmic__a__b", "a__b") == (task.id, task.slug)


def test_discovery_goes_exactly_two_folders_deep(tmp_path):
    """Manifests higher, deeper and in hidden folders are no tasks; a missing folder has none."""
    make_task(tmp_path, "enumeration__b")
    make_task(tmp_path, "algorithmic__a")
    make_task(tmp_path / "algorithmic", "deeper__c")
    make_task(tmp_path, ".hidden__d")
    assert ["algorithmic__a", "enumeration__b"] == list(artifact.discover(tmp_path))
    assert {} == artifact.discover(tmp_path / "nowhere")


def test_a_faulty_task_stops_no_other(tmp_path):
    """Loading a folder gives the sound tasks, and the others' faults under the id of their place."""
    make_task(tmp_path, "algorithmic__good")
    edit(make_task(tmp_path, "algorithmic__bad"), "difficulty: easy", "difficulty: odd")
    (make_task(tmp_path, "enumeration__worse") / "task.yaml").write_text("a: [")
    loaded = artifact.load_all(tmp_path)
    assert ["algorithmic__good"] == list(loaded.tasks)
    assert ["algorithmic__bad", "enumeration__worse"] == list(loaded.faults)
    assert 2 == len(loaded.all_faults())


def test_a_copied_task_that_kept_its_id_is_named_with_the_other(tmp_path):
    """Two folders with one id: the fault names both, and the folder that bears the id's name still loads."""
    folder = make_task(tmp_path, "algorithmic__demo")
    shutil.copytree(folder, tmp_path / "algorithmic" / "copy")
    loaded = artifact.load_all(tmp_path)
    duplicate = [fault for fault in loaded.all_faults() if "duplicate id" in fault.message]
    assert ["algorithmic__demo"] == list(loaded.tasks)
    assert [f"{tmp_path}/algorithmic/copy/task.yaml"] == [fault.path for fault in duplicate]
    assert f"{folder}/task.yaml" in duplicate[0].message


def test_one_id_from_two_sound_folders_is_nobodys(tmp_path):
    """Where both folders have a right to the id, neither is loaded."""
    for category, slug in (("a", "_b"), ("a_", "b")):
        folder = make_task(tmp_path, f"algorithmic__{category}")
        edit(folder, f"algorithmic__{category}", "a___b")
        edit(folder, "category: algorithmic", f"category: {category}")
        (tmp_path / category).mkdir()
        folder.rename(tmp_path / category / slug)
    loaded = artifact.load_all(tmp_path, ["a", "a_"])
    assert {} == loaded.tasks
    assert 2 == sum("duplicate id" in fault.message for fault in loaded.faults["a___b"])


def test_picking_tasks_by_id(tmp_path):
    """Named ids give their tasks sorted, none gives all, an unknown one is refused with its nearest neighbour."""
    make_task(tmp_path, "enumeration__b")
    make_task(tmp_path, "algorithmic__a")
    loaded = artifact.load_all(tmp_path)
    assert ["algorithmic__a", "enumeration__b"] == [task.id for task in pick(loaded, [], tmp_path)]
    assert ["enumeration__b"] == [task.id for task in pick(loaded, ["enumeration__b"], tmp_path)]
    with pytest.raises(UsageError, match=r"No matching tasks.*enumeration__b"):
        pick(loaded, ["enumeration__c"], tmp_path)
    with pytest.raises(UsageError, match="No matching tasks"):
        pick(artifact.load_all(tmp_path / "nowhere"), [], tmp_path)


def test_loading_is_quick(tmp_path):
    """Two hundred tasks load in well under the half second of CPU that would make planning slow."""
    for number in range(200):
        make_task(tmp_path, f"algorithmic__t{number}")
    started = time.process_time()
    assert 200 == len(artifact.load_all(Path(tmp_path)).tasks)
    assert time.process_time() - started < 1.0
