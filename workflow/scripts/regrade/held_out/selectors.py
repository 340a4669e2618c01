"""What became of each selector, as far as the runner's report tells."""

import os
from collections.abc import Iterable, Mapping

PASSED, FAILED, MISSING = "passed", "failed", "missing"


def outcomes(
    selectors: Iterable[str], workdir: str, files: Mapping[str, Mapping[str, int]], tests: Mapping[str, str]
) -> dict[str, str]:
    """`passed`, `failed` or `missing` (nothing of it was run) for each selector.

    `files` has counts by file, `tests` outcomes by file and name, `a/test_b.py::test_c[1]`. A selector is a file, a
    folder, or, behind `::`, a test or a class of tests; names of a runner's own are missing.
    """
    return {selector: _outcome(selector, workdir, files, tests) for selector in selectors}


def _outcome(selector: str, workdir: str, files: Mapping[str, Mapping[str, int]], tests: Mapping[str, str]) -> str:
    place, _, name = selector.partition("::")
    path = os.path.normpath(os.path.join(workdir, place))
    if name:
        whole = f"{path}::{name}"
        found = [said for test, said in tests.items() if test == whole or test.startswith((f"{whole}[", f"{whole}::"))]
        return _of(found.count(PASSED), len(found) - found.count(PASSED) - found.count("skipped"))
    counts = [count for file, count in files.items() if file == path or file.startswith(f"{path}/")]
    passed = sum(count.get(PASSED, 0) for count in counts)
    return _of(passed, sum(count.get(FAILED, 0) + count.get("error", 0) for count in counts))


def _of(passed: int, failed: int) -> str:
    return FAILED if failed else PASSED if passed else MISSING
