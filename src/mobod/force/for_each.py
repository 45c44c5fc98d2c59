"""ForEach: one force, written as functions that are compiled, on each of many sets of bodies and mobilizers.

Integers: how many sets, how many numbers from one set's parameters to the next's, then each set's bodies and mobilizers.
Numbers: the parameters, once or a run a set.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..compiling import Routine
from ..errors import ModelError
from ..state.named_parameters import names_and_values
from ..value.checks import instance, numbers
from ._custom_compiled import CompiledFunctions, looked_up, routine_of
from ._of_functions import OfFunctions
from .base import check_forces
from .subsystem import GeneralForceSubsystem


class ForEach(OfFunctions):
    """The same force on each of many bodies, pairs of bodies, mobilizers, or other sets of these, in one compiled loop.

    It is one element; a thousand of `Custom` would do the same, and take a second to create.

    Parameters
    ----------
    compiled : CompiledFunctions
        The functions, without bodies and mobilizers. Its parameters are those of all sets unless others are given.
    bodies : sequence, optional
        For each set the body that the functions get, or a sequence of those that they get.
    mobilizers : sequence, optional
        Likewise. All sets are alike: as many bodies, and mobilizers with as many coordinates and speeds.
    parameters : (n, k) array_like, optional
        Parameters of each of the n sets.

    Raises
    ------
    TypeError, ValueError
        If there is no set, or the arguments are not of these shapes.
    ModelError
        If sets are not alike, or the functions do not take or return what they should.

    Examples
    --------
    Charges on three bodies repel each other.

    >>> import itertools
    >>> import mobod as mb
    >>> from mobod.algebra import vec3
    >>> def repel(t, X, V, q, u, parameters):
    ...     (_, a), (_, b) = X
    ...     d, o = vec3.sub(a, b), 0.0 * t
    ...     f = vec3.scale(parameters[0] / vec3.dot(d, d) ** 1.5, d)
    ...     return (((o, o, o), f), ((o, o, o), vec3.neg(f))), ()
    >>> system = mb.MultibodySystem()
    >>> matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1, 1, 1, 0, 0, 0)))
    >>> bodies = [mb.mobilizer.Translation(matter.ground, ball, X_PF=mb.Transform((k, 0, 0))) for k in range(3)]
    >>> pairs = list(itertools.combinations(bodies, 2))
    >>> charges = mb.force.ForEach(forces, mb.force.CompiledFunctions(repel, parameters=[2.0]), bodies=pairs)
    >>> state = system.realize_topology()
    >>> system.realize(state)
    >>> bodies[2].get_u_dot(state)
    array([2.5, 0. , 0. ])
    """

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        compiled: CompiledFunctions,
        *,
        bodies: Sequence[Any] | None = None,
        mobilizers: Sequence[Any] | None = None,
        parameters: npt.ArrayLike | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        check_forces(forces)
        instance("compiled", compiled, CompiledFunctions, "mobod.force.CompiledFunctions(...)")
        if len(compiled.bodies) or len(compiled.mobilizers):
            raise TypeError("functions of a ForEach have no bodies and mobilizers: ForEach is given those of each set")
        sets = _sets("bodies", bodies), _sets("mobilizers", mobilizers)
        n = max(len(each) for each in sets)
        if n == 0 or any(len(each) not in (0, n) for each in sets):
            raise ValueError(f"bodies and mobilizers of a ForEach are of as many sets, one at least; got {[*map(len, sets)]}")
        self._own_of_each = parameters is not None
        names, values = names_and_values(compiled.parameters)
        self.parameter_names = () if self._own_of_each else names
        rows = self._rows(n, values if parameters is None else parameters)
        integers: list[int] = []
        shape = None
        for k in range(n):
            of_set = dataclasses.replace(
                compiled,
                bodies=sets[0][k] if sets[0] else (),
                mobilizers=sets[1][k] if sets[1] else (),
                parameters=rows[k % len(rows)],
            )
            run, shape_of_set, _ = looked_up(forces, of_set)
            if shape not in (None, shape_of_set):
                raise ModelError(f"sets of a ForEach have to be alike; set 0 has {shape}, set {k} has {shape_of_set}")
            shape = shape_of_set
            integers += run
        assert shape is not None
        routine = routine_of(compiled, shape, tuple(rows[0].tolist()), each=True)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._compiled, self._shape, self._num_sets, self.routine = compiled, shape, n, routine
        self.reads_positions_only = bool(compiled.depends_only_on_positions)
        self.default_integers = [n, rows.shape[1] if self._own_of_each else 0, *integers]
        self.default_numbers = rows.ravel().tolist()

    def get_num_sets(self) -> int:
        """On how many sets of bodies and mobilizers it acts."""
        return self._num_sets

    def _shape_of_parameters(self) -> tuple[int, ...]:
        (n,) = super()._shape_of_parameters()
        return (self._num_sets, n // self._num_sets) if self._own_of_each else (n,)

    def _rows(self, n: int, parameters: npt.ArrayLike) -> Array:
        """Parameters, a row for all sets or one for each."""
        rows = numbers("parameters of a ForEach", parameters)
        wanted = (n,) if self._own_of_each else ()
        if rows.ndim != len(wanted) + 1 or rows.shape[:-1] != wanted:
            raise ValueError(f"parameters of a ForEach have shape {(n, 'k')}, one row a set, got {rows.shape}")
        return np.atleast_2d(rows)

    # ------------------------------------------------------------------------------------------ what the system asks

    def _routine_again(self) -> Routine:
        return routine_of(self._compiled, self._shape, tuple(self.default_numbers[: self._shape.num_parameters]), each=True)


def _sets(what: str, given: Sequence[Any] | None) -> list[Sequence[Any]]:
    """Each set as a sequence."""
    if given is None:
        return []
    if not isinstance(given, Sequence):
        raise TypeError(f"{what} of a ForEach are a sequence, one entry a set, got {given!r}")
    return [one if isinstance(one, Sequence) else (one,) for one in given]
