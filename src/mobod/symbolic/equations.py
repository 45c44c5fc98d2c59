"""The equations of motion of small systems as SymPy's expressions, from the source of the kernels."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling.notice import loading
from ..errors import FormulaError, MobodError
from ..simulation.names import auxiliary_names, coordinate_names, speed_names
from ..system.arguments import check_state, check_system
from ..tree import prescribe, prescribed_mobilities
from ..value import checks
from ..value.stage import Stage
from .linear import solved
from .model import RecordedModel, recorded
from .parameters import Parameters, all_of, values_of_body
from .polynomial import Ring, applied, by_name, rational
from .recording import Recorded

if TYPE_CHECKING:
    from ..value.annotations import MobilizedBody, MultibodySystem, State

#: Letters of parameters' symbols; others are called by their names.
_LETTERS = {"mass": "m", "com": "c", "inertia": "I", "central_inertia": "I", "p_PF": "r", "p_BM": "s", "stiffness": "k"}
_LETTERS |= {"damping": "d", "magnitude": "g", "gravity_vector": "g"}
_AXES = {3: ("x", "y", "z"), 6: ("xx", "yy", "zz", "xy", "xz", "yz")}
#: Formulas with more terms are left as they are multiplied out.
_READABLE = 60
#: What formulas call, of numbers at which they have no value, too; the module ``math`` has the rest.
_OF_NUMBERS = {name: getattr(np, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "tanh")} | {
    "atan2": np.arctan2
}
#: A row of G is a combination of others if less than this part of it is left beside these: an angle.
_DEPENDENT = 3e-6


class Equations:
    """The equations of motion of a system, as SymPy's expressions. `mobod.equations` makes them.

        M(q) u_dot + G^T lambda + bias(q, u) = f        q_dot = N(q) u        G u_dot + constraint_bias = 0

    Attributes
    ----------
    t : Symbol
        Time.
    q, u, z, u_dot, f : tuple of Symbol
        Coordinates, speeds, auxiliary variables, accelerations, and forces on the mobilities beside those of the elements.
    parameters : dict of Symbol to float
        The symbols of parameters, and what they are in the model, where that is known.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> equations = mb.equations(system, parameters={"gravity_0.magnitude": "g"})
    >>> equations
    <Equations: 2 coordinates, 2 speeds, 0 constraint equations, 1 parameters>
    >>> equations.potential_energy
    -g*(2*cos(q_upper) + cos(q_lower + q_upper))
    """

    def __init__(self, model: RecordedModel, names: Mapping[str, Sequence[Any]], given: Sequence[Any], simplify: bool) -> None:
        sympy = _sympy()
        self._model, self._simplify, self._ring = model, simplify, Ring()
        self._plain: dict[int, Any] = {}
        self.t = sympy.Symbol("t", real=True)
        symbols = {
            name: tuple(sympy.Symbol(one, real=True) if isinstance(one, str) else one for one in names[name]) for name in "quzf"
        }
        self.q, self.u, self.z, self.f = (symbols[name] for name in "quzf")
        self.u_dot = tuple(sympy.Symbol(f"{one.name}_dot", real=True) for one in self.u)
        self._inputs = {"t": (self.t,), **symbols, "u_dot": self.u_dot, "p": tuple(given)}
        self.parameters: dict[Any, float] = {}

    # ------------------------------------------------------------------------------------------ what there is

    @functools.cached_property
    def mass_matrix(self) -> Any:
        """M ``(nu, nu)``, a SymPy Matrix."""
        return self._matrix(self._M)

    @functools.cached_property
    def bias(self) -> Any:
        """The forces that u_dot = 0 takes ``(nu, 1)``: velocity terms less the forces of the elements, gravity among them."""
        return self._matrix([[x] for x in self._bias])

    @functools.cached_property
    def kinematic_matrix(self) -> Any:
        """N ``(nq, nu)``, q_dot = N u."""
        return self._matrix(self._model.kinematic_matrix())

    @functools.cached_property
    def q_dot(self) -> Any:
        """The rates of the coordinates ``(nq, 1)``."""
        return self._matrix([[x] for x in self._model.q_dot[: self._model.nq, 0]])

    @functools.cached_property
    def z_dot(self) -> Any:
        """The rates of the auxiliary variables ``(nz, 1)``."""
        return self._matrix([[x] for x in self._model.z_dot[: len(self.z), 0]])

    @functools.cached_property
    def constraint_matrix(self) -> Any:
        """G ``(m, nu)`` of closed loops and other constraints, in the order of a state's multipliers."""
        return self._matrix(self._loop.G, len(self.u))

    @functools.cached_property
    def constraint_bias(self) -> Any:
        """The acceleration errors at u_dot = 0 ``(m, 1)``."""
        return self._matrix([[x] for x in self._loop.bias])

    @functools.cached_property
    def position_errors(self) -> Any:
        """Position errors ``(mp, 1)``, which are zero where constraints hold: `State.q_err` without quaternions' lengths."""
        return self._matrix([[x] for x in self._loop.position_errors])

    @functools.cached_property
    def accelerations(self) -> Any:
        """u_dot ``(nu, 1)`` of q, u, f: solved for, under the constraints, with locks and motions as in the state.

        Of up to four unknowns as quotients of determinants; of more by elimination, and not multiplied out. Equations of
        constraints that are redundant in the state that the equations were made for, and nearby, are left out, with lambda = 0;
        where they are redundant in that state alone, a dead center, formulas divide by zero there.
        """
        found, small = self._solved
        return self._matrix([[x] for x in found[: len(self.u)]], simplify=small)

    @functools.cached_property
    def multipliers(self) -> Any:
        """lambda ``(m, 1)`` of q, u, f, as `accelerations`."""
        found, small = self._solved
        return self._matrix([[x] for x in found[len(self.u) :]], simplify=small)

    @functools.cached_property
    def kinetic_energy(self) -> Any:
        """1/2 u^T M u, an expression."""
        return self._expression(self._model.kinetic_energy())

    @functools.cached_property
    def potential_energy(self) -> Any:
        """The potential energy of all enabled elements, an expression."""
        return self._expression(self._model.potential_energy())

    def station(self, body: MobilizedBody | str | int, point: Any = (0.0, 0.0, 0.0)) -> Any:
        """Location of a body's point in Ground ``(3, 1)``; *point* in the body's frame, of numbers and parameters' symbols."""
        return self._matrix([[x] for x in self._station(body, point)[0]])

    def station_velocity(self, body: MobilizedBody | str | int, point: Any = (0.0, 0.0, 0.0)) -> Any:
        """Its velocity in Ground ``(3, 1)``."""
        return self._matrix([[x] for x in self._station(body, point)[1]])

    def station_jacobian(self, body: MobilizedBody | str | int, point: Any = (0.0, 0.0, 0.0)) -> Any:
        """Its Jacobian ``(3, nu)``: velocity = J u."""
        return self._matrix(self._station(body, point)[2])

    def frame_jacobian(self, body: MobilizedBody | str | int, point: Any = (0.0, 0.0, 0.0)) -> Any:
        """The Jacobian of a frame at the point ``(6, nu)``: angular velocity, then velocity."""
        b = self._model.system.get_matter_subsystem().find_body(body).index
        return self._matrix([*self._model.body_jacobian(b), *self._station(body, point)[2]])

    # ------------------------------------------------------------------------------------------ in numbers, and printed

    def evaluate(self, expression: Any, state: State, parameters: Mapping[Any, float] | None = None, f: Any = None) -> Array:
        """An expression, or a Matrix, in numbers, at a state's time, q, u and z.

        Parameters
        ----------
        expression : Expr or Matrix
        state : State
        parameters : mapping of Symbol or str to float, optional
            Values of parameters, in place of the model's.
        f : (nu,) array_like, optional
            The forces on the mobilities; zero where none are given.

        Returns
        -------
        array
            As the Matrix, a column as a vector; of one expression a number.

        Raises
        ------
        ValueError
            For a symbol that has no value.
        """
        sympy = _sympy()
        check_state("evaluate", self._model.system, state)
        own = {sympy.Symbol(key, real=True) if isinstance(key, str) else key: x for key, x in (parameters or {}).items()}
        forces = np.zeros(len(self.f)) if f is None else checks.array("f", f, (len(self.f),), ValueError)
        numbers = {**self.parameters, **own, self.t: float(state.time)}
        for names, values in ((self.q, state.q), (self.u, state.u), (self.z, state.z), (self.f, forces)):
            numbers |= dict(zip(names, map(float, values), strict=True))
        free = sorted(sympy.sympify(expression).free_symbols, key=str)
        missing = [str(one) for one in free if one not in numbers]
        if missing:
            raise ValueError(f"{', '.join(missing)} have no value; give parameters={{{missing[0]!r}: ...}}")
        rows = expression.tolist() if hasattr(expression, "tolist") else expression
        function = sympy.lambdify(free, rows, modules=[_OF_NUMBERS, "math"], cse=True)
        with np.errstate(all="ignore"):  # of cases that do not hold
            found = np.array(function(*(np.float64(numbers[one]) for one in free)), np.float64)
        return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found

    def to_latex(self) -> str:
        """The equations of motion, and those of constraints, as LaTeX: one ``align*``."""
        sympy = _sympy()
        u_dot, f = sympy.Matrix(self.u_dot), sympy.Matrix(self.f)
        shown = {one: sympy.Symbol(rf"\dot{{{sympy.latex(name)}}}") for one, name in zip(self.u_dot, self.u, strict=True)}
        write = functools.partial(sympy.latex, mat_delim="[")
        left = f"{write(self.mass_matrix)} {write(u_dot.subs(shown))}"
        lines = [f"{left} + {write(self.bias)} &= {write(f)}"]
        if self._loop.G:
            multipliers = sympy.Matrix(sympy.symbols(f"lambda_1:{len(self._loop.G) + 1}"))
            lines[0] = f"{left} + {write(self.constraint_matrix.T)} {write(multipliers)} + {write(self.bias)} &= {write(f)}"
            lines.append(f"{write(self.constraint_matrix)} {write(u_dot.subs(shown))} + {write(self.constraint_bias)} &= 0")
        rates = [rf"\dot{{{sympy.latex(q)}}} &= {write(rate)}" for q, rate in zip(self.q, self.q_dot, strict=True)]
        return "\\begin{align*}\n" + " \\\\\n".join([*rates, *lines]) + "\n\\end{align*}"

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"

    def __repr__(self) -> str:
        of = f", {len(self.parameters)} parameters" if self.parameters else ""
        return f"<Equations: {len(self.q)} coordinates, {len(self.u)} speeds, {len(self._loop.G)} constraint equations{of}>"

    # ------------------------------------------------------------------------------------------ from the tape

    @functools.cached_property
    def _M(self) -> list[list[Recorded]]:
        return self._model.mass_matrix()

    @functools.cached_property
    def _bias(self) -> list[Recorded]:
        return self._model.inverse([0.0] * len(self.u))

    @functools.cached_property
    def _loop(self) -> Any:
        return self._model.loop()

    @functools.cached_property
    def _solved(self) -> tuple[list[Recorded], bool]:
        model: Any = self._model
        loop, nu = self._loop, len(self.u)
        known: dict[int, Recorded] = {}
        prescribe.sweep(model)
        for b in range(1, model.nb):
            if model.prescribed[b]:
                for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                    moved = model.prescribed[b] > prescribed_mobilities.ZERO
                    known[i] = prescribed_mobilities.acceleration(model, b, i) if moved else model.tape.number(0.0)
        right = [model.tape.input("f", i) - self._bias[i] for i in range(nu)]
        rows = self._independent_rows()
        found, small = solved(model.tape, self._M, right, [loop.G[r] for r in rows], [loop.bias[r] for r in rows], known)
        multipliers = dict(zip(rows, found[nu:], strict=True))
        return found[:nu] + [multipliers.get(r, model.tape.number(0.0)) for r in range(len(loop.G))], small

    def _independent_rows(self) -> list[int]:
        """Those rows of G that are no combination of rows before them, in the state or nearby where there are more of them.

        A mechanism's dead center, in which a constraint does not act, is often where it starts.
        """
        system, state = self._model.system, self._model.state_of.copy()
        if not self._loop.G:
            return []
        system.realize(state, Stage.VELOCITY)
        kept = _independent(system.matter.calc_g(state))
        rng = np.random.default_rng(1)
        for size in (0.3, 0.1, 0.03) if len(kept) < len(self._loop.G) else ():
            near = state.copy()
            near.q = state.q + rng.uniform(-size, size, len(state.q))
            try:
                system.realize(near, Stage.TIME)
                system.prescribe(near)
                system.realize(near, Stage.POSITION)
                system.project_q(near, accuracy=1e-10)
                system.realize(near, Stage.VELOCITY)
            except MobodError:
                continue  # too far from where the constraints hold
            found = _independent(system.matter.calc_g(near))
            kept = found if len(found) > len(kept) else kept
        return kept

    def _station(self, body: Any, point: Any) -> tuple[list[Recorded], list[Recorded], list[list[Recorded]]]:
        b = self._model.system.get_matter_subsystem().find_body(body).index
        return self._model.station(b, [self._from_sympy(x) for x in point])

    def _from_sympy(self, x: Any) -> Any:
        """A number, or a polynomial of parameters' symbols, on the tape."""
        sympy = _sympy()
        x = _expression("point", x)
        if x.is_Number:
            return self._model.tape.number(float(x))
        for k, given in enumerate(self._inputs["p"]):
            if given in (x, -x):
                return (1.0 if given == x else -1.0) * self._model.tape.input("p", k)
        if isinstance(x, (sympy.Add, sympy.Mul)):
            add = isinstance(x, sympy.Add)
            return functools.reduce(lambda a, b: a + b if add else a * b, map(self._from_sympy, x.args))
        if isinstance(x, sympy.Pow) and x.exp.is_Integer and x.exp > 0:
            return functools.reduce(lambda a, b: a * b, [self._from_sympy(x.base)] * int(x.exp))
        raise ValueError(f"a point is made of numbers and of symbols of parameters, {list(map(str, self.parameters))}, got {x}")

    def _matrix(self, rows: Sequence[Sequence[Recorded]], columns: int = 1, simplify: bool = True) -> Any:
        sympy = _sympy()
        if not rows:
            return sympy.zeros(0, columns)
        return sympy.Matrix([[self._expression(x, simplify) for x in row] for row in rows])

    def _expression(self, node: Recorded, simplify: bool = True) -> Any:
        if not (self._simplify and simplify):
            return self._as_computed(node)
        over, under = node.operands if node.operation == "div" else (node, node.tape.number(1.0))
        as_sum = self._tidy(self._ring.of(over)) / self._tidy(self._ring.of(under))
        try:
            quotient = self._as_quotient(self._ring.of(over), self._ring.of(under))
        except FormulaError:
            return as_sum
        return min((as_sum, quotient), key=_sympy().count_ops)

    def _as_quotient(self, over: Mapping[Any, Any], under: Mapping[Any, Any]) -> Any:
        """One quotient of sums without quotients in them."""
        (a, below_a), (b, below_b) = map(self._ring.over_one_denominator, (over, under))
        if sum(c < 0 for c in b.values()) > len(b) / 2:  # no minus in front of all
            a, b = ({term: -c for term, c in one.items()} for one in (a, b))
        left = {atom: below_b.get(atom, 0) - below_a.get(atom, 0) for atom in below_a | below_b}
        return self._tidy(a) * self._ring.product_of(left, self._input) / self._tidy(b)

    def _tidy(self, polynomial: Mapping[Any, Any]) -> Any:
        found = self._ring.expression(polynomial, self._input)
        return found if len(polynomial) > _READABLE else tidied(found)

    def _input(self, name: str, index: int) -> Any:
        return self._inputs[name][index]

    def _as_computed(self, node: Recorded) -> Any:
        """As the kernels compute it, with nothing multiplied out."""
        sympy, found = _sympy(), self._plain
        for x in node.tape.reached([node]):
            if x.place in found:
                continue
            if x.operation == "number":
                found[x.place] = rational(x.value)
            elif x.operation in ("input", "lookup"):
                found[x.place] = self._ring.expression(self._ring.of(x), self._input)
            elif x.operation in _ARITHMETIC:  # SymPy's own orders and gathers sums, which takes most of the time
                found[x.place] = _ARITHMETIC[x.operation](sympy, *(found[one.place] for one in x.operands))
            else:
                name, arguments = by_name(x)
                operands = arguments if name else x.operands
                found[x.place] = applied(sympy, name or x.operation, [found[one.place] for one in operands])
        return found[node.place]


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": lambda sympy, a, b: sympy.Add(a, b, evaluate=False),
    "sub": lambda sympy, a, b: sympy.Add(a, sympy.Mul(-1, b, evaluate=False), evaluate=False),
    "mul": lambda sympy, a, b: sympy.Mul(a, b, evaluate=False),
    "div": lambda sympy, a, b: sympy.Mul(a, sympy.Pow(b, -1, evaluate=False), evaluate=False),
    "neg": lambda sympy, a: sympy.Mul(-1, a, evaluate=False),
}


