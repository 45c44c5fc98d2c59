"""DiscreteForces: forces on bodies and mobilities that a program sets in the state, as often as it likes.

f of every mobility, F_B of every body at its origin, in Ground   no potential energy
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.memory import add_spatial
from ..algebra.scalar import load, store
from ..compiling import generic
from ..state.of_each import Present, Rows, numbers_at, of_each
from ..value import rows
from ..value.checks import array, finite, vector
from ..value.stage import Stage
from .base import Force, body_index, mobility, same_system
from .pools import number, numbers3
from .routines import by_address

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state.state import State
    from ..value.annotations import SimbodyMatterSubsystem
    from .subsystem import GeneralForceSubsystem


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Numbers: one a mobility, then six a body, torque first."""
    for i in range(model.nu):
        store(model.mobility_forces, i, 0, load(model.mobility_forces, i, 0) + number(model, numbers + i))
    first = numbers + model.nu
    for b in range(model.nb):
        add_spatial(model.body_forces, b, numbers3(model, first + 6 * b), numbers3(model, first + 6 * b + 3))


def _mobility_forces_of_each(element: Any, template: State, values: Any, present: Present) -> Rows | None:
    field, first, _ = element.number_place(template, "set_all_mobility_forces")
    return numbers_at(field, first, values, template.tree.nu, Stage.DYNAMICS)


def _body_forces_of_each(element: Any, template: State, values: Any, present: Present) -> Rows | None:
    field, first, _ = element.number_place(template, "set_all_body_forces")
    array, tree = rows.as_array(values), template.tree
    if array is None or array.shape[1:] != (tree.nb, 2, 3):
        return None
    return numbers_at(field, first + tree.nu, array.reshape(len(array), -1), 6 * tree.nb, Stage.DYNAMICS)


