"""Inverse dynamics: the generalized forces, and the reactions of the joints, that a motion takes under measured loads.

    f = M u_dot + J^T (F0 - F_applied) - f_applied

with gravity and the forces of all elements among the applied ones, and the external loads. Of the joints: the force of each on
its body is what its motion takes, less what is applied to it, and what the joints of its children take from it.
Source: Featherstone 2008, section 5.3.

Natural cubic splines through columns of numbers, compiled: a sixth of the time that LAPACK's tridiagonal solver takes.

From the second derivatives m at the knots, h_i the step after knot i, s_i the slope there, m = 0 at both ends:

    h_(i-1) m_(i-1) + 2 (h_(i-1) + h_i) m_i + h_i m_(i+1) = 6 (s_i - s_(i-1))

Source: de Boor 1978, A Practical Guide to Splines, chapter 4.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from ..algebra.arrays import Array
from ..compiling import compiled
from ..importer.external_loads import Applied, ExternalForce, external_forces, read_external_loads
from ..importer.formats import as_model
from ..importer.model import Model
from ..motion_data import Table, read_sto
from ..muscle import Muscle
from ..simulation.trajectory import Trajectory
from ..state import validity
from ..state.state import State
from ..tree import realize
from ..value.checks import all_known, among
from ..value.progress import shown
from ..value.stage import Stage
from ._sweep import sweep
from .motion import DEGREE, Motion, rows_between, rows_of


@compiled
def evaluate(time: Any, rows: Any, at: Any, ratio: Any, bend: Any, found: Any) -> None:
    """The splines through the columns of *rows* ``(nt, m)`` at *time*, at the times *at*, ascending.

    *ratio* ``(nt,)`` and *bend* ``(nt, m)`` are space; *found* ``(n, m)`` gets the result.
    """
    n, m = rows.shape
    ratio[0] = 0.0
    for k in range(m):
        bend[0, k] = bend[n - 1, k] = 0.0
    for i in range(1, n - 1):
        before, after = time[i] - time[i - 1], time[i + 1] - time[i]
        pivot = 1.0 / (2.0 * (before + after) - before * ratio[i - 1])
        ratio[i] = after * pivot
        a, b = 6.0 / before, 6.0 / after
        for k in range(m):
            turn = b * (rows[i + 1, k] - rows[i, k]) - a * (rows[i, k] - rows[i - 1, k])
            bend[i, k] = (turn - before * bend[i - 1, k]) * pivot
    for i in range(n - 2, 0, -1):
        for k in range(m):
            bend[i, k] -= ratio[i] * bend[i + 1, k]
    i = 0
    for j in range(len(at)):
        while i < n - 2 and at[j] >= time[i + 1]:
            i += 1
        t, h = at[j] - time[i], time[i + 1] - time[i]
        for k in range(m):
            now, then = bend[i, k], bend[i + 1, k]
            slope = (rows[i + 1, k] - rows[i, k]) / h - h * (2.0 * now + then) / 6.0
            found[j, k] = rows[i, k] + t * (slope + t * (0.5 * now + t * (then - now) / (6.0 * h)))


def natural_cubic(time: Array, rows: Array, at: Array) -> Array:
    """The natural cubic splines through the columns of *rows* ``(nt, m)`` at *time*, at ascending times *at*: ``(n, m)``."""
    time, rows, at = (np.array(one, np.float64, order="C") for one in (time, rows, at))  # ones that may be written: one type
    found = np.empty((len(at), rows.shape[1]))
    evaluate(time, rows, at, np.empty(len(time)), np.empty_like(rows), found)
    return found


#: Rows between two reports of progress.
_BLOCK = 128

Loads = str | os.PathLike[str] | Table | Sequence[ExternalForce] | None


class InverseDynamics:
    """Inverse dynamics of a motion: generalized forces and joint reactions over time.

    Attributes
    ----------
    forces : Table
        The generalized force of each speed ``(nt,)``: ``knee_angle_moment`` of an angle, ``pelvis_tx_force`` of a length.
    time : (nt,) array
    q, u, u_dot : (nt, n) arrays
        The motion, with accelerations.
    notes : list of str
        What was assumed.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> model = mb.load_urdf(files("mobod") / "examples" / "panda.urdf")
    >>> still = mb.Table(np.linspace(0, 1, 11), {name: np.zeros(11) for name in model.coordinates})
    >>> held = mb.inverse_dynamics(model, still)
    >>> isinstance(held, mb.biomechanics.InverseDynamics), held.forces.labels[0]
    (True, 'panda_joint1_moment')
    """

    def __init__(
        self,
        model: Model,
        motion: Motion,
        residuals: Array,
        find_taken: Callable[[], Array],
        poses: tuple[Array, Array],
        notes: list[str],
    ) -> None:
        self.time, self.q, self.u, self.u_dot = motion.time, motion.q, motion.u, motion.u_dot
        self.notes = notes
        self._model, self._find_taken = model, find_taken
        self._R, self._p = poses
        labels = [f"{name}_{'moment' if _is_angle(model, name) else 'force'}" for name in motion.speed_names]
        self.forces = Table(self.time, dict(zip(labels, residuals.T, strict=True)), name="Inverse Dynamics Generalized Forces")

    @cached_property
    def _taken(self) -> Array:
        """Loads that the joints transmit, found when they are first asked for."""
        return self._find_taken()

    def __repr__(self) -> str:
        return f"<InverseDynamics of {self._model.name!r}: {len(self.forces.labels)} forces at {len(self.time)} times>"

    def reaction(self, body: Any, *, frame: Any = "ground", on: str = "child", at: Any = "joint") -> Table:
        """Reaction of a joint: force and moment, over time.

        Parameters
        ----------
        body : body
            Whose joint, the one to its parent: by object, index or name.
        frame : {"ground", "child", "parent"} or body
            In whose axes.
        on : {"child", "parent"}
            On the body, by its parent; or on the parent, by it.
        at : {"joint", "child", "parent"}
            About which point the moment is: the origin of the joint's frame on the body, that on the parent, or "child" or
            "parent" for the bodies' own origins: with "joint", the one on the body that it acts on.

        Returns
        -------
        Table
            ``force`` and ``moment`` ``(nt, 3)``.

        Notes
        -----
        It is all that the joint transmits, the generalized forces among it. Muscles are not simulated: these are resultant
        loads, not contact forces in the joint. Constraints are ignored, as in the generalized forces.
        """
        for what, value, known in (("on", on, ("child", "parent")), ("at", at, ("joint", "child", "parent"))):
            among(what, value, known)
        one = self._find(body)
        b = one.index
        if b == 0:
            raise ValueError("Ground has no joint to a parent")
        parent = one.get_parent_mobilized_body().index
        moment, force = self._taken[:, b, 0], self._taken[:, b, 1]  # at the body's origin, in Ground
        origin, p = self._p[:, b], self._p[:, b]
        if at == "parent":
            p = self._p[:, parent]
        elif at == "joint" and on == "child":
            p = origin + self._R[:, b] @ np.asarray(one.get_default_outboard_frame().p)
        elif at == "joint":
            p = self._p[:, parent] + self._R[:, parent] @ np.asarray(one.get_default_inboard_frame().p)
        moment = moment + np.cross(origin - p, force)
        sign = 1.0 if on == "child" else -1.0
        axes: Any = (
            {"ground": 0, "child": b, "parent": parent}[frame]
            if isinstance(frame, str) and frame in ("ground", "child", "parent")
            else self._find(frame).index
        )
        R = self._R[:, axes]
        columns = {"force": sign * np.einsum("tji,tj->ti", R, force), "moment": sign * np.einsum("tji,tj->ti", R, moment)}
        return Table(self.time, columns, name=f"reaction of {one.name}")

    def reactions(self, *, frame: Any = "ground", on: str = "child") -> Table:
        """The reactions of all joints: columns ``body_force`` and ``body_moment``, see `reaction`."""
        columns: dict[str, Array] = {}
        for body in list(self._model.matter.bodies)[1:]:
            one = self.reaction(body, frame=frame, on=on)
            columns |= {f"{body.name}_{label}": one[label] for label in one.labels}
        return Table(self.time, columns, name="joint reactions")

    def _find(self, body: Any) -> Any:
        if isinstance(body, str) and body in self._model.bodies:
            return self._model.bodies[body]
        return self._model.matter.find_body(body)


def inverse_dynamics(
    model: Model | str | os.PathLike[str],
    trajectory: Trajectory | Table | str | os.PathLike[str],
    external_loads: Loads = None,
    *,
    applied: Sequence[Applied] = (),
    cutoff: float | None = None,
    load_cutoff: float | None = None,
    filter: Literal["butterworth", "opensim"] = "butterworth",
    degree: int = DEGREE,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
    progress: bool | Callable[[int, int], Any] | None = None,
) -> InverseDynamics:
    """Find the generalized forces that a motion takes.

    Parameters
    ----------
    model : Model or path
        Its force elements act: gravity, springs, limits; muscles are left out.
    trajectory : Trajectory, Table or path
        The motion: as `inverse_kinematics` gives it; coordinates by name over time; or a ``.mot`` or ``.sto`` file of these.
    external_loads : path, Table or list of ExternalForce, optional
        Measured forces: OpenSim's file of external loads, or a table with *applied*, or forces made so.
    applied : sequence of biomechanics.Applied
        Which columns of a table act on which body.
    cutoff : float, optional
        Of a Butterworth filter of order 4, without delay, of the coordinates, before they are differentiated; 1/time.
    load_cutoff : float, optional
        Likewise of the loads' forces and torques; points are not filtered.
    filter : {"butterworth", "opensim"}
        How coordinates are filtered: by SciPy's Butterworth filter of order 4, of both passes together; or by what OpenSim's
        tool does: order 3 in each pass, with the cutoff of one pass, on rows resampled at the shortest step.
    degree : {3, 5, 7}
        Of the splines that are differentiated: natural ones, OpenSim's GCV splines without smoothing.
    start, end : float
        Rows of the motion from and to these times. The splines go through all rows.
    state : State, optional
        What else the model's state is: locked coordinates, parameters; `Model.default_state` unless given.
    progress : bool or callable, optional
        True shows a progress bar (needs tqdm); a callable gets the number of times done, and of all.

    Returns
    -------
    InverseDynamics
        With `forces`, a table, and the joints' reactions.

    Raises
    ------
    ValueError
        If the motion has no coordinate of the model, or gaps, or a load acts on an unknown body.

    Notes
    -----
    Constraints are ignored: a coupled coordinate has the generalized force that its own motion takes, as in OpenSim. Loads are
    interpolated between their times by natural cubic splines, as there, and are zero outside them.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> model = mb.load_urdf(files("mobod") / "examples" / "panda.urdf")
    >>> still = mb.Table(np.linspace(0, 1, 11), {name: np.zeros(11) for name in model.coordinates})
    >>> held = inverse_dynamics(model, still)
    >>> held.forces.labels[0]
    'panda_joint1_moment'
    """
    return dynamics_of(
        model, trajectory, external_loads, applied=applied, cutoff=cutoff, load_cutoff=load_cutoff, filter=filter,
        degree=degree, start=start, end=end, state=state, progress=progress,
    )  # fmt: skip


def dynamics_of(
    model: Model | str | os.PathLike[str],
    trajectory: Trajectory | Table | str | os.PathLike[str],
    external_loads: Loads,
    *,
    applied: Sequence[Applied],
    cutoff: float | None,
    load_cutoff: float | None,
    filter: str,
    degree: int,
    start: float,
    end: float,
    state: State | None,
    progress: bool | Callable[[int, int], Any] | None,
    by_speeds: bool = False,
    times_of: Callable[[Array], Array] | None = None,
) -> InverseDynamics:
    """As `inverse_dynamics`; *by_speeds*, accelerations are those of splines through the speeds.

    Not at the rows' times, but at those that *times_of* makes of them, by the same splines.
    """
    model = as_model(model)
    begin = model.default_state() if state is None else state.copy()
    for one in model.forces.elements:
        if isinstance(one, Muscle):
            one.disable(begin)
    model.system.realize(begin, Stage.INSTANCE)
    time, q, notes = rows_of(model, begin, trajectory)
    among("filter", filter, ("butterworth", "opensim"))
    rows = np.flatnonzero(rows_between(time, start, end))
    if times_of is not None and len(time) < degree + 1:
        raise ValueError(
            f"between its rows a motion is a spline of degree {degree}: that takes {degree + 1} rows, not {len(time)}"
        )
    at = None if times_of is None else times_of(time[rows])
    motion = Motion.of_rows(model, begin, time, q, cutoff, degree, filter, by_speeds, at)
    if at is None:
        motion = Motion(time[rows], motion.q[rows], motion.u[rows], motion.u_dot[rows], motion.names, motion.speed_names)
    loads = ForcesOver(model, forces_of(external_loads, applied), motion.time, load_cutoff)
    return _solve(model, begin, motion, loads, notes, progress)


def forces_of(loads: Loads, applied: Sequence[Applied]) -> list[ExternalForce]:
    """External forces as they are given: made, in a table, or in a file."""
    if loads is None:
        return []
    if isinstance(loads, Table):
        if not applied:
            raise ValueError("a table of loads needs applied=[mb.biomechanics.Applied(body=..., force=..., point=...)]")
        return external_forces(loads, applied)
    if isinstance(loads, (str, os.PathLike)):
        return external_forces(read_sto(loads), applied) if applied else read_external_loads(loads)
    return list(loads)


class ForcesOver:
    """External forces at the times of a motion."""

    def __init__(self, model: Model, forces: list[ExternalForce], time: Array, cutoff: float | None) -> None:
        from ..motion_data import signal

        self.places = np.zeros((len(forces), 4), np.int64)  # its body, whose axes force and point are in, and if at a point
        self.values = np.zeros((len(forces), len(time), 9))  # force, point, torque
        together: dict[int, list[tuple[int, int, Array]]] = {}  # of the same times: force, place among its numbers, rows
        for j, one in enumerate(forces):
            filtered = None if cutoff is None else signal.butterworth(signal.even_step(one.time), cutoff, 4)
            force, torque = (rows if rows is None or filtered is None else filtered(rows) for rows in (one.force, one.torque))
            at_point = force is not None and one.point is not None
            self.places[j] = (*(_body(model, name, one.name) for name in (one.body, one.force_in, one.point_in)), at_point)
            given = [(j, 3 * k, rows) for k, rows in enumerate((force, one.point, torque)) if rows is not None]
            together.setdefault(id(one.time), []).extend(given)
        times = {id(one.time): one.time for one in forces}
        for which, given in together.items():  # one spline of all columns: the equations are the same
            if not given:
                continue
            found = _at(times[which], np.hstack([rows for _, _, rows in given]), time)
            for (j, k, _), columns in zip(given, np.split(found, len(given), axis=1), strict=True):
                self.values[j, :, k : k + 3] = columns

    def force_and_point(self, j: int, i: int, R: Array, p: Array) -> tuple[Array, Array]:
        """One of them at a time, and where it acts, in Ground."""
        body, force_in, point_in, at_point = self.places[j].tolist()
        force, point, _ = self.values[j, i].reshape(3, 3)
        return R[force_in] @ force, p[point_in] + R[point_in] @ point if at_point else p[body].copy()

    def add_to(self, F: Array, i: int, R: Array, p: Array) -> None:
        """Add all to body forces ``(nb, 2, 3)``, at the bodies' origins in Ground."""
        for (body, force_in, point_in, at_point), rows in zip(self.places.tolist(), self.values, strict=True):
            force, point, torque = rows[i].reshape(3, 3)
            force, torque = R[force_in] @ force, R[force_in] @ torque
            F[body, 1] += force
            F[body, 0] += torque
            if at_point:
                F[body, 0] += np.cross(p[point_in] + R[point_in] @ point - p[body], force)


