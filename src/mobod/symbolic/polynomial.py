"""Formulas of a tape in a normal form: polynomials in what is given and in functions of it, by which equal terms cancel.

    sin(x)^2 = 1 - cos(x)^2    sqrt(x)^2 = x    and products of sums are multiplied out

A term is a product of powers of *atoms*: inputs, sines, cosines, roots, and whatever else is no sum or product. A quotient by
one term has negative powers; one by a sum is an atom of its own. Coefficients are fractions where numbers are: 0.1 is 1/10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from ..algebra import scalar
from ..errors import FormulaError
from .recording import COMPARISONS, Recorded

Term = tuple[tuple[int, int], ...]
#: More terms than anybody reads, which a sum is not to grow beyond.
MOST_TERMS = 3_000
_NAMES = {"sqrt", "exp", "log", "floor", "atan2", "power", "sin", "cos", "sinh", "tanh", "Abs", "Min", "Max"}


class Ring:
    """Makes polynomials of nodes: a polynomial is a dict of terms to coefficients, zero an empty one."""

    def __init__(self) -> None:
        #: Of each atom, its operation and its operands: polynomials, as tuples, or names and numbers.
        self.atoms: list[tuple[str, tuple[Any, ...]]] = []
        self._known: dict[Any, int] = {}
        self._made: dict[int, dict[Term, Any]] = {}
        self._reductions: dict[Term, dict[Term, Any] | None] = {}

    def of(self, node: Recorded) -> dict[Term, Any]:
        """The polynomial of a node.

        Raises
        ------
        FormulaError
            If a formula has more terms than anybody reads.
        """
        for x in node.tape.reached([node]):
            if x.place not in self._made:
                self._made[x.place] = self._polynomial(x)
        return self._made[node.place]

    def _polynomial(self, node: Recorded) -> dict[Term, Any]:
        operation, operands = node.operation, node.operands
        if operation == "number":
            return {(): _rational(operands[0])} if operands[0] else {}
        if operation in ("input", "lookup"):
            return self._atom(operation, *(x.place if isinstance(x, Recorded) else x for x in operands))
        parts = [self._made[x.place] for x in operands]
        if operation == "add":
            return _sum(parts[0], parts[1], 1)
        if operation == "sub":
            return _sum(parts[0], parts[1], -1)
        if operation == "neg":
            return {term: -c for term, c in parts[0].items()}
        if operation == "mul":
            return self._product(parts[0], parts[1])
        if operation == "div":
            return self._product(parts[0], self._inverse(parts[1]))
        if operation == "select" and _holds_but_at_a_point(operands[0]):
            return parts[1]
        name, arguments = by_name(node)
        if name:
            return self._atom(name, *(_key(self._made[x.place]) for x in arguments))
        return self._atom(operation, *(_key(part) for part in parts))

    def _atom(self, operation: str, *operands: Any) -> dict[Term, Any]:
        key = operation, operands
        if key not in self._known:
            self._known[key] = len(self.atoms)
            self.atoms.append(key)
        return {((self._known[key], 1),): Fraction(1)}

    def _inverse(self, divisor: dict[Term, Any]) -> dict[Term, Any]:
        if len(divisor) == 1:
            ((term, c),) = divisor.items()
            return {tuple((atom, -power) for atom, power in term): 1 / c}
        if not divisor:
            raise FormulaError("a formula divides by zero; look for massless bodies at the ends of branches")
        return self._atom("inverse", _key(divisor))

    def _product(self, a: dict[Term, Any], b: dict[Term, Any]) -> dict[Term, Any]:
        if len(a) * len(b) > 30 * MOST_TERMS:
            raise FormulaError(_TOO_LARGE)
        raw: dict[Term, Any] = {}
        for s, x in a.items():
            for t, y in b.items():
                _add(raw, _times(s, t), x * y)
        found: dict[Term, Any] = {}
        for term, c in raw.items():
            reduced = self._reduced(term)
            if reduced is None:
                _add(found, term, c)
            else:
                for other, factor in reduced.items():
                    _add(found, other, c * factor)
        if len(found) > MOST_TERMS:
            raise FormulaError(_TOO_LARGE)
        return found

    def _reduced(self, term: Term) -> dict[Term, Any] | None:
        """A term with its squares of sines and roots replaced; None where it has none."""
        if term not in self._reductions:
            self._reductions[term] = self._with_squares_replaced(term)
        return self._reductions[term]

    def _with_squares_replaced(self, term: Term) -> dict[Term, Any] | None:
        for place, (atom, power) in enumerate(term):
            operation, operands = self.atoms[atom]
            if power < 2 or operation not in ("sin", "sqrt"):
                continue
            left = term[:place] + (((atom, power - 2),) if power > 2 else ()) + term[place + 1 :]
            square = dict(operands[0]) if operation == "sqrt" else self._one_less_cosine(operands[0])
            return self._product({left: Fraction(1)}, square)
        return None

    def _one_less_cosine(self, angle: Any) -> dict[Term, Any]:
        ((cosine, _),), _ = next(iter(self._atom("cos", angle).items()))
        return {(): Fraction(1), ((cosine, 2),): Fraction(-1)}

    def over_one_denominator(self, polynomial: Mapping[Term, Any]) -> tuple[dict[Term, Any], dict[int, int]]:
        """A numerator without quotients, and what it is divided by: powers of atoms, those of an ``inverse`` being of its sum.

        Raises
        ------
        FormulaError
            If the numerator has more terms than anybody reads.
        """
        powers: dict[int, int] = {}
        for term in polynomial:
            for atom, power in term:
                if power < 0 or self.atoms[atom][0] == "inverse":
                    powers[atom] = max(powers.get(atom, 0), abs(power))
        numerator: dict[Term, Any] = {}
        for term, c in polynomial.items():
            own = dict(term)
            product: dict[Term, Any] = {tuple(one for one in term if one[0] not in powers): c}
            for atom, most in powers.items():
                operation, operands = self.atoms[atom]
                raised = most + own.get(atom, 0) * (-1 if operation == "inverse" else 1)
                factor = dict(operands[0]) if operation == "inverse" else {((atom, 1),): Fraction(1)}
                for _ in range(raised):
                    product = self._product(product, factor)
            numerator = _sum(numerator, product, 1)
        for atom, most in powers.items():
            operation, operands = self.atoms[atom]
            if operation in ("inverse", "sqrt"):  # which both cancel as sums, a root by its square
                each = 2 if operation == "sqrt" else 1
                for left in range(most, each - 1, -each):
                    quotient = _divided(numerator, dict(operands[0]))
                    if quotient is None:
                        break
                    numerator, powers[atom] = quotient, left - each
        return numerator, {atom: power for atom, power in powers.items() if power}

    # ------------------------------------------------------------------------------------------ as SymPy has it

    def product_of(self, powers: Mapping[int, int], inputs: Callable[[str, int], Any]) -> Any:
        """The denominator of `over_one_denominator`, as a SymPy expression."""
        import sympy

        factors = []
        for atom, power in powers.items():
            operation, operands = self.atoms[atom]
            inverse = operation == "inverse"
            base = self.expression(dict(operands[0]), inputs) if inverse else self._expression_of(atom, inputs)
            factors.append(base**power)
        return sympy.Mul(*factors)

    def expression(self, polynomial: Mapping[Term, Any], inputs: Callable[[str, int], Any]) -> Any:
        """A polynomial as a SymPy expression; ``inputs(name, index)`` gives those of inputs."""
        import sympy

        alone = _atom_alone(polynomial)
        if alone is not None:  # a condition, perhaps, which is no factor
            return self._expression_of(alone, inputs)
        size = max((abs(c) for c in polynomial.values()), default=0)
        terms = []
        for term, c in polynomial.items():
            if abs(c) > 1e-13 * size:
                factors = [self._expression_of(atom, inputs) ** power for atom, power in term]
                terms.append(sympy.Mul(number(c), *factors))
        return sympy.Add(*terms)

    def _expression_of(self, atom: int, inputs: Callable[[str, int], Any]) -> Any:
        import sympy

        operation, operands = self.atoms[atom]
        if operation == "input":
            return inputs(*operands)
        if operation == "lookup":
            raise FormulaError(
                "a function of tables has no formula; take one of mobod.function without pieces, or mobod.export_c"
            )
        parts = [self.expression(dict(one), inputs) for one in operands]
        return 1 / parts[0] if operation == "inverse" else applied(sympy, operation, parts)


_TOO_LARGE = (
    "the formulas have too many terms to be multiplied out; give simplify=False for formulas as they are computed, "
    "or mobod.export_c for code"
)


def applied(sympy: Any, operation: str, parts: list[Any]) -> Any:
    """An operation of a tape, of SymPy's expressions."""
    if operation in _NAMES:
        return parts[0] ** parts[1] if operation == "power" else getattr(sympy, operation)(*parts)
    if operation == "select":
        mask, chosen, other = parts
        return sympy.Piecewise((chosen, mask), (other, True))
    if operation in COMPARISONS:
        return getattr(sympy, operation.capitalize())(*parts)
    return {"and": sympy.And, "or": sympy.Or, "not": sympy.Not}[operation](*parts)


