"""Does the completed program do what SPEC.md says, also where the visible tests are silent?"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workspace_code import compare, verify

PARSE = """
from tasklist.parse import parse

def answer(text):
    return [[t.title, t.done, t.level, t.section, list(t.tags), t.due] for t in parse(text)]
"""

REPORT = """
from tasklist.parse import parse
from tasklist.report import agenda, by_tag, late

def answer(text, today):
    tasks = parse(text)
    counts = by_tag(tasks)
    return [[t.title for t in agenda(tasks)], list(counts.items()), [late(t, today) for t in tasks]]
"""

COMMAND = """
import contextlib, io, runpy, sys, tempfile
from pathlib import Path

def answer(content, options):
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "note.md"
        if content is not None:
            note.write_bytes(content.encode("latin-1" if content.startswith("\\xff") else "utf-8"))
        out, err = io.StringIO(), io.StringIO()
        sys.argv = ["tasklist", str(note), *options]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = 0
            try:
                runpy.run_module("tasklist", run_name="__main__")
            except SystemExit as ended:
                code = ended.code
        line = err.getvalue()
        told = line.startswith("tasklist: ") and "note.md" in line and line.count("\\n") == 1
        return [out.getvalue(), code or 0, told]
"""

NOTE = """\
- [ ] Ask about chairs
# Bakery #
- [x] Order flour #shop @2031-05-10
  - [ ] Compare   prices #Shop #rye-flour
    - [x] Ask the mill
- [X] Clean the oven
  - [x] Buy soap #shop #SHOP
### Party
- [ ] Book the hall @2031-05-20 @2031-05-09
"""

NOTE_TASKS: list[list[Any]] = [
    ["Ask about chairs", False, 0, "", [], None],
    ["Order flour", False, 0, "Bakery #", ["shop"], "2031-05-10"],
    ["Compare prices", False, 1, "Bakery #", ["shop", "rye-flour"], None],
    ["Ask the mill", True, 2, "Bakery #", [], None],
    ["Clean the oven", True, 0, "Bakery #", [], None],
    ["Buy soap", True, 1, "Bakery #", ["shop"], None],
    ["Book the hall", False, 0, "Party", [], "2031-05-09"],
]

PARSED = [
    ([NOTE], NOTE_TASKS),
    ([""], []),
    (["- [ ] \n- [ ]\n- [y] no\n-[ ] no\n* [ ] no\n- [ ]  two blanks\n"], [["two blanks", False, 0, "", [], None]]),
    (["   - [x] three blanks"], [["three blanks", True, 1, "", [], None]]),
    (["#none\n ## none\n####### none\n###### yes \n- [ ] a"], [["a", False, 0, "yes", [], None]]),
    (["# H\n  ```py\n# no\n- [ ] no\n```\n- [ ] yes\n```\n- [ ] no"], [["yes", False, 0, "H", [], None]]),
    (["- [ ] @2031-02-29 #a,b c#d #e! @2031-5-1"], [["@2031-02-29 #a,b c#d #e! @2031-5-1", False, 0, "", [], None]]),
    (["- [x] #only @2032-02-29"], [["", True, 0, "", ["only"], "2032-02-29"]]),
    (
        ["- [x] a\n# B\n  - [ ] b\n    - [x] c\n  - [x] d\n- [x] e"],
        [
            ["a", False, 0, "", [], None],
            ["b", False, 1, "B", [], None],
            ["c", True, 2, "B", [], None],
            ["d", True, 1, "B", [], None],
            ["e", True, 0, "B", [], None],
        ],
    ),
    (["    - [x] deep\n  - [ ] less"], [["deep", True, 2, "", [], None], ["less", False, 1, "", [], None]]),
    (
        ["- [x] a\n    - [x] b\n  - [ ] c"],
        [["a", False, 0, "", [], None], ["b", True, 2, "", [], None], ["c", False, 1, "", [], None]],
    ),
]

REPORTED: list[tuple[list[Any], Any]] = [
    (
        [NOTE, "2031-05-10"],
        [
            ["Book the hall", "Order flour", "Ask about chairs", "Compare prices"],
            [["rye-flour", [1, 0]], ["shop", [2, 1]]],
            [False, False, False, False, False, False, True],
        ],
    ),
    (
        ["- [ ] b @2031-01-02\n- [ ] a @2031-01-02\n- [x] c @2030-01-01 #z #a", "2031-01-03"],
        [["b", "a"], [["a", [0, 1]], ["z", [0, 1]]], [True, True, False]],
    ),
]

ALL = """\
2031-05-09! Book the hall (Party)
2031-05-10  Order flour (Bakery #)
-           Ask about chairs
-           Compare prices (Bakery #)
4 open, 3 done, 1 late
"""

SHOP = """\
2031-05-10! Order flour (Bakery #)
-           Compare prices (Bakery #)
2 open, 1 done, 1 late
"""

PRINTED = [
    ([NOTE, ["--today", "2031-05-10"]], [ALL, 0, False]),
    ([NOTE, ["--today", "2031-05-11", "--tag", "SHOP"]], [SHOP, 0, False]),
    ([NOTE, ["--tag", "nobody"]], ["0 open, 0 done, 0 late\n", 0, False]),
    (["- [ ] bread @1999-12-31", []], ["1999-12-31! bread\n1 open, 0 done, 1 late\n", 0, False]),
    (["", ["--today", "2031-05-10"]], ["0 open, 0 done, 0 late\n", 0, False]),
    ([None, []], ["", 1, True]),
    (["\xff- [ ] no", []], ["", 1, True]),
]


def checks(workspace: Path) -> Iterator[str]:
    yield from compare(workspace, PARSE, PARSED)
    yield from compare(workspace, REPORT, REPORTED)
    yield from compare(workspace, COMMAND, PRINTED)


if __name__ == "__main__":
    sys.exit(verify("fixtures/tasklist", ["tests/**/*", "SPEC.md"], checks))