def _at(time: Array, rows: Array, at: Array) -> Array:
    inside = (at >= time[0]) & (at <= time[-1])
    found = natural_cubic(time, rows, at) if len(time) > 3 else np.stack([np.interp(at, time, c) for c in rows.T], axis=1)
    return np.where(inside[:, None], found, 0.0)


def _body(model: Model, name: str, force: str) -> int:
    if name.lower() == "ground":
        return 0
    all_known(f"the external force {force!r} names the body", [name], model.bodies)
    return model.bodies[name].index


def _solve(
    model: Model,
    state: State,
    motion: Motion,
    loads: ForcesOver,
    notes: list[str],
    progress: bool | Callable[[int, int], Any] | None,
) -> InverseDynamics:
    system, matter = model.system, model.matter
    bodies = list(matter.bodies)
    nt, nb = len(motion.time), len(bodies)
    residuals = np.empty((nt, motion.u.shape[1]))
    R, p = np.empty((nt, nb, 3, 3)), np.empty((nt, nb, 3))
    A, V, F = np.empty((nt, nb, 2, 3)), np.empty((nt, nb, 2, 3)), np.empty((nt, nb, 2, 3))
    plain = not system.calls_python and not any(body.is_of_users_functions for body in matter.body_list)
    plain = plain and motion.q.shape[1] == state.tree.nq
    columns = [np.ascontiguousarray(rows) for rows in (motion.time, motion.q, motion.u, motion.u_dot)]
    results = R.reshape(nt, nb, 9), p, V.reshape(nt, nb, 6), A.reshape(nt, nb, 6), F.reshape(nt, nb, 6)
    space, wanted = np.empty(motion.u.shape[1]), validity.WANTED[Stage.DYNAMICS]

    def by_itself(i: int) -> None:
        state.time, state.q, state.u = float(motion.time[i]), motion.q[i], motion.u[i]
        system.realize(state, Stage.DYNAMICS)
        R[i], p[i], V[i] = state.R_GB, state.record.p_GB[:, :3], state.record.V_GB.reshape(nb, 2, 3)
        F[i] = system.get_rigid_body_forces(state)
        loads.add_to(F[i], i, R[i], p[i])
        u_dot = motion.u_dot[i]
        f = system.get_mobility_forces(state)
        residuals[i] = matter.calc_residual_force_ignoring_constraints(state, f, F[i], u_dot)
        A[i] = matter.calc_body_acceleration_from_u_dot(state, u_dot)

    with shown(progress, nt, "times") as show:
        for first in range(0, nt, _BLOCK):
            end = min(first + _BLOCK, nt)
            if plain:
                begin = sweep(
                    state, realize.advance.address(), wanted, first, end, *columns, loads.places, loads.values, *results, space,
                    residuals,
                )  # fmt: skip
            else:
                begin = first
            for i in range(begin, end):  # where it stopped, the state says why
                by_itself(i)
            show(end, nt)
    # the state, which is nobody else's, gives masses from now on, and nothing that depends on q
    return InverseDynamics(model, motion, residuals, partial(_taken, bodies, state, R, p, V, A, F), (R, p), notes)


