"""State: everything of a system that changes, and how far it has been realized.

It is made of parts: `storage`, `requirements`, `invalidation`, `variables`, `subsystem_parts`, `weights`,
`own_parameters`. Here are the errors of constraints, and copies.
"""

from __future__ import annotations

import copy as _copy
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..value.html_table import html_table
from ..value.stage import ACCELERATION, POSITION, REPORT, VELOCITY, Stage
from . import validity
from .own_parameters import OwnParameters
from .resources import ERRORS, subsystem_order
from .storage import KEPT

if TYPE_CHECKING:
    from ..value.annotations import MultibodySystem

#: All stages' setters clear this bit.
_UNCHANGED = validity.unchanged_bit(REPORT)


class State(OwnParameters):
    """Time, coordinates q, speeds u, auxiliary variables z, the choices and parameters set, and the results computed.

    Made by `MultibodySystem.realize_topology`, and copied from others by `copy`. Reading an array gives a read-only view;
    assigning copies, checks the length, and lowers the stage. The system holds nothing of a state:
    any number of states can be realized, in any thread.

    Attributes
    ----------
    time : float
    q, u, z : (nq,), (nu,), (nz,) arrays
    y : (nq + nu + nz + 6 np,) array
        The three end to end, and then the locations and the velocities of the particles, if there are any.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> state.q
    array([2. , 0.5])
    >>> state.q = 0.1, 0.2
    >>> system.realize(state)
    >>> state.u_dot.shape, state.stage.name
    ((2,), 'ACCELERATION')
    >>> other = state.copy()
    >>> other.time = 1.0
    >>> state.time
    0.0
    """

    INNER = frozenset(
        """
        A_GB H H_FM R_FM R_GB V_GB assign attach_own block check_owner clear_groups end_step field force_cache forces has_known
        has_locks instance_token invalidate_from invalidate_instance invalidate_model invalidate_q invalidate_u invalidate_z
        is_constrained is_unchanged kept_fields impulses leave_out lower_to make_forces make_room mark_unchanged matters_own
        move_to need_accelerations need_instance need_positions need_velocities num_matter_errors own_copy own_field own_fields
        own_numbers pending_euler_angles preparing put_numbers put_own put_q put_u q_dot_dot_view q_dot_view q_values q_view
        record refuse refuse_model resources revert scratch settings settle_motion slides slots snapshot stage_number take_own
        take_settings token tree tree_of u_dot_view u_values u_view upd_resources use_euler_angles valid variable_places version
        write_matters_own y_values z_dot_view z_values z_view
        """.split()
    )

    __slots__ = ()

    def __repr__(self) -> str:
        number = self.tree.num_particles
        particles = f", {number} particles" if number else ""
        return (
            f"<State at {Stage(self.stage_number).name}, time {self.time:.6g}, "
            f"{self.q_values.size} q, {self.u_values.size} u, {self.z_values.size} z{particles}, of {self.system.name!r}>"
        )

    def _repr_html_(self) -> str:
        """The table in notebooks: q and u of each mobilizer."""
        bodies = self.system.get_matter_subsystem().bodies
        rows, q, u = [], 0, 0
        for body, nq, nu in zip(bodies, self.tree.num_q, self.tree.num_u, strict=True):
            if nq or nu:
                kind = type(body).__name__
                rows.append((body.name, kind, self.q_values[q : q + nq], self.u_values[u : u + nu]))
            q, u = q + nq, u + nu
        return html_table(repr(self), ("body", "mobilizer", "q", "u"), rows)

    # ------------------------------------------------------------------------------------------ results

    @property
    def q_err(self) -> Array:
        """Position errors of the constraints, norm - 1 of each quaternion, then other subsystems'. Needs POSITION."""
        if self.stage_number < POSITION:
            self.refuse("q_err", Stage.POSITION)
        return self._errors("q_err")

    def _quaternion_errors(self) -> Array:
        first_q = self.tree.first_q
        return np.array([np.linalg.norm(self.q_values[first_q[b] : first_q[b] + 4]) - 1.0 for b in self.tree.quaternions])

    def matters_own(self, name: str) -> Array:
        """Errors, or multipliers, of the constraints, and of q those of quaternions after them."""
        own = np.zeros(0)
        if self.tree.counts["nc"] > 0:
            matter = self.system.get_matter_subsystem()
            rows = matter.rows_in_use(self)
            if name == "q_err":
                own = matter.position_errors(self)
            elif name == "u_err":
                own = matter.velocity_errors(self)[rows[: sum(matter.num_equations(self)[:2])]]
            elif name == "u_dot_err":
                own = matter.acceleration_errors(self)[rows]
            else:
                own = matter.get_constraint_multipliers(self)
        return np.concatenate([own, self._quaternion_errors()]) if name == "q_err" else own

    def num_matter_errors(self, name: str) -> int:
        """Number of errors of this name that the constraints and quaternions have."""
        quaternions = len(self.tree.quaternions) if name == "q_err" else 0
        if self.tree.counts["nc"] == 0:
            return quaternions
        numbers = self.system.get_matter_subsystem().num_equations(self)
        return sum(numbers[: ERRORS.index(name) + 1]) + quaternions

    def _errors(self, name: str) -> Array:
        """Errors or multipliers of all subsystems."""
        if self.resources is None:
            return self.matters_own(name)
        whole = self.slots(name).slots[name]
        self.write_matters_own(name)
        return whole.copy()

    def write_matters_own(self, name: str) -> None:
        """Write them to the end of the matter's slots, after those that it has allocated as a subsystem."""
        assert self.resources is not None
        own = self.matters_own(name)
        start, n = self.resources.slot_places[name][subsystem_order(self.system)[0]]
        self.resources.slots[name][start + n - len(own) : start + n] = own

    @property
    def u_err(self) -> Array:
        """Velocity errors of the constraints. Needs VELOCITY."""
        if self.stage_number < VELOCITY:
            self.refuse("u_err", Stage.VELOCITY)
        return self._errors("u_err")

    @property
    def u_dot_err(self) -> Array:
        """Acceleration errors of the constraints. Needs ACCELERATION."""
        if self.stage_number < ACCELERATION:
            self.refuse("u_dot_err", Stage.ACCELERATION)
        return self._errors("u_dot_err")

    @property
    def multipliers(self) -> Array:
        """Constraint multipliers. Needs ACCELERATION."""
        if self.stage_number < ACCELERATION:
            self.refuse("multipliers", Stage.ACCELERATION)
        return self._errors("multipliers")

    # ------------------------------------------------------------------------------------------ copies

    def copy(self) -> State:
        """A state equal to this one in everything, realized as far, and independent of it.

        Made while a hook of a subsystem is at work, it is one stage below the one that is being realized.
        """
        other = object.__new__(State)
        for name in KEPT:
            setattr(other, name, getattr(self, name))
        other.impulses = None
        other.own_fields = {name: array.copy() for name, array in self.own_fields.items()}
        other.force_cache = dict(self.force_cache)
        if self.resources is not None:
            other.resources, other.stage_number = self.resources.copy(self.system), self._finished_stage
        other.attach_own(self.tree, self.record.copy())
        return other

    @property
    def _finished_stage(self) -> int:
        """The stage that all parts of the system have done their part of: while hooks are called, the one before."""
        step = 0 if self.resources is None else self.resources.step
        return min(self.stage_number, step - 1) if step else self.stage_number

    def snapshot(self) -> tuple[Any, ...]:
        """The data by which `revert` brings all back as it is now; a fraction of a copy's time."""
        resources = None if self.resources is None else self.resources.copy(self.system)
        return (
            (
                self.tree,
                self.record,
                self.record.buffer.copy(),
                {name: array.copy() for name, array in self.own_fields.items()} if self.own_fields else {},
            ),
            (dict(self.force_cache), resources),
            (self.stage_number, self.valid, self.use_euler_angles, self.pending_euler_angles),
            [] if self.impulses is None else list(self.impulses.found),
        )

    def revert(self, kept: tuple[Any, ...]) -> None:
        """Restore what `snapshot` has kept; each snapshot can be used once."""
        (tree, record, buffer, own), (self.force_cache, self.resources), numbers, struck = kept
        for name in self.own_fields.keys() - own.keys():
            record.share(name, tree.fields[name])
        self.own_fields, self.instance_token = own, object()
        record.buffer[:] = buffer
        self.attach_own(tree, record)
        self.stage_number, self.valid, self.use_euler_angles, self.pending_euler_angles = numbers
        if self.impulses is not None:
            self.impulses.found[:] = struck

    def mark_unchanged(self) -> None:
        """From now on `is_unchanged` tells whether something was assigned."""
        if self.resources is not None:
            self.resources.version(self, int(Stage.REPORT))
        self.valid |= _UNCHANGED

    def is_unchanged(self) -> bool:
        """True if nothing has been assigned since `mark_unchanged`; realizing changes nothing."""
        return bool(self.valid & _UNCHANGED)

    def __copy__(self) -> State:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        system = _copy.deepcopy(self.system, memo)
        if system is self.system:
            return self.copy()
        return restore(system, {**self.__getstate__(), "resources": _copy.deepcopy(self.resources, memo)})

    def __getstate__(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "use_euler_angles": self.use_euler_angles,
            "pending": self.pending_euler_angles,
            "own": self.own_fields,
            "stage": self._finished_stage,
            "valid": self.valid,
            "resources": self.resources,
            "more": (self.q_values.size - self.tree.nq, self.u_values.size - self.tree.nu, self.z_values.size - self.tree.nz),
            "buffer": self.record.buffer.copy(),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (self.system, self.__getstate__())


def restore(system: MultibodySystem, data: dict[str, Any]) -> State:
    """A state from what pickling and deep copies keep of it."""
    tree = system.tree_for(data["use_euler_angles"])
    state = State(system, tree, tree.new_record(more=data["more"]))
    state.version, state.pending_euler_angles = data["version"], data["pending"]
    if state.version != system.topology_version:
        state.token = None
    state.stage_number, state.valid = data["stage"], data["valid"]
    state.resources = data["resources"]
    if state.resources is not None:
        state.resources.be_at_rest()
    for name, array in data["own"].items():
        state.own_fields[name] = array.copy()
        state.record.share(name, state.own_fields[name])
    state.record.buffer[:] = data["buffer"]
    return state
