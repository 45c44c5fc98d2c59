"""Material: what a contact surface is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False, slots=True)
class Material:
    """Stiffness, dissipation and friction."""

    stiffness: float
    dissipation: float
    static_friction: float
    dynamic_friction: float
    viscous_friction: float

    def __init__(
        self,
        stiffness: float,
        dissipation: float = 0.0,
        static_friction: float = 0.0,
        dynamic_friction: float | None = None,
        viscous_friction: float = 0.0,
    ) -> None:
        dynamic = static_friction if dynamic_friction is None else dynamic_friction
        for name, value in (
            ("stiffness", stiffness),
            ("dissipation", dissipation),
            ("static_friction", static_friction),
            ("dynamic_friction", dynamic),
            ("viscous_friction", viscous_friction),
        ):
            object.__setattr__(self, name, float(value))
