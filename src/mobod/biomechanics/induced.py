"""Induced accelerations: what each force accelerates by itself, over the rows of a motion.

    [ M  G^T ] [u_dot ]   [ f_k ]
    [ G   0  ] [lambda] = [ b_k ]

f_k is the generalized force of one muscle or actuator, of gravity, of all that depends on speeds (with the right side b_k that
constraints have then), or of all other elements. They add up to the accelerations of all together, of bodies and of the mass
center by their Jacobians, of which the speeds' own part is the rest. Constraints of contact are further rows of G, whose
multipliers are the reactions that each force induces. Labels and their order are those of OpenSim's InducedAccelerations.
Source: Zajac and Gordon 1989, Exerc. Sport Sci. Rev. 17, 187.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..importer.external_loads import Contact
from ..importer.formats import as_model
from ..importer.model import Model
from ..motion_data import Table
from ..muscle import Muscle
from ..state.state import State
from ..value.checks import all_known, suggest
from ..value.stage import Stage
from ._contact import ContactsOver, Touching
from .dynamics import Loads, forces_of
from .states import Equilibrate, Given, MotionRows, held_speeds, own_state
from .tasks import CENTER_OF_MASS


def induced_accelerations(
    model: Model | str | os.PathLike[str],
    motion: Given,
    external_loads: Loads = None,
    *,
    contact: str | Contact | Sequence[str | Contact] = "rolling",
    force_threshold: float = 6.0,
    reactions: bool = False,
    potentials: bool = False,
    coordinates: Sequence[str] | None = None,
    bodies: Sequence[str] = (),
    equilibrate: Equilibrate = False,
    as_opensim: bool = False,
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
    external_loads : path or list of ExternalForce, optional
        Measured forces of contact, such as those of the ground: while one is large, a constraint takes its place, so that each
        muscle has its share of it. Those that the model was loaded with do not act then.
    contact : {"rolling", "point", "weld"} or biomechanics.Contact, or a sequence of one a force
        What the constraint is.
    force_threshold : float
        Of the measured force: below there is no contact. Force.
    reactions : bool
        Whether the forces of contact that each of these induces are wanted, too.
    potentials : bool
        Whether each muscle pulls with a unit force, whatever its activation: there is no total, then, and contact holds.
    coordinates : sequence of str, optional
        All unless given.
    bodies : sequence of str
        Bodies, and ``"center_of_mass"`` for that of all of them.
    equilibrate : bool or "opensim"
        See `analyze_muscles`.
    as_opensim : bool
        Whether only one sense of spin about the contact's normal is limited, and forces of contact have the other sign, as in
        OpenSim.
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
        ``center_of_mass`` have the first three. ``induced_constraint_reactions`` has, of each of these and each contact, force
        and moment on Ground and on the body, at their origins, in Ground: ``total_NAME_calcn_r_Fy``.

    Raises
    ------
    ValueError
        If a coordinate or body is not there, the motion has no coordinate, or there is not one contact a force.

    Notes
    -----
    A rolling contact that pulls is open, one that friction does not hold slips without friction. This is asked once, of the
    forces together, one contact after the other; with that, each force acts alone. Source of the method: Hamner, Seth and Delp
    2010, J. Biomechanics 43, 2709. Only accelerations are constrained: what recorded speeds miss is left as it is.

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
    own = own_state(model, state)
    for one in model.data.get("external loads", []) if external_loads is not None else []:
        one.disable(own)
    rows = MotionRows.between(model, motion, equilibrate, start, end, own)
    contacts = ContactsOver(model, forces_of(external_loads, ()), contact, force_threshold, rows.time)
    sources: dict[str, Any] = {name: one for name, one in model.muscles.items() if isinstance(one, Muscle)} | model.actuators
    labels = ["total", *sources, "gravity", "velocity", "others"]
    found = np.empty((len(rows.time), len(labels), len(names)))
    shares = [np.empty((len(rows.time), len(labels), len(one.ends))) for one in targets]
    induced = np.empty((len(rows.time), len(labels), len(contacts.labels)))
    sign = -1.0 if as_opensim else 1.0
    for i, now in enumerate(rows):
        model.system.realize(now, Stage.ACCELERATION)
        touching = contacts.at(i, now)
        each, multipliers = _of_each(model, now, sources, touching, potentials, as_opensim)
        found[i], induced[i] = each[:, places], sign * touching.reactions(multipliers, now)
        for one, table in zip(targets, shares, strict=True):
            table[i] = one.share(now, each)
    wanted = [(name, [""], found[:, :, [k]]) for k, name in enumerate(names)]
    wanted += [(one.name, one.ends, table) for one, table in zip(targets, shares, strict=True)]
    if reactions:
        wanted.append(("induced_constraint_reactions", ["_" + label for label in contacts.labels], induced))
    kept = slice(1, -1) if potentials else slice(None)  # of unit forces there is no total
    return {
        name: rows.table(
            [label + end for label in labels[kept] for end in ends],
            columns[:, kept].reshape(len(columns), -1),
            f"Induced Accelerations of {name}",
        )
        for name, ends, columns in wanted
    }


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
        shares[0] = total + J @ (each[0] - state.u_dot)  # with contact they are not those of the state
        shares[-2] = shares[0] - shares[1:-2].sum(axis=0) - shares[-1]
        return np.asarray(shares)


def _of_each(
    model: Model, state: State, sources: dict[str, Any], touching: Touching, potentials: bool, as_opensim: bool
) -> tuple[Array, Array]:
    """Accelerations (n, nu) and multipliers of contact (m, n): of all, of each source, of gravity, of speeds, of the rest."""
    matter, nu = model.matter, len(state.u)

    def generalized(bodies: Array, mobilities: Array) -> Array:
        return np.asarray(mobilities + matter.multiply_by_system_jacobian_transpose(state, bodies))

    def of_element(element: Any) -> Array:
        if potentials and isinstance(element, Muscle):
            return np.asarray(element.calc_moment_arms(state))
        bodies, _, mobilities = element.calc_force_contribution(state)
        return generalized(bodies, mobilities)

    own = [of_element(one) for one in (*sources.values(), model.gravity)]
    held = held_speeds(state)
    nothing = np.zeros(nu), np.zeros((state.tree.nb, 2, 3)), np.zeros(nu)
    bias = -np.asarray(matter.calc_residual_force_ignoring_constraints(state, *nothing))
    # what is prescribed has its acceleration whatever pushes: it goes with the speeds
    prescribed = np.where(held, np.array(state.u_dot), 0.0)
    bias -= np.asarray(matter.calc_m(state)) @ prescribed
    all_forces = generalized(model.system.get_rigid_body_forces(state), np.asarray(model.system.get_mobility_forces(state)))
    forces = np.stack([all_forces + bias, *own, bias], axis=1)
    moving = np.zeros(forces.shape[1])
    moving[[0, -1]] = 1.0

    def solve() -> tuple[Array, Array]:
        return _solve(model, state, forces, moving, prescribed, touching)

    if not potentials:
        touching.settle(lambda: solve()[1][:, 0], as_opensim)
    found, multipliers = solve()
    if not touching.acts.any():
        found[0] = state.u_dot
    found[[0, -1]] += prescribed
    rest = 2.0 * found[0] - found.sum(axis=0), 2.0 * multipliers[:, 0] - multipliers.sum(axis=1)
    return np.vstack([found, rest[0]]), np.column_stack([multipliers, rest[1]])


def responses(model: Model, state: State, forces: Array) -> Array:
    """Accelerations (k, nu) of generalized forces (nu, k) alone; 0 where prescribed."""
    return _solve(model, state, forces, np.zeros(forces.shape[1]), np.zeros(len(forces)))[0]


def _solve(
    model: Model, state: State, forces: Array, moving: Array, prescribed: Array, touching: Touching | None = None
) -> tuple[Array, Array]:
    """Accelerations (k, nu), 0 where prescribed, and multipliers of contact (m, k), of generalized forces (nu, k).

    Constraints have their bias and what is prescribed in columns where *moving* (k,) is 1.
    """
    matter, free = model.matter, ~held_speeds(state)
    G, right = np.zeros((0, len(free))), np.zeros(0)
    if matter.constraints:
        G, right = np.asarray(matter.calc_g(state)), -np.asarray(matter.calc_bias_for_acceleration_constraints(state))
    own = len(G)
    if touching is not None:
        G, right = np.vstack([G, touching.G[touching.acts]]), np.concatenate([right, touching.right[touching.acts]])
    n, m, M = int(free.sum()), len(G), np.asarray(matter.calc_m(state))
    K = np.block([[M[np.ix_(free, free)], G[:, free].T], [G[:, free], np.zeros((m, m))]])
    columns = np.vstack([forces[free], np.outer(right - G @ prescribed, moving)])
    solved = np.linalg.lstsq(K, columns, rcond=1e-12)[0]
    found = np.zeros((forces.shape[1], len(free)))
    found[:, free] = solved[:n].T
    return found, solved[n + own :]
