"""For graders: read an artifact strictly, so that whatever an agent wrote ends in a value or in a failing verdict.

    from regrade_artifact import ArtifactFault, GradeResult, graded, is_integer, read_json

    TRUTH = read_json(Path(__file__).parent, "reference_output.json")

    @graded
    def grade(scratch_dir: Path) -> GradeResult:
        answer = read_json(scratch_dir, "output/answer.json")
        if not is_integer(answer):
            raise ArtifactFault("the answer must be an integer")
        return GradeResult(answer == TRUTH, float(answer == TRUTH), "right" if answer == TRUTH else "wrong")

The readers raise ArtifactFault for what is missing, no file, not UTF-8, blank, or not in its format; `graded` makes a
verdict of it. Read a reference outside of `grade`, as above: a fault of it is the grader's, and no agent's failure.
JSON is taken strictly: no NaN, no Infinity, no key twice in an object, no integer beyond Python's limit of digits.
A byte order mark is passed over.
"""

import ast
import functools
import json
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class GradeResult:
    """What a grader says: passed or not, a score from 0 to 1, and a sentence for people."""

    passed: bool
    score: float
    detail: str


class ArtifactFault(Exception):  # noqa: N818 (a fault of an artifact is no error of the grader)
    """The artifact fails as a whole; the message becomes the detail."""


def graded(function: Callable[[Path], GradeResult]) -> Callable[[Path], GradeResult]:
    """Decorate `grade`: an ArtifactFault is a failure with score 0.0. Other exceptions stay the grader's errors."""

    @functools.wraps(function)
    def grade(scratch_dir: Path) -> GradeResult:
        try:
            return function(Path(scratch_dir))
        except ArtifactFault as fault:
            return GradeResult(False, 0.0, str(fault))

    return grade


def read_text(folder: Path, name: str) -> str:
    """The text of a file, line ends as they are."""
    path = folder / name
    try:
        if not path.exists():
            raise ArtifactFault("output artifact not produced")
        if not path.is_file():
            raise _unparsed("it is not a regular file")
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _unparsed(str(error)) from None
    if not text.strip():
        raise ArtifactFault("output artifact is empty")
    return text


def read_json(folder: Path, name: str) -> Any:
    """The one JSON value that a file holds."""
    return _parse(read_text(folder, name))


def read_jsonl(folder: Path, name: str, find_fault: Callable[[Any], str] | None = None) -> list[Any]:
    """The JSON values of the lines that are not blank, in order.

    `find_fault` says what is wrong with the form of a value, or ""; the first fault fails the artifact by its line.
    """
    rows = []
    for number, line in enumerate(read_text(folder, name).split("\n"), start=1):
        if line.strip():
            row = _parse(line, f"line {number}: ")
            if find_fault and (fault := find_fault(row)):
                raise ArtifactFault(f"line {number}: {fault}")
            rows.append(row)
    return rows


def read_python(folder: Path, name: str) -> str:
    """The source of a Python file that parses. It is not run: see regrade_agent."""
    source = read_text(folder, name)
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _unparsed(f"{type(error).__name__} {ascii(str(error))[:200]}") from None
    return source


def is_object(value: Any, keys: Collection[str]) -> bool:
    """Whether a JSON value is an object with these keys and no other."""
    return type(value) is dict and value.keys() == set(keys)


def is_text(value: Any) -> bool:
    """Whether a JSON value is a string."""
    return type(value) is str


def is_texts(value: Any) -> bool:
    """Whether a JSON value is a list of strings, not empty."""
    return type(value) is list and value != [] and all(map(is_text, value))


def is_integer(value: Any) -> bool:
    """Whether a JSON value is a number without point and exponent; true and false are none."""
    return type(value) is int


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number; 1e999 is none, true and false neither."""
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _parse(text: str, place: str = "") -> Any:
    try:
        return json.loads(text, object_pairs_hook=_make_object, parse_constant=_refuse_constant)
    except RecursionError:
        raise _unparsed(f"{place}nested too deeply") from None
    except json.JSONDecodeError as error:
        raise _unparsed(f"{place}{error.msg}" if place else str(error)) from None
    except ValueError as error:
        raise _unparsed(f"{place}{error}") from None


def _unparsed(reason: str) -> ArtifactFault:
    return ArtifactFault(f"output artifact failed to parse: {reason}")


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