def _independent(G: Array) -> list[int]:
    """The rows that are no combination of rows before them."""
    basis: list[Array] = []
    kept = []
    for r, row in enumerate(G):
        rest = row.copy()
        for _ in range(2):
            for one in basis:
                rest -= (one @ rest) * one
        if np.linalg.norm(rest) > _DEPENDENT * np.linalg.norm(row) > 0.0:
            basis.append(rest / np.linalg.norm(rest))
            kept.append(r)
    return kept


def equations(
    system: MultibodySystem,
    *,
    state: State | None = None,
    parameters: bool | Iterable[str] | Mapping[str, Any] = (),
    coordinates: Sequence[Any] | None = None,
    speeds: Sequence[Any] | None = None,
    simplify: bool = True,
) -> Equations:
    """The equations of motion of a small system as SymPy's expressions: M, bias, Jacobians, energies, accelerations.

    The kernels themselves run on symbols, whatever the system has of mobilizers, forces and constraints whose formulas are
    closed, so that the equations are those that are simulated. (Needs SymPy.)

    Parameters
    ----------
    system : MultibodySystem
    state : State, optional
        Whose locks, switches, parameters and kind of coordinates count; a default state where none is given.
    parameters : list of str, mapping of str to expression, or True
        Which numbers of the model are symbols: their names, such as ``["bob.mass", "bob.com[1]", "spring.stiffness"]``, whose
        symbols are ``m_bob``, ``c_bob_y``, ``k_spring``; or what each is, a text, a number, or an expression of SymPy's:
        ``{"bob.mass": "m", "bob.com": (0, "-l", 0), "gravity.magnitude": "g"}``; or True for all that are not zero. Masses
        and mass centers leave inertias about mass centers as they are.
    coordinates, speeds : sequence of str or Symbol, optional
        What q and u are called; ``q_`` and ``u_`` with the mobilizers' names where they are not given.
    simplify : bool
        Whether to multiply out, let terms cancel and gather what is left. Large systems take False, and formulas as they are
        computed.

    Returns
    -------
    Equations

    Raises
    ------
    FormulaError
        Where a part of the system cannot be written as formulas, by its name; where formulas become too large for *simplify*.
    ImportError
        Without SymPy.
    ValueError, TypeError
        For names that the model does not have, a wrong number of names, or one name for two things.

    Notes
    -----
    What controllers of `mobod.control` give is left out: it is among the forces f. Numbers such as 0.1 become fractions. A
    quaternion takes its length to be 1 but nothing cancels by that: with
    ``matter.set_use_euler_angles(state, True)`` formulas are shorter.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> equations = mb.equations(system, coordinates=["a", "b"], speeds=["da", "db"])
    >>> equations.mass_matrix[0, 1]
    cos(b) + 251/250
    >>> equations.evaluate(equations.mass_matrix, state).round(3)
    array([[4.763, 1.882],
           [1.882, 1.004]])
    """
    _sympy()
    check_system("equations", system)
    state = system.realize_topology() if state is None else state
    check_state("equations", system, state)
    if state.stage < Stage.MODEL:
        state.refuse_model("equations")
    checks.flag("simplify", simplify)
    names, given = _given(system, state, parameters)
    own = Parameters(system, state, names)
    symbols = given
    if symbols is None:
        symbols = [_as_symbol(_symbol(number, own, system, state)) for number in own.numbers]
    of = {
        "q": _named("coordinates", coordinates, [f"q_{one}" for one in map(_plain, coordinate_names(system, state))]),
        "u": _named("speeds", speeds, [f"u_{one}" for one in map(_plain, speed_names(system, state))]),
        "f": [f"f_{one}" for one in map(_plain, speed_names(system, state))],
        "z": [f"z_{one}" for one in map(_plain, auxiliary_names(system, state))],
    }
    _check_apart(of, symbols)
    model = recorded(system, state, own, "realize_forces")
    found = Equations(model, of, symbols, simplify)
    for symbol, number in zip(symbols, own.numbers, strict=True):
        factor, alone = symbol.as_coeff_Mul()
        if alone.is_Symbol:
            found.parameters.setdefault(alone, number.default / float(factor))
    return found


