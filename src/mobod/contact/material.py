"""Material: how a surface yields, loses energy, rubs and resists rolling."""

from __future__ import annotations

import dataclasses

from ..errors import ModelError
from ..value import checks


@dataclasses.dataclass(frozen=True, slots=True)
class Material:
    """Material of a surface in contact; plain data.

    Parameters
    ----------
    stiffness : float
        Pressure by strain, above zero: the plane strain modulus E / (1 - nu^2) of Young's modulus E and Poisson's ratio nu for
        solids that can yield to the side, the confined compression modulus E (1 - nu) / ((1 + nu)(1 - 2 nu)) for thin layers.
    dissipation : float
        The slope c of the coefficient of restitution, 1 - c v at low speeds v (Hunt and Crossley 1975); 1/velocity, zero or
        more.
    static_friction : float
        The coefficient of friction at the onset of sliding, zero or more.
    dynamic_friction : float, optional
        While sliding, from zero to *static_friction*, which it is unless given.
    viscous_friction : float
        What grows with the sliding speed; 1/velocity, zero or more.
    rolling_friction : float
        The arm of rolling resistance, zero or more; length: the moment against rolling is the normal force times this. Steel on
        steel has some 0.05 mm, a tyre of 0.3 m on asphalt 3 to 4.5 mm.
    spinning_friction : float
        The arm of the resistance to spinning about the normal, zero or more; length. A patch of radius a on which the pressure
        is Hertz's has 3 pi / 16 a times its coefficient of friction, one of even pressure 2/3 a times it.

    Raises
    ------
    TypeError
        If one is not a real number.
    ModelError
        If one is not finite or out of its range.

    Notes
    -----
    How two materials combine is the law's to say; of the reference's laws, `mobod.force.contact` does.

    Examples
    --------
    >>> import mobod as mb
    >>> rubber = mb.contact.Material(1e6, 0.5, static_friction=0.9)
    >>> rubber.dynamic_friction
    0.9
    """

    stiffness: float
    dissipation: float
    static_friction: float
    dynamic_friction: float
    viscous_friction: float
    rolling_friction: float
    spinning_friction: float

    def __init__(
        self,
        stiffness: float,
        dissipation: float = 0.0,
        static_friction: float = 0.0,
        dynamic_friction: float | None = None,
        viscous_friction: float = 0.0,
        rolling_friction: float = 0.0,
        spinning_friction: float = 0.0,
    ) -> None:
        checked = {"stiffness": checks.positive("stiffness of a Material", stiffness)}
        for name, value in (
            ("dissipation", dissipation),
            ("static_friction", static_friction),
            ("viscous_friction", viscous_friction),
            ("rolling_friction", rolling_friction),
            ("spinning_friction", spinning_friction),
        ):
            checked[name] = checks.not_negative(f"{name} of a Material", value)
        static = checked["static_friction"]
        given = static if dynamic_friction is None else dynamic_friction
        checked["dynamic_friction"] = dynamic = checks.not_negative("dynamic_friction of a Material", given)
        if dynamic > static:
            raise ModelError(
                f"dynamic_friction of a Material has to be from zero to its static_friction, which is {static:g}, "
                f"got {dynamic!r}"
            )
        for name, number in checked.items():
            object.__setattr__(self, name, number)
