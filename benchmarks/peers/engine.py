"""What an adapter offers, and the text file in which a model travels to a peer's own program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..models import Bushing, Damper, Model, Spring
from .build import Unavailable, build_folder

Array = np.ndarray


class Engine(ABC):
    """One engine with one model loaded.

    A new engine provides

    1. ``name``, ``version()`` and ``missing()``: whether it can run here,
    2. ``__init__(model)``, raising ``Unavailable`` for a model it cannot represent,
    3. ``u_dots(q, u)``, to check that everything that is timed computes the same thing,
    4. ``calls`` and ``arguments(name, q, u)``: the ways to get udot from Python, with nothing
       between the timer and the engine's own function where that can be,
    5. ``compiled_loop(repeats, seconds)``: its time without Python, if ``loop_missing()`` is
       None.
    """

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def missing(cls) -> str | None:
        """Say what keeps the engine from running here; None if nothing."""

    @classmethod
    @abstractmethod
    def version(cls) -> str:
        """Version of the engine."""

    @property
    def tolerance(self) -> float:
        """How far its udot may be from another's, relative to the largest entry."""
        return 1e-8

    @classmethod
    def loop_missing(cls) -> str | None:
        """Say what keeps its compiled loop from running here; None if nothing."""
        return None

    def __init__(self, model: Model):
        self.model = model
        self.calls: dict[str, Callable] = {}

    @abstractmethod
    def u_dots(self, q: Array, u: Array) -> dict[str, Array]:
        """Accelerations at one state by every way that is timed, in neutral coordinates."""

    def arguments(self, name: str, q: Array, u: Array) -> tuple:
        """Make what ``calls[name]`` takes at a neutral state."""
        return q, u

    @abstractmethod
    def compiled_loop(self, repeats: int, seconds: float) -> list[float]:
        """Microseconds of udot at a new q and u, ``repeats`` times over ``seconds``."""

    def scratch_file(self, suffix: str) -> Path:
        """Name a file of this engine and model for what its program reads."""
        return build_folder() / f"{type(self).__name__.lower()}-{self.model.name}{suffix}"


def write_model(model: Model, path: Path, q: Array, u: Array) -> Path:
    """Write a model and a state as lines of words and numbers.

    ``gravity`` 3; ``body parent kind`` R_PF 9, p_PF 3, R_BM 9, p_BM 3, mass, com 3, inertia
    ``xx yy zz xy xz yz`` about the body origin; ``tie`` body and point 3 of either side, ``redundant``
    where ties say something twice; ``damper`` body, mobility, damping; ``spring`` body 1, body 2, station 1
    3, station 2 3, stiffness, rest length; ``bushing`` body 1, body 2, R 9, p 3 of both frames, stiffness 6, damping 6;
    ``q n`` and ``u n`` with their numbers.
    """

    def numbers(*parts: object) -> str:
        flat = np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in parts])
        return " ".join(repr(float(value)) for value in flat)

    lines = [f"gravity {numbers(model.gravity)}"]
    for b in model.bodies:
        J = b.inertia
        six = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        frames = numbers(b.X_PF.R, b.X_PF.p, b.X_BM.R, b.X_BM.p)
        lines.append(f"body {b.parent} {b.kind} {frames} {numbers(b.mass, b.com, six)}")
    for tie in model.ties:
        lines.append(f"tie {tie.body1} {numbers(tie.point1)} {tie.body2} {numbers(tie.point2)}")
    if model.redundant:
        lines.append("redundant")
    for force in model.forces:
        match force:
            case Damper():
                lines.append(f"damper {force.body} {force.which} {numbers(force.damping)}")
            case Spring():
                own = numbers(force.station1, force.station2, force.stiffness, force.rest_length)
                lines.append(f"spring {force.body1} {force.body2} {own}")
            case Bushing():
                frames = numbers(force.frame1.R, force.frame1.p, force.frame2.R, force.frame2.p)
                lines.append(f"bushing {force.body1} {force.body2} {frames} {numbers(force.stiffness, force.damping)}")
    lines += [f"q {len(q)} {numbers(q)}", f"u {len(u)} {numbers(u)}", "end"]
    path.write_text("\n".join(lines) + "\n")
    return path


__all__ = ["Engine", "Unavailable", "write_model"]