def _given(system: Any, state: Any, parameters: Any) -> tuple[list[str], list[Any] | None]:
    """The names of parameters, one a number, and their expressions, where these are given."""
    if parameters is True:
        return all_of(system, state), None
    if parameters is False:
        return [], None
    if not isinstance(parameters, Mapping):
        return parameters, None
    names, values = [], []
    for name, value in parameters.items():
        numbers = Parameters(system, state, [name]).numbers
        each = (
            [value] if len(numbers) == 1 else list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []
        )
        if len(each) != len(numbers):
            raise ValueError(f"{name!r} has {len(numbers)} numbers; give as many expressions, got {value!r}")
        names += [number.name for number in numbers]
        values += [_expression(name, one) for one in each]
    return names, values


def _expression(name: str, value: Any) -> Any:
    sympy = _sympy()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return rational(checks.number(name, value))
    if isinstance(value, str):
        words = re.findall(r"[A-Za-z_]\w*", value)
        try:
            value = sympy.sympify(value, locals={word: sympy.Symbol(word, real=True) for word in words})
        except sympy.SympifyError as error:
            raise ValueError(f"{name!r} takes a number, or an expression as text or of SymPy, got {value!r}") from error
    if not isinstance(value, sympy.Expr):
        raise TypeError(f"{name!r} takes a number, a text or an expression of SymPy's, got {value!r}")
    return value


