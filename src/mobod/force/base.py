"""Force: what every force element shares.

A new compiled kind is a file beside this one. It provides

1. functions ``add(model, integers, numbers)`` and, where there are such, ``energy`` and ``power`` of the same arguments, with
   the equations in the file's docstring;
2. a class derived from `Force` with ``routine = by_address(add, energy, power)`` made of them, see `routines`, and the
   parameters that can be changed, see `state.parameters`.
   Its constructor sets `default_integers` and `default_numbers`: its runs of the two pools that the functions read;
3. its import in ``__init__.py``, as ``Name as Name``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..compiling import Callback, Routine
from ..errors import TopologyError
from ..function.routines import Use
from ..mobilizer.coordinates import check_which
from ..state.parameters import Parametrized
from ..value import checks
from ..value.stage import Stage
from .layout import Entry
from .routines import BY_ADDRESS

if TYPE_CHECKING:
    from ..decoration.rubber_band_line import Line
    from ..mobilizer.base import MobilizedBody
    from ..state.state import State
    from .subsystem import GeneralForceSubsystem


class Force(Parametrized):
    """A force element. Base class of every kind in `mobod.force`.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the forces; one is made where none is given.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> spring = mb.force.MobilityLinearSpring(system.forces, system.matter.bodies["lower"], 0, 10.0, 0.0)
    >>> state = system.realize_topology()
    >>> spring.disable(state)
    >>> spring.is_disabled(state)
    True
    """

    INNER = frozenset(
        """
        KIND add_force calc_lines calc_push check_tree default_integers disabled_by_default discrete_run element entry
        acts_along acts_between along_routine first_function first_memory stiffness_routine wrench_routine
        holds_mobility_forces holds_wrenches first_z implementation nominal_number num_z number_runs pack_integers
        pack_numbers place_of_parameters pool_run reach reads_mobilizers
        reads_positions_only reads_time reads_z routine span used_functions why_not_finite
        """.split()
    )

    KIND: ClassVar[int] = BY_ADDRESS
    #: The routine of a run of elements; a callback for elements in Python.
    routine: Routine | Callback | None = None
    #: Whether its forces are functions of q, and the particles' locations, and of its numbers alone.
    reads_positions_only: bool = False
    #: Whether its forces, or the rates of its z, are functions of z.
    reads_z: bool = False
    #: Whether its forces are numbers of the state on mobilities alone, which depend on nothing: as torques set by a program.
    holds_mobility_forces: bool = False
    #: Whether they are such numbers, wrenches on bodies among them, at the bodies' origins, in Ground.
    holds_wrenches: bool = False
    #: Whether it reads more of mobilizers than q and u, and more of bodies than their motion and mass centers: columns, say.
    reads_mobilizers: bool = False
    #: Whether the two bodies that it names get opposite wrenches, which depend on how one moves beside the other alone. It is
    #: said by the class that has the routine: where a class inherits it and has a routine of its own, it does not hold.
    acts_between: bool = False
    #: The routine of a force along a path for derivatives, see `routines.along_path`; said like `acts_between`.
    along_routine: Routine | None = None
    #: The routine, for derivatives, of a force on one body, see `routines.on_body`; said like `acts_between`.
    wrench_routine: Routine | None = None
    #: The same of forces between points of many bodies, see `routines.stiffening`.
    stiffness_routine: Routine | None = None
    #: How many z it has.
    num_z: int = 0
    #: Of a user's functions: where their parameters are among its numbers.
    place_of_parameters: int = 0

    def __init__(self, forces: GeneralForceSubsystem, *, disabled_by_default: bool = False, name: str | None = None) -> None:
        check_forces(forces)
        self.implementation: Any = None
        self.disabled_by_default = checks.flag("disabled_by_default", disabled_by_default)
        self._forces = forces
        self.index, self._name = forces.adopt(self, name)
        # set when the tree is made: its place among all elements, where its runs of the two pools and its z are
        # where its z and what it remembers from sample to sample are
        self.element, self.span, self.first_z, self.first_memory, self.nominal_number = -1, (0, 0, 0, 0), 0, 0, 0
        #: Its runs of the two pools, in a default state.
        self.default_integers: list[int] = []
        self.default_numbers = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r}>"

    def reach(self) -> tuple[list[int], list[int]] | None:
        """The bodies whose motion it reads or that it pushes, and those of whose mobilizers it reads or pushes coordinates.

        None where it may be any. Derivatives are taken by these alone.
        """
        return None

    @property
    def reads_time(self) -> bool:
        """True if its forces may be functions of time."""
        return len(self.used_functions) > 0

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def get_force_index(self) -> int:
        """Its place in its subsystem."""
        return self.index

    def get_force_subsystem(self) -> GeneralForceSubsystem:
        """The subsystem it is part of."""
        return self._forces

    # ------------------------------------------------------------------------------------------ on and off

    def set_disabled_by_default(self, should_be_disabled: bool) -> None:
        """Set whether states start with it disabled; a topological change."""
        self.disabled_by_default = checks.flag("should_be_disabled", should_be_disabled)
        self._forces.invalidate_topology()

    def is_disabled_by_default(self) -> bool:
        """True if states start with it switched off."""
        return self.disabled_by_default

    def disable(self, state: State) -> None:
        """Switch it off in this state, which falls to MODEL at most."""
        self._switch(state, 0)

    def enable(self, state: State) -> None:
        """Switch it on in this state, which falls to MODEL at most."""
        self._switch(state, 1)

    def _switch(self, state: State, value: int) -> None:
        self._check(state, "enable or disable")
        if state.field("force_enabled")[self.element] != value:
            state.own_field("force_enabled")[self.element] = value

    def is_disabled(self, state: State) -> bool:
        """True if it is switched off in this state."""
        self._check(state, "is_disabled")
        return not state.field("force_enabled")[self.element]

    def _check(self, state: State, asked: str) -> None:
        system = self._forces.system
        if system is None or state.token is not system.topology_token:
            state.check_owner(self._forces.get_system(), f"{asked} of {self._name!r}")  # whose text is made only then

    # ------------------------------------------------------------------------------------------ contributions

    def calc_force_contribution(self, state: State) -> tuple[Array, Array, Array]:
        """Forces of this element alone, all zero where it is disabled. Needs VELOCITY.

        Returns
        -------
        body_forces : (nb, 2, 3) array
            In Ground, at the bodies' origins.
        particle_forces : (np, 3) array
            One row a particle, in Ground.
        mobility_forces : (nu,) array

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> spring = mb.force.MobilityLinearSpring(system.forces, system.matter.bodies["lower"], 0, 10.0, 0.0)
        >>> state = system.realize_topology()
        >>> state.q = 0.3, 0.4
        >>> system.realize(state)
        >>> bodies, particles, mobilities = spring.calc_force_contribution(state)
        >>> mobilities.round(6)
        array([ 0., -4.])
        """
        self._check(state, "calc_force_contribution")
        if state.stage_number < Stage.VELOCITY:
            state.refuse("calc_force_contribution", Stage.VELOCITY)
        tree = state.tree
        body_forces, mobility_forces = np.zeros((tree.nb, 2, 3)), np.zeros(tree.nu)
        particle_forces = np.zeros((tree.num_particles, 3))
        if not self.is_disabled(state):
            self.add_force(state, body_forces, particle_forces, mobility_forces)
        return body_forces, particle_forces, mobility_forces

    def add_force(self, state: State, body_forces: Array, particle_forces: Array, mobility_forces: Array) -> None:
        from . import dispatch

        record = state.record
        applied = record.body_forces, record.particle_forces, record.mobility_forces, record.z_dot
        kept = [array.copy() for array in applied]
        run = int(np.searchsorted(state.tree.fields["run_first"], self.element, side="right")) - 1
        dispatch.one_force(state.block, self.element, run)
        body_forces += record.body_forces.reshape(-1, 2, 3)
        particle_forces += record.particle_forces.reshape(-1, 3)
        mobility_forces += record.mobility_forces[:, 0]
        for array, before in zip(applied, kept, strict=True):
            array[:] = before

    def calc_potential_energy_contribution(self, state: State) -> float:
        """Its potential energy, zero where it is disabled. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> spring = mb.force.MobilityLinearSpring(system.forces, system.matter.bodies["lower"], 0, 10.0, 0.0)
        >>> state = system.realize_topology()
        >>> state.q = 0.3, 0.4
        >>> system.realize(state)
        >>> round(spring.calc_potential_energy_contribution(state), 6)
        0.8
        """
        self._check(state, "calc_potential_energy_contribution")
        if state.stage_number < Stage.POSITION:
            state.refuse("calc_potential_energy_contribution", Stage.POSITION)
        return 0.0 if self.is_disabled(state) else self._potential_energy(state)

    def _potential_energy(self, state: State) -> float:
        from . import dispatch

        return float(dispatch.of_all(state, dispatch.ENERGY)[self.element])

    def calc_power_dissipation(self, state: State) -> float:
        """The power that it turns into heat, zero of conservative forces and where it is disabled. Needs VELOCITY.

        Constant and discrete forces, which do work on the system without any energy of their own, dissipate nothing.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> spring = mb.force.MobilityLinearSpring(system.forces, system.matter.bodies["lower"], 0, 10.0, 0.0)
        >>> state = system.realize_topology()
        >>> state.q = 0.3, 0.4
        >>> system.realize(state)
        >>> spring.calc_power_dissipation(state)
        0.0
        """
        self._check(state, "calc_power_dissipation")
        if state.stage_number < Stage.VELOCITY:
            state.refuse("calc_power_dissipation", Stage.VELOCITY)
        return 0.0 if self.is_disabled(state) else self._power_dissipation(state)

    def _power_dissipation(self, state: State) -> float:
        from . import dispatch

        return float(dispatch.of_all(state, dispatch.POWER)[self.element])

    # ------------------------------------------------------------------------------------------ for pictures

    def calc_lines(self, state: State) -> list[Line]:
        """Its lines at a state at POSITION: straight lines between stations of bodies."""
        return []

    def calc_push(self, state: State) -> tuple[Array, Array] | None:
        """The arrow that pictures show: its point and the force in Ground, of a state at POSITION; None where there is none."""
        return None

    # ------------------------------------------------------------------------------------------ for the tree

    def entry(self) -> Entry:
        """Its part of the record."""
        enabled, integers, numbers = not self.disabled_by_default, self.pack_integers(), self.pack_numbers()
        return Entry(
            self.KIND, enabled, integers, numbers, self.routine, self.reads_positions_only, self.reads_z,
            self.first_z, self._initial_z(), self._weights_of_z(), self.used_functions,
        )  # fmt: skip

    #: The functions that its kernels evaluate, and the number of the first in the tree, which is the last of its integers.
    used_functions: Sequence[Use] = ()
    first_function = 0

    def pack_integers(self) -> list[int]:
        kept = self.default_integers
        return [*kept, self.first_function] if self.used_functions else kept

    def pack_numbers(self) -> list[float]:
        return self.default_numbers

    def _initial_z(self) -> list[float]:
        return [0.0] * self.num_z

    def _weights_of_z(self) -> Sequence[float]:
        """One over a change of each z that matters; nothing where that is 1."""
        return ()

    def why_not_finite(self, state: State) -> str | None:
        """Why its forces are not finite in a state, where it knows more than that."""
        along = self.acts_along()
        return None if along is None else along.why_not_finite(state)

    def acts_along(self) -> Any:
        """The transmission that it acts along; None where there is none."""
        get = getattr(self, "get_path", None) or getattr(self, "get_transmission", None)
        return None if get is None else get()

    def check_tree(self, tree: Any) -> None:
        """Refuse a tree (of other modelling choices, say) in which the force is undefined."""

    def pool_run(self, state: State, pool: str, change: bool) -> npt.NDArray[Any]:
        """This element's run in ``force_integers`` or ``force_numbers`` as it is in the state, as a view."""
        i0, i1, x0, x1 = self.span
        whole = (state.own_field(pool) if change else state.field(pool)).reshape(-1)
        return whole[i0:i1] if pool == "force_integers" else whole[x0:x1]

    # ------------------------------------------------------------------------------------------ parameters

    def defaults_changed(self) -> None:
        self._forces.invalidate_topology()

    def number_runs(self) -> Mapping[str, tuple[int, int]]:
        """Runs of its numbers that are no declared parameters, by name: the first, and how many."""
        return {}

    def number_place(self, state: State, asked: str) -> tuple[str, int, int]:
        self._check(state, asked)
        _, _, first, end = self.span
        return "force_numbers", first, end - first

    def discrete_run(self, state: State, asked: str) -> Array:
        """Its numbers in the state, to change some that forces alone depend on: the state falls to VELOCITY at most."""
        field, first, n = self.number_place(state, asked)
        self.placed = state.token, field, first
        return state.own_numbers()[first : first + n]

    def _body(self, i: int) -> MobilizedBody:
        return self._forces.get_system().get_matter_subsystem().get_mobilized_body(self.default_integers[i])