def by_name(node: Recorded) -> tuple[str, list[Recorded]]:
    """The name and the arguments of what kernels compute by cases, and mathematicians do not; empty of all else.

    What is recorded again is the same node.
    """
    mask = node.operands[0] if node.operation == "select" else node
    if mask.operation in ("lt", "gt"):
        x, y = mask.operands
        if scalar.absolute(x) is node:
            return "Abs", [x]
        for name, of_two in (("Min", scalar.minimum), ("Max", scalar.maximum)):
            if of_two(x, y) is node:
                return name, [x, y]
        if x.operation == "mul" and x.operands[0] is x.operands[1]:
            for name in ("tanh", "sinh"):
                if getattr(scalar, name)(x.operands[0]) is node:
                    return name, [x.operands[0]]
    return "", []


def number(c: Any) -> Any:
    """A coefficient as SymPy's number: a fraction where it is one, or one of smaller numbers but for roundings."""
    import sympy

    if not isinstance(c, Fraction):
        near = Fraction(c).limit_denominator(10_000) if math.isfinite(c) else c
        c = near if abs(float(near) - c) <= 1e-14 * abs(c) else c
    return sympy.Rational(c.numerator, c.denominator) if isinstance(c, Fraction) else sympy.Float(c, 15)


def rational(x: float) -> Any:
    """A number as SymPy's: a fraction where it is one of small numbers."""
    return number(_rational(x))


