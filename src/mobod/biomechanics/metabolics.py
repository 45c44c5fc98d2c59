"""Metabolic power of muscles over the rows of a motion, by Umberger 2010 and by Bhargava 2004.

Of a muscle of mass m (Fiso / 0.25 MPa, 1059.7 kg/m^3), slow fibers r, excitation e, activation a, n = l / lopt, v = l' / lopt,
active fiber force F, as used in both: recruited slow fibers s = r sin(pi e / 2), fast ones f = (1 - r) (1 - cos(pi e / 2)).

Umberger's, per mass, R = s / (s + f), A = e if e > a else (e + a) / 2, g = 1.5:

    h_AM = g A^0.6 (128 (1 - R) + 25), times (0.4 + 0.6 fal) where n > 1
    h_S  = g A^2 (min(100, -250 v / vmax) R - 153 v (1 - R) / vmax) where v <= 0, else g A 4 (250 v / vmax);
           times fal where n > 1

Bhargava's: h_A = m (40 s + 133 f), h_M = m L(n) (74 s + 111 f), L straight through (0, .5), (.5, .5), (1, 1), (1.5, 0), and
h_S = -0.25 F_all l' where l' <= 0. Both add the work -F l', raise heat so that the power is not below zero, and heat is 1 W/kg
at the least. At rest a body takes 1.2 W/kg. Sources: Umberger 2010, J. R. Soc. Interface 7, 1329; Bhargava, Pandy and Anderson
2004, J. Biomech. 37, 81; the limits are OpenSim's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Literal

import numpy as np

from ..importer.formats import as_model
from ..importer.model import Model
from ..motion_data import Table
from ..muscle import Muscle
from ..state.state import State
from ..value import checks
from .states import Equilibrate, Given, MotionRows, acting_muscles

#: Pascal, kg/m^3.
TENSION, DENSITY = 0.25e6, 1059.7
_AEROBIC, _BASAL, _LEAST = 1.5, 1.2, 1.0
_LENGTHS, _MAINTENANCE = (0.0, 0.5, 1.0, 1.5, 2.0), (0.5, 0.5, 1.0, 0.0, 0.0)


def metabolic_power(
    model: Model | str | os.PathLike[str],
    motion: Given,
    *,
    method: Literal["umberger2010", "bhargava2004"] = "umberger2010",
    slow_fibers: float | Mapping[str, float] = 0.5,
    masses: Mapping[str, float] | None = None,
    equilibrate: Equilibrate = False,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
) -> Table:
    """Find what muscles take from the metabolism over a motion.

    Parameters
    ----------
    model : Model or path
        In units of metres, kilograms and seconds.
    motion : Trajectory, Table or path
        As for `analyze_muscles`; excitations are those of *state* and of the functions that drive the muscles.
    method : {"umberger2010", "bhargava2004"}
    slow_fibers : float or mapping of str to float
        The part of slow fibers, of all muscles or by name (0.5 for others); from 0 to 1.
    masses : mapping of str to float, optional
        Of muscles, by name; others have that of their strength and fiber length.
    equilibrate : bool or "opensim"
        See `analyze_muscles`.
    start, end : float
        Rows from and to these times.
    state : State, optional
        What else the model's state is.

    Returns
    -------
    Table
        Watts: ``total``, ``basal``, and one column a muscle.

    Raises
    ------
    ModelError
        If the model has no muscle that acts.
    ValueError
        If the method, a name or a part is none.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 1, 3), {"knee_angle_r": np.full(3, -0.3)})
    >>> power = mb.biomechanics.metabolic_power(leg, still, equilibrate=True)
    >>> power.labels[:2], bool((power["total"] > power["basal"]).all())
    (('total', 'basal'), True)
    """
    model = as_model(model)
    methods = {"umberger2010": _umberger, "bhargava2004": _bhargava}
    checks.among("method", method, methods)
    known = acting_muscles(model, None)
    for what, given in (("slow_fibers", slow_fibers), ("masses", masses or {})):
        checks.all_known(f"{what} has", given if isinstance(given, Mapping) else (), known)
    parts = slow_fibers if isinstance(slow_fibers, Mapping) else dict.fromkeys(known, slow_fibers)
    slow = [checks.between(f"slow_fibers of {name!r}", parts.get(name, 0.5), 0.0, 1.0) for name in known]
    rows = MotionRows.between(model, motion, equilibrate, start, end, state)
    found = np.empty((len(rows.time), len(known)))
    basal = np.empty(len(rows.time))
    for i, now in enumerate(rows):
        basal[i] = _BASAL * model.matter.calc_system_mass(now)
        for j, (name, one) in enumerate(known.items()):
            mass = (masses or {}).get(name)
            if mass is None:
                mass = one.get_max_isometric_force(now) / TENSION * DENSITY * one.get_optimal_fiber_length(now)
            found[i, j] = methods[method](one, now, slow[j], checks.positive(f"mass of {name!r}", mass))
    columns = {"total": basal + found.sum(axis=1), "basal": basal, **dict(zip(known, found.T, strict=True))}
    return Table(rows.time, columns, name=f"metabolic power, {method}")


def _recruited(r: float, e: float) -> tuple[float, float]:
    """Slow and fast fibers."""
    return r * math.sin(0.5 * math.pi * e), (1.0 - r) * (1.0 - math.cos(0.5 * math.pi * e))


def _umberger(one: Muscle, state: State, r: float, mass: float) -> float:
    """Watts of a muscle."""
    c, e, a = one.find_contraction(state), one.calc_excitation(state), one.get_activation(state)
    optimal, fastest = one.get_optimal_fiber_length(state), one.get_max_contraction_velocity(state)
    n, v = c.fiber_length / optimal, c.fiber_velocity / optimal
    strength = float(one.active_force_length(n))
    slow, fast = _recruited(r, e)
    part = 1.0 if e == 0.0 else slow / (slow + fast)
    A = e if e > a else 0.5 * (e + a)
    longer = n > 1.0
    maintained = _AEROBIC * A**0.6 * (128.0 * (1.0 - part) + 25.0) * (0.4 + 0.6 * strength if longer else 1.0)
    of_slow, of_fast = 250.0 / fastest, 153.0 / fastest
    if v <= 0.0:
        heat = _AEROBIC * A**2 * (min(-of_slow * v, 100.0) * part - of_fast * v * (1.0 - part))
    else:
        heat = _AEROBIC * A * 4.0 * of_slow * v
    heat *= strength if longer else 1.0
    work = -max(c.active_force, 0.0) * c.fiber_velocity / mass
    heat = maintained + heat + max(-(maintained + heat + work), 0.0)
    return mass * (max(heat, _LEAST) + work)


def _bhargava(one: Muscle, state: State, r: float, mass: float) -> float:
    """Watts of a muscle."""
    c = one.find_contraction(state)
    slow, fast = _recruited(r, one.calc_excitation(state))
    n = c.fiber_length / one.get_optimal_fiber_length(state)
    activated = mass * (40.0 * slow + 133.0 * fast)
    maintained = mass * float(np.interp(n, _LENGTHS, _MAINTENANCE)) * (74.0 * slow + 111.0 * fast)
    whole = c.active_force + c.elastic_force + c.damping_force
    heat = activated + maintained - (0.25 * whole * c.fiber_velocity if c.fiber_velocity <= 0.0 else 0.0)
    work = -c.active_force * c.fiber_velocity
    heat += max(-(heat + work), 0.0)
    return float(max(heat, _LEAST * mass) + work)
