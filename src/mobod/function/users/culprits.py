"""Code that Numba refuses without a word, or with one of its own inside: generators, and tuples that grow."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import tokenize
from collections.abc import Mapping
from pathlib import Path

from .frozen import Frozen


def find_culprit(frozen: Frozen, ways: Mapping[str, str]) -> str | None:
    """The first line with a generator or a tuple that grows in a loop, of a function and of those that it calls.

    Parameters
    ----------
    frozen : Frozen
    ways : mapping
        How to write them instead, ``"generator"`` and ``"growing"``.

    Returns
    -------
    str or None
        The line as it stands in the user's file, what it is, and how to write it.
    """
    for part in frozen.parts:
        code = part.__code__
        lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
        try:
            tree = ast.parse(textwrap.dedent("".join(inspect.getblock(lines))))
        except (SyntaxError, IndexError, tokenize.TokenError):  # a lambda within a line, say
            continue
        for node in (one for one in ast.walk(tree) if isinstance(one, ast.stmt | ast.expr)):
            why: str | None = None
            culprit: ast.stmt | ast.expr = node
            if isinstance(node, ast.GeneratorExp | ast.Yield | ast.YieldFrom):
                why = f"a generator, which cannot be compiled; {ways['generator']}"
            elif isinstance(node, ast.For | ast.While):
                growing = [one for one in ast.walk(node) if isinstance(one, ast.Assign | ast.AugAssign) and _grows(one)]
                if growing:
                    culprit = growing[0]
                    why = f"a tuple that grows in a loop; {ways['growing']}"
            if why is not None:
                file, line = code.co_filename, code.co_firstlineno + culprit.lineno - 1
                return f"{linecache.getline(file, line).strip()!r} (line {line} of {Path(file).name}): {why}"
    return None


def _grows(node: ast.Assign | ast.AugAssign) -> bool:
    """True if a name is assigned itself and more, as a tuple."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Add) and isinstance(node.value, ast.Tuple)
    names = {target.id for target in node.targets if isinstance(target, ast.Name)}
    value = node.value
    if isinstance(value, ast.Tuple):
        return any(isinstance(x, ast.Starred) and isinstance(x.value, ast.Name) and x.value.id in names for x in value.elts)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        sides = value.left, value.right
        return any(isinstance(x, ast.Name) and x.id in names for x in sides) and any(isinstance(x, ast.Tuple) for x in sides)
    return False
