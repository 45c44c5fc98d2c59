"""Force: what every force element shares.

A new compiled kind is a file beside this one. It provides

1. functions ``add(model, integers, numbers)`` and, where there are such, ``energy`` and ``power`` of the same arguments, with
   the equations in the file's docstring, and ``run = by_address(add, energy, power)`` made of them, see `_by_address`;
2. a class derived from `Force` with `run` as its ``routine``, whose constructor calls `_keep`: its run in the two pools that
   the functions read. A state's own numbers are got and set by `_number` and `_set_numbers`;
3. its name in ``__init__.py``, and its place in ``KINDS``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from .._jit import Routine
from ..errors import TopologyError
from ..stage import Stage
from ._by_address import BY_ADDRESS
from ._entry import Entry

if TYPE_CHECKING:
    from ..forces import GeneralForceSubsystem
    from ..state import State

Array = npt.NDArray[np.float64]


class Force:
    """A force element. Base class of every kind in `mobod.force`.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the forces; one is made where none is given.
    """

    KIND: ClassVar[int] = BY_ADDRESS
    #: What adds up a run of elements; None of what Python computes.
    routine: Routine | None = None
    #: Whether its forces are functions of q, and the particles' locations, and of its numbers alone.
    reads_positions_only: bool = False
    #: Whether its forces, or the rates of its z, are functions of z.
    reads_z: bool = False
    #: How many z it has.
    _num_z: int = 0

    def __init__(self, forces: GeneralForceSubsystem, *, disabled_by_default: bool = False, name: str | None = None) -> None:
        _check_forces(forces)
        self._implementation: Any = None
        self._disabled_by_default = bool(disabled_by_default)
        self._forces = forces
        self._index, self._name = forces._adopt(self, name)
        # set when the tree is made: its place among all elements, where its runs of the two pools and its z are
        self._element, self._span, self._first_z = -1, (0, 0, 0, 0), 0
        self._of_bodies: list[int] = []
        self._values: list[float] = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r}>"

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def get_force_index(self) -> int:
        """Its place in its subsystem."""
        return self._index

    def get_force_subsystem(self) -> GeneralForceSubsystem:
        """The subsystem it is part of."""
        return self._forces

    # ------------------------------------------------------------------------------------------ on and off

    def set_disabled_by_default(self, should_be_disabled: bool) -> None:
        """Whether states start with it switched off; a topological change."""
        self._disabled_by_default = bool(should_be_disabled)
        self._forces._invalidate_topology()

    def is_disabled_by_default(self) -> bool:
        """Whether states start with it switched off."""
        return self._disabled_by_default

    def disable(self, state: State) -> None:
        """Switch it off in this state, which falls to MODEL at most."""
        self._switch(state, 0)

    def enable(self, state: State) -> None:
        """Switch it on in this state, which falls to MODEL at most."""
        self._switch(state, 1)

    def _switch(self, state: State, value: int) -> None:
        self._check(state, "enable or disable")
        if state._field("force_enabled")[self._element] != value:
            state._own_field("force_enabled")[self._element] = value

    def is_disabled(self, state: State) -> bool:
        """Whether it is switched off in this state."""
        self._check(state, "is_disabled")
        return not state._field("force_enabled")[self._element]

    def _check(self, state: State, asked: str) -> None:
        state._check_owner(self._forces.get_system(), f"{asked} of {self._name!r}")

    # ------------------------------------------------------------------------------------------ contributions

    def calc_force_contribution(self, state: State) -> tuple[Array, Array, Array]:
        """What this element alone applies, all zero where it is disabled. Needs VELOCITY.

        Returns
        -------
        body_forces : (nb, 2, 3) array
            In Ground, at the bodies' origins.
        particle_forces : (np, 3) array
            One row a particle, in Ground.
        mobility_forces : (nu,) array
        """
        self._check(state, "calc_force_contribution")
        if state._stage < Stage.VELOCITY:
            state._refuse("calc_force_contribution", Stage.VELOCITY)
        tree = state._tree
        body_forces, mobility_forces = np.zeros((tree.nb, 2, 3)), np.zeros(tree.nu)
        particle_forces = np.zeros((tree.num_particles, 3))
        if not self.is_disabled(state):
            self._add_force(state, body_forces, particle_forces, mobility_forces)
        body_forces[0] = 0.0
        return body_forces, particle_forces, mobility_forces

    def _add_force(self, state: State, body_forces: Array, particle_forces: Array, mobility_forces: Array) -> None:
        from . import _switch  # knows the kinds, which know this class

        record = state._record
        applied = record.body_forces, record.particle_forces, record.mobility_forces, record.z_dot
        kept = [array.copy() for array in applied]
        run = int(np.searchsorted(state._tree.fields["run_first"], self._element, side="right")) - 1
        _switch.one_force(state._block, self._element, run)
        body_forces += record.body_forces.reshape(-1, 2, 3)
        particle_forces += record.particle_forces.reshape(-1, 3)
        mobility_forces += record.mobility_forces[:, 0]
        for array, before in zip(applied, kept, strict=True):
            array[:] = before

    def calc_potential_energy_contribution(self, state: State) -> float:
        """Its potential energy, zero where it is disabled. Needs POSITION."""
        self._check(state, "calc_potential_energy_contribution")
        if state._stage < Stage.POSITION:
            state._refuse("calc_potential_energy_contribution", Stage.POSITION)
        if self.is_disabled(state):
            return 0.0
        return self._potential_energy(state)

    def _potential_energy(self, state: State) -> float:
        from . import _switch

        return float(_switch.of_all(state, _switch.ENERGY)[self._element])

    def calc_power_dissipation(self, state: State) -> float:
        """The power that it turns into heat, zero of conservative forces and where it is disabled. Needs VELOCITY.

        Constant and discrete forces, which do work on the system without any energy of their own, dissipate nothing.
        """
        self._check(state, "calc_power_dissipation")
        if state._stage < Stage.VELOCITY:
            state._refuse("calc_power_dissipation", Stage.VELOCITY)
        return 0.0 if self.is_disabled(state) else self._power_dissipation(state)

    def _power_dissipation(self, state: State) -> float:
        from . import _switch

        return float(_switch.of_all(state, _switch.POWER)[self._element])

    # ------------------------------------------------------------------------------------------ for the tree

    def _entry(self) -> Entry:
        """What the tree takes of it."""
        enabled, integers, numbers = not self._disabled_by_default, self._integers(), self._numbers()
        z = self._first_z, self._initial_z()
        return Entry(self.KIND, enabled, integers, numbers, self.routine, self.reads_positions_only, self.reads_z, *z)

    def _integers(self) -> list[int]:
        return self._of_bodies

    def _numbers(self) -> list[float]:
        return self._values

    def _initial_z(self) -> list[float]:
        return [0.0] * self._num_z

    def _check_tree(self, tree: Any) -> None:
        """Refuse a tree, of other modelling choices say, in which the force makes no sense."""

    def _keep(self, integers: list[int], numbers: list[float]) -> None:
        """Its runs of the two pools, in a default state."""
        self._of_bodies, self._values = integers, numbers

    def _run(self, state: State, pool: str, change: bool) -> npt.NDArray[Any]:
        """This element's run in ``force_integers`` or ``force_numbers`` as it is in the state, as a view."""
        i0, i1, x0, x1 = self._span
        whole = (state._own_field(pool) if change else state._field(pool)).reshape(-1)
        return whole[i0:i1] if pool == "force_integers" else whole[x0:x1]

    # ------------------------------------------------------------------------------------------ numbers of a kind

    def _default_vector(self, at: int, n: int) -> Array:
        """*n* of its numbers in a default state."""
        return np.array(self._values[at : at + n])

    def _set_default(self, at: int, *values: float) -> Self:
        """Change some of its numbers in a default state, from *at* on; a topological change. Returns the force."""
        self._values[at : at + len(values)] = [float(x) for x in values]
        self._forces._invalidate_topology()
        return self

    def _number(self, state: State, at: int) -> float:
        """One of its numbers in a state."""
        self._check(state, "get a parameter")
        return float(self._run(state, "force_numbers", False)[at])

    def _vector(self, state: State, at: int, n: int) -> Array:
        """*n* of its numbers in a state."""
        self._check(state, "get a parameter")
        vector: Array = self._run(state, "force_numbers", False)[at : at + n].copy()
        return vector

    def _set_numbers(self, state: State, at: int, *values: float) -> None:
        """Change some of its numbers in a state, from *at* on, which falls to MODEL at most."""
        self._check(state, "set a parameter")
        self._run(state, "force_numbers", True)[at : at + len(values)] = values


