"""Induced accelerations: what each force accelerates by itself, over the rows of a motion.

    [ M  G^T ] [u_dot ]   [ f_k ]
    [ G   0  ] [lambda] = [ b_k ]

f_k is the generalized force of one muscle or actuator, of gravity, of all that depends on speeds (with the right side b_k that
constraints have then), or of all other elements. They add up to the accelerations of all together. Labels are those of
OpenSim's InducedAccelerations. Source: Zajac and Gordon 1989, Exerc. Sport Sci. Rev. 17, 187.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..importer.formats import as_model
from ..motion_data import Table
from ..muscle import Muscle
from ..value.checks import suggest
from ..value.stage import Stage
from .states import Given, MotionRows, own_state

if TYPE_CHECKING:
    from ..importer.model import Model
    from ..state.state import State


def induced_accelerations(
    model: Model | str | os.PathLike[str],
    motion: Given,
    *,
    coordinates: Sequence[str] | None = None,
    equilibrate: bool = False,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
) -> dict[str, Table]:
    """Find the accelerations that each muscle, gravity and speeds give to coordinates.

    Parameters
    ----------
    model : Model or path
        With what acts on it; its constraints hold.
    motion : Trajectory, Table or path
        As for `analyze_muscles`.
    coordinates : sequence of str, optional
        All unless given.
    equilibrate : bool
        See `analyze_muscles`.
    start, end : float
        Rows from and to these times.
    state : State, optional
        What else the model's state is.

    Returns
    -------
    dict of str to Table
        By coordinate, with the columns ``total``, ``gravity``, ``velocity``, one a muscle and actuator, and ``others``, of all
        other elements: the total is the sum.

    Raises
    ------
    ValueError
        If a coordinate is not there, or the motion has none.

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
    names = [*model.speeds] if coordinates is None else list(coordinates)
    for name in names:
        if name not in model.speeds:
            raise ValueError(f"there is no coordinate {name!r}; {suggest(name, [*model.speeds])}")
    places = [model.speeds[name] for name in names]
    rows = MotionRows(model, motion, own_state(model, state), equilibrate=equilibrate).within(start, end)
    sources: dict[str, Any] = {name: one for name, one in model.muscles.items() if isinstance(one, Muscle)} | model.actuators
    labels = ["total", "gravity", "velocity", *sources, "others"]
    found = np.empty((len(rows.time), len(labels), len(names)))
    for i, now in enumerate(rows):
        model.system.realize(now, Stage.ACCELERATION)
        found[i] = _of_each(model, now, sources)[:, places]
    return {
        name: Table(rows.time, dict(zip(labels, found[:, :, k].T, strict=True)), name=f"Induced Accelerations of {name}")
        for k, name in enumerate(names)
    }


def _of_each(model: Model, state: State, sources: dict[str, Any]) -> Array:
    """Accelerations (n, nu): of all, of gravity, of speeds, of each source, of the rest."""
    matter, nu = model.matter, len(state.u)

    def generalized(element: Any) -> Array:
        bodies, _, mobilities = element.calc_force_contribution(state)
        return np.asarray(mobilities + matter.multiply_by_system_jacobian_transpose(state, bodies))

    gravity = generalized(model.gravity)
    own = [generalized(one) for one in sources.values()]
    total = np.array(state.u_dot)
    held = _held(state)
    nothing = np.zeros(nu), np.zeros((state.tree.nb, 2, 3)), np.zeros(nu)
    bias = -np.asarray(matter.calc_residual_force_ignoring_constraints(state, *nothing))
    M = np.asarray(matter.calc_m(state))
    right, G = np.zeros(0), np.zeros((0, nu))
    if matter.constraints:
        right, G = -np.asarray(matter.calc_bias_for_acceleration_constraints(state)), np.asarray(matter.calc_g(state))
    # what is prescribed has its acceleration whatever pushes: it goes with the speeds
    prescribed = np.where(held, total, 0.0)
    columns = np.stack([gravity, bias - M @ prescribed, *own], axis=1)
    rights = np.zeros((len(right), columns.shape[1]))
    rights[:, 1] = right - G @ prescribed
    solved = responses(model, state, columns, rights)
    found = np.zeros((4 + len(own), nu))
    found[0] = total
    found[1:-1] = solved
    found[2, held] = prescribed[held]
    found[-1] = total - found[1:-1].sum(axis=0)
    return found


def responses(model: Model, state: State, forces: Array, rights: Array | None = None) -> Array:
    """Accelerations (k, nu) of generalized forces (nu, k) alone, with right sides (m, k) of constraints; 0 where prescribed."""
    matter, free = model.matter, ~_held(state)
    M, G = np.asarray(matter.calc_m(state)), np.zeros((0, len(free)))
    if matter.constraints:
        G = np.asarray(matter.calc_g(state))
    n, m = int(free.sum()), len(G)
    K = np.block([[M[np.ix_(free, free)], G[:, free].T], [G[:, free], np.zeros((m, m))]])
    columns = np.vstack([forces[free], np.zeros((m, forces.shape[1])) if rights is None else rights])
    found = np.zeros((forces.shape[1], len(free)))
    found[:, free] = np.linalg.lstsq(K, columns, rcond=1e-12)[0][:n].T
    return found


def _held(state: State) -> npt.NDArray[np.bool_]:
    tree = state.tree
    held: npt.NDArray[np.bool_] = np.zeros(len(state.u), bool)
    for b in range(1, tree.nb):
        if state.field("prescribed")[b] != 0:
            held[tree.first_u[b] : tree.first_u[b] + tree.num_u[b]] = True
    return held
