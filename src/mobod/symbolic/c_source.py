"""C of what a tape has recorded: straight-line functions, without loops, branches or memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .recording import COMPARISONS, Recorded

_FUNCTIONS = {"sqrt": "sqrt", "sin": "sin", "cos": "cos", "exp": "exp", "log": "log", "floor": "floor", "atan2": "atan2"}
_FUNCTIONS |= {"power": "pow"}
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&&", "or": "||", **COMPARISONS}
_TRUE = frozenset((*COMPARISONS, "and", "or", "not"))
#: Characters of an expression above which a node has a name of its own, although it is used once.
_LONGEST = 60


class Function(NamedTuple):
    """A function of C.

    Attributes
    ----------
    name : str
    inputs : mapping of str to str or None
        Arrays that it takes, and what an input is where the array is NULL; None for scalars.
    outputs : mapping of str to sequence of Recorded
        Arrays that it fills, those that are not NULL.
    doc : str
    """

    name: str
    inputs: Mapping[str, str | None]
    outputs: Mapping[str, Sequence[Recorded]]
    doc: str


class Writer:
    """Writes functions for one real type.

    Parameters
    ----------
    prefix : str
        What names begin with.
    single : bool
        Whether numbers are ``float`` rather than ``double``.
    """

    def __init__(self, prefix: str, single: bool) -> None:
        self.prefix, self.single = prefix, single
        self.real, self._suffix = f"{prefix}_real", "f" if single else ""
        #: Numbers that are looked up, table by table, and of each array that has been met, which table that is.
        self._tables: list[list[float]] = []
        self._met: dict[int, tuple[int, Any]] = {}

    def number(self, x: float) -> str:
        """A constant."""
        if math.isnan(x):
            return "(0.0 / 0.0)" if not self.single else "(0.0f / 0.0f)"
        if math.isinf(x):
            return f"{'-' if x < 0.0 else ''}HUGE_VAL{self._suffix.upper()}"
        text = str(np.float32(x)) if self.single else repr(float(x))
        if not any(mark in text for mark in ".e"):
            text += ".0"
        text += self._suffix
        return f"({text})" if x < 0.0 else text

    def signature(self, function: Function) -> str:
        """Its head."""
        taken = [
            f"{self.real} {name}" if other is None else f"const {self.real} *{name}" for name, other in function.inputs.items()
        ]
        given = [f"{self.real} *{name}" for name in function.outputs]
        return f"void {self.prefix}_{function.name}(" + ", ".join([*taken, *given]) + ")"

    def definition(self, function: Function) -> str:
        """Its text."""
        wanted = [x for values in function.outputs.values() for x in values]
        reached = wanted[0].tape.reached(wanted) if wanted else []
        uses: dict[int, int] = {}
        for x in [*wanted, *(operand for node in reached for operand in node.nodes)]:
            uses[x.place] = uses.get(x.place, 0) + 1
        text: dict[int, str] = {}
        lines = []
        for node in reached:
            said = self._expression(node, text, function)
            plain = node.operation in ("number",)
            inlined = (
                uses[node.place] == 1 and len(said) <= _LONGEST and node.operation != "input"
            )  # results may be put in its place
            if plain or inlined:
                text[node.place] = said if plain or node.operation in _FUNCTIONS else f"({said})"
                continue
            name = f"x{node.place}"
            kind = "int" if node.operation in _TRUE else self.real
            lines.append(f"    const {kind} {name} = {said};")
            text[node.place] = name
        for name, values in function.outputs.items():
            if not values:
                lines.append(f"    (void){name};")
                continue
            lines.append(f"    if ({name}) {{")
            lines += [f"        {name}[{i}] = {_bare(text[x.place])};" for i, x in enumerate(values)]
            lines.append("    }")
        unused = [name for name in function.inputs if not any(self._reads(node, name) for node in reached)]
        lines[:0] = [f"    (void){name};" for name in unused]
        return "\n".join([f"{self.signature(function)}", "{", *lines, "}"])

    @staticmethod
    def _reads(node: Recorded, name: str) -> bool:
        return node.operation == "input" and node.operands[0] == name

    def _expression(self, node: Recorded, text: Mapping[int, str], function: Function) -> str:
        operation, operands = node.operation, node.operands
        if operation == "number":
            return self.number(operands[0])
        if operation == "input":
            name, i = operands
            other = function.inputs[name]
            if other is None:
                return str(name)
            if other == "required":
                return f"{name}[{i}]"
            return f"{name} ? {name}[{i}] : {other.format(i=i)}"
        if operation == "lookup":
            place, table, first = operands
            return f"{self.prefix}_table_{self._table(node.tape.tables[table])}[{first} + (int){text[place.place]}]"
        said = [text[x.place] for x in operands]
        if operation in _FUNCTIONS:
            return f"{_FUNCTIONS[operation]}{self._suffix}({', '.join(map(_bare, said))})"
        if operation == "neg":
            return f"-{said[0]}"
        if operation == "not":
            return f"!{said[0]}"
        if operation == "select":
            return f"{said[0]} ? {said[1]} : {said[2]}"
        return f"{said[0]} {_INFIX[operation]} {said[1]}"

    def _table(self, rows: Any) -> int:
        """The number of the table with these numbers, one for all functions that look up the same."""
        if id(rows) not in self._met:
            numbers = [float(x) for x in rows.flat]
            if numbers not in self._tables:
                self._tables.append(numbers)
            self._met[id(rows)] = self._tables.index(numbers), rows
        return self._met[id(rows)][0]

    def tables(self) -> str:
        """The tables that functions have used."""
        found = []
        for k, table in enumerate(self._tables):
            numbers = [self.number(x) for x in table]
            rows = [", ".join(numbers[i : i + 8]) for i in range(0, len(numbers), 8)]
            found.append(
                f"static const {self.real} {self.prefix}_table_{k}[{len(numbers)}] = {{\n    " + ",\n    ".join(rows) + "\n};\n"
            )
        return "\n".join(found)


def _bare(text: str) -> str:
    """An expression without the parentheses around the whole."""
    if not text.startswith("("):
        return text
    depth = 0
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:-1] if i == len(text) - 1 else text
    return text
