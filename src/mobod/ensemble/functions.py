"""Users' functions of a run of many states: a controller, what is observed, what ends a run.

All are called as ``f(t, q, u)``, q and u being tuples of all coordinates and speeds of the mobilizers; a controller, and what
ends a run, may be in NumPy's manner, too, as laws of `mobod.control` are: of those of t, q, u that they name, q and u being
arrays. What compiles runs in lanes, the latter for one lane after the other; others are called by Python, state by state.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import UsersRoutine
from ..control import laws
from ..errors import ModelError
from ..event import TriggeredHandler, Witness
from ..event.watched import Watched
from ..function import users
from ..function.users.unrolled import numbers, unrolled
from ..simulation.events import Events
from ..state.state import State
from ..value.callers import callers_level
from ..value.stage import Stage

ARGUMENTS = ("t", "q", "u")
Function = Callable[..., Any]


def arguments_of(state: State) -> tuple[float, tuple[float, ...], tuple[float, ...]]:
    """Arguments of the functions at a state."""
    tree = state.tree
    return state.time, tuple(state.q_values[: tree.nq].tolist()), tuple(state.u_values[: tree.nu].tolist())


class RunFunction:
    """A user's function of a run.

    Parameters
    ----------
    name : str
        "controller" or "terminate".
    function : callable
    state : State
        At which it is tried.

    Attributes
    ----------
    routine : UsersRoutine or None
        Of what it compiles to; None where it has to be called by Python.

    Raises
    ------
    TypeError
        If it is not callable.
    ModelError
        If it fails at the state, or returns something else than it has to.
    """

    def __init__(self, name: str, function: Function, state: State) -> None:
        if not callable(function):
            raise TypeError(f"{name} is a function of (t, q, u), not {function!r}")
        _check_signature(name, function)
        self.name, self.python = name, function
        nq, nu = state.tree.nq, state.tree.nu
        self._shape: tuple[int, ...] = (nu,) if name == "controller" else ()
        #: What it names of t, q and u, where it is written in NumPy's manner.
        self._names = self._find_manner(state)
        self.routine: UsersRoutine | None = None
        try:
            if self._names is not None:
                self._refuse_truth(self.call(state))
                self.routine = laws.routine_in_lanes(function, self._names, nq, nu, name == "controller")
                self.routine.address(in_lanes=True)
                return
            frozen = users.freeze(function, name, ARGUMENTS)
            users.try_out(frozen, _places(state), f"There are {nq} q and {nu} u", lambda value, _: self._check_compiled(value))
            made = users.routine_of(f"ensemble.{name}", {name: frozen}, (nq, nu), lambda: self._kernel(frozen, nq, nu))
            made.address(in_lanes=True)
            self.routine = made
        except (TypeError, ModelError) as error:
            self.routine = None
            warnings.warn(
                f"{name} cannot be compiled and is called by Python, state by state, which is some hundred times slower than "
                f"in lanes: {laws.reason(error)}",
                RuntimeWarning,
                stacklevel=callers_level(),
            )

    def _find_manner(self, state: State) -> tuple[str, ...] | None:
        """The names that it takes arrays by, since tuples will not do or it names fewer; None where it takes tuples."""
        names = _names_of(self.python)
        self._names = None if names == ARGUMENTS else names
        try:
            self.check(self.call(state))
        except Exception:
            if names != ARGUMENTS:
                raise
            self._names = names
            if not self._works(state):  # then what tuples lead to is what is wrong
                raise
        return self._names

    def _works(self, state: State) -> bool:
        """True if it can be called so, and returns what it has to."""
        try:
            self.check(self.call(state))
        except Exception:
            return False
        return True

    def call(self, state: State) -> Any:
        """Its value at a state."""
        if self._names is None:
            return self.python(*arguments_of(state))
        tree = state.tree
        given = {"t": state.time, "q": np.array(state.q_values[: tree.nq]), "u": np.array(state.u_values[: tree.nu])}
        return self.python(*(given[name] for name in self._names))

    def force(self, state: State) -> Array:
        """The mobility forces of a controller."""
        value = self.call(state)
        self.check(value)
        return np.asarray(value, float)

    def check(self, value: Any) -> None:
        """Refuse what it must not return."""
        if not self._shape:
            if isinstance(value, (tuple, list)) or np.ndim(value) > 1:  # lanes, in a trial, are an array of eight
                raise ModelError(f"{self.name} has to return a number; it returned {value!r}")
        elif not isinstance(value, (tuple, list, np.ndarray)) or len(value) != self._shape[0]:
            raise ModelError(f"{self.name} has to return {self._shape[0]} numbers, a force for each u; it returned {value!r}")

    def _check_compiled(self, value: Any) -> None:
        """Refuse what Python may return and compiled code must not."""
        self.check(value)
        if self._shape:
            users.check_tuples(f"{self.name} has to return {self._shape[0]} numbers", value, self._shape)
        else:
            self._refuse_truth(value)

    def _refuse_truth(self, value: Any) -> None:
        if isinstance(value, (bool, np.bool_)):
            raise ModelError(f"{self.name} has to return a number, as q[0] - 1.0 is, not whether q[0] > 1.0")

    def _kernel(self, f: users.Frozen, nq: int, nu: int) -> Function:
        call = "f(load(model.time, 0, 0), q(model.q, 0), u(model.u, 0))"
        if self.name == "terminate":
            none = "zero(load(model.time, 0, 0))"
            lines = [f"store(model.witness_values, 0, 0, {call} + {none})", f"store(model.witness_values, 0, 1, {none})"]
        else:
            lines = [f"made = {call}"]
            rows = "model.mobility_forces"
            lines += [f"store({rows}, {j}, 0, load({rows}, {j}, 0) + made[{j}])" for j in range(nu)]
        inner = unrolled("model", *lines, f=f.function, q=numbers(nq), u=numbers(nu))

        def run_function(model: Any, i: int, k: int) -> int:
            inner(model)
            return 0

        return run_function


def _check_signature(name: str, function: Function) -> None:
    """Refuse what can neither be called with t, q and u nor names some of them."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of builtins nothing is known
        return
    if _names_of(function) is not None:
        return
    names = tuple(signature.parameters)
    try:
        signature.bind(*ARGUMENTS)
        fits = all(one not in ARGUMENTS or one == own for one, own in zip(names, ARGUMENTS, strict=False))
    except TypeError:
        fits = False
    if not fits:
        raise ModelError(
            f"{name} is a function of (t, q, u), or of those of them that it names as arguments; this one takes "
            f"({', '.join(names) or 'nothing'}). A law of M, bias, gravity and others is for mobod.control.Custom"
        )


