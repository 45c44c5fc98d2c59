"""FunctionBasedPath: a length that is a function of coordinates. A muscle's path, fitted.

l = f(q)     speed = sum of df/dq q_dot     a force F pushes each coordinate with df/dq F

It is a course without stops, see `_course`, so that all that acts along a `Path` acts along it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import ModelError
from ...function import Function
from ...mobilizer.base import MobilizedBody
from ...value import checks
from ..base import mobility
from ..subsystem import GeneralForceSubsystem
from ._course import FunctionCourse
from ._stops import OF_FUNCTION, PULL
from .path import AlongCourse


class FunctionBasedPath(AlongCourse):
    """A path whose length is a function of coordinates: fast and smooth, with exact moment arms, and no place in space.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        Of the system whose mobilizers it names.
    function : Function
        Of as many arguments as there are coordinates, with first derivatives; a length. Such as a
        `mobod.function.MultivariatePolynomial`.
    coordinates : sequence of (MobilizedBody, int)
        For each argument the mobilizer and the number of the coordinate among its own; each once.
    ratio : float
        Length, speed and generalized force are multiplied by it.

    Raises
    ------
    ModelError
        If there is no coordinate, one comes twice, or the function has no derivative.
    ValueError
        If the function has another number of arguments.
    TypeError, IndexError, TopologyError
        If the function or a body is none, or of another system, or has no such coordinate.

    See Also
    --------
    mobod.biomechanics.fit_path_polynomials : fits polynomials to paths.

    Notes
    -----
    A force above zero lengthens the path; a muscle pulls with forces below zero. Moment arms are minus the derivatives of the
    function. It loads no body along its way, so that reactions in joints differ from those of a path through points, while
    accelerations do not.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> upper, lower = system.matter.bodies["upper"], system.matter.bodies["lower"]
    >>> length = mb.function.MultivariatePolynomial([0.5, 0.0, 0.02, -0.03, 0.0, 0.0], 2, 2)  # 0.5 - 0.03 x + 0.02 y^2
    >>> path = mb.force.transmission.FunctionBasedPath(system.forces, length, [(upper, 0), (lower, 0)])
    >>> spring = mb.force.TransmissionSpring(system.forces, path, stiffness=10.0)
    >>> state = system.realize_topology()
    >>> state.q = 0.1, 0.5
    >>> system.realize(state)
    >>> path.calc_length(state), path.calc_moment_arms(state)
    (0.502, array([ 0.03, -0.02]))
    """

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        function: Function,
        coordinates: Sequence[tuple[MobilizedBody, int]],
        *,
        ratio: float = 1.0,
    ) -> None:
        kind: Any = Function
        given = checks.instance("the function of a FunctionBasedPath", function, kind, "a function of mobod.function")
        places = [mobility(forces, mobod, which, "which_q") for mobod, which in coordinates]
        n = len(places)
        if n == 0:
            raise ModelError("a FunctionBasedPath has one coordinate or more; got none")
        if given.get_argument_size() != n:
            raise ValueError(
                f"the function of a FunctionBasedPath has an argument for each of its {n} coordinates; {given!r} has "
                f"{given.get_argument_size()}"
            )
        if given.get_max_derivative_order() < 1:
            raise ModelError(f"the function of a FunctionBasedPath has first derivatives; {given!r} has none")
        twice = next((place for k, place in enumerate(places) if place in places[:k]), None)
        if twice is not None:
            raise ModelError(f"a FunctionBasedPath has each coordinate once; number {twice[1]} of body {twice[0]} comes again")
        self._function, self._mobilizers = given, [b for b, _ in places]
        course = FunctionCourse([0, 0, OF_FUNCTION, 0, PULL, n, n, *(number for place in places for number in place)], [])
        super().__init__(forces, [], [], ratio)
        self.used_functions = [(course, [0] * course.get_argument_size()), (given, range(n))]

    def reach(self) -> tuple[list[int], list[int]]:
        return [], self._mobilizers

    def get_function(self) -> Function:
        """The length as a function of the coordinates."""
        return self._function
