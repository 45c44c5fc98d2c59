"""Force: what every force element shares.

A new compiled kind is a file beside this one. It provides

1. ``KIND``, a number of its own, and compiled functions ``add_force(model, integers, numbers)`` and
   ``potential_energy(model, integers, numbers)``, with the equations in the file's docstring;
2. a class derived from `Force` with `_integers` and `_numbers`: its run in the two pools that the kernels read;
3. its branches in ``_switch.py`` and its name in ``__init__.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..stage import Stage

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

    KIND: ClassVar[int] = 0

    def __init__(self, forces: GeneralForceSubsystem, *, disabled_by_default: bool = False, name: str | None = None) -> None:
        if not hasattr(forces, "get_num_forces"):  # a matter subsystem adopts too
            raise TypeError(f"the first argument has to be a GeneralForceSubsystem, not {forces!r}")
        self._implementation: Any = None
        self._disabled_by_default = bool(disabled_by_default)
        self._forces = forces
        self._index, self._name = forces._adopt(self, name)
        self._element = -1  # place among all compiled elements, set when the tree is made

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
        applied = record.body_forces, record.particle_forces, record.mobility_forces
        kept = [array.copy() for array in applied]
        _switch.one_force(state._block, self._element)
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

        out = np.empty((1, 1))
        _switch.one_potential_energy(state._block, self._element, out)
        return float(out[0, 0])

    # ------------------------------------------------------------------------------------------ for the tree

    def _entry(self) -> tuple[int, bool, list[int], list[float]]:
        """Kind, whether it is enabled, and its runs in the two pools."""
        return self.KIND, not self._disabled_by_default, self._integers(), self._numbers()

    def _integers(self) -> list[int]:
        return []

    def _numbers(self) -> list[float]:
        return []

    def _run(self, state: State, pool: str, change: bool) -> npt.NDArray[Any]:
        """This element's run in ``force_integers`` or ``force_numbers`` as it is in the state, as a view."""
        first = state._tree.fields["force_first_integer" if pool == "force_integers" else "force_first_number"]
        start = int(first[self._element])
        length = len(self._integers() if pool == "force_integers" else self._numbers())
        whole = state._own_field(pool) if change else state._field(pool)
        return whole.reshape(-1)[start : start + length]
