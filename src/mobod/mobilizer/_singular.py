"""Nearness of a mobilizer to where its equations fail, in words: for the integrators and for the errors of `System`."""

from __future__ import annotations

import math

#: Distance in radians within which a singular angle is reported: farther off it does not shorten steps.
NEAR = 0.1


def middle_angle(what: str, place: int, angle: float, remedy: str) -> str | None:
    """A message on body-fixed x-y-z angles: at a middle angle of 90 degrees the third axis lies along the first.

    None where the *angle*, number *place* of the q of *what*, is not near 90 degrees, or 270, and so on.
    """
    if not math.isfinite(angle):
        return None
    distance = math.atan2(abs(math.cos(angle)), abs(math.sin(angle)))
    if distance > NEAR:
        return None
    return (
        f"{what} is {math.degrees(distance):.2g} degrees from its singular configuration: its q[{place}], the middle of its "
        f"x-y-z angles, is {math.degrees(angle):.9g} degrees, and at 90 the third axis lies along the first. {remedy}"
    )
