"""Rates of a state's variables, as they were computed, and weights of variables and of constraint errors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..value.stage import ACCELERATION, DYNAMICS, MODEL, POSITION, VELOCITY, Stage
from .storage import read_only
from .subsystem_parts import SubsystemParts


class Weights(SubsystemParts):
    """The part of `State` that hands out rates and has weights."""

    __slots__ = ()

    @property
    def q_dot(self) -> Array:
        """Rates of q ``(nq,)``: N u. Needs VELOCITY."""
        if self.stage_number < VELOCITY:
            self.refuse("q_dot", Stage.VELOCITY)
        return self.q_dot_view

    @property
    def u_dot(self) -> Array:
        """Accelerations ``(nu,)``. Needs ACCELERATION."""
        if self.stage_number < ACCELERATION:
            self.refuse("u_dot", Stage.ACCELERATION)
        return self.u_dot_view

    @property
    def z_dot(self) -> Array:
        """Rates of z ``(nz,)``. Needs DYNAMICS."""
        if self.stage_number < DYNAMICS:
            self.refuse("z_dot", Stage.DYNAMICS)
        return self.z_dot_view

    @property
    def q_dot_dot(self) -> Array:
        """Second rates of q ``(nq,)``: N udot + NDot u. Needs ACCELERATION."""
        if self.stage_number < ACCELERATION:
            self.refuse("q_dot_dot", Stage.ACCELERATION)
        return self.q_dot_dot_view

    @property
    def y_dot(self) -> Array:
        """Rates of y, in its order: of q, u, z, the particles' locations and velocities. Needs ACCELERATION."""
        if self.stage_number < ACCELERATION:
            self.refuse("y_dot", Stage.ACCELERATION)
        return read_only(self.record.y_dot[:, 0])

    @property
    def u_weights(self) -> Array:
        """Weight of each u ``(nu,)``: one over a change of it that matters; 1 unless set. Needs MODEL.

        Integrators weight errors of u and q with it. Assigning leaves the state at ACCELERATION at most: no result depends
        on weights.
        """
        return read_only(self._weights("u", "u_weights"))

    @u_weights.setter
    def u_weights(self, value: npt.ArrayLike) -> None:
        self._set_weights("u", value, int(Stage.REPORT))

    @property
    def z_weights(self) -> Array:
        """Weight of each z ``(nz,)``; as `u_weights`, but that a force element may have others than 1, as tyres do."""
        return read_only(self._weights("z", "z_weights"))

    @z_weights.setter
    def z_weights(self, value: npt.ArrayLike) -> None:
        self._set_weights("z", value, int(Stage.REPORT))

    @property
    def q_err_weights(self) -> Array:
        """Weight of each of `q_err`: one over an error that matters; 1 unless set. Needs INSTANCE.

        Assigning leaves the state at TIME at most.
        """
        return read_only(self._weights("q_err", "q_err_weights"))

    @q_err_weights.setter
    def q_err_weights(self, value: npt.ArrayLike) -> None:
        self._set_weights("q_err", value, POSITION)

    @property
    def u_err_weights(self) -> Array:
        """Weight of each of `u_err`; as `q_err_weights`. Assigning leaves the state at POSITION at most."""
        return read_only(self._weights("u_err", "u_err_weights"))

    @u_err_weights.setter
    def u_err_weights(self, value: npt.ArrayLike) -> None:
        self._set_weights("u_err", value, VELOCITY)

    def upd_u_weights(self) -> Array:
        """A writable view of `u_weights`; the state falls to ACCELERATION at most, now."""
        return self._upd_weights("u", int(Stage.REPORT))

    def upd_z_weights(self) -> Array:
        """A writable view of `z_weights`; the state falls to ACCELERATION at most, now."""
        return self._upd_weights("z", int(Stage.REPORT))

    def upd_q_err_weights(self) -> Array:
        """A writable view of `q_err_weights`; the state falls to TIME at most, now."""
        return self._upd_weights("q_err", POSITION)

    def upd_u_err_weights(self) -> Array:
        """A writable view of `u_err_weights`; the state falls to POSITION at most, now."""
        return self._upd_weights("u_err", VELOCITY)

    def _weights(self, name: str, asked: str) -> Array:
        """The weights as they are stored, or ones where nobody has set any."""
        if name in ("u", "z"):
            if self.stage_number < MODEL:
                self.refuse_model(asked)
            n = len(self.u_values if name == "u" else self.z_values)
        else:
            n = len(self.slots(asked).slots[name])
        kept = None if self.resources is None else self.resources.weights.get(name)
        if kept is not None and len(kept) == n:
            return kept
        weights = np.ones(n)
        if name == "z":
            of_forces = self.tree.default_z_weights
            weights[: len(of_forces)] = of_forces
        return weights

    def _upd_weights(self, name: str, invalidates: int) -> Array:
        weights = self.upd_resources().weights[name] = self._weights(name, f"upd_{name}_weights")
        self.invalidate_from(invalidates)
        return weights

    def _set_weights(self, name: str, value: npt.ArrayLike, invalidates: int) -> None:
        now = self._weights(name, f"{name}_weights")
        array = self._checked(f"{name}_weights", value, now.shape)
        if not (np.isfinite(array).all() and (array > 0.0).all()):
            raise ValueError(f"state.{name}_weights have to be positive and finite, got {array}")
        self.upd_resources().weights[name] = array.copy()
        self.invalidate_from(invalidates)
