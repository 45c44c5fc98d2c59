"""CamFollower: a follower's coordinate cannot be below the lift of a cam, a table by the cam's coordinate.

gap = q_follower - f(q_cam), the position error of a `constraint.CoordinateCoupler`; f is a spline, periodic for a cam that
turns.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..constraint import CoordinateCoupler
from ..errors import ModelError
from ..function import Table
from ..mobilizer.base import MobilizedBody
from ..mobilizer.coordinates import check_which
from ..state.state import State
from ..value import checks
from .base import UnilateralContact

#: Of lifts of size 1.
_ROUNDING = 1e-12


class CamFollower(UnilateralContact):
    """A cam that lifts a follower, and that the follower may leave and hit again.

    A cam that is followed whatever happens, in a groove, is a `constraint.CoordinateCoupler` with a `function.Table`.

    Parameters
    ----------
    cam : MobilizedBody
        The body whose mobilizer has the cam's coordinate.
    follower : MobilizedBody
        The body whose mobilizer has the follower's; it is pushed upward.
    positions : (n,) array_like
        Of the cam, increasing, three or more; angle or length.
    lifts : (n,) array_like
        The follower's least coordinate there; of a periodic cam the last one is the first.
    restitution : float
        From 0 to 1.
    which_q_of_cam, which_q_of_follower : int
        Which of their coordinates, from 0.
    periodic : bool
        Whether the lifts repeat themselves, as of a cam that turns; beyond the ends they go on straight otherwise.
    name : str, optional

    Raises
    ------
    TypeError, ValueError, IndexError
        If a body, an array or a coordinate is none.
    ModelError
        If positions do not increase, the lift of a periodic cam does not close, or the restitution is out of its range.

    Notes
    -----
    The lift is a smooth spline, whose second derivative is continuous, so that the follower's acceleration is: give more
    points where it bends more. It has no friction. `calc_gap` is how far it has lifted off, `calc_normal_force` the force on
    the follower's coordinate. By events a follower below the highest lobe is looked at from point to point of the table, by
    Python, however long the steps are, so that no lobe passes unseen; above it steps stay compiled. Where the lift rises
    outward at an end beyond which it goes on straight, there is no highest lobe.

    Examples
    --------
    >>> import mobod as mb
    >>> import numpy as np
    >>> matter = mb.SimbodyMatterSubsystem(mb.MultibodySystem())
    >>> part = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> shaft, valve = mb.mobilizer.Pin(matter.ground, part), mb.mobilizer.Slider(matter.ground, part)
    >>> angles = np.linspace(0.0, 2.0 * np.pi, 37)
    >>> cam = mb.contact.CamFollower(shaft, valve, angles, 0.005 * (1.0 - np.cos(angles)))
    >>> system = matter.get_system()
    >>> state = system.realize_topology()
    >>> state.q = (np.pi, 0.012)
    >>> system.realize(state, mb.Stage.POSITION)
    >>> round(float(cam.calc_gap(state)), 6)
    0.002
    """

    normal: CoordinateCoupler

    def __init__(
        self,
        cam: MobilizedBody,
        follower: MobilizedBody,
        positions: npt.ArrayLike,
        lifts: npt.ArrayLike,
        restitution: float = 0.0,
        *,
        which_q_of_cam: int = 0,
        which_q_of_follower: int = 0,
        periodic: bool = True,
        name: str | None = None,
    ) -> None:
        checks.between("restitution", restitution, 0.0, 1.0)
        for what, body in (("cam", cam), ("follower", follower)):
            checks.instance(what, body, MobilizedBody, 'matter.bodies["shaft"]')
        which = [check_which("which_q_of_cam", which_q_of_cam, cam)]
        which.append(check_which("which_q_of_follower", which_q_of_follower, follower))
        for what, body, q in zip(("cam", "follower"), (cam, follower), which, strict=True):
            if body.facts.has_quaternion and q < 4:
                raise ModelError(
                    f"{what} is coordinate {q} of {body!r}, a quaternion's; it turns or moves by an angle or a length"
                )
        if cam is follower and which[0] == which[1]:
            raise ModelError(f"cam and follower are one coordinate of {cam!r}; a cam lifts another one")
        x, lift = checks.numbers("positions", positions), checks.numbers("lifts", lifts)
        if x.ndim != 1 or x.shape != lift.shape or len(x) < 3:
            raise ValueError(f"positions and lifts are as many, three or more; they have the shapes {x.shape} and {lift.shape}")
        for what, row in (("positions", x), ("lifts", lift)):
            if not np.isfinite(row).all():
                raise ModelError(f"{what} have to be finite, got {checks.shown(row)}")
        turns = checks.flag("periodic", periodic)
        # of the follower's coordinate a plane, of the cam's the spline: a table of both has no more to say
        bounds = np.array([0.0, 1.0])
        gap = Table((x, bounds), bounds[None, :] - lift[:, None], periodic=(turns, False))
        matter = cam.get_matter_subsystem()
        own = matter.name_of_contact(type(self).__name__, name)
        held = CoordinateCoupler(matter, gap, [cam, follower], which, disabled_by_default=True, name=f"{own}: normal")
        super().__init__(held, restitution=restitution, name=own)
        self._positions, self._turns, self._highest = np.array(x, float), turns, _highest(x, lift, turns)

    def find_knot(self, state: State) -> float:
        """At which of its points the cam is, with a part of the way to the next one; they are counted on from turn to turn."""
        body, which = self.normal.arguments[0]
        x, angle, turns = self._positions, float(np.atleast_1d(body.get_q(state))[which]), 0.0
        if self._turns:
            turns = float(np.floor((angle - x[0]) / (x[-1] - x[0])))
            angle -= turns * (x[-1] - x[0])
        last = len(x) - 2  # beyond the ends they are counted on as far apart as the last ones
        k = min(max(int(np.searchsorted(x, angle, "right")) - 1, 0), last)
        return turns * (last + 1) + k + float((angle - x[k]) / (x[k + 1] - x[k]))

    def find_bound(self, state: State) -> tuple[list[int], list[float]]:
        """The integers and numbers of `open_gap.look_from_above`."""
        body, which = self.normal.arguments[1]
        return [int(body.which_coordinate(body.q_slice(state), which, "q"))], [self._highest]

    def get_cam(self) -> MobilizedBody:
        """The body that lifts."""
        return self.normal.arguments[0][0]

    def get_follower(self) -> MobilizedBody:
        """The body that is lifted."""
        return self.normal.arguments[1][0]


def _highest(x: Array, lift: Array, turns: bool) -> float:
    """The highest lift, between the points too; infinite where it rises outward at an end, beyond which it goes on straight.

    On each piece the slope is a quadratic function of s from 0 to 1, a s^2 + b s + c, whose zeros are extremes of the lift.
    """
    table, h = Table(x, lift, periodic=turns), np.diff(x)
    start, middle, end = (h * table.calc_derivative([0], (x[:-1] + s * h)[:, None]) for s in (0.0, 0.5, 1.0))
    if not turns and (start[0] < 0.0 or end[-1] > 0.0):
        return math.inf
    a, b = 2.0 * (start - 2.0 * middle + end), 4.0 * middle - 3.0 * start - end
    w = -0.5 * (b + np.copysign(np.sqrt(np.maximum(0.0, b * b - 4.0 * a * start)), b))
    with np.errstate(divide="ignore", invalid="ignore"):
        zeros = np.clip(np.nan_to_num(np.concatenate([w / a, start / w])), 0.0, 1.0)
    highest = float(np.max(table(np.concatenate([x, np.tile(x[:-1], 2) + zeros * np.tile(h, 2)])[:, None])))
    return highest + _ROUNDING * float(np.abs(lift).max())