def _taken(bodies: list[Any], state: State, R: Array, p: Array, V: Array, A: Array, F: Array) -> Array:
    """The force of each joint on its body, at the body's origin, in Ground ``(nt, nb, 2, 3)``."""
    taken = np.zeros_like(F)
    for body in bodies[1:]:
        taken[:, body.index] = _own(body, state, R[:, body.index], V[:, body.index], A[:, body.index]) - F[:, body.index]
    for body in reversed(bodies[1:]):
        b, parent = body.index, body.get_parent_mobilized_body().index
        taken[:, parent, 1] += taken[:, b, 1]
        taken[:, parent, 0] += taken[:, b, 0] + np.cross(p[:, b] - p[:, parent], taken[:, b, 1])
    return taken


def _own(body: Any, state: State, R: Array, V: Array, A: Array) -> Array:
    """Torque and force ``(nt, 2, 3)`` at the body's origin, in Ground, of its motion: Newton's and Euler's equations."""
    properties = body.get_body_mass_properties(state)
    r = R @ np.asarray(properties.com)
    inertia = R @ np.asarray(properties.inertia) @ np.swapaxes(R, 1, 2)
    w, a = V[:, 0], A[:, 0]
    force = properties.mass * (A[:, 1] + np.cross(a, r) + np.cross(w, np.cross(w, r)))
    spin = np.einsum("tij,tj->ti", inertia, w)
    torque = np.einsum("tij,tj->ti", inertia, a) + np.cross(w, spin) + properties.mass * np.cross(r, A[:, 1])
    return np.stack([torque, force], axis=1)


def _is_angle(model: Model, name: str) -> bool:
    """True if a speed is one of an angle: of a coordinate that is, or as its mobilizer's first speeds are."""
    if name in model.coordinates:
        return name in model.angles
    return name.rstrip("]").rsplit("[", 1)[-1] in ("0", "1", "2")
