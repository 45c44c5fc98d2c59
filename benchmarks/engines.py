"""Which engines run here, and whether they compute the same accelerations."""

from __future__ import annotations

import numpy as np

from .models import Model
from .peers.build import Unavailable
from .peers.engine import Engine
from .peers.mobod import Mobod
from .peers.mujoco import MuJoCo
from .peers.pinocchio import Pinocchio
from .peers.simbody import Simbody

ENGINES: tuple[type[Engine], ...] = (Mobod, Simbody, Pinocchio, MuJoCo)


def available_engines() -> tuple[list[type[Engine]], list[str]]:
    """Find the engines that can run, and a line on each that cannot, or only from Python."""
    found, notes = [], []
    for engine in ENGINES:
        if reason := engine.missing():
            notes.append(f"{engine.name} left out: {reason}")
            continue
        found.append(engine)
        if reason := engine.loop_missing():
            notes.append(f"{engine.name}'s compiled loop left out: {reason}")
    return found, notes


def load(model: Model, engines: list[type[Engine]]) -> tuple[list[Engine], list[str]]:
    """Load the model into the engines, with a line on each that cannot represent it."""
    loaded, notes = [], []
    for engine in engines:
        try:
            loaded.append(engine(model))
        except Unavailable as reason:
            notes.append(f"{engine.name} left out on {model.name}: {reason}")
    return loaded, notes


def disagreement(engines: list[Engine]) -> tuple[dict[str, float], list[str]]:
    """Compare every way to udot that is timed with the first peer's, at one random state.

    Returns
    -------
    differences
        Largest difference of each from the reference, relative to the largest entry of udot.
    failures
        A line for each that is further off than its engine's tolerance.
    """
    differences: dict[str, float] = {}
    failures: list[str] = []
    reference = None
    # mobod last: it is never the reference
    for engine in sorted(engines, key=lambda e: isinstance(e, Mobod)):
        q, u = engine.model.random_state(0)
        for name, u_dot in engine.u_dots(q, u).items():
            reference = reference or (engine, u_dot)
            scale = np.abs(reference[1]).max()
            difference = float(np.abs(u_dot - reference[1]).max() / scale)
            differences[f"{engine.name}: {name}"] = difference
            tolerance = max(engine.tolerance, reference[0].tolerance)
            if not difference <= tolerance:  # not a number fails too
                failures.append(
                    f"{engine.model.name}: {engine.name}'s {name} is {difference:.1e} from"
                    f" {reference[0].name}'s udot, more than {tolerance:.0e}"
                )
    return differences, failures