def _names_of(function: Function) -> tuple[str, ...] | None:
    """The names of a function's arguments, where these are some of t, q and u."""
    try:
        names = tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None
    return names if names and set(names) <= set(ARGUMENTS) else None


class Ender(Witness):
    """The witness of a function that ends runs, of which lanes know a routine.

    It gives no slope there, so that functions that become positive for less than a step are not searched.
    """

    required_stage = rate_stage = Stage.VELOCITY
    #: What is added to its values, as zero is not positive.
    SHIFT = -float(np.finfo(float).tiny)

    def __init__(self, function: RunFunction) -> None:
        self.function, self.routine = function, function.routine

    def calc_value(self, state: State) -> float:
        """Call the function."""
        return float(self.function.call(state)) + self.SHIFT

    def pack(self, state: State) -> tuple[Sequence[int], Sequence[float]]:
        """It reads none."""
        return (), ()


class EndWhere(TriggeredHandler):
    """Ends runs where a function becomes positive."""

    def __init__(self, function: RunFunction) -> None:
        super().__init__(Stage.VELOCITY, falling=False, absolute_window=1e-12, name="terminate")
        self._ender = Ender(function)

    def watched(self) -> Watched:
        """Its witness in lanes."""
        return Watched(self, 0, Stage.VELOCITY, self.get_value, self._ender.calc_rate, self.info, self._ender)

    def get_value(self, state: State) -> float:
        """The function at the state."""
        return self._ender.calc_value(state)

    def handle_event(self, state: State, accuracy: float) -> bool:
        """End the run."""
        return True


def ended_at(time: float) -> Events:
    """The events of a run that a function has ended in a lane: the same as `EndWhere` leaves."""
    return Events([[time, 0, 0.0, 0]], [("terminate", "triggered", "rising", "")])


def try_observer(function: Function, state: State) -> None:
    """See before a run that `observe` will do.

    Raises
    ------
    TypeError
        If the function is none.
    ModelError
        If it returns something else than a number or numbers.
    """
    if not callable(function):
        raise TypeError(f"observe is a function of (t, q, u), not {function!r}")
    _observed(function(*arguments_of(state)))


def observe(function: Function, times: Array, q: Array, u: Array) -> Array:
    """A function at all rows of all motions ``(n, nt, m)``: of all at once, or row by row where it cannot do that.

    Raises
    ------
    ModelError
        If it returns something else than a number or numbers.
    """
    n, nt = q.shape[:2]
    t = np.broadcast_to(times, (n, nt))
    columns = tuple(np.moveaxis(q, 2, 0)), tuple(np.moveaxis(u, 2, 0))
    with np.errstate(all="ignore"):
        try:
            value = function(t, *columns)
            parts = value if isinstance(value, (tuple, list)) else (value,)
            return np.stack([np.broadcast_to(np.asarray(part, float), (n, nt)) for part in parts], axis=2)
        except Exception:  # it asks which of two numbers is larger, say
            rows = [
                _observed(function(float(t[i, k]), tuple(q[i, k].tolist()), tuple(u[i, k].tolist())))
                for i in range(n)
                for k in range(nt)
            ]
    if len({len(row) for row in rows}) != 1:
        raise ModelError("observe has to return a number, or as many numbers each time")
    return np.reshape(rows, (n, nt, -1))


def _observed(value: Any) -> Array:
    """A function's result of one row ``(m,)``."""
    try:
        return np.ravel(np.asarray(value, float))
    except (TypeError, ValueError):
        raise ModelError(f"observe has to return a number, or a tuple of numbers; it returned {value!r}") from None


def _places(state: State) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    t, q, u = arguments_of(state)
    moved = (
        tuple((np.array(q) + 0.3 * rng.normal(size=len(q))).tolist()),
        tuple((np.array(u) + rng.normal(size=len(u))).tolist()),
    )
    return [dict(zip(ARGUMENTS, (t, q, u), strict=True)), dict(zip(ARGUMENTS, (t + 0.1, *moved), strict=True))]
