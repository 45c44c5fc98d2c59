"""The matter's operators on many states."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import LANES, aligned_zeros
from ..state.fields import Record
from ..state.state import State
from ..tree import matrix_sweep, realize as _realize
from ..value.checks import numbers
from ..value.stage import Stage
from . import batch_operators
from .manifold import OnManifold

#: The most bytes of scratch that a thread keeps from call to call.
_MOST_KEPT = 2**23


class Operator(NamedTuple):
    """An operator without tasks: the stage that it needs, its kernel, and the shapes of its arguments and of its result.

    The system's or the matter's method of the same name finds it for one state.
    """

    stage: Stage
    kernel: Any
    given: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]
    has_columns: bool = False


OPERATORS = {
    "calc_m": Operator(Stage.POSITION, batch_operators.calc_m, (), ("nu", "nu"), has_columns=True),
    "calc_m_inv": Operator(Stage.POSITION, batch_operators.calc_m_inv, (), ("nu", "nu"), has_columns=True),
    "multiply_by_m": Operator(Stage.POSITION, batch_operators.multiply_by_m, (("nu",),), ("nu",)),
    "multiply_by_m_inv": Operator(Stage.POSITION, batch_operators.multiply_by_m_inv, (("nu",),), ("nu",)),
    "calc_residual_force_ignoring_constraints": Operator(
        Stage.VELOCITY, batch_operators.calc_residual_force, (("nu",), ("nb", "2", "3"), ("nu",)), ("nu",)
    ),
    "calc_inverse_dynamics": Operator(Stage.VELOCITY, batch_operators.calc_inverse_dynamics, (("nu",),), ("nu",)),
}


class Operators(OnManifold):
    """The part of `Ensemble` that has the operators."""

    __slots__ = ()

    def _by_table(self, asked: str, **given: npt.ArrayLike | None) -> Array:
        """An operator of `OPERATORS`, of its arguments by name."""
        stage, kernel, shapes, result, has_columns = OPERATORS[asked]
        tree, matter = self._template.tree, self._system.matter
        sizes = {"nu": tree.nu, "nb": tree.nb, "2": 2, "3": 3}
        rows = {
            name: self._rows(name, value, tuple(sizes[one] for one in shape))
            for (name, value), shape in zip(given.items(), shapes, strict=True)
        }
        scratch = (self._column_scratch(),) if has_columns else ()
        method = getattr(matter, asked, None) or getattr(self._system, asked)
        out = tuple(sizes[one] for one in result)
        return self._operate(asked, stage, kernel, rows, out, scratch=scratch, alone=lambda state, own: method(state, *own))

    def _column_scratch(self) -> tuple[int, int]:
        tree = self._template.tree
        return matrix_sweep.scratch_rows(tree.nu, tree.num_slots), max(tree.nu, 1)

    def _operate(
        self,
        asked: str,
        stage: Stage,
        kernel: Any,
        given: dict[str, Array],
        out: tuple[int, ...],
        *,
        before: tuple[Any, ...] = (),
        scratch: tuple[tuple[int, ...], ...] = (),
        alone: Callable[[State, list[Array]], Any],
        realized: bool = True,
        found: Array | None = None,
        reduced: bool = False,
        whose: object = None,
    ) -> Array:
        """An operator on every state, realized anew: in lanes, or state by state in systems with parts in Python.

        Parameters
        ----------
        asked : str
            The operator's name.
        stage : Stage
            What it needs.
        kernel : Kernel
            Of `batch_operators`. It takes, after the states, *before*, the arguments, fields of lanes for each of them and of
            the shapes in *scratch*, a field for the result, the result.
        given : dict of str to (n, ...) array
            One row a state.
        out : tuple of int
            The shape of one state's result.
        alone : callable
            ``alone(state, arguments)``: the operator on one state.
        realized : bool
            Whether the ensemble has to be at that stage already, as users expect of operators.
        found : array, optional
            Where kernels write, a flat row a state and up to a multiple of eight of them, which is then the result; new ones of
            *out* unless given.
        reduced : bool
            Whether the kernel may have a record of the reduced tree, whose mobilities alone are those of the system, and needs
            no field for the result.
        whose : object
            Where the kernel leaves numbers of its fields as they are, which have to be zero: what decides on which these are.
        """
        if realized:
            self._need(asked, stage)
        self._template.check_owner(self._system, asked)
        if self._system.calls_with_states:
            result = np.full((self._n, *out), np.nan)
        else:
            result = self._operate_in_lanes(asked, kernel, given, out, before, scratch, found, reduced, whose)
        for i, state in self._each_alone(self._alone(), stage):
            result[i] = np.nan if state is None else alone(state, [array[i] for array in given.values()])
        return result

    def _operate_in_lanes(
        self,
        asked: str,
        kernel: Any,
        given: dict[str, Array],
        out: tuple[int, ...],
        before: tuple[Any, ...],
        scratch: tuple[tuple[int, ...], ...],
        found: Array | None,
        reduced: bool,
        whose: object,
    ) -> Array:
        """An operator on all states, as `_operate` takes it, but for those that have overrides."""
        padded = self._groups * LANES
        arguments = []
        for array in given.values():
            if padded == self._n and array.flags.carray:  # kernels take it as it is
                arguments.append(array.reshape(self._n, -1))
                continue
            rows = np.zeros((padded, array[0].size))
            rows[: self._n] = array.reshape(self._n, -1)
            arguments.append(rows)
        shapes = [(array.shape[1], 1) if array.ndim == 2 else (len(array[0]), array[0][0].size) for array in given.values()]
        field = (out[0], math.prod(out[1:]))
        fields = (*shapes, *scratch) if reduced else (*shapes, *scratch, field)
        given_block = found is not None
        if found is None:
            found = np.empty((padded, field[0] * field[1]))  # of which kernels write every number
        address = _realize.advance.address(in_lanes=True, own_parameters=bool(self._own))
        states = self._given_states

        def work(record: Record, share: tuple[Any, ...]) -> None:
            kernel(record, address, share, states, *before, *arguments, *self._kept_fields(share[0], fields, whose), found)

        self._share_out(asked, work, reduced)
        return found if given_block else found[: self._n].reshape(self._n, *out)

    def _kept_fields(self, worker: int, shapes: tuple[tuple[int, ...], ...], whose: object) -> list[Array]:
        """Fields of lanes of a thread, those of the last call if that had the same: new memory takes up to 0.1 ms."""
        kept = self._scratch.get(worker)
        if kept is not None and kept[0] == shapes and kept[1] == whose:
            return kept[2]
        fields = _fields_of_lanes(shapes)
        if sum(field.nbytes for field in fields) <= _MOST_KEPT:
            self._scratch[worker] = shapes, whose, fields
        return fields

    def _rows(self, what: str, value: npt.ArrayLike | None, shape: tuple[int, ...]) -> Array:
        """An argument ``(n, ...)``: one a state, or one for all; zeros for None or an empty array."""
        if value is None:
            return np.zeros((self._n, *shape))
        array = numbers(what, value)
        if array.size == 0:
            return np.zeros((self._n, *shape))
        if array.shape == (self._n, *shape):
            return array
        if array.shape != shape:
            raise ValueError(f"{what} has shape {(self._n, *shape)}, or {shape} for all states alike; got {array.shape}")
        return np.broadcast_to(array, (self._n, *shape))  # 2 us

    def tasks(self, on_body_b: Any, stations: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], Array, bool]:
        """Bodies, stations in lanes that are all alike, and whether it was one task given bare."""
        bodies, points, bare = self._system.matter.tasks(on_body_b, stations)
        return bodies, np.repeat(points[:, :, None], LANES, axis=2), bare

    def calc_m(self) -> Array:
        """The mass matrix of every state's tree ``(n, nu, nu)``. Needs POSITION.

        This and the other operators ignore constraints, which `u_dot`, `multipliers` and `project` include. All operators
        compute positions anew, eight states at a time, on as many threads as `realize` uses; results of states that are not
        finite are not finite either.

        Raises
        ------
        StageError
            If the ensemble is below the stage that the operator needs.
        TopologyError
            If the system was changed after the ensemble was made.

        See Also
        --------
        SimbodyMatterSubsystem.calc_m : the same of one state.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_m().shape
        (10, 2, 2)
        """
        return self._by_table("calc_m")

    def calc_m_inv(self) -> Array:
        """The inverse of the mass matrix of every state ``(n, nu, nu)``. Needs POSITION. See `calc_m`.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_m_inv().shape
        (10, 2, 2)
        """
        return self._by_table("calc_m_inv")

    def multiply_by_m(self, a: npt.ArrayLike) -> Array:
        """M a of every state ``(n, nu)``. Needs POSITION. See `calc_m`.

        Parameters
        ----------
        a : (n, nu) array_like
            One vector a state, or ``(nu,)`` for all.

        Raises
        ------
        ValueError
            If *a* has another shape.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.multiply_by_m(np.ones(2)).shape
        (10, 2)
        """
        return self._by_table("multiply_by_m", a=a)

    def multiply_by_m_inv(self, v: npt.ArrayLike) -> Array:
        """M^-1 v of every state ``(n, nu)``, v ``(n, nu)`` or ``(nu,)`` for all. Needs POSITION. See `calc_m`.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.multiply_by_m_inv(np.ones(2)).shape
        (10, 2)
        """
        return self._by_table("multiply_by_m_inv", v=v)

    def calc_residual_force_ignoring_constraints(
        self,
        applied_mobility_forces: npt.ArrayLike | None = None,
        applied_body_forces: npt.ArrayLike | None = None,
        known_udot: npt.ArrayLike | None = None,
    ) -> Array:
        """Inverse dynamics of every state ``(n, nu)``: the generalized forces missing for *known_udot*. Needs VELOCITY.

        Forces of constraints are among what is missing.

        Parameters
        ----------
        applied_mobility_forces : (n, nu) array_like, optional
            Of every state, or ``(nu,)`` for all; zero where None or empty, as the others.
        applied_body_forces : (n, nb, 2, 3) array_like, optional
            At the bodies' origins, in Ground; or ``(nb, 2, 3)`` for all. Ground's row is ignored.
        known_udot : (n, nu) array_like, optional
            Or ``(nu,)`` for all.

        Raises
        ------
        ValueError
            If an argument has another shape.

        See Also
        --------
        SimbodyMatterSubsystem.calc_residual_force_ignoring_constraints : the same of one state.
        calc_m : on what all operators of an ensemble share.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_residual_force_ignoring_constraints(known_udot=np.zeros(2)).shape
        (10, 2)
        """
        return self._by_table(
            "calc_residual_force_ignoring_constraints",
            applied_mobility_forces=applied_mobility_forces,
            applied_body_forces=applied_body_forces,
            known_udot=known_udot,
        )

    def calc_inverse_dynamics(self, u_dot: npt.ArrayLike) -> Array:
        """The generalized forces of every state ``(n, nu)`` that are missing for *u_dot*, with all that acts. Needs VELOCITY.

        M u_dot + inertial forces - applied forces, gravity and all other elements included; forces of constraints, locks and
        motions are among what is missing. See `MultibodySystem.calc_inverse_dynamics`.

        Parameters
        ----------
        u_dot : (n, nu) array_like
            Of every state, or ``(nu,)`` for all.

        Raises
        ------
        ValueError
            If *u_dot* has another shape.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_inverse_dynamics(np.zeros(2)).shape
        (10, 2)
        """
        return self._by_table("calc_inverse_dynamics", u_dot=u_dot)

    def multiply_by_station_jacobian(self, on_body_b: Any, station_p_in_b: npt.ArrayLike, u: npt.ArrayLike) -> Array:
        """Velocities of stations that speeds *u* would give, of every state ``(n, nt, 3)``. Needs POSITION.

        Parameters
        ----------
        on_body_b : body or sequence of nt bodies
            As for a single state; the same for all.
        station_p_in_b : (3,) or (nt, 3) array_like
        u : (n, nu) array_like
            Or ``(nu,)`` for all.

        Returns
        -------
        (n, nt, 3) array, or (n, 3) for one bare task

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.multiply_by_station_jacobian(system.matter.bodies["lower"], (0, 0, 0), ensemble.u).shape
        (10, 3)
        """
        return self._times_frame_jacobian("multiply_by_station_jacobian", on_body_b, station_p_in_b, u)[..., 1, :].copy()

    def multiply_by_frame_jacobian(self, on_body_b: Any, origin_ao_in_b: npt.ArrayLike, u: npt.ArrayLike) -> Array:
        """Velocities of frames that speeds *u* would give: ``(n, nt, 2, 3)``, or ``(n, 2, 3)`` for one bare. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.multiply_by_frame_jacobian(system.matter.bodies["lower"], (0, 0, 0), ensemble.u).shape
        (10, 2, 3)
        """
        return self._times_frame_jacobian("multiply_by_frame_jacobian", on_body_b, origin_ao_in_b, u)

    def _times_frame_jacobian(self, asked: str, on_body_b: Any, stations: npt.ArrayLike, u: npt.ArrayLike) -> Array:
        bodies, points, bare = self.tasks(on_body_b, stations)
        nu, matter = self._template.tree.nu, self._system.matter
        V = self._operate(
            asked,
            Stage.POSITION,
            batch_operators.multiply_by_frame_jacobian,
            {"u": self._rows("u", u, (nu,))},
            (len(bodies), 2, 3),
            before=(bodies, points),
            alone=lambda state, given: matter.multiply_by_frame_jacobian(state, bodies, points[..., 0], *given),
        )
        return V[:, 0] if bare else V

    def calc_station_jacobian(self, on_body_b: Any, station_p_in_b: npt.ArrayLike) -> Array:
        """The Jacobian of stations, of every state ``(n, 3*nt, nu)``, rows task by task. Needs POSITION. See `calc_m`.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_station_jacobian(system.matter.bodies["lower"], (0, 0, 0)).shape
        (10, 3, 2)
        """
        return self.frame_jacobian("calc_station_jacobian", on_body_b, station_p_in_b, 3)

    def calc_frame_jacobian(self, on_body_b: Any, origin_ao_in_b: npt.ArrayLike) -> Array:
        """The Jacobian of frames, of every state ``(n, 6*nt, nu)``, rows task by task, angular first. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_frame_jacobian(system.matter.bodies["lower"], (0, 0, 0)).shape
        (10, 6, 2)
        """
        return self.frame_jacobian("calc_frame_jacobian", on_body_b, origin_ao_in_b, 6)

    def frame_jacobian(self, asked: str, on_body_b: Any, stations: npt.ArrayLike, rows: int) -> Array:
        """Jacobians of frames or stations on bodies, ``(n, rows * tasks, nu)``."""
        bodies, points, _ = self.tasks(on_body_b, stations)
        matter = self._system.matter
        return self._operate(
            asked,
            Stage.POSITION,
            batch_operators.calc_frame_jacobian,
            {},
            (rows * len(bodies), self._template.tree.nu),
            before=(bodies, points, rows),
            whose=bodies.tobytes(),
            alone=lambda state, _: matter.frame_jacobian(state, asked, bodies, points[..., 0].copy(), rows),
        )

    def calc_bias_for_station_jacobian(self, on_body_b: Any, station_p_in_b: npt.ArrayLike) -> Array:
        """Accelerations of stations if udot were zero: ``(n, nt, 3)``, or ``(n, 3)`` for one bare task. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_bias_for_station_jacobian(system.matter.bodies["lower"], (0, 0, 0)).shape
        (10, 3)
        """
        return self._frame_bias("calc_bias_for_station_jacobian", on_body_b, station_p_in_b)[..., 1, :].copy()

    def calc_bias_for_frame_jacobian(self, on_body_b: Any, origin_ao_in_b: npt.ArrayLike) -> Array:
        """Accelerations of frames if udot were zero: ``(n, nt, 2, 3)``, or ``(n, 2, 3)`` for one bare task. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_bias_for_frame_jacobian(system.matter.bodies["lower"], (0, 0, 0)).shape
        (10, 2, 3)
        """
        return self._frame_bias("calc_bias_for_frame_jacobian", on_body_b, origin_ao_in_b)

    def _frame_bias(self, asked: str, on_body_b: Any, stations: npt.ArrayLike) -> Array:
        bodies, points, bare = self.tasks(on_body_b, stations)
        matter = self._system.matter
        bias = self._operate(
            asked,
            Stage.VELOCITY,
            batch_operators.calc_bias_for_frame_jacobian,
            {},
            (len(bodies), 2, 3),
            before=(bodies, points),
            alone=lambda state, _: matter.calc_bias_for_frame_jacobian(state, bodies, points[..., 0]),
        )
        return bias[:, 0] if bare else bias


def _fields_of_lanes(shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """Zeros, each at a cache line: else every vector reaches into two, which takes twice as long."""
    ends = list(accumulate((math.prod(shape) * LANES for shape in shapes), initial=0))
    whole = aligned_zeros(ends[-1])
    return [whole[i:j].reshape(*shape, LANES) for i, j, shape in zip(ends, ends[1:], shapes, strict=False)]