class DiscreteForces(Force):
    """Forces on any bodies and mobilities, to be set in the state: what a controller or another program computes, say.

    All are zero in a default state, and stay as they are set until they are changed. Setting one takes the state to VELOCITY at
    most, so that positions and velocities are not computed anew.

    Parameters
    ----------
    matter : SimbodyMatterSubsystem
        Whose bodies and mobilities it acts on.

    Raises
    ------
    TypeError
        If *matter* is none.
    TopologyError
        If the matter is part of another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> applied = mb.force.DiscreteForces(system.get_subsystem(1), system.matter)
    >>> state = system.realize_topology()
    >>> tip = system.matter.bodies[2]
    >>> system.realize(state, mb.Stage.POSITION)
    >>> applied.add_force_to_body_point(state, tip, (0, 0, 0), (1, 0, 0))
    >>> applied.get_one_body_force(state, tip)
    array([[0., 0., 0.],
           [1., 0., 0.]])
    """

    routine = by_address(add)
    holds_wrenches = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        matter: SimbodyMatterSubsystem,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._matter = same_system(forces, matter, "DiscreteForces")
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)

    def pack_numbers(self) -> list[float]:
        bodies = self._matter.body_list
        return [0.0] * (sum(body.facts.num_u for body in bodies) + 6 * len(bodies))

    def number_runs(self) -> Mapping[str, tuple[int, int]]:
        n, of_bodies = len(self.pack_numbers()), 6 * len(self._matter.body_list)
        return {"all_mobility_forces": (0, n - of_bodies), "all_body_forces": (n - of_bodies, of_bodies)}

    def _discrete(self, state: State, change: bool) -> tuple[Array, Array]:
        """The forces on mobilities, and those on bodies ``(nb, 2, 3)``, as views of what the state has."""
        run, nu = self.discrete_run(state, "_") if change else self.number_run(state, "_"), state.tree.nu
        return run[:nu], run[nu:].reshape(-1, 2, 3)

    # ------------------------------------------------------------------------------------------ mobilities

    def get_one_mobility_force(self, state: State, mobod: MobilizedBody, which_u: int) -> float:
        """The generalized force on one mobility of a mobilizer. Needs MODEL."""
        i = self._place(state, "get_one_mobility_force", mobod, which_u)
        return float(self._discrete(state, False)[0][i])

    def set_one_mobility_force(self, state: State, mobod: MobilizedBody, which_u: int, force: float) -> None:
        """Change it in this state, which falls to VELOCITY at most. Needs MODEL."""
        (token, _, first), tree = self.placed, state.tree
        try:
            b = mobod.index
            if state.token is token and self._matter.body_list[b] is mobod and type(which_u) is int:
                if 0 <= which_u < tree.num_u[b] and state.put_numbers(force, first + tree.first_u[b] + which_u):
                    return
        except (AttributeError, IndexError, TypeError):  # no body: the message is found below
            pass
        i, value = self._place(state, "set_one_mobility_force", mobod, which_u), finite("force", force)
        self._discrete(state, True)[0][i] = value

    def get_all_mobility_forces(self, state: State) -> Array:
        """The generalized forces ``(nu,)``. Needs MODEL."""
        self._check(state, "get_all_mobility_forces")
        return self._discrete(state, False)[0].copy()

    @of_each(_mobility_forces_of_each)
    def set_all_mobility_forces(self, state: State, f: npt.ArrayLike | None) -> None:
        """Change all generalized forces ``(nu,)``, zero for None or none, in this state, which falls to VELOCITY at most."""
        token, _, first = self.placed
        if state.token is token and state.put_numbers(f, first, (state.tree.nu,)):
            return
        self._check(state, "set_all_mobility_forces")
        values = 0.0 if f is None or np.size(f) == 0 else array("f", f, (state.tree.nu,))
        self._discrete(state, True)[0][...] = values

    def clear_all_mobility_forces(self, state: State) -> None:
        """Set all generalized forces to zero in this state, which falls to VELOCITY at most."""
        self.set_all_mobility_forces(state, np.zeros(state.tree.nu))

    # ------------------------------------------------------------------------------------------ bodies

    def get_one_body_force(self, state: State, mobod: MobilizedBody) -> Array:
        """Torque and force ``(2, 3)`` on a body, at its origin, in Ground. Needs MODEL."""
        self._check(state, "get_one_body_force")
        return self._discrete(state, False)[1][body_index(self._forces, "mobod", mobod)].copy()

    def set_one_body_force(self, state: State, mobod: MobilizedBody, spatial_force_in_g: npt.ArrayLike) -> None:
        """Change it in this state, which falls to VELOCITY at most. Needs MODEL. A force on Ground moves nothing."""
        token, _, first = self.placed
        try:
            b = mobod.index
            if state.token is token and self._matter.body_list[b] is mobod:
                if state.put_numbers(spatial_force_in_g, first + state.tree.nu + 6 * b, (2, 3)):
                    return
        except (AttributeError, IndexError, TypeError):  # no body: the message is found below
            pass
        self._check(state, "set_one_body_force")
        b, value = body_index(self._forces, "mobod", mobod), array("spatial_force_in_g", spatial_force_in_g, (2, 3))
        self._discrete(state, True)[1][b] = value

    def add_force_to_body_point(
        self, state: State, mobod: MobilizedBody, point_in_b: npt.ArrayLike, force_in_g: npt.ArrayLike
    ) -> None:
        """Add a force at a point of a body to what is set for the body.

        Parameters
        ----------
        state : State
            At POSITION or above; falls to VELOCITY at most.
        mobod : MobilizedBody
        point_in_b : (3,) array_like
            In the body; length.
        force_in_g : (3,) array_like
            In Ground. Where the body turns later, the torque stays.
        """
        self._check(state, "add_force_to_body_point")
        b, point, force = (
            body_index(self._forces, "mobod", mobod),
            vector("point_in_b", point_in_b),
            vector("force_in_g", force_in_g),
        )
        state.need_positions(self._matter.body_list[b], "add_force_to_body_point")
        torque = np.cross(state.R_GB[b] @ point, force)
        row = self._discrete(state, True)[1][b]
        row[0] += torque
        row[1] += force

    def get_all_body_forces(self, state: State) -> Array:
        """Torques and forces ``(nb, 2, 3)`` on the bodies, at their origins, in Ground. Needs MODEL."""
        self._check(state, "get_all_body_forces")
        return self._discrete(state, False)[1].copy()

    @of_each(_body_forces_of_each)
    def set_all_body_forces(self, state: State, body_forces_in_g: npt.ArrayLike | None) -> None:
        """Change all forces on bodies ``(nb, 2, 3)``, zero for None or none, in this state, which falls to VELOCITY at most."""
        (token, _, first), given, tree = self.placed, body_forces_in_g, state.tree
        if state.token is token and state.put_numbers(given, first + tree.nu, (tree.nb, 2, 3)):
            return
        self._check(state, "set_all_body_forces")
        values = 0.0 if given is None or np.size(given) == 0 else array("body_forces_in_g", given, (tree.nb, 2, 3))
        self._discrete(state, True)[1][...] = values

    def clear_all_body_forces(self, state: State) -> None:
        """Set all forces on bodies to zero in this state, which falls to VELOCITY at most."""
        self.set_all_body_forces(state, np.zeros((state.tree.nb, 2, 3)))

    def clear_all_forces(self, state: State) -> None:
        """Set all forces, on bodies and mobilities, to zero in this state, which falls to VELOCITY at most."""
        (token, _, first), n = self.placed, self.span[3] - self.span[2]
        if not (state.token is token and state.put_numbers(np.zeros(n), first, (n,))):
            self.discrete_run(state, "clear_all_forces")[:] = 0.0

    def _place(self, state: State, asked: str, mobod: Any, which_u: int) -> int:
        self._check(state, asked)
        b, which = mobility(self._forces, mobod, which_u, "which_u")
        return state.tree.first_u[b] + which