def check_forces(forces: Any) -> None:
    """Refuse anything but a subsystem of forces."""
    if not hasattr(forces, "get_num_forces"):  # a matter subsystem adopts too
        raise TypeError(f"the first argument has to be a GeneralForceSubsystem, not {forces!r}")


def body_index(forces: GeneralForceSubsystem, what: str, body: Any) -> int:
    """The index of a body of the system's, given by object, by index or by name.

    Raises
    ------
    TypeError
        If it is none of these.
    TopologyError
        If it is a body of another system.
    """
    check_forces(forces)
    matter = forces.get_system().get_matter_subsystem()
    index = getattr(body, "index", None)
    if type(index) is int and index < len(matter.body_list) and matter.body_list[index] is body:  # as nearly all come
        return index
    if not (hasattr(body, "get_mobilized_body_index") or isinstance(body, (int, np.integer, str))) or isinstance(body, bool):
        raise TypeError(f"{what} has to be a mobilized body, or the index or the name of one, not {body!r}")
    return int(matter.find_body(body).index)


def mobility(forces: GeneralForceSubsystem, mobod: Any, which: int, name: str) -> tuple[int, int]:
    """A body's index and the number of one of its q or u, as *name*, ``which_q`` or ``which_u``, says.

    Raises
    ------
    TypeError, TopologyError
        As `body_index`; and if the number is no integer.
    IndexError
        If the body has fewer of them.
    """
    b = body_index(forces, "mobod", mobod)
    return b, check_which(name, which, forces.get_system().get_matter_subsystem().body_list[b])


def listed_mobilities(given: Iterable[Any]) -> list[Any]:
    """The mobilities that are given, as a list."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"mobilities are a list, such as [(body, 0)], not {given!r}")
    return list(given)


def mobilities(forces: GeneralForceSubsystem, given: Iterable[Any]) -> list[int]:
    """Bodies' indices and numbers of mobilities, one after the other, of a list of what `find_mobility` takes."""
    find = forces.get_system().get_matter_subsystem().find_mobility
    found = [find(one, "an entry of mobilities") for one in listed_mobilities(given)]
    return [i for body, which in found for i in (body.index, which)]


def same_system(forces: GeneralForceSubsystem, matter: Any, kind: str) -> Any:
    """The matter that a force is made for, which has to be that of its system."""
    check_forces(forces)
    if not hasattr(matter, "get_num_bodies"):
        raise TypeError(f"matter has to be a SimbodyMatterSubsystem, not {matter!r}")
    if matter.get_system() is not forces.get_system():
        raise TopologyError(f"{kind}'s matter and forces have to be parts of one system")
    return matter
