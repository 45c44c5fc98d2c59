"""Back to the start, and variables that can be written in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..tree.sampling import member_places
from ..value.checks import numbers, suggest
from ..value.stage import POSITION, TIME, VELOCITY, Stage
from .states import States, memory_of, self_updating


class Resetting(States):
    """The part of `Ensemble` that changes states in place."""

    __slots__ = ()

    def reset(
        self,
        mask: npt.ArrayLike | None = None,
        q: npt.ArrayLike | None = None,
        u: npt.ArrayLike | None = None,
        time: npt.ArrayLike | None = None,
    ) -> None:
        """Begin anew with some of the states; the ensemble falls to INSTANCE at most.

        Parameters
        ----------
        mask : (n,) array_like of bool, optional
            Which states; all unless given.
        q : array_like, optional
            Coordinates, one row ``(m, nq)`` for each of the m states that the mask picks, or ``(nq,)`` for all of them. Those
            of the state that the ensemble was made from unless given; so for the other variables, z and particles included.
        u : array_like, optional
            Speeds, ``(m, nu)`` or ``(nu,)``.
        time : array_like, optional
            ``(m,)``, or one number.

        Raises
        ------
        TypeError
            If the mask is not made of bools.
        ValueError
            If an argument has another shape. All states are then as they were.

        Notes
        -----
        `failed` becomes False for these states, and what controllers, measures and sticking contacts remember is that of the
        state that the ensemble was made from, as is what event handlers have changed: locks, parameters, what is enabled,
        discrete variables. Parameters that `set_each` has given stay.

        Examples
        --------
        >>> import mobod as mb, numpy as np
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 4, state=state)
        >>> ensemble.reset([False, True, False, True], q=np.zeros((2, 2)), u=(0.0, 1.0))
        >>> ensemble.u[:, 1].tolist()
        [0.0, 1.0, 0.0, 1.0]
        """
        self._template.check_owner(self._system, "Ensemble.reset")
        chosen = self._chosen(mask)
        start, m = self._template, len(chosen)
        new_q = self._values_of("q", q, m, start.q_values)
        new_u = self._values_of("u", u, m, start.u_values)
        new_time = self._values_of("time", time, m, np.array(start.time))
        self._q[chosen], self._u[chosen], self._time[chosen, 0] = new_q, new_u, new_time
        # most ensembles have none of these, and are reset a few states at a time, between steps
        if self._z.shape[1]:
            self._z[chosen] = start.z_values
        if self.particles.shape[1]:
            self.particles[chosen] = np.concatenate([start.record.particle_location, start.record.particle_velocity])[:, 0]
        if self._memory.shape[1]:  # that of controllers is there
            self._memory[chosen] = memory_of(start.record)
            for place in member_places(start.tree):
                self._memory[chosen, place] = chosen
        for key, variable in self_updating(start).items():
            for i in chosen if key in self._of_subsystems else ():
                self._of_subsystems[key][i] = variable.value
        for i in chosen.tolist() if self._overrides else ():
            self._overrides.pop(i, None)
        self._begun[chosen] += 1
        plan = getattr(self, "_step_plan", None)
        if plan is not None:
            plan.begin_anew(chosen)
        self._failed[chosen] = 0.0
        if self._schedule is not None:
            self._schedule.set_stale(chosen)
        self._changed(Stage.INSTANCE)

    def _chosen(self, mask: npt.ArrayLike | None) -> npt.NDArray[np.int64]:
        """The numbers of the states that a mask picks."""
        if mask is None:
            return np.arange(self._n)
        picks = np.asarray(mask)
        if picks.dtype != np.bool_:
            raise TypeError(
                f"mask has to be {self._n} bools, one a state, not of {picks.dtype}; of indices make one by "
                f"numpy.isin(numpy.arange({self._n}), indices)"
            )
        if picks.shape != (self._n,):
            raise ValueError(f"mask has shape ({self._n},), one bool a state; got {picks.shape}")
        return picks.nonzero()[0]

    @staticmethod
    def _values_of(name: str, value: npt.ArrayLike | None, m: int, start: Array) -> Array:
        """Values for *m* states: a row each, or one for all; those of the start for None."""
        if value is None:
            return start
        array = numbers(f"{name} of Ensemble.reset", value)
        if array.shape not in ((m, *start.shape), start.shape):
            raise ValueError(
                f"{name} of Ensemble.reset has shape {(m, *start.shape)}, a row for each state that the mask picks, or "
                f"{start.shape} for all alike; got {array.shape}"
            )
        return array

    def upd_q(self) -> Array:
        """Coordinates ``(n, nq)`` to be written in place; the ensemble falls to TIME at most.

        The memory is the ensemble's own and stays the same: NumPy, torch, JAX and others share it by DLPack
        (``torch.from_dlpack(ensemble.upd_q())``; JAX copies float64 unless ``jax_enable_x64`` is set). What is written later
        is not noticed: call this again, which costs less than a microsecond, whenever the array has been written to after
        `realize`.
        """
        self._changed(TIME)
        return self._q[: self._n]

    def upd_u(self) -> Array:
        """Speeds ``(n, nu)`` to be written in place; the ensemble falls to POSITION at most. See `upd_q`."""
        self._changed(POSITION)
        return self._u[: self._n]

    def upd_z(self) -> Array:
        """Auxiliary variables ``(n, nz)`` to be written in place; the ensemble falls to VELOCITY at most. See `upd_q`."""
        self._changed(VELOCITY)
        return self._z[: self._n]

    def get_rows(self, *names: str, dtype: Any = np.float64, out: Any = None) -> npt.NDArray[Any]:
        """Named quantities, flat and side by side, one row a state ``(n, columns)``: the caller's own array, in any precision.

        Parameters
        ----------
        *names : str
            Variables and results of this ensemble, such as ``"q"``, ``"u_dot"``, ``"body_transforms"``, or its methods without
            arguments, such as ``"calc_kinetic_energy"``. They need what they need.
        dtype : data-type
            Of the result, float32 say.
        out : (n, columns) array, optional
            Write into this one, of NumPy or of anything that speaks DLPack, and return it; its own type then is the result's.

        Raises
        ------
        AttributeError
            If the ensemble has none of that name.
        ValueError
            If something that is named is not an array with a row a state, or *out* has another shape.
        TypeError
            If the result would not be of floating-point numbers, which would be cut off.

        Examples
        --------
        >>> import mobod as mb, numpy as np
        >>> system, state = mb.examples.double_pendulum.build()
        >>> mb.Ensemble(system, 100, state=state).get_rows("q", "u", dtype=np.float32).shape
        (100, 4)
        """
        parts = [self._array_of(name).reshape(self._n, -1) for name in names]
        columns = sum(part.shape[1] for part in parts)
        if out is None:
            out = np.empty((self._n, columns), dtype)
        elif tuple(out.shape) != (self._n, columns):
            raise ValueError(f"out has to be of shape {(self._n, columns)} for {', '.join(names)}; got {tuple(out.shape)}")
        at, target = 0, out if isinstance(out, np.ndarray) else np.from_dlpack(out)
        if target.dtype.kind != "f":
            raise TypeError(f"get_rows gives floating-point numbers, float32 say; {target.dtype} would cut them off")
        for part in parts:
            target[:, at : at + part.shape[1]] = part
            at += part.shape[1]
        return out

    def to_xarray(self, *names: str) -> Any:
        """Named quantities as an ``xarray.Dataset`` along the dimension ``state``, with labels (needs xarray).

        Parameters
        ----------
        *names : str
            Variables, results and methods without arguments, as of `get_rows`; ``"time"``, ``"q"`` and ``"u"`` unless given.

        Raises
        ------
        ImportError
            Without xarray: ``pip install mobod[xarray]``.
        ValueError
            If something that is named is not an array with a row a state.
        """
        from .labelled import of_states

        return of_states(self._system, self, {name: self._array_of(name) for name in names or ("time", "q", "u")})

    def _array_of(self, name: str) -> npt.NDArray[Any]:
        """A variable or a result by its name, or by that of a method without arguments."""
        if not isinstance(name, str):
            raise TypeError(f"variables and results are named, by a str such as 'q'; got {name!r}")
        if name.startswith("_") or not hasattr(type(self), name):
            names = [one for one in dir(self) if not one.startswith("_")]
            raise AttributeError(f"an ensemble has no {name!r}; {suggest(name, names)}")
        found = getattr(self, name)
        array = np.asarray(found() if callable(found) else found)
        if array.ndim == 0 or array.shape[0] != self._n:
            raise ValueError(f"{name} of an ensemble is no array with a row for each of {self._n} states")
        return array
