"""Check the form of output/placement.json (not whether it is allowed or cheap): python verify.py [FOLDER]"""

from __future__ import annotations

import json
import sys
from pathlib import Path

CLUSTER = Path(__file__).resolve().parent / "cluster.json"


def verify(artifact_path: Path) -> None:
    """Raise AssertionError with the first fault of form; return None when there is none."""
    assert artifact_path.is_file(), f"{artifact_path} is not there"
    try:
        answer = json.loads(artifact_path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise AssertionError(f"{artifact_path} is not JSON in UTF-8: {error}") from None
    assert type(answer) is dict, "the artifact must be an object"
    assert set(answer) == {"total_cost", "placement"}, "the keys must be total_cost and placement"
    total, placement = answer["total_cost"], answer["placement"]
    assert type(total) is int and total >= 0, "total_cost must be an integer, not negative"
    assert type(placement) is dict, "placement must be an object"
    cluster = json.loads(CLUSTER.read_text(encoding="utf-8"))
    jobs, machines = ([item["id"] for item in cluster[kind]] for kind in ("jobs", "machines"))
    assert set(placement) == set(jobs), "placement must name every job of cluster.json and nothing else"
    assert all(machine in machines for machine in placement.values()), "placement must lead to machines of cluster.json"


def main() -> int:
    """Check the artifact below the folder given, by default the one this file lies in."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    try:
        verify(folder / "output/placement.json")
    except AssertionError as fault:
        print(f"FAIL: {fault}")
        return 1
    print("OK: the form is right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