def _symbol(number: Any, own: Parameters, system: Any, state: Any) -> str:
    """The name of a parameter's symbol."""
    letter = _LETTERS.get(number.parameter, number.parameter)
    element = _plain(number.element)
    if number.parameter == "magnitude" and letter == "g":
        return "g" if sum(one.parameter == "magnitude" for one in own.numbers) == 1 else f"g_{element}"
    if "[" not in number.name:
        return f"{letter}_{element}"
    size = len(values_of_body(system.matter.bodies[number.element], number.parameter, state)) if _is_body(number, system) else 0
    return f"{letter}_{element}_{_AXES[size][number.number] if size in _AXES else number.number}"


def _is_body(number: Any, system: Any) -> bool:
    return number.parameter in ("com", "inertia", "central_inertia", "p_PF", "p_BM") and number.element in system.matter.bodies


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_")


def _named(what: str, given: Sequence[Any] | None, names: list[str]) -> list[Any]:
    sympy = _sympy()
    if given is None:
        return names
    if (
        isinstance(given, str)
        or not isinstance(given, Sequence)
        or not all(isinstance(one, (str, sympy.Symbol)) for one in given)
    ):
        raise TypeError(f"{what} has to be a list of names or symbols, got {given!r}")
    if len(given) != len(names) or len(set(map(str, given))) != len(names):
        raise ValueError(f"{what} takes {len(names)} different names, for {', '.join(names)}; got {list(map(str, given))}")
    return list(given)


