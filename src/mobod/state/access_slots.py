"""A subsystem's own errors of constraints, multipliers and event triggers."""

from __future__ import annotations

from ..algebra.arrays import Array
from ..value.stage import Stage
from .access_variables import VariableAccess
from .allocation import trigger_stage
from .resources import index_in
from .state import State


class SlotAccess(VariableAccess):
    """The part of `StateAccess` that reads and writes errors, multipliers and event triggers."""

    # private methods have two underscores: classes of users' own derive from this one, and may call theirs as they like

    def get_q_err_start(self, state: State) -> int:
        """Place of its first q error within the system's. Needs INSTANCE."""
        return self.__slot_place(state, "get_q_err_start", "q_err")[0]

    def get_n_q_err(self, state: State) -> int:
        """The number of q errors of this subsystem. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_q_err", "q_err")[1]

    def get_u_err_start(self, state: State) -> int:
        """Place of its first u error within the system's. Needs INSTANCE."""
        return self.__slot_place(state, "get_u_err_start", "u_err")[0]

    def get_n_u_err(self, state: State) -> int:
        """The number of u errors of this subsystem. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_u_err", "u_err")[1]

    def get_u_dot_err_start(self, state: State) -> int:
        """Place of its first udot error within the system's. Needs INSTANCE."""
        return self.__slot_place(state, "get_u_dot_err_start", "u_dot_err")[0]

    def get_n_u_dot_err(self, state: State) -> int:
        """The number of udot errors of this subsystem. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_u_dot_err", "u_dot_err")[1]

    def get_multipliers_start(self, state: State) -> int:
        """Place of its first multiplier within the system's. Needs INSTANCE."""
        return self.__slot_place(state, "get_multipliers_start", "multipliers")[0]

    def get_n_multipliers(self, state: State) -> int:
        """Number of multipliers that it has: one a udot error. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_multipliers", "multipliers")[1]

    def get_event_trigger_start_by_stage(self, state: State, stage: Stage) -> int:
        """Place of its first event trigger of *stage* within the system's of that stage. Needs INSTANCE."""
        return self.__slot_place(state, "get_event_trigger_start_by_stage", trigger_stage(stage))[0]

    def get_n_event_triggers_by_stage(self, state: State, stage: Stage) -> int:
        """The number of event triggers of *stage* of this subsystem. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_event_triggers_by_stage", trigger_stage(stage))[1]

    def get_q_err(self, state: State) -> Array:
        """Its errors of constraints on q, as a read-only view; the matter's end with its quaternions'. Needs POSITION."""
        return self.__slots(state, "get_q_err", "q_err", Stage.POSITION)

    def get_u_err(self, state: State) -> Array:
        """Its errors of constraints on u, as a read-only view. Needs VELOCITY."""
        return self.__slots(state, "get_u_err", "u_err", Stage.VELOCITY)

    def get_u_dot_err(self, state: State) -> Array:
        """Its errors of constraints on udot, as a read-only view. Needs ACCELERATION."""
        return self.__slots(state, "get_u_dot_err", "u_dot_err", Stage.ACCELERATION)

    def get_multipliers(self, state: State) -> Array:
        """Its multipliers, as a read-only view. Needs ACCELERATION."""
        return self.__slots(state, "get_multipliers", "multipliers", Stage.ACCELERATION)

    def get_event_triggers_by_stage(self, state: State, stage: Stage) -> Array:
        """Its event triggers of *stage*, as a read-only view. Needs that stage."""
        name = trigger_stage(stage)
        return self.__slots(state, "get_event_triggers_by_stage", name, max(Stage(name), Stage.INSTANCE))

    def upd_q_err(self, state: State) -> Array:
        """A writable view of its errors of constraints on q, which `realize_position` fills; lowers no stage. Needs INSTANCE.

        The matter's last entries, for its quaternions, are computed when they are read; what is written there is lost.
        """
        return self.__slots(state, "upd_q_err", "q_err")

    def upd_u_err(self, state: State) -> Array:
        """A writable view of its errors of constraints on u, for `realize_velocity`; lowers no stage. Needs INSTANCE."""
        return self.__slots(state, "upd_u_err", "u_err")

    def upd_u_dot_err(self, state: State) -> Array:
        """A writable view of its errors of constraints on udot, which `realize_acceleration` fills. Needs INSTANCE."""
        return self.__slots(state, "upd_u_dot_err", "u_dot_err")

    def upd_multipliers(self, state: State) -> Array:
        """A writable view of its multipliers, which `realize_acceleration` fills; lowers no stage. Needs INSTANCE."""
        return self.__slots(state, "upd_multipliers", "multipliers")

    def upd_event_triggers_by_stage(self, state: State, stage: Stage) -> Array:
        """A writable view of its event triggers of *stage*, which that stage's hook fills; lowers no stage. Needs INSTANCE."""
        return self.__slots(state, "upd_event_triggers_by_stage", trigger_stage(stage))

    def get_q_err_weights(self, state: State) -> Array:
        """Its part of `State.q_err_weights`, as a read-only view. Needs INSTANCE."""
        start, n = self.__slot_place(state, "get_q_err_weights", "q_err")
        return state.q_err_weights[start : start + n]

    def get_u_err_weights(self, state: State) -> Array:
        """Its part of `State.u_err_weights`, as a read-only view. Needs INSTANCE."""
        start, n = self.__slot_place(state, "get_u_err_weights", "u_err")
        return state.u_err_weights[start : start + n]

    def __slot_place(self, state: State, asked: str, name: str | int) -> tuple[int, int]:
        index = index_in(self, state, asked)
        return state.slots(asked).slot_places[name][index]

    def __slots(self, state: State, asked: str, name: str | int, needed: Stage | None = None) -> Array:
        """A subsystem's slots: writable, or read-only where *needed* is given and has been reached."""
        start, n = self.__slot_place(state, asked, name)
        whole = state.slots(asked).slots[name]
        if needed is None:
            return whole[start : start + n]
        if state.stage_number < needed:
            state.refuse(asked, needed)
        if isinstance(name, str):
            state.write_matters_own(name)
        view = whole[start : start + n]
        view.flags.writeable = False
        return view
