"""The text of an `Expression` as a tree of operations: a recursive descent with precedence, no evaluation of text as Python.

    sum      = product (("+" | "-") product)*
    product  = factor (("*" | "/") factor)*
    factor   = "-" factor | power                     -x^2 is -(x^2)
    power    = atom ("^" factor)?                     2^3^2 is 2^(3^2), 2^-3 is known
    atom     = number | name | name "(" sum ("," sum)* ")" | "(" sum ")"

After a semicolon follow definitions ``name = sum``, which what stands before them may use; so Lepton reads expressions.
A tree is a number, the name of a variable as ``("variable", k)``, or ``(operation, operand, ...)``.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

#: How many arguments each function takes.
FUNCTIONS = {
    **dict.fromkeys(("sqrt", "exp", "log", "sin", "cos", "tan", "sec", "csc", "cot", "asin", "acos", "atan"), 1),
    **dict.fromkeys(("sinh", "cosh", "tanh", "erf", "erfc", "step", "delta", "square", "cube", "recip", "abs"), 1),
    **dict.fromkeys(("min", "max", "atan2"), 2),
    "select": 3,
}
CONSTANTS = {"pi": 3.141592653589793}

_TOKEN = re.compile(r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>[-+*/^(),;=]))")
_SPACE = re.compile(r"\s*")

Tree = Any


class Parser:
    """One text, read once.

    Parameters
    ----------
    text : str
    variables : sequence of str or None
        Their names; None takes every name that is not defined for one, in the order in which they first appear.
    """

    def __init__(self, text: str, variables: tuple[str, ...] | None) -> None:
        self.text = text
        self.variables = _named_in(text) if variables is None else list(variables)
        self._at = 0
        self._definitions: dict[str, Tree] = {}

    def parse(self) -> Tree:
        """The tree of the expression."""
        pieces = self._pieces()
        for start, end in reversed(pieces[1:]):  # each may use what is defined after it
            self._at, self._end = start, end
            name = self._take("name", "a definition such as a = 2 * b")
            self._expect("=")
            self._definitions[name] = self._whole()
        self._at, self._end = pieces[0]
        return self._whole()

    def _pieces(self) -> list[tuple[int, int]]:
        ends = [m.start() for m in re.finditer(";", self.text)] + [len(self.text)]
        starts = [0] + [end + 1 for end in ends[:-1]]
        pieces = list(zip(starts, ends, strict=True))
        return [p for k, p in enumerate(pieces) if k == 0 or self.text[slice(*p)].strip()]

    # ------------------------------------------------------------------------------------------ grammar

    def _whole(self) -> Tree:
        tree = self._sum()
        if self._next() is not None:
            self._fail(f"{self._next()!r} was not expected; an operator such as + or * may be missing before it")
        return tree

    def _sum(self) -> Tree:
        tree = self._product()
        while (sign := self._next()) in ("+", "-"):
            self._skip()
            tree = ("add" if sign == "+" else "subtract", tree, self._product())
        return tree

    def _product(self) -> Tree:
        tree = self._factor()
        while (sign := self._next()) in ("*", "/"):
            self._skip()
            tree = ("multiply" if sign == "*" else "divide", tree, self._factor())
        return tree

    def _factor(self) -> Tree:
        if self._next() in ("-", "+"):
            sign = self._skip()
            operand = self._factor()
            return ("negative", operand) if sign == "-" else operand
        tree = self._atom()
        if self._next() == "^":
            self._skip()
            return ("power", tree, self._factor())
        return tree

    def _atom(self) -> Tree:
        token = self._match()
        if token is None:
            self._fail("a number, a name or ( is missing here")
        if token["number"]:
            number = float(token["number"])
            if number == float("inf"):
                self._fail("the number is too large")
            self._skip()
            return number
        if token["name"]:
            where = token.start("name")
            name = self._skip()
            return self._call(name, where) if self._next() == "(" else self._named(name, where)
        if token["sign"] != "(":
            self._fail(f"{token['sign']!r} was not expected; a number, a name or ( is missing here")
        self._skip()
        tree = self._sum()
        self._expect(")")
        return tree

    def _call(self, name: str, where: int) -> Tree:
        if name not in FUNCTIONS:
            self._fail(f"{name!r} is no function; there are {', '.join(sorted(FUNCTIONS))}", where)
        self._expect("(")
        operands = [self._sum()]
        while self._next() == ",":
            self._skip()
            operands.append(self._sum())
        self._expect(")")
        if len(operands) != FUNCTIONS[name]:
            self._fail(f"{name} takes {FUNCTIONS[name]} argument{'s' * (FUNCTIONS[name] > 1)}, not {len(operands)}", where)
        return (name, *operands)

    def _named(self, name: str, where: int) -> Tree:
        if name in self._definitions:
            return self._definitions[name]
        if name in self.variables:
            return ("variable", self.variables.index(name))
        if name in CONSTANTS:
            return CONSTANTS[name]
        known = ", ".join([*self.variables, *self._definitions]) or "none"
        self._fail(f"{name!r} is neither a variable nor defined after a semicolon; the names known here: {known}", where)

    # ------------------------------------------------------------------------------------------ tokens

    def _match(self) -> re.Match[str] | None:
        start = _SPACE.match(self.text, self._at, self._end).end()  # type: ignore[union-attr]
        if start == self._end:
            return None
        token = _TOKEN.match(self.text, self._at, self._end)
        if token is None:
            self._fail(f"{self.text[start]!r} means nothing in an expression", start)
        return token

    def _next(self) -> str | None:
        token = self._match()
        return None if token is None else token[token.lastgroup or 0]

    def _skip(self) -> str:
        token = self._match()
        assert token is not None
        self._at = token.end()
        return token[token.lastgroup or 0]

    def _take(self, group: str, what: str) -> str:
        token = self._match()
        if token is None or not token[group]:
            self._fail(f"{what} is missing here")
        return self._skip()

    def _expect(self, sign: str) -> None:
        if self._next() != sign:
            found = "the end" if self._next() is None else repr(self._next())
            self._fail(f"{sign!r} is missing before {found}")
        self._skip()

    def _fail(self, what: str, where: int | None = None) -> NoReturn:
        if where is None:
            where = _SPACE.match(self.text, self._at, self._end).end()  # type: ignore[union-attr]
        raise ValueError(f"the expression {self.text!r}, at position {where + 1}: {what}\n  {self.text}\n  {' ' * where}^")


def _named_in(text: str) -> list[str]:
    """The names in a text that stand for variables, in the order in which they come."""
    defined = {m[1] for m in re.finditer(r";\s*([A-Za-z_]\w*)\s*=", text)}
    called = {m[1] for m in re.finditer(r"([A-Za-z_]\w*)\s*\(", text)}
    names = [m["name"] for m in _TOKEN.finditer(text) if m["name"]]
    return [name for name in dict.fromkeys(names) if name not in defined | called | set(CONSTANTS)]
