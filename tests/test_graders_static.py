"""What is seen of a grader without running it: whether agent code may share its process."""

from pathlib import Path

import pytest

from artifact_support import write_files
from graders_support import COMPARE, HEAD
from regrade.graders.static import inspect

HARMLESS = [
    COMPARE,
    "sys.path.insert(0, str(Path(__file__).resolve().parents[4]))\nfrom swebench.artifact_models import GradeResult\n",
    "HERE = Path(__file__).parent\nLIB = HERE / 'lib'\nsys.path.append(str(LIB))\n",
    "import ast\ndef grade(scratch_dir):\n    return ast.literal_eval((scratch_dir / 'x').read_text())\n",
    "import importlib\nyaml = importlib.import_module('yaml')\n",
    "import json\ndef grade(scratch_dir):\n    return json.load(open(scratch_dir / 'x'))\n",
    "def grade(:\n",
    "spec = importlib.util.spec_from_file_location('helper', Path(__file__).with_name('helper.py'))\n",
    "from regrade_agent import call_many\n",
    "import numpy as np\ndef grade(scratch_dir):\n    np.load(scratch_dir / 'x.npy', allow_pickle=False)\n",
    "import yaml\ndef grade(scratch_dir):\n    yaml.load(text, Loader=yaml.CSafeLoader)\n    yaml.safe_load(text)\n",
    "from yaml import SafeLoader as S, load\ndef grade(scratch_dir):\n    load(text, S)\n",
    "from os import path\ndef grade(scratch_dir):\n    path.join(scratch_dir, 'x')\n",
    "import site\nsite.addsitedir(str(Path(__file__).parent))\n",
    "from json import load\ndef grade(scratch_dir):\n    load(open(scratch_dir / 'x'))\n",
    "def grade(scratch_dir):\n    os.chdir(scratch_dir)\n    model.eval()\n",
]

SHARING = [
    "def grade(scratch_dir):\n    sys.path.insert(0, str(scratch_dir / 'output'))\n    import solution\n",
    "def grade(scratch_dir):\n    sys.path[:0] = [str(scratch_dir)]\n",
    "def grade(scratch_dir):\n    sys.path += [str(scratch_dir)]\n",
    "def load(path):\n    return importlib.util.spec_from_file_location('m', path)\n",
    "def grade(scratch_dir):\n    place = scratch_dir / 'x.py'\n    runpy.run_path(str(place))\n",
    "def grade(scratch_dir):\n    exec((scratch_dir / 'x.py').read_text(), {})\n",
    "def grade(scratch_dir):\n    eval(compile((scratch_dir / 'x.py').read_text(), 'x', 'eval'))\n",
    "def grade(scratch_dir):\n    pickle.load(open(scratch_dir / 'x', 'rb'))\n",
    "def grade(scratch_dir):\n    joblib.load(scratch_dir / 'model')\n",
    "def grade(scratch_dir):\n    pd.read_pickle(scratch_dir / 'x')\n",
    "def grade(scratch_dir):\n    SourceFileLoader('m', str(scratch_dir / 'm.py')).load_module()\n",
    "import subprocess\ndef grade(scratch_dir):\n    subprocess.run(['python', scratch_dir / 'x.py'])\n",
    "def grade(scratch_dir):\n    os.system(f'python {scratch_dir}/x.py')\n",
    "import importlib\ndef grade(scratch_dir):\n    importlib.import_module(name)\n",
    "import sys as S\ndef grade(scratch_dir):\n    S.path.insert(0, str(scratch_dir))\n",
    "from sys import path\ndef grade(scratch_dir):\n    path.append(str(scratch_dir))\n",
    "from sys import path as P\ndef grade(scratch_dir):\n    P[:0] = [str(scratch_dir)]\n",
    "import pickle as p\ndef grade(scratch_dir):\n    p.load(open(scratch_dir / 'x', 'rb'))\n",
    "from pickle import loads\ndef grade(scratch_dir):\n    loads((scratch_dir / 'x').read_bytes())\n",
    "from os import system as run\ndef grade(scratch_dir):\n    run(f'{scratch_dir}/x')\n",
    "from importlib import import_module as load\ndef grade(scratch_dir):\n    load(name)\n",
    "import builtins\ndef grade(scratch_dir):\n    builtins.exec(text)\n",
    "import numpy as np\ndef grade(scratch_dir):\n    np.load(scratch_dir / 'x.npy', allow_pickle=True)\n",
    "import yaml\ndef grade(scratch_dir):\n    yaml.load(text, Loader=yaml.Loader)\n",
    "from yaml import load_all\ndef grade(scratch_dir):\n    load_all(text)\n",
    "import imp\ndef grade(scratch_dir):\n    imp.load_source('m', str(scratch_dir / 'm.py'))\n",
    "import site\ndef grade(scratch_dir):\n    site.addsitedir(str(scratch_dir))\n",
    "import zipimport\ndef grade(scratch_dir):\n    zipimport.zipimporter(str(scratch_dir / 'm.zip'))\n",
    "from ctypes import CDLL\ndef grade(scratch_dir):\n    CDLL(str(scratch_dir / 'm.so'))\n",
    "import pytest\ndef grade(scratch_dir):\n    pytest.main([str(scratch_dir)])\n",
    "def grade(scratch_dir):\n    os.chdir(scratch_dir)\n    sys.path.insert(0, '')\n",
]


@pytest.mark.parametrize(
    ("source", "expected"), [(source, False) for source in HARMLESS] + [(s, True) for s in SHARING]
)
def test_in_process(tmp_path: Path, source: str, expected: bool) -> None:
    """A grader that may load or start what an agent wrote is marked, one that only reads it is not."""
    write_files(tmp_path, {"hidden.py": HEAD + source})
    assert expected is inspect(tmp_path).in_process


def test_siblings_count_and_case_files_do_not(tmp_path: Path) -> None:
    """Modules beside the grader are looked at too; negative_cases.py never meets agent code."""
    write_files(tmp_path, {"hidden.py": "import helper\n", "negative_cases.py": "exec(text)\n"})
    assert not inspect(tmp_path).in_process
    write_files(tmp_path, {"helper.py": "exec(text)\n"})
    assert inspect(tmp_path).in_process


def test_graders_that_ask_for_a_second_sandbox(tmp_path: Path) -> None:
    """A grader that imports regrade_agent is known to need a connection; others get none."""
    write_files(tmp_path, {"hidden.py": "import helper\n"})
    assert not inspect(tmp_path).calls_agent
    write_files(tmp_path, {"helper.py": "from regrade_agent import call\n"})
    assert inspect(tmp_path).calls_agent