def _rational(x: float) -> Any:
    """A fraction of small numbers that a float is; other floats stay what they are."""
    if not math.isfinite(x):
        return x
    near = Fraction(x).limit_denominator(1_000_000)
    return near if abs(float(near) - x) <= 4e-16 * abs(x) else x


def _holds_but_at_a_point(mask: Recorded) -> bool:
    """True if a condition is ``x > 0`` of a sum of squares: kernels guard against a distance of 0, formulas need not."""
    return (
        mask.operation == "gt"
        and mask.operands[1].is_number
        and mask.operands[1].value == 0.0
        and _no_less_than_zero(mask.operands[0])
        and _has_one_branch(mask.operands[0])
    )


def _no_less_than_zero(x: Recorded) -> bool:
    """True where that is seen at a glance: sums of squares, their roots, and choices between these."""
    if x.is_number:
        return x.value >= 0.0
    if x.operation == "mul":
        return x.operands[0] is x.operands[1]
    if x.operation in ("add", "select"):
        return all(map(_no_less_than_zero, x.operands[-2:]))
    return x.operation == "sqrt"


def _has_one_branch(x: Recorded) -> bool:
    """True if no part of it is looked up, or chosen but where that holds but at a point: others can be zero on a range."""
    parts, seen = [x], set()
    while parts:
        part = parts.pop()
        if id(part) in seen or part.is_number:
            continue
        seen.add(id(part))
        operands = [one for one in part.operands if isinstance(one, Recorded)]
        if part.operation == "lookup" or (part.operation == "select" and not _holds_but_at_a_point(operands[0])):
            return False
        parts += operands
    return True


def _atom_alone(polynomial: Mapping[Term, Any]) -> int | None:
    """The atom that a polynomial is, where it is nothing else."""
    if len(polynomial) == 1:
        ((term, c),) = polynomial.items()
        if c == 1 and len(term) == 1 and term[0][1] == 1:
            return term[0][0]
    return None


def _key(polynomial: Mapping[Term, Any]) -> tuple[tuple[Term, Any], ...]:
    return tuple(sorted(polynomial.items()))


def _add(found: dict[Term, Any], term: Term, c: Any) -> None:
    before = found.get(term, 0)
    total = before + c
    if total == 0 or (isinstance(total, float) and abs(total) <= 1e-14 * (abs(before) + abs(c))):
        found.pop(term, None)
    else:
        found[term] = total


def _sum(a: Mapping[Term, Any], b: Mapping[Term, Any], sign: int) -> dict[Term, Any]:
    found = dict(a)
    for term, c in b.items():
        _add(found, term, sign * c)
    if len(found) > MOST_TERMS:
        raise FormulaError(_TOO_LARGE)
    return found


def _divided(polynomial: Mapping[Term, Any], divisor: Mapping[Term, Any]) -> dict[Term, Any] | None:
    """The quotient, where nothing is left over: division by leading terms, in the lexical order of powers."""
    atoms = sorted({atom for terms in (polynomial, divisor) for term in terms for atom, _ in term})

    def order(term: Term) -> list[int]:
        powers = dict(term)
        return [powers.get(atom, 0) for atom in atoms]

    first = max(divisor, key=order)
    rest, quotient = dict(polynomial), {}
    while rest:
        leading = max(rest, key=order)
        term = _times(leading, tuple((atom, -power) for atom, power in first))
        if any(power < 0 for _, power in term):
            return None
        c = quotient[term] = rest[leading] / divisor[first]
        for other, factor in divisor.items():
            _add(rest, _times(term, other), -c * factor)
        rest.pop(leading, None)  # numbers that are no fractions may leave roundings
    return quotient


def _times(s: Term, t: Term) -> Term:
    powers = dict(s)
    for atom, power in t:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((atom, power) for atom, power in powers.items() if power))
