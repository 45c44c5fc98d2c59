"""Custom: a controller whose law its user writes as a plain function of floats and arrays, sampled at its own rate.

efforts, memory = law(what it names), at t = k T; the efforts are held until the next sample (zero-order hold)
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..algebra.dual_array import DualArray, NotDifferentiable, constant
from ..algebra.record import values_at
from ..compiling import Callback, raise_kept
from ..errors import ModelError
from ..force.base import Force, check_forces, mobilities as listed
from ..force.layout import Entry
from ..force.routines import by_address
from ..function.users import Frozen
from ..state.named_parameters import NamedParameters, names_and_values
from ..state.of_each import Present, Rows, numbers_at, of_each
from ..state.validity import KINEMATICS, unchanged_bit
from ..tree import sampling
from ..tree.nominal import Nominal
from ..value.checks import array, flag, instance, numbers, positive
from ..value.stage import Stage
from . import laws
from ._differentiated import Differentiated
from ._nominal import OF_MODEL, NominalSystem
from ._traced import routine_with_tangents
from .input import Input, Packing

if TYPE_CHECKING:
    from ..compiling import Routine, UsersRoutine
    from ..force.subsystem import GeneralForceSubsystem
    from ..state.state import State
    from ..value.annotations import MultibodySystem

run = by_address(sampling.push_efforts)


def some_of_each(law: Custom, template: State, values: Any, first: int, count: int) -> Rows | None:
    """Values that a setter of *count* parameters of a law, from one on, gives to many states, a row each."""
    field, place, _ = law.number_place(template, "set_parameters")
    return numbers_at(field, place + 1 + 2 * law.get_num_efforts() + first, values, count, Stage.DYNAMICS)


def _parameters_of_each(law: Custom, template: State, values: Any, present: Present) -> Rows | None:
    return some_of_each(law, template, values, 0, len(law.get_parameters(template)))


#: What stays valid of a state whose controllers find another memory at their next samples: all but that nothing was changed.
_CHANGED = ~unchanged_bit(Stage.REPORT)
#: How well what Python and compiled code make of a law agree: with `numpy.linalg` not to the last bits.
_SAME = 1e-9
#: Routines of laws with tangents of each tree, by element; None where there is none.
_TRACED: weakref.WeakKeyDictionary[Any, dict[int, UsersRoutine | None]] = weakref.WeakKeyDictionary()
#: What a law can name beside its inputs.
NAMES = ("t", "q", "u", "z", "M", "bias", "gravity", "which", "low", "high", "memory", "parameters")


class Custom(NamedParameters, Force):
    """A controller: a law of its user's, called at multiples of its sample time, whose efforts act until the next one.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins: it is a force element, which can be switched off.
    law : function
        A plain function, in NumPy's manner, that returns the efforts ``(n,)`` on the mobilities. The *names* of its arguments
        say what it gets, in any order; all but t are arrays of float64:

        ============== ============= ==================================================================================
        ``t``                        time
        ``q, u, z``    (nq,), ...    of the whole system
        ``M``          (nu, nu)      the mass matrix
        ``bias``       (nu,)         what inertia takes at udot = 0; with M udot it is all that inertia takes
        ``gravity``    (nu,)         the generalized forces of all `force.Gravity`; their negative holds the system
        ``which``      (n,)          the numbers of the mobilities that it acts on, integers
        ``low, high``  (n,)          the limits of the efforts
        ``memory``     (m,)          what it has left there at the last sample; written in place
        ``parameters`` (p,)          numbers that a state can have its own of
        ============== ============= ==================================================================================

        and whatever *inputs* names.
    mobilities : iterable of (MobilizedBody, int), MobilizedBody or str, optional
        What it acts on: the mobilizer of each, and the number of the mobility among its own; or bodies that have one alone, or
        their names. All of the matter's unless given.
    sample_time : float
        Time between samples, which are at its multiples; the first is where a run begins. No step goes beyond a sample.
    inputs : mapping of str to Input, optional
        Names to `Jacobian`, `JacobianBias`, `Pose`, `Velocity`, `Coordinates`, `Reference` or `Sensor`.
    memory : (m,) array_like
        What the law finds in its memory at first: integrals, filters, past values.
    parameters : (p,) array_like, or mapping of str to float
        In a default state; a mapping gives them names, see `set_parameter`. The law gets an array in its order.
    limits : pair of floats or (n,) arrays, optional
        The least and the largest effort, to which all are cut; none unless given.
    model : MultibodySystem, optional
        What the controller takes the system to be, where that is not what it is: a nominal system, whose ``q``, ``u``, ``M``,
        ``bias`` and ``gravity`` the law is given in place of the plant's, and ``which`` by its numbers. Its coordinates and
        speeds are those of the plant's mobilizers of the same names; the plant may have more. Inputs of frames on its bodies
        are its own, too. It is read when topology is realized.
    compiled : bool, optional
        Whether the law is compiled. Compiled steps call Python otherwise, and anything goes: a sample takes 5 us more, and what
        the law takes. Unless given, it is where the compiler can take it; where not, ``statistics["interpreted"]`` of runs
        says why. True makes that an error.

    Raises
    ------
    TypeError
        If *law* is no plain function, or a mobility or an input none.
    ModelError
        If the law names what there is not, or a number is wrong; when topology is realized, if it cannot be compiled but is
        asked to be, with the line of its file first.
    ConvergenceError
        By a run, if the compiled law raises an error, or a law gives efforts that are not finite or not as many as there are
        mobilities. What a law raises that Python calls, such as a NameError, comes out as it is.

    Notes
    -----
    The law is frozen when the controller is made, with the values of outer variables that it uses. It is compiled alone, with
    all of NumPy that Numba knows (sums, products, ``@``, ``np.linalg``), so that nothing of the engine is compiled anew, and
    called inside the compiled loop over steps of every integrator; in a system with parts in Python too. States remember what
    it holds and its memory: copies and checkpoints go on with them, states of a `Trajectory` do not. A report at the time of a
    sample shows the efforts before it.

    Examples
    --------
    A pin that is held by a spring with a sample time.

    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> def law(q, u, gravity):
    ...     return -80.0 * q - 15.0 * u - gravity
    >>> motors = mb.control.Custom(system.forces, law, sample_time=0.002)
    >>> state = system.realize_topology()
    >>> state.q = (0.5, 0.5)
    >>> trajectory = mb.simulate(system, state, 5.0)
    >>> bool(abs(trajectory.q[-1]).max() < 0.05)
    True
    """

    routine = run
    holds_mobility_forces = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        law: Callable[..., Any],
        mobilities: Iterable[Any] | None = None,
        *,
        sample_time: float,
        inputs: Mapping[str, Input] | None = None,
        memory: ArrayLike = (),
        parameters: ArrayLike | Mapping[str, float] = (),
        limits: tuple[Any, Any] | None = None,
        model: MultibodySystem | None = None,
        compiled: bool | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        check_forces(forces)
        self.sample_time, self.law = positive("sample_time", sample_time), law
        self._names = laws.arguments_of(law)
        self._inputs = dict(inputs or {})
        for key, one in self._inputs.items():
            instance(f"input {key!r}", one, Input, "mobod.control.Pose(body)")
            if key in NAMES:
                raise ModelError(f"a law gets {key!r} by its name already; call the input {one!r} otherwise")
        unknown = [key for key in self._names if key not in NAMES and key not in self._inputs]
        if unknown:
            known = ", ".join((*NAMES, *self._inputs))
            raise ModelError(f"the law asks for {unknown[0]!r}; there are {known}, and more by inputs={{{unknown[0]!r}: ...}}")
        #: What it takes the plant to be; None where that is the plant.
        self.nominal = None if model is None else NominalSystem(model, forces.get_system())
        if self.nominal is not None and mobilities is None:
            mobilities = self.nominal.mobilities(forces.get_system())
        #: Bodies and numbers of the mobilities, one after the other.
        self.pairs = _pairs(forces, mobilities)
        self.place_of_parameters = 1 + len(self.pairs)
        n = len(self.pairs) // 2
        self._memory = _row("memory", memory)
        self.parameter_names, given = names_and_values(parameters)
        own = _row("parameters", given)
        low, high = _limits(limits, n)
        self._why_interpreted = ""
        unasked = compiled is None
        is_compiled = True if compiled is None else flag("compiled", compiled)
        if is_compiled:
            try:
                Frozen(law, "law", of_floats=True)
            except (TypeError, ModelError) as error:
                if not unasked:
                    raise
                self._why_interpreted, is_compiled = laws.reason(error), False
        self._forces = forces  # which inputs ask for, and may refuse before it is one of them
        for one in self._inputs.values():
            one.adopt(self)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._compiled, self._unasked = is_compiled, unasked
        self._with_tangents: Differentiated | None = None
        self._num_parameters, self._shape = len(own), (len(own),)
        self.used_functions = [use for one in self._inputs.values() for use in one.functions]
        self.default_numbers = [self.sample_time, *low, *high, *own, *self._packed().numbers]

    def get_num_efforts(self) -> int:
        """Number of mobilities that it acts on."""
        return len(self.pairs) // 2

    @property
    def is_compiled(self) -> bool:
        """True if compiled steps call the law.

        Settled when topology is realized: where *compiled* was not given it may become False there.
        """
        return self._compiled

    @property
    def why_interpreted(self) -> str:
        """Why Python calls the law that was to be compiled where that can be; empty where compiled steps call it.

        Settled when topology is realized, as `is_compiled`.
        """
        return self._why_interpreted

    def refuse_quaternions(self, bodies: Iterable[int], what: str) -> None:
        """Refuse mobilizers whose coordinates belong to no mobility."""
        matter = self._forces.get_system().get_matter_subsystem()
        for b in bodies:
            if matter.body_list[b].facts.has_quaternion:
                raise ModelError(
                    f"{what}: {matter.body_list[b]!r} has a quaternion, none of whose numbers belongs to a mobility; take its "
                    "Pose and Velocity"
                )

    # ------------------------------------------------------------------------------------------ in a state

    def get_efforts(self, state: State) -> Array:
        """The efforts ``(n,)`` that it holds in this state; zero before the first sample. Needs MODEL."""
        self._check(state, "get_efforts")
        first = self.first_memory + sampling.EFFORTS
        return state.record.control_memory[first : first + self.get_num_efforts(), 0].copy()

    def get_memory(self, state: State) -> Array:
        """The memory of its law ``(m,)`` in this state. Needs MODEL."""
        self._check(state, "get_memory")
        first = self._first_of_memory()
        return state.record.control_memory[first : first + len(self._memory), 0].copy()

    def set_memory(self, state: State, memory: ArrayLike) -> None:
        """Change its law's memory in this state, from its next sample on. Needs MODEL."""
        values = array(f"memory of {self._name!r}", memory, (len(self._memory),))
        self._check(state, "set_memory")
        first = self._first_of_memory()
        state.record.control_memory[first : first + len(values), 0] = values
        state.valid &= _CHANGED

    def get_parameters(self, state: State) -> Array:
        """The parameters ``(p,)`` in this state. Needs MODEL."""
        return self._own(self.number_run(state, "get_parameters")).copy()

    def number_runs(self) -> Mapping[str, tuple[int, int]]:
        return {"parameters": (self.place_of_parameters, self._num_parameters)}

    def get_default_parameters(self) -> Array:
        """The parameters ``(p,)`` in a default state."""
        return self._own(np.array(self.default_numbers)).copy()

    @of_each(_parameters_of_each)
    def set_parameters(self, state: State, parameters: ArrayLike | Mapping[str, float]) -> None:
        """Change them in this state, all, or those that a mapping names, from the next sample on.

        It falls to VELOCITY at most.
        """
        token, _, first = self.placed
        if state.token is token and state.put_numbers(parameters, first + self.place_of_parameters, self._shape):
            return
        self._check(state, "set_parameters")
        given = self.with_names(parameters, self.get_parameters(state))
        values = array(f"parameters of {self._name!r}", given, self._shape)
        self._own(self.discrete_run(state, "set_parameters"))[:] = values

    def calc_efforts(self, state: State) -> Array:
        """Efforts of its law at *state*, called by Python, cut to the limits; the state stays as it is. Needs VELOCITY.

        For looking at a law, and at the errors that it raises, step by step.
        """
        self._check(state, "calc_efforts")
        if state.stage_number < Stage.VELOCITY:
            state.refuse("calc_efforts", Stage.VELOCITY)
        copy = state.copy()
        sampling.gather_of(copy.block, self.element)
        self._in_python(self._places(state))(copy.record.control_work[:, 0])
        n = self.get_num_efforts()
        first, numbers_ = sampling.WORK_EFFORTS, self.number_run(state, "calc_efforts")
        return np.clip(copy.record.control_work[first : first + n, 0], numbers_[1 : 1 + n], numbers_[1 + n : 1 + 2 * n])

    def sample(self, state: State) -> int:
        """Take a sample at *state*, which is at VELOCITY or above, and falls to it; 0, or 1 where the law gives no numbers.

        Integrators call it. It is for users who step by other means.
        """
        self._check(state, "sample")
        if state.valid & KINEMATICS != KINEMATICS:
            state.refuse("sample", Stage.VELOCITY)
        sampling.sample_element(state.block, self.element)
        raise_kept()
        status = int(sampling.keep_of(state.block, self.element))
        state.own_numbers()  # the state falls to VELOCITY, as for any force that was set
        return status

    def _in_python(self, places: Mapping[str, tuple[int, tuple[int, ...]]]) -> Callable[[Array], None]:
        """The call of the law from Python, of inputs in an array, which gets its results and its memory.

        The law is given copies: it may keep them, and the array may be gone by then. What is known of it is looked up once, as
        that takes several times as long as a small law.
        """
        names, law, n = self._names, self.law, self.get_num_efforts()
        reads = [(first, first + math.prod(shape), shape) for first, shape in (places[name] for name in names)]
        which, memory = (names.index(name) if name in names else -1 for name in ("which", "memory"))
        begin, end = sampling.WORK_EFFORTS, sampling.WORK_EFFORTS + n

        def call(work: Array) -> None:
            given: list[Any] = [
                work[i:j].copy() if len(shape) == 1 else work[i:j].reshape(shape).copy() if shape else float(work[i])
                for i, j, shape in reads
            ]
            if which >= 0:
                given[which] = given[which].astype(np.int64)
            returned = law(*given)
            if getattr(returned, "dtype", None) != np.bool_:  # which a compiled law may return, too
                returned = numbers(f"what the law of {self._name!r} returns", returned)
            efforts = np.asarray(returned, dtype=np.float64)
            if efforts.shape not in ((n,), ()):
                raise ModelError(f"the law of {self._name!r} returned an array {efforts.shape}; {n} efforts are wanted")
            if memory >= 0:
                first, last, _ = reads[memory]
                work[first:last] = given[memory]
            work[begin:end] = efforts
            work[sampling.ENDED] = 1.0

        return call

    def _callback(self, places: Mapping[str, tuple[int, tuple[int, ...]]]) -> Callback:
        """The callback for kernels in place of a compiled law."""
        size = max(first + math.prod(shape) for first, shape in places.values())
        size, call = max(size, sampling.WORK_EFFORTS + self.get_num_efforts()), self._in_python(places)

        def compute(scalar: str, pointer: int, e: int, k: int) -> None:
            call(np.frombuffer(values_at(pointer, "control_work", size)))

        def fail(scalar: str, pointer: int, e: int, k: int) -> None:
            """Nothing: that the law has not come to its end is noted there."""

        return Callback(compute, fail)

    def sample_with_tangents(self, state: State, work: DualArray) -> tuple[DualArray, DualArray]:
        """Efforts ``(n,)``, cut to the limits, and what the law leaves in its memory ``(m,)``; *work* has its inputs.

        Raises
        ------
        NotDifferentiable
            If the law does something that has no rule; or gives other numbers than `sample`, which means that Python does not
            take it as the compiler does.
        """
        if self.nominal is not None:
            raise NotDifferentiable("it is given a model of its own")
        n, directions, arguments = self.get_num_efforts(), len(work.tangents), self._arguments_in(state, work)
        if "which" in arguments:
            arguments["which"] = arguments["which"].value.astype(np.int64)
        if self._with_tangents is None:
            self._with_tangents = Differentiated(self.law)
        efforts, memory = constant(np.zeros(n), directions), arguments.get("memory", constant(np.zeros(0), directions))
        efforts[:] = DualArray(*self._with_tangents(list(arguments.values()), directions))
        efforts[:] = self._cut(state, efforts)
        kept = state.snapshot()
        try:
            self.sample(state)
            sampled = (efforts, self.get_efforts(state).copy()), (memory, self.get_memory(state).copy())
        finally:
            state.revert(kept)
        for mine, its in sampled:
            if not (abs(mine.value - its) <= _SAME + _SAME * abs(its)).all():
                raise NotDifferentiable("Python computes other numbers than the compiled law")
        return efforts, memory

    def routine_with_tangents(self, state: State) -> UsersRoutine | None:
        """The law for records of Duals, which have its inputs in `control_work` and get its efforts and memory there.

        None where Python calls the law, or where it cannot be written as straight lines: `sample_with_tangents` differentiates
        it then.
        """
        of_tree = _TRACED.setdefault(state.tree, {})
        if self.element not in of_tree:
            of_tree[self.element] = self._traced(state)
        return of_tree[self.element]

    def _traced(self, state: State) -> UsersRoutine | None:
        if self.nominal is not None or not self._compiled:
            return None
        n, first, places = self.get_num_efforts(), state.tree.first_u, self._places(state)
        which = np.array([first[b] + k for b, k in zip(self.pairs[::2], self.pairs[1::2], strict=True)])
        made = routine_with_tangents(self.law, self._names, places, which, n)
        if made is None:
            return None
        once, again = state.copy(), state.copy()
        for one in (once, again):
            one.system.realize(one, Stage.VELOCITY)
        sampling.sample_element(once.block, self.element)
        sampling.gather_of(again.block, self.element)
        model: Any = again.record
        made.python(model, self.element, 0)
        rows = [np.arange(sampling.WORK_EFFORTS, sampling.WORK_EFFORTS + n)]
        if "memory" in self._names:
            rows.append(places["memory"][0] + np.arange(len(self._memory)))
        its, mine = (one.record.control_work[np.concatenate(rows), 0] for one in (once, again))
        return made if (abs(mine - its) <= _SAME + _SAME * abs(its)).all() else None

    def sample_at(self, state: State, work: Array) -> Array:
        """Efforts, cut to the limits, and the memory that the law leaves ``(n + m,)``, of inputs as *work* has them.

        The law is called in Python, as it is written.
        """
        arguments = self._arguments_in(state, work)
        if "which" in arguments:
            arguments["which"] = arguments["which"].astype(np.int64)
        given = [one if one.ndim else float(one) for one in arguments.values()]
        efforts = np.broadcast_to(np.asarray(self.law(*given), float), self.get_num_efforts())
        return np.concatenate([self._cut(state, efforts), arguments.get("memory", np.zeros(0))])

    def _arguments_in(self, state: State, work: Any) -> dict[str, Any]:
        """The law's arguments by name, copies of what *work* has of them."""
        places = self._places(state)
        found = {}
        for name in self._names:
            first, shape = places[name]
            found[name] = work[first : first + math.prod(shape)].copy().reshape(shape)
        return found

    def _cut(self, state: State, efforts: Any) -> Any:
        """Efforts within their limits, if there are any."""
        numbers_, n = self.number_run(state, "sample_with_tangents"), self.get_num_efforts()
        if np.isinf(numbers_[1 : 1 + 2 * n]).all():
            return efforts
        return np.clip(efforts, numbers_[1 : 1 + n], numbers_[1 + n : 1 + 2 * n])

    def _own(self, numbers_: Array) -> Array:
        first = self.place_of_parameters
        return numbers_[first : first + self._num_parameters]

    def _first_of_memory(self) -> int:
        return self.first_memory + sampling.EFFORTS + self.get_num_efforts()

    # ------------------------------------------------------------------------------------------ for the tree

    def _packed(self) -> Packing:
        """All that it asks for, as kernels take it; where each argument of the law will be is `places` of it."""
        n = self.get_num_efforts()
        nq = sum(body.facts.num_q for body in self._bodies())
        nu = sum(body.facts.num_u for body in self._bodies())
        own_nq, own_nu, nominal = nq, nu, self.nominal
        if nominal is not None:
            nominal.clear()
            nq, nu = nominal.nq, nominal.nu
        nz = sum(force.num_z for force in self._forces.get_system().all_forces())
        first_own = 1 + 2 * n
        packing = Packing(self, first_own + self._num_parameters, self.first_function)
        packing.work = sampling.WORK_EFFORTS + n
        packing.first_memory = sampling.EFFORTS + n
        place = packing.remember(self._memory)
        places: dict[str, tuple[int, tuple[int, ...]]] = {"t": (sampling.TIME, ())}
        plain = {
            "q": (sampling.Q, (nq,), (nq,)),
            "u": (sampling.U, (nu,), (nu,)),
            "z": (sampling.Z, (nz,), (nz,)),
            "M": (sampling.MASS_MATRIX, (nu, nu), ()),
            "bias": (sampling.BIAS, (nu,), ()),
            "gravity": (sampling.GRAVITY, (nu,), ()),
            "which": (sampling.WHICH, (n,), (n,)),
            "low": (sampling.NUMBERS, (n,), (n, 1)),
            "high": (sampling.NUMBERS, (n,), (n, 1 + n)),
            "memory": (sampling.MEMORY, (len(self._memory),), (len(self._memory), place)),
            "parameters": (sampling.NUMBERS, (self._num_parameters,), (self._num_parameters, first_own)),
        }
        shapes = {
            name: one.shape(nq, nu) if one.is_of_model else one.shape(own_nq, own_nu) for name, one in self._inputs.items()
        }
        if nominal is not None:
            packing.say(sampling.NOMINAL, 0, self.nominal_number)
            packing.first_of_model = packing.work
            packing.work += sum(math.prod(plain[name][1]) for name in self._names if name in OF_MODEL)
            packing.work += sum(math.prod(shapes[name]) for name, one in self._inputs.items() if one.is_of_model)
            plain["which"] = (sampling.NUMBERS, (n,), (n, packing.keep(nominal.numbers_of(self.pairs))))
        for name in self._names:
            if name in plain:
                kind, shape, own = plain[name]
                asked = packing.ask if nominal is None or name not in OF_MODEL else packing.ask_model
                places[name] = asked(kind, math.prod(shape), *(own if asked == packing.ask else ())), shape
        for name, one in self._inputs.items():  # those that the law does not name too: sensors count samples
            places[name] = one.pack(packing, math.prod(shapes[name])), shapes[name]
        self._arguments = places
        return packing

    def _places(self, state: State) -> Mapping[str, tuple[int, tuple[int, ...]]]:
        self._packed()
        return self._arguments

    def check_tree(self, tree: Any) -> None:
        if "q" in self._names and self.nominal is None and tree.nq != sum(body.facts.num_q for body in self._bodies()):
            raise ModelError(
                f"the law of {self._name!r} names q, of which there are fewer with Euler angles in place of quaternions; let "
                "it ask for Coordinates, Pose or Velocity instead"
            )

    def _bodies(self) -> list[Any]:
        return self._forces.get_system().get_matter_subsystem().body_list

    def entry(self) -> Entry:
        packing = self._packed()
        # tables come after the inputs' integers: places in them are counted from the element's first integer
        head = [self.first_memory, self.get_num_efforts(), *self.pairs, len(packing.integers) // sampling.WIDTH]
        integers, width = list(packing.integers), sampling.WIDTH
        for j in range(0, len(integers), width):
            if integers[j] == sampling.COORDINATES:
                integers[j + 3] += len(head) + len(integers)
        self.default_integers = [*head, *integers, *packing.tables]
        law = self._routine_of_law() or self._callback(self._arguments)
        memory = [0.0] * (sampling.EFFORTS + self.get_num_efforts()) + packing.memory
        return super().entry()._replace(law=law, memory=memory, work=packing.work, nominal=self._asked(packing))

    def _routine_of_law(self) -> Routine | UsersRoutine | None:
        """The law as it compiles; None where Python calls it."""
        if not self._compiled:
            return None
        made = laws.routine_of(self.law, self._names, self._arguments, self.get_num_efforts())
        if self._unasked:
            try:
                made.address()
            except ModelError as error:
                self._why_interpreted, self._compiled = laws.reason(error), False
                return None
        return made

    def _asked(self, packing: Packing) -> Nominal | None:
        """Quantities that it asks of its nominal system."""
        if self.nominal is None:
            return None
        own = self.nominal
        return Nominal(own.system, own.counterparts, own.inputs, own.numbers, own.made, packing.first_of_model)


def controllers_of(system: Any) -> list[Any]:
    """The force elements that are controllers, in the order of the record."""
    return sorted((force for force in system.all_forces() if isinstance(force, Custom)), key=lambda force: force.element)


def _pairs(forces: GeneralForceSubsystem, mobilities: Iterable[Any] | None) -> list[int]:
    """Bodies and numbers of mobilities, one after the other."""
    if mobilities is None:
        bodies = forces.get_system().get_matter_subsystem().body_list
        return [i for b, body in enumerate(bodies) for which in range(body.facts.num_u) for i in (b, which)]
    return listed(forces, mobilities)


def _row(what: str, values: ArrayLike) -> list[float]:
    row = numbers(what, values)
    if row.ndim != 1 or not np.isfinite(row).all():
        raise ModelError(f"{what} has to be a row of finite numbers, got {values!r}")
    return row.tolist()


def _limits(limits: tuple[Any, Any] | None, n: int) -> tuple[list[float], list[float]]:
    """The least and the largest efforts."""
    if limits is None:
        return [-np.inf] * n, [np.inf] * n
    if not isinstance(limits, (tuple, list)) or len(limits) != 2:
        raise TypeError(f"limits are a pair, of the least and the largest efforts, not {limits!r}")
    rows = []
    for bound in limits:
        row = numbers("limits", bound)
        if row.shape not in ((), (n,)) or np.isnan(row).any():
            raise ModelError(f"limits have to be numbers, or {n} of them each, got {bound!r}")
        rows.append(np.broadcast_to(row, n))
    if (rows[0] > rows[1]).any():
        raise ModelError(f"the least effort of limits exceeds the largest: {limits!r}")
    return rows[0].tolist(), rows[1].tolist()
