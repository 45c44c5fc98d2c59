"""Drag of a fluid on a body: the fluid, a frame on the body, and its velocity against the fluid."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import mat33, vec3
from ..algebra.arrays import ArrayLike
from ..algebra.dual import Dual
from ..algebra.memory import add_spatial, load9, load_spatial
from ..algebra.scalar import one, zero
from ..compiling import Routine, generic
from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value import Transform, checks
from ..value.frames import frame_or_none
from .base import Force, body_index
from .layout import Entry
from .pools import numbers3, numbers9
from .routines import NUMBERS_ON_BODY, by_address, leave_place, leave_row, on_body
from .subsystem import GeneralForceSubsystem

PI = float(np.pi)
#: Numbers: viscosity, density, wind, then the frame S, then the kind's own.
FRAME, OWN = 5, 17


@generic
def local_velocity(model: Any, i: int, x: int) -> Any:
    """R_GS, the place of S from the body's origin in Ground, w and v."""
    b = model.force_integers[i]
    R_GB = load9(model.R_GB, b, 0)
    R_GS, s = mat33.mul(R_GB, numbers9(model, x + FRAME)), mat33.mul_vec(R_GB, numbers3(model, x + FRAME + 9))
    w, v = load_spatial(model.V_GB, b)
    v = vec3.sub(vec3.add(v, vec3.cross(w, s)), numbers3(model, x + 2))
    return R_GS, s, mat33.transpose_mul_vec(R_GS, w), mat33.transpose_mul_vec(R_GS, v)


@generic
def put(model: Any, i: int, R_GS: Any, s: Any, t: Any, f: Any) -> None:
    """A torque and a force in S on the body."""
    push = mat33.mul_vec(R_GS, f)
    add_spatial(model.body_forces, model.force_integers[i], vec3.add(mat33.mul_vec(R_GS, t), vec3.cross(s, push)), push)


def routine_of(wrench: Any) -> Routine:
    """The routine of a kind, from its torque and force of w and v."""

    @generic
    def add(model: Any, i: int, x: int) -> None:
        R_GS, s, w, v = local_velocity(model, i, x)
        t, f = wrench(model, x, w, v)
        put(model, i, R_GS, s, t, f)

    @generic
    def power(model: Any, i: int, x: int) -> Any:
        R_GS, _, w, v = local_velocity(model, i, x)
        t, f = wrench(model, x, w, v)
        wind = mat33.transpose_mul_vec(R_GS, numbers3(model, x + 2))
        return -vec3.dot(t, w) - vec3.dot(f, vec3.add(v, wind))

    for made in (add, power):
        made.__qualname__ = f"{wrench.__name__}.{made.__name__}"
    return by_address(add, power=power)


@generic
def _leave(rows: Any, k: int, x: Any, wind: Any) -> None:
    """Number k of torque and force: as the body turns along, the wind does as if it turned back."""
    g, o = x.tangents, zero(x.value)
    a, b, c = wind
    by_turn = g[5] * b - g[4] * c, g[3] * c - g[5] * a, g[4] * a - g[3] * b
    leave_row(rows, k, x.value, (*by_turn, o, o, o), g)


def wrench_routine_of(wrench: Any) -> Routine:
    """The same for derivatives, by dual numbers of w and v alone."""

    @generic
    def leave(model: Any, i: int, x: int, z: int, rows: Any) -> None:
        R, s, w, v = local_velocity(model, i, x)
        o, unit = zero(w[0]), one(w[0])
        moving_w = Dual(w[0], (unit, o, o, o, o, o)), Dual(w[1], (o, unit, o, o, o, o)), Dual(w[2], (o, o, unit, o, o, o))
        moving_v = Dual(v[0], (o, o, o, unit, o, o)), Dual(v[1], (o, o, o, o, unit, o)), Dual(v[2], (o, o, o, o, o, unit))
        t, f = wrench(model, x, moving_w, moving_v)
        wind = mat33.transpose_mul_vec(R, numbers3(model, x + 2))
        for k in range(3):
            _leave(rows, k, t[k], wind)
            _leave(rows, 3 + k, f[k], wind)
        leave_place(rows, R, s)

    leave.__qualname__ = f"{wrench.__name__}.leave"
    return on_body(leave)


class Drag(Force):
    """Base of both models of drag: the fluid, and a frame on a body."""

    def connect(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        frame: Transform | None,
        fluid: dict[str, Any],
        own: list[float],
        disabled_by_default: bool,
        name: str | None,
    ) -> None:
        numbers, b = self.declared(name, **fluid), body_index(forces, "body", body)
        X = frame_or_none("frame", frame)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers = [b]
        self.default_numbers = [*numbers, *np.asarray(X.R).ravel().tolist(), *np.asarray(X.p).tolist(), *own]

    def reach(self) -> tuple[list[int], list[int]]:
        return self.default_integers[:1], []

    def entry(self) -> Entry:
        return super().entry()._replace(work=NUMBERS_ON_BODY)

    def get_mobilized_body(self) -> MobilizedBody:
        """The body that it acts on."""
        return self._body(0)

    get_default_viscosity, set_default_viscosity, get_viscosity, set_viscosity = parameters.scalar(
        "viscosity", "mass/length/time", checks.not_negative, "the fluid's viscosity"
    ).accessors()
    get_default_density, set_default_density, get_density, set_density = parameters.scalar(
        "density", "mass/length^3", checks.not_negative, "the fluid's density"
    ).accessors()
    get_default_wind, set_default_wind, get_wind, set_wind = parameters.vector(
        "wind", "length/time", "the fluid's velocity, in Ground"
    ).accessors()


def lengths(name: str, values: ArrayLike) -> list[float]:
    """Three lengths, zero or more."""
    found: list[float] = checks.vector(name, values).tolist()
    if min(found) < 0.0:
        raise ModelError(f"{name} have to be zero or more, got {found}")
    return found
