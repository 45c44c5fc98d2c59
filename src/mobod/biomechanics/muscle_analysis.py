"""Muscle analysis: lengths, velocities, forces, powers and moment arms of muscles over the rows of a motion.

Powers are those that the parts give off: of the fiber -F l', of the tendon -T l_T', of the whole -T l'; a moment is moment arm
times tension. Quantities have the names of OpenSim's MuscleAnalysis, and are what these are there: the passive power is that of
the elastic force, which is stored, and what damping takes is part of the active one, though the passive force has both.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from ..algebra.arrays import Array
from ..force.transmission.base import coupling
from ..importer.formats import as_model
from ..importer.model import Model
from ..motion_data import Table, write_sto
from ..muscle import Muscle
from ..state.state import State
from ..value.checks import all_known
from .states import Equilibrate, Given, MotionRows, acting_muscles

#: What is found of each muscle, by OpenSim's names.
QUANTITIES = (
    "Length", "FiberLength", "TendonLength", "NormalizedFiberLength", "PennationAngle", "FiberVelocity", "NormFiberVelocity",
    "PennationAngularVelocity", "TendonForce", "FiberForce", "ActiveFiberForce", "PassiveFiberForce",
    "ActiveFiberForceAlongTendon", "PassiveFiberForceAlongTendon", "FiberActivePower", "FiberPassivePower", "TendonPower",
    "MuscleActuatorPower",
)  # fmt: skip


class MuscleAnalysis:
    """Lengths, forces, powers and moment arms of muscles over time.

    Attributes
    ----------
    time : (nt,) array
    tables : dict of str to Table
        A column a muscle: ``"Length"``, ``"FiberLength"``, ``"TendonForce"``, ``"FiberActivePower"``, ...; and of each
        coordinate ``"MomentArm_knee_angle_r"`` and ``"Moment_knee_angle_r"``.
    notes : list of str
        What was assumed.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> bends = mb.Table(np.linspace(0, 1, 11), {"knee_angle_r": np.linspace(-1.0, -0.1, 11)})
    >>> found = mb.analyze_muscles(leg, bends, coordinates=["knee_angle_r"], equilibrate=True)
    >>> found["FiberLength"].labels[0], bool((found["MomentArm_knee_angle_r"]["rect_fem_r"] > 0.02).all())
    ('bifemlh_r', True)
    """

    def __init__(self, time: Array, tables: dict[str, Table], notes: list[str]) -> None:
        self.time, self.tables, self.notes = time, tables, notes

    def __getitem__(self, name: str) -> Table:
        all_known("there is no quantity", [name], self.tables, KeyError)
        return self.tables[name]

    def __repr__(self) -> str:
        return (
            f"<MuscleAnalysis: {len(self.tables)} quantities of {len(self['Length'].labels)} muscles at {len(self.time)} times>"
        )

    def save(self, folder: str | os.PathLike[str], prefix: str = "mobod") -> list[Path]:
        """Write a file a quantity, as OpenSim's tool names them: ``prefix_MuscleAnalysis_FiberLength.sto``; their paths."""
        paths = []
        for name, table in self.tables.items():
            paths.append(Path(folder) / f"{prefix}_MuscleAnalysis_{name}.sto")
            write_sto(paths[-1], table)
        return paths


def analyze_muscles(
    model: Model | str | os.PathLike[str],
    motion: Given,
    *,
    muscles: Iterable[str] | None = None,
    coordinates: Sequence[str] | None = None,
    equilibrate: Equilibrate = False,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
) -> MuscleAnalysis:
    """Find lengths, velocities, forces, powers and moment arms of muscles over a motion.

    Parameters
    ----------
    model : Model or path
        With muscles that act.
    motion : Trajectory, Table or path
        Of a simulation; or columns over time, by the labels of OpenSim's files: coordinates, speeds (splines' where there are
        none), and activations and fiber lengths, or tendon forces, of muscles.
    muscles : iterable of str, optional
        All unless given.
    coordinates : sequence of str, optional
        Of moment arms and moments; all unless given.
    equilibrate : bool or "opensim"
        Whether fibers get the lengths at which they balance their tendons at zero velocity, as where the motion has none; or at
        the velocity that OpenSim gives them: see `muscle.Muscle.equilibrate`.
    start, end : float
        Rows from and to these times.
    state : State, optional
        What else the model's state is: activations and excitations.

    Returns
    -------
    MuscleAnalysis

    Raises
    ------
    ModelError
        If the model has no muscle that acts.
    ValueError
        If a muscle or coordinate is not there, or the motion has none of the model's coordinates.
    ConvergenceError
        If a fiber has no equilibrium.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 1, 11), {"knee_angle_r": np.full(11, -0.3)})
    >>> found = mb.analyze_muscles(leg, still, muscles=["soleus_r"], coordinates=["ankle_angle_r"], equilibrate=True)
    >>> len(found.tables)
    20
    """
    model = as_model(model)
    known = acting_muscles(model, None if muscles is None else list(muscles))
    names = all_known("there is no coordinate", model.speeds if coordinates is None else coordinates, model.speeds)
    rows = MotionRows.between(model, motion, equilibrate, start, end, state)
    found = np.full((len(QUANTITIES), len(rows.time), len(known)), np.nan)
    arms = np.zeros((len(names), len(rows.time), len(known)))
    for i, now in enumerate(rows):
        couplings = [coupling(model.forces, now, model.speeds[name]) for name in names]
        for j, one in enumerate(known.values()):
            found[:, i, j] = _of_muscle(one, now)
            own = one.calc_moment_arms(now)
            arms[:, i, j] = [own @ coupled for coupled in couplings]
    tables = {what: rows.table(known, found[k], what) for k, what in enumerate(QUANTITIES)}
    tension = found[QUANTITIES.index("TendonForce")]
    for k, name in enumerate(names):
        tables[f"MomentArm_{name}"] = rows.table(known, arms[k], f"MomentArm_{name}")
        tables[f"Moment_{name}"] = rows.table(known, arms[k] * tension, f"Moment_{name}")
    return MuscleAnalysis(rows.time, tables, rows.notes)


def _of_muscle(one: Muscle, state: State) -> list[float]:
    """Its quantities, in the order of `QUANTITIES`."""
    c = one.find_contraction(state)
    length, speed = one.get_length(state), one.get_lengthening_speed(state)
    optimal, fastest = one.get_optimal_fiber_length(state), one.get_max_contraction_velocity(state)
    angle = math.acos(min(c.cos_pennation, 1.0))
    passive = c.elastic_force + c.damping_force
    turning = -c.fiber_velocity / c.fiber_length * math.tan(angle) if angle > 0.0 else 0.0
    return [
        length, c.fiber_length, length - c.fiber_length * c.cos_pennation, c.fiber_length / optimal, angle, c.fiber_velocity,
        c.fiber_velocity / (optimal * fastest), turning, c.tendon_force, c.active_force + passive, c.active_force, passive,
        c.active_force * c.cos_pennation, passive * c.cos_pennation, -(c.active_force + c.damping_force) * c.fiber_velocity,
        -c.elastic_force * c.fiber_velocity, -c.tendon_force * (speed - c.velocity_along_tendon), -c.tendon_force * speed,
    ]  # fmt: skip