def _check_forces(forces: Any) -> None:
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
    _check_forces(forces)
    matter = forces.get_system().get_matter_subsystem()
    if not (hasattr(body, "get_mobilized_body_index") or isinstance(body, (int, np.integer, str))) or isinstance(body, bool):
        raise TypeError(f"{what} has to be a mobilized body, or the index or the name of one, not {body!r}")
    return int(matter._body(body)._index)


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
    body = forces.get_system().get_matter_subsystem()._bodies[b]
    if isinstance(which, bool) or not hasattr(which, "__index__"):
        raise TypeError(f"{name} has to be an integer, not {which!r}")
    n, letter = (body.facts.num_q, "q") if name == "which_q" else (body.facts.num_u, "u")
    if not 0 <= which.__index__() < n:
        there = f"0 to {n - 1}" if n > 1 else "0" if n else "none"
        raise IndexError(f"{name} is {which}, but {body!r} has {n} {letter}: {there}")
    return b, which.__index__()


def same_system(forces: GeneralForceSubsystem, matter: Any, kind: str) -> Any:
    """The matter that a force is made for, which has to be that of its system."""
    _check_forces(forces)
    if not hasattr(matter, "get_num_bodies"):
        raise TypeError(f"matter has to be a SimbodyMatterSubsystem, not {matter!r}")
    if matter.get_system() is not forces.get_system():
        raise TopologyError(f"{kind}'s matter and forces have to be parts of one system")
    return matter
