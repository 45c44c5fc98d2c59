"""A subsystem's own q, u and z, their rates and weights."""

from __future__ import annotations

import numpy.typing as npt

from ..algebra.arrays import Array
from ..value.checks import shaped
from ..value.stage import Stage
from .allocation import Allocation
from .resources import index_in
from .state import State


class VariableAccess(Allocation):
    """The part of `StateAccess` that reads and writes q, u, z and their rates."""

    # private methods have two underscores: classes of users' own derive from this one, and may call theirs as they like

    def get_q_start(self, state: State) -> int:
        """Place of its first q within the system's. Needs MODEL."""
        return self.__place(state, "get_q_start", "q")[0]

    def get_n_q(self, state: State) -> int:
        """Number of coordinates of the state that this subsystem has. Needs MODEL."""
        return self.__place(state, "get_n_q", "q")[1]

    def get_u_start(self, state: State) -> int:
        """Place of its first u within the system's. Needs MODEL."""
        return self.__place(state, "get_u_start", "u")[0]

    def get_n_u(self, state: State) -> int:
        """Number of speeds of the state that this subsystem has. Needs MODEL."""
        return self.__place(state, "get_n_u", "u")[1]

    def get_z_start(self, state: State) -> int:
        """Place of its first z within the system's. Needs MODEL."""
        return self.__place(state, "get_z_start", "z")[0]

    def get_n_z(self, state: State) -> int:
        """The number of auxiliary variables of the state that are this subsystem's. Needs MODEL."""
        return self.__place(state, "get_n_z", "z")[1]

    def get_q(self, state: State) -> Array:
        """Its coordinates ``(nq,)``, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_q", "q", state.q_view)

    def get_u(self, state: State) -> Array:
        """Its speeds ``(nu,)``, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_u", "u", state.u_view)

    def get_z(self, state: State) -> Array:
        """Its auxiliary variables ``(nz,)``, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_z", "z", state.z_view)

    def upd_q(self, state: State) -> Array:
        """Its coordinates as a writable view; the state falls to TIME at most, now: fetch it again for each change."""
        view = self.__part(state, "upd_q", "q", state.q_values)
        state.invalidate_q()
        return view

    def upd_u(self, state: State) -> Array:
        """Its speeds as a writable view; the state falls to POSITION at most, now: fetch it again for each change."""
        view = self.__part(state, "upd_u", "u", state.u_values)
        state.invalidate_u()
        return view

    def upd_z(self, state: State) -> Array:
        """Its auxiliary variables as a writable view; the state falls to VELOCITY at most, now."""
        view = self.__part(state, "upd_z", "z", state.z_values)
        state.invalidate_z()
        return view

    def set_q(self, state: State, q: npt.ArrayLike) -> None:
        """Set its coordinates ``(nq,)``; the state falls to TIME at most. `ValueError` for a wrong length."""
        self.__set(state, "q", q, state.q_values)
        state.invalidate_q()

    def set_u(self, state: State, u: npt.ArrayLike) -> None:
        """Set its speeds ``(nu,)``; the state falls to POSITION at most. `ValueError` for a wrong length."""
        self.__set(state, "u", u, state.u_values)
        state.invalidate_u()

    def set_z(self, state: State, z: npt.ArrayLike) -> None:
        """Set its auxiliary variables ``(nz,)``; the state falls to VELOCITY at most. `ValueError` for a wrong length."""
        self.__set(state, "z", z, state.z_values)
        state.invalidate_z()

    def __set(self, state: State, name: str, value: npt.ArrayLike, whole: Array) -> None:
        part = self.__part(state, f"set_{name}", name, whole)
        part[:] = shaped(f"{name} of {self!r}", value, part.shape)

    def get_q_dot(self, state: State) -> Array:
        """Rates of its q, as a read-only view. Needs VELOCITY."""
        return self.__part(state, "get_q_dot", "q", state.q_dot_view, Stage.VELOCITY)

    def get_u_dot(self, state: State) -> Array:
        """Rates of its u, as a read-only view. Needs ACCELERATION."""
        return self.__part(state, "get_u_dot", "u", state.u_dot_view, Stage.ACCELERATION)

    def get_z_dot(self, state: State) -> Array:
        """Rates of its z, as a read-only view. Needs DYNAMICS."""
        return self.__part(state, "get_z_dot", "z", state.z_dot_view, Stage.DYNAMICS)

    def get_q_dot_dot(self, state: State) -> Array:
        """Second rates of its q, as a read-only view. Needs ACCELERATION."""
        return self.__part(state, "get_q_dot_dot", "q", state.q_dot_dot_view, Stage.ACCELERATION)

    def upd_q_dot(self, state: State) -> Array:
        """A writable view of the rates of its q, which `realize_velocity` fills; lowers no stage. Needs MODEL."""
        return self.__part(state, "upd_q_dot", "q", state.record.q_dot[:, 0])

    def upd_u_dot(self, state: State) -> Array:
        """A writable view of the rates of its u, which `realize_acceleration` fills; lowers no stage. Needs MODEL."""
        return self.__part(state, "upd_u_dot", "u", state.record.u_dot[:, 0])

    def upd_z_dot(self, state: State) -> Array:
        """A writable view of the rates of its z, which `realize_dynamics` fills; lowers no stage. Needs MODEL."""
        return self.__part(state, "upd_z_dot", "z", state.record.z_dot[:, 0])

    def upd_q_dot_dot(self, state: State) -> Array:
        """A writable view of the second rates of its q, which `realize_acceleration` fills; lowers no stage. Needs MODEL."""
        return self.__part(state, "upd_q_dot_dot", "q", state.record.q_dot_dot[:, 0])

    def get_u_weights(self, state: State) -> Array:
        """Its part of `State.u_weights`, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_u_weights", "u", state.u_weights)

    def get_z_weights(self, state: State) -> Array:
        """Its part of `State.z_weights`, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_z_weights", "z", state.z_weights)

    def __place(self, state: State, asked: str, name: str) -> tuple[int, int]:
        """The first place of its q, u or z, and how many there are."""
        index = index_in(self, state, asked)
        if state.stage_number < Stage.MODEL:
            state.refuse_model(asked)
        return state.variable_places()[name][index]

    def __part(self, state: State, asked: str, name: str, whole: Array, needed: Stage = Stage.MODEL) -> Array:
        start, n = self.__place(state, asked, name)
        if state.stage_number < needed:
            state.refuse(asked, needed)
        return whole[start : start + n]
