"""Change the code in one place at a time, and see whether a test notices: `python tools/mutate.py --count 20 --seed 1`.

A mutant is a copy of a file with one operator, number, condition or statement changed. The tests are run in the
order in which they speak of what the file defines, the first few by themselves, and stop at the first that fails. What no test
notices is printed as a difference, and counted in the end; a person has to say whether it matters. The tool works on the
checkout that it lies in, and puts each file back; use a worktree of its own.

The rooms are those where an unnoticed mistake would be a wrong number, `ROOMS` below.
"""

import argparse
import ast
import contextlib
import difflib
import functools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
#: Rooms, and where most of their tests are: these come first among files that speak of a file as much as others do.
ROOMS = {
    "tree": "tests/tree",
    "force": "tests/force",
    "constraint": "tests/constraint",
    "stepping": "tests/integrator",
    "derivative": "tests/system",
    "importer": "tests/importer",
    "ensemble/lanes": "tests/ensemble",
    "muscle": "tests/muscle",
    "contact": "tests/contact",
}
#: What became of a mutant, by whether its tests pass.
OUTCOMES = {False: "noticed", True: "not noticed", None: "undecided"}
_SWAPS: dict[type, type] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
_TURNS: dict[type, type] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


class Mutant(NamedTuple):
    """A file, where it is changed (line, and columns of the source as bytes), and by what."""

    path: Path
    node: ast.expr | ast.stmt
    text: str


def changes(node: ast.AST) -> list[str]:
    """What stands in a node's place, in a mutant each: another operator or number, a term, factor or statement less."""
    match node:
        case ast.BinOp(left, op, right) if type(op) in _SWAPS and not isinstance(left, ast.Constant | ast.JoinedStr):
            return [ast.unparse(ast.BinOp(left, _SWAPS[type(op)](), right)), ast.unparse(left)]
        case ast.Compare(left, [op], [right]) if type(op) in _TURNS:
            return [ast.unparse(ast.Compare(left, [_TURNS[type(op)]()], [right]))]
        case ast.BoolOp(op, values):
            return [ast.unparse(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))]
        case ast.UnaryOp(ast.USub() | ast.Not(), operand) if not isinstance(operand, ast.Constant):
            return [ast.unparse(operand)]
        case ast.Constant(value) if type(value) is float and value != 0.0:
            return [repr(2.0 * value)]
        case ast.Constant(value) if type(value) is int and value in (0, 1, 2, 3):
            return [repr(value + 1)]
        case ast.Constant(value) if type(value) is bool:
            return [repr(not value)]
        case ast.AugAssign() | ast.Expr(ast.Call()):
            return ["pass"]
    return []


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of a file: not of its annotations, messages and constants that only Python's imports see."""
    found: list[Mutant] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
            return
        if isinstance(node, ast.FunctionDef):
            for part in [*node.args.defaults, *node.body]:
                visit(part)
            return
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                visit(node.value)
            return
        if isinstance(node, ast.expr | ast.stmt) and node.lineno == node.end_lineno:
            found.extend(Mutant(path, node, text) for text in changes(node))
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return found


def apply(mutant: Mutant) -> tuple[str, str]:
    """Write the mutant; the text before and after."""
    before = mutant.path.read_text(encoding="utf-8")
    lines = before.splitlines(keepends=True)
    node = mutant.node
    line = lines[node.lineno - 1].encode()
    assert node.end_col_offset is not None
    text = mutant.text if isinstance(node, ast.stmt) else f"({mutant.text})"
    lines[node.lineno - 1] = (line[: node.col_offset] + text.encode() + line[node.end_col_offset :]).decode()
    after = "".join(lines)
    mutant.path.write_text(after, encoding="utf-8")
    return before, after


@functools.cache
def _all_tests() -> dict[Path, str]:
    return {file: file.read_text(encoding="utf-8").lower() for file in sorted((ROOT / "tests").rglob("test_*.py"))}


def tests_for(path: Path, room: str) -> list[str]:
    """All tests, those first that speak most of what the file defines; a rare word says more than a common one."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef) and len(node.name) > 4}
    names |= {word for word in re.split("_+", path.stem) if len(word) > 3} | {path.stem.strip("_"), path.parent.name}
    texts, own = _all_tests(), ROOT / ROOMS[room]
    scores = dict.fromkeys(texts, 0.0)
    for name in names:
        counts = {file: min(text.count(name.lower()), 3) for file, text in texts.items()}
        found = sum(count > 0 for count in counts.values())
        for file, count in counts.items():
            scores[file] += count / (1.0 + found)
    for file in texts:
        if own in file.parents:
            scores[file] *= 2.0
    return [str(file.relative_to(ROOT)) for file in sorted(texts, key=lambda file: -scores[file])]


def passes(tests: list[str], seconds: float) -> bool | None:
    """Whether tests pass; what takes the process down does not. None where that was not known in time."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "MOBOD_WORKERS": "0", "PYTHONPATH": str(ROOT / "src"), "MOBOD_TEST_SEED": "1"}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def choose(rooms: list[str], count: int, seed: int) -> Iterator[tuple[str, Mutant]]:
    """Draw mutants: rooms in turn, files by their number of mutants."""
    dice = random.Random(seed)
    of_room = {
        room: [mutant for path in sorted((ROOT / "src/mobod" / room).rglob("*.py")) for mutant in mutants_of(path)]
        for room in rooms
    }
    for number in range(count):
        room = rooms[number % len(rooms)]
        yield room, dice.choice(of_room[room])


def main() -> None:
    """Try mutants, and print those that no test notices."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=12, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", action="append", choices=ROOMS, help="of this room alone; may be given several times")
    parser.add_argument("--first", type=int, default=4, help="how many files of tests are run by themselves at first")
    parser.add_argument("--most", type=int, default=30, help="how many files of tests are run at most")
    parser.add_argument("--seconds", type=float, default=900.0, help="after which a mutant is left undecided")
    parser.add_argument("--json", type=Path, help="a file for a line on each mutant")
    options = parser.parse_args()
    counts = dict.fromkeys(OUTCOMES.values(), 0)
    for room, mutant in choose(options.room or list(ROOMS), options.count, options.seed):
        tests = tests_for(mutant.path, room)[: options.most]
        begun = time.monotonic()
        before, after = apply(mutant)
        try:
            lives = passes(tests[: options.first], options.seconds)
            if lives and len(tests) > options.first:
                lives = passes(tests[options.first :], options.seconds)
        finally:
            mutant.path.write_text(before, encoding="utf-8")
        outcome = OUTCOMES[lives]
        counts[outcome] += 1
        name = str(mutant.path.relative_to(ROOT))
        difference = "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), name, name, n=1))
        if lives is not False:
            print(f"{outcome} by {len(tests)} files of tests:\n{difference}", flush=True)
        if options.json is not None:
            with options.json.open("a", encoding="utf-8") as file:
                line = {"outcome": outcome, "seconds": round(time.monotonic() - begun), "difference": difference}
                print(json.dumps(line), file=file)
    print(f"{counts} (seed {options.seed})")


if __name__ == "__main__":
    main()