def _check_apart(of: Mapping[str, Sequence[Any]], symbols: Sequence[Any]) -> None:
    """Refuse one name for two things, whose terms would be added up; parameters may share one, to be equal."""
    variables = [*(str(one) for names in of.values() for one in names), *(f"{one}_dot" for one in of["u"])]
    parameters = {str(one) for symbol in symbols for one in symbol.free_symbols}
    for name in variables:
        if variables.count(name) > 1 or name in parameters:
            other = "a parameter" if name in parameters else "another variable"
            raise ValueError(f"{name!r} is a coordinate, speed, force or rate and {other}, too; give one of them another name")


def _as_symbol(name: Any) -> Any:
    return _sympy().Symbol(name, real=True) if isinstance(name, str) else name


def tidied(expression: Any) -> Any:
    """The shorter of an expression multiplied out and one with products of sines and cosines as those of sums of angles."""
    sympy = _sympy()
    from sympy.simplify.fu import TR8

    expression = sympy.expand(expression)
    if len(sympy.Add.make_args(expression)) > _READABLE:
        return expression
    forms = [expression]
    if expression.has(sympy.sin, sympy.cos):
        forms.append(sympy.expand(TR8(expression)))
    return min((sympy.factor_terms(form) for form in forms), key=sympy.count_ops)


def _sympy() -> Any:
    try:
        with loading("SymPy"):
            import sympy
    except ImportError as error:
        raise ImportError("mobod.equations needs SymPy: pip install mobod[symbolic]") from error
    return sympy
