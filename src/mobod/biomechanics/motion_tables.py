"""Tables of a motion: coordinates, bodies, points, and what actuators do, as OpenSim's analyses of these names have them.

Accelerations are those of the model's forces at each row, not those of the motion. All is in radians.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError
from ..importer.formats import as_model
from ..importer.model import Model
from ..importer.osim.model_operators import with_loads
from ..motion_data import Table
from ..state.state import State
from ..value import checks
from ..value.rotation import Rotation
from ..value.stage import Stage
from .force_table import act, can_act, records_of
from .states import Equilibrate, Given, MotionRows, filtered, frame_of, states_table
from .tasks import CENTER_OF_MASS

_AXES, _ANGLES = ("X", "Y", "Z"), ("Ox", "Oy", "Oz")


def coordinate_kinematics(
    model: Model | str | os.PathLike[str],
    motion: Given,
    *,
    coordinates: Sequence[str] | None = None,
    equilibrate: Equilibrate = False,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
) -> dict[str, Table]:
    """Find coordinates, speeds and accelerations over a motion.

    Parameters
    ----------
    model : Model or path
    motion : Trajectory, Table or path
        See `analyze_muscles`.
    coordinates : sequence of str, optional
        All unless given.
    equilibrate : bool or "opensim"
        See `analyze_muscles`.
    start, end : float
        Rows from and to these times.
    state : State, optional
        What else the model's state is.

    Returns
    -------
    dict of str to Table
        ``"q"``, ``"u"`` and ``"dudt"``, a column a coordinate: length or angle, by time, by time squared.

    Raises
    ------
    ValueError
        If there is no such coordinate, or the motion has none of the model's.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 0.1, 3), {"knee_angle_r": np.full(3, -0.3)})
    >>> found = mb.biomechanics.coordinate_kinematics(leg, still, coordinates=["knee_angle_r"])
    >>> found["q"]["knee_angle_r"]
    array([-0.3, -0.3, -0.3])
    """
    model = as_model(model)
    names = checks.all_known("there is no coordinate", model.speeds if coordinates is None else coordinates, model.speeds)
    q, u = [model.coordinates[name] for name in names], [model.speeds[name] for name in names]
    rows = MotionRows.between(model, motion, equilibrate, start, end, state)
    found = rows.of(Stage.ACCELERATION, lambda now: [now.q[q], now.u[u], now.u_dot[u]])
    return rows.tables(names, found, q="Coordinates", u="Speeds", dudt="Accelerations")


def body_kinematics(
    model: Model | str | os.PathLike[str],
    motion: Given,
    *,
    bodies: Sequence[str] | None = None,
    local: bool = False,
    equilibrate: Equilibrate = False,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
) -> dict[str, Table]:
    """Find where the mass centers of bodies are over a motion, how bodies are turned, velocities and accelerations.

    Parameters
    ----------
    model, motion
        See `coordinate_kinematics`.
    bodies : sequence of str, optional
        Bodies, and ``"center_of_mass"``: of all of them. All of these unless given.
    local : bool
        Whether velocities and accelerations are in the axes of their bodies rather than Ground's; places never are.
    equilibrate, start, end, state
        See `coordinate_kinematics`.

    Returns
    -------
    dict of str to Table
        ``"pos_global"``, ``"vel_global"`` and ``"acc_global"``, or ``"vel_bodyLocal"`` and ``"acc_bodyLocal"``. Of each body
        ``NAME_X``, ``NAME_Y``, ``NAME_Z``, of its mass center, and ``NAME_Ox``, ``NAME_Oy``, ``NAME_Oz``: body-fixed angles
        about x, y and z, angular velocity and acceleration.

    Raises
    ------
    ValueError
        If there is no such body, or the motion has no coordinate of the model.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 0.1, 3), {"knee_angle_r": np.full(3, -0.3)})
    >>> found = mb.biomechanics.body_kinematics(leg, still, bodies=["tibia_r"])
    >>> found["pos_global"].labels[3], round(float(found["pos_global"]["tibia_r_Oz"][0]), 6)
    ('tibia_r_Ox', -0.456134)
    """
    model = as_model(model)
    known = {name: body for name, body in model.bodies.items() if body.index}
    everything = [*known, CENTER_OF_MASS]
    names = checks.all_known("there is no body", everything if bodies is None else bodies, everything)
    matter, moving = model.matter, [known[name] for name in names if name != CENTER_OF_MASS]

    def row(now: State) -> Array:
        found = np.empty((3, 6 * len(moving) + 3))
        for k, body in enumerate(moving):
            place = slice(6 * k, 6 * k + 6)
            com, R = body.get_body_mass_properties(now).com, np.asarray(body.get_body_transform(now).R)
            p, v, a = body.find_station_location_velocity_and_acceleration_in_ground(now, com)
            turning = body.get_body_angular_velocity(now), body.get_body_angular_acceleration(now)
            found[0, place] = [*p, *Rotation(R).to_body_fixed_xyz()]
            for i, pair in enumerate(((v, turning[0]), (a, turning[1])), 1):
                found[i, place] = (np.array(pair) @ R if local else np.array(pair)).ravel()
        found[0, -3:] = matter.calc_system_mass_center_location_in_ground(now)
        found[1, -3:] = matter.calc_system_mass_center_velocity_in_ground(now)
        found[2, -3:] = matter.calc_system_mass_center_acceleration_in_ground(now)
        return found

    rows = MotionRows.between(model, motion, equilibrate, start, end, state)
    found = rows.of(Stage.ACCELERATION, row)
    labels = [f"{name}_{axis}" for name in names if name != CENTER_OF_MASS for axis in _AXES + _ANGLES]
    if CENTER_OF_MASS in names:
        labels += [f"{CENTER_OF_MASS}_{axis}" for axis in _AXES]
    found, where = found[:, :, : len(labels)], "bodyLocal" if local else "global"
    keys = {"pos_global": "Positions", f"vel_{where}": "Velocities", f"acc_{where}": "Accelerations"}
    return rows.tables(labels, found, **keys)


def point_kinematics(
    model: Model | str | os.PathLike[str],
    motion: Given,
    body: str,
    point: npt.ArrayLike = (0.0, 0.0, 0.0),
    *,
    relative_to: str = "ground",
    equilibrate: Equilibrate = False,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
) -> dict[str, Table]:
    """Find where a point of a body is over a motion, and its velocity and acceleration.

    Parameters
    ----------
    model, motion
        See `coordinate_kinematics`.
    body : str
        A body or frame.
    point : (3,) array_like
        In it; length.
    relative_to : str
        A body or frame in which the place is. Velocity and acceleration are those in Ground, in its axes, as OpenSim has them.
    equilibrate, start, end, state
        See `coordinate_kinematics`.

    Returns
    -------
    dict of str to Table
        ``"pos"``, ``"vel"`` and ``"acc"``, with columns ``state_0``, ``state_1``, ``state_2``.

    Raises
    ------
    ModelError
        If there is no such body or frame.
    ValueError
        If the motion has no coordinate of the model.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 0.1, 3), {"knee_angle_r": np.full(3, -0.3)})
    >>> mb.biomechanics.point_kinematics(leg, still, "tibia_r", (0, -0.4, 0))["pos"].labels
    ('state_0', 'state_1', 'state_2')
    """
    model = as_model(model)
    (mobod, X), (frame, X_E) = frame_of(model, body), frame_of(model, relative_to)
    station = np.asarray(X @ checks.vector("point", point, ValueError))

    def row(now: State) -> list[Array]:
        X_GE = frame.get_body_transform(now) @ X_E
        p, v, a = mobod.find_station_location_velocity_and_acceleration_in_ground(now, station)
        R = np.asarray(X_GE.R)
        return [(p - np.asarray(X_GE.p)) @ R, v @ R, a @ R]

    rows = MotionRows.between(model, motion, equilibrate, start, end, state)
    found, titles = (
        rows.of(Stage.ACCELERATION, row),
        {"pos": "PointPosition", "vel": "PointVelocity", "acc": "PointAcceleration"},
    )
    return rows.tables([f"state_{k}" for k in range(3)], found, **titles)


def actuation(
    model: Model | str | os.PathLike[str],
    motion: Given,
    *,
    equilibrate: Equilibrate = False,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
) -> dict[str, Table]:
    """Find forces, speeds and powers of muscles and actuators over a motion.

    Parameters
    ----------
    model, motion, equilibrate, start, end, state
        See `coordinate_kinematics`. Controls are those of the model, or of the state.

    Returns
    -------
    dict of str to Table
        ``"force"``: along tendons and paths, or what the actuator applies (force, or torque). ``"speed"``: lengthening speeds
        of paths, and speeds at which other actuators do work (length/time, or 1/time). ``"power"``: what each gives to the
        model.

    Raises
    ------
    ModelError
        If the model has neither muscles nor actuators with one number for a force.
    ValueError
        If the motion has no coordinate of the model.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 0.1, 3), {"knee_angle_r": np.full(3, -0.3)})
    >>> found = mb.biomechanics.actuation(leg, still, equilibrate=True)
    >>> [*found], bool((found["force"]["soleus_r"] > 0.0).all())
    (['force', 'speed', 'power'], True)
    """
    model = as_model(model)
    known = {name: one for name, one in {**model.muscles, **model.actuators}.items() if can_act(one)}
    if not known:
        raise ModelError(f"{model.name!r} has neither muscles nor actuators")
    rows = MotionRows.between(model, motion, equilibrate, start, end, state)
    found = rows.of(Stage.DYNAMICS, lambda now: np.array([act(one, now) for one in known.values()]).T)
    return rows.tables(known, found, force="ActuatorForces", speed="ActuatorSpeeds", power="ActuatorPowers")


def forces_over(
    model: Model | str | os.PathLike[str],
    motion: Given,
    *,
    equilibrate: Equilibrate = False,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
) -> Table:
    """Find what each force applies over a motion: a table with the labels of OpenSim's ForceReporter.

    Parameters
    ----------
    model, motion, equilibrate, start, end, state
        See `actuation`. The model is from an OpenSim file.

    Returns
    -------
    Table
        Tensions, forces on coordinates, and forces and torques on bodies, in Ground, at the origins of these. Forces of
        constraints, and of kinds that OpenSim's files do not have, are left out.

    Raises
    ------
    ModelError
        If no force of the model has such a record.
    ValueError
        If the motion has no coordinate of the model.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 0.1, 3), {"knee_angle_r": np.full(3, -0.3)})
    >>> "soleus_r" in mb.biomechanics.forces_over(leg, still, equilibrate=True)
    True
    """
    model = as_model(model)
    records = records_of(model)
    if not records:
        raise ModelError(f"{model.name!r} has no force whose record is known")
    rows = MotionRows.between(model, motion, equilibrate, start, end, state)
    found = rows.of(Stage.ACCELERATION, lambda now: np.concatenate([one.find(now) for one in records]))
    return rows.table([label for one in records for label in one.labels], found, "ModelForces")


def beside_others(
    found: Table, model: Model, loads: Any, motion: Given, cutoff: float | None = None, filter: str = "butterworth"
) -> Table:
    """Forces of muscles and actuators beside what springs, ligaments and loads apply, in the order of `forces_over`."""
    if model.data.get("document") is None:
        return found
    model = model if loads is None else with_loads(model, loads)
    records = records_of(model)
    missing = [one for one in records if not set(one.labels) <= set(found.labels)]
    if not missing:
        return found
    moving = filtered(model, motion, cutoff, filter)
    rows = MotionRows.between(model, moving, False, float(found.time[0]), float(found.time[-1]), None)
    columns = rows.of(Stage.DYNAMICS, lambda now: np.concatenate([one.find(now) for one in missing]))
    own = dict(zip([label for one in missing for label in one.labels], columns.T, strict=True))
    own |= {label: found[label] for label in found.labels}
    order = dict.fromkeys([label for one in records for label in one.labels] + list(found.labels))
    return Table(found.time, {label: own[label] for label in order}, name=found.name)


def states_over(
    model: Model | str | os.PathLike[str],
    motion: Given,
    *,
    equilibrate: Equilibrate = False,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
) -> Table:
    """All variables of the states of a motion, by OpenSim's names of state variables.

    Parameters
    ----------
    model, motion, equilibrate, start, end, state
        See `coordinate_kinematics`.

    Returns
    -------
    Table
        Coordinates, speeds, and variables of muscles.

    Raises
    ------
    ValueError
        If the motion has no coordinate of the model.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 0.1, 3), {"knee_angle_r": np.full(3, -0.3)})
    >>> "/jointset/knee_r/knee_angle_r/value" in mb.biomechanics.states_over(leg, still)
    True
    """
    model = as_model(model)
    rows = MotionRows.between(model, motion, equilibrate, start, end, state)
    table = states_table(model, rows.time, rows.q, rows.u, rows.of(Stage.VELOCITY, lambda now: np.array(now.z)))
    return Table(rows.time, {label: table[label] for label in table.labels}, name="ModelStates")
