"""Induced accelerations: what each force accelerates by itself, over the rows of a motion.

    [ M  G^T ] [u_dot ]   [ f_k ]
    [ G   0  ] [lambda] = [ b_k ]

f_k is the generalized force of one muscle or actuator, of gravity, of all that depends on speeds (with the right side b_k that
constraints have then), or of all other elements. They add up to the accelerations of all together, of bodies and of the mass
center by their Jacobians, of which the speeds' own part is the rest. Labels and their order are those of OpenSim's
InducedAccelerations. Source: Zajac and Gordon 1989, Exerc. Sport Sci. Rev. 17, 187.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..importer.formats import as_model
from ..importer.model import Model
from ..motion_data import Table
from ..muscle import Muscle
from ..state.state import State
from ..value.checks import all_known, suggest
from ..value.stage import Stage
from .states import Equilibrate, Given, MotionRows, held_speeds
from .tasks import CENTER_OF_MASS


def induced_accelerations(
    model: Model | str | os.PathLike[str],
    motion: Given,
    *,
    coordinates: Sequence[str] | None = None,
    bodies: Sequence[str] = (),
    equilibrate: Equilibrate = False,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
) -> dict[str, Table]:
    """Find the accelerations that each muscle, gravity and speeds give to coordinates, bodies and the mass center.

    Parameters
    ----------
    model : Model or path
        With what acts on it; its constraints hold.
    motion : Trajectory, Table or path
        As for `analyze_muscles`.
    coordinates : sequence of str, optional
        All unless given.
    bodies : sequence of str
        Bodies, and ``"center_of_mass"`` for that of all of them.
    equilibrate : bool or "opensim"
        See `analyze_muscles`.
    start, end : float
        Rows from and to these times.
    state : State, optional
        What else the model's state is.

    Returns
    -------
    dict of str to Table
        By coordinate, with the columns ``total``, one a muscle and actuator, ``gravity``, ``velocity``, and ``others``, of all
        other elements: the total is the sum. By body, of its mass center, in Ground, with ``total_X``, ``total_Y``,
        ``total_Z``, and its angular acceleration ``total_Ox``, ``total_Oy``, ``total_Oz``, and so on; those of
        ``center_of_mass`` have the first three.

    Raises
    ------
    ValueError
        If a coordinate or body is not there, or the motion has no coordinate.

    Notes
    -----
    OpenSim's analysis replaces measured contact by constraints while the foot is loaded; here contact is what the model says.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 0.1, 3), {"knee_angle_r": np.full(3, -0.3)})
    >>> found = mb.induced_accelerations(leg, still, coordinates=["knee_angle_r"], equilibrate=True)["knee_angle_r"]
    >>> parts = sum(found[label] for label in found.labels if label != "total")
    >>> bool(abs(parts - found["total"]).max() < 1e-8)
    True
    """
    model = as_model(model)
    names = all_known("there is no coordinate", model.speeds if coordinates is None else coordinates, model.speeds)
    places = [model.speeds[name] for name in names]
    targets = [_Target(model, name) for name in bodies]
    rows = MotionRows.between(model, motion, equilibrate, start, end, state)
    sources: dict[str, Any] = {name: one for name, one in model.muscles.items() if isinstance(one, Muscle)} | model.actuators
    labels = ["total", *sources, "gravity", "velocity", "others"]
    found = np.empty((len(rows.time), len(labels), len(names)))
    of_targets = [np.empty((len(rows.time), len(labels), len(one.ends))) for one in targets]
    for i, now in enumerate(rows):
        model.system.realize(now, Stage.ACCELERATION)
        each = _of_each(model, now, sources)
        found[i] = each[:, places]
        for one, table in zip(targets, of_targets, strict=True):
            table[i] = one.share(now, each)
    made = {name: dict(zip(labels, found[:, :, k].T, strict=True)) for k, name in enumerate(names)}
    for one, table in zip(targets, of_targets, strict=True):
        columns = [label + end for label in labels for end in one.ends]
        made[one.name] = dict(zip(columns, table.reshape(len(table), -1).T, strict=True))
    return {name: Table(rows.time, one, name=f"Induced Accelerations of {name}") for name, one in made.items()}


class _Target:
    """A body, or the mass center of all, whose acceleration is shared out."""

    def __init__(self, model: Model, name: str) -> None:
        if name != CENTER_OF_MASS and name not in model.bodies:
            raise ValueError(f"there is no body {name!r}; {suggest(name, [CENTER_OF_MASS, *model.bodies])}")
        self.model, self.name, self.body = model, name, model.bodies.get(name)
        self.ends = ["_X", "_Y", "_Z"] + ([] if self.body is None else ["_Ox", "_Oy", "_Oz"])

    def share(self, state: State, each: Array) -> Array:
        """Of each (n, nu) of the accelerations of coordinates, that of the target (n, 3 or 6)."""
        matter = self.model.matter
        if self.body is None:
            total = np.asarray(matter.calc_system_mass_center_acceleration_in_ground(state))
            J, mass = np.zeros((3, each.shape[1])), 0.0
            for one in matter.body_list[1:]:
                own = one.get_body_mass_properties(state)
                J += own.mass * np.asarray(matter.calc_station_jacobian(state, one, own.com))
                mass += own.mass
            J /= mass
        else:
            center = self.body.get_body_mass_properties(state).com
            linear = self.body.find_station_acceleration_in_ground(state, center)
            total = np.concatenate([linear, self.body.get_body_angular_acceleration(state)])
            around = np.asarray(matter.calc_frame_jacobian(state, self.body, center)).reshape(6, -1)
            J = np.vstack([around[3:], around[:3]])
        shares = each @ J.T
        shares[0] = total
        shares[-2] = total - shares[1:-2].sum(axis=0) - shares[-1]
        return np.asarray(shares)


def _of_each(model: Model, state: State, sources: dict[str, Any]) -> Array:
    """Accelerations (n, nu): of all, of each source, of gravity, of speeds, of the rest."""
    matter, nu = model.matter, len(state.u)

    def generalized(element: Any) -> Array:
        bodies, _, mobilities = element.calc_force_contribution(state)
        return np.asarray(mobilities + matter.multiply_by_system_jacobian_transpose(state, bodies))

    gravity = generalized(model.gravity)
    own = [generalized(one) for one in sources.values()]
    total = np.array(state.u_dot)
    held = held_speeds(state)
    nothing = np.zeros(nu), np.zeros((state.tree.nb, 2, 3)), np.zeros(nu)
    bias = -np.asarray(matter.calc_residual_force_ignoring_constraints(state, *nothing))
    M = np.asarray(matter.calc_m(state))
    right, G = np.zeros(0), np.zeros((0, nu))
    if matter.constraints:
        right, G = -np.asarray(matter.calc_bias_for_acceleration_constraints(state)), np.asarray(matter.calc_g(state))
    # what is prescribed has its acceleration whatever pushes: it goes with the speeds
    prescribed = np.where(held, total, 0.0)
    columns = np.stack([*own, gravity, bias - M @ prescribed], axis=1)
    rights = np.zeros((len(right), columns.shape[1]))
    rights[:, -1] = right - G @ prescribed
    solved = responses(model, state, columns, rights)
    found = np.zeros((4 + len(own), nu))
    found[0] = total
    found[1:-1] = solved
    found[-2, held] = prescribed[held]
    found[-1] = total - found[1:-1].sum(axis=0)
    return found


def responses(model: Model, state: State, forces: Array, rights: Array | None = None) -> Array:
    """Accelerations (k, nu) of generalized forces (nu, k) alone, with right sides (m, k) of constraints; 0 where prescribed."""
    matter, free = model.matter, ~held_speeds(state)
    M, G = np.asarray(matter.calc_m(state)), np.zeros((0, len(free)))
    if matter.constraints:
        G = np.asarray(matter.calc_g(state))
    n, m = int(free.sum()), len(G)
    K = np.block([[M[np.ix_(free, free)], G[:, free].T], [G[:, free], np.zeros((m, m))]])
    columns = np.vstack([forces[free], np.zeros((m, forces.shape[1])) if rights is None else rights])
    found = np.zeros((forces.shape[1], len(free)))
    found[:, free] = np.linalg.lstsq(K, columns, rcond=1e-12)[0][:n].T
    return found
