"""States in MuJoCo's numbers and back.

| joint | qpos | q | qvel | u |
| --- | --- | --- | --- | --- |
| hinge, slide | x | x | x_dot | x_dot |
| ball | quaternion | quaternion | w in the body's frame | w in F: R_FM w |
| free | place, quaternion | quaternion, place | v in the world, w in the body's frame | w in the world: R_GB w; then v |

Power is the same, so that forces change as speeds do. R_FM turns about w itself, whence d/dt(R w) = R dw/dt: accelerations
change as speeds do, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...algebra.arrays import Array, ArrayLike
from ...state.state import State
from ...value.checks import shaped
from .bodies import BALL, FREE, Joint
from .source import rotation_of


class Conversion:
    """Takes states, speeds and forces of a model to MuJoCo's arrays and back: ``model.data["mujoco"]``.

    Examples
    --------
    Forward dynamics at MuJoCo's own numbers::

        model = mb.load_mjcf("robot.xml")
        convert = model.data["mujoco"]
        state = convert.make_state(qpos, qvel)
        model.system.realize(state)
        qacc = convert.to_qvel(state.q, state.u_dot)
    """

    def __init__(self, model: Any, joints: Sequence[Joint], activations: Sequence[tuple[int, Any]], nq: int, nv: int) -> None:
        self._model, self._joints = model, list(joints)
        self._activations = list(activations)
        self.num_qpos, self.num_qvel = nq, nv
        qpos, dof = np.zeros(nq, int), np.zeros(nv, int)
        self._turning: list[tuple[int, int]] = []  # where q has a quaternion, and u an angular velocity in F
        for joint in self._joints:
            a, i = joint.qpos, joint.dof
            if joint.kind == FREE:
                qpos[a : a + 7] = joint.q + np.array([4, 5, 6, 0, 1, 2, 3])
                dof[i : i + 6] = joint.u + np.array([3, 4, 5, 0, 1, 2])
            else:
                qpos[a : a + joint.mobod.facts.num_q] = joint.q + np.arange(joint.mobod.facts.num_q)
                dof[i : i + joint.mobod.facts.num_u] = joint.u + np.arange(joint.mobod.facts.num_u)
            if joint.kind in (FREE, BALL):
                self._turning.append((joint.q, joint.u))
        self._qpos, self._dof = qpos, dof

    def to_q(self, qpos: ArrayLike) -> Array:
        """The q of a qpos ``(nq,)``."""
        q = np.empty(self.num_qpos)
        q[self._qpos] = shaped("qpos", qpos, (self.num_qpos,))
        return q

    def to_qpos(self, q: ArrayLike) -> Array:
        """The qpos of a q ``(nq,)``."""
        return np.array(shaped("q", q, (self.num_qpos,)))[self._qpos]

    def to_u(self, q: ArrayLike, qvel: ArrayLike) -> Array:
        """The u of a qvel ``(nv,)`` at a q; likewise the u_dot of a qacc, and the mobility forces of a qfrc."""
        u = np.empty(self.num_qvel)
        u[self._dof] = shaped("qvel", qvel, (self.num_qvel,))
        return self._turn(q, u, False)

    def to_qvel(self, q: ArrayLike, u: ArrayLike) -> Array:
        """The qvel of a u ``(nu,)`` at a q; likewise the qacc of a u_dot, and the qfrc of mobility forces."""
        return self._turn(q, np.array(shaped("u", u, (self.num_qvel,))), True)[self._dof]

    def calc_matrix(self, q: ArrayLike) -> Array:
        """T ``(nu, nv)`` with u = T qvel, an orthogonal matrix: qM = ~T M T."""
        return np.array([self.to_u(q, row) for row in np.eye(self.num_qvel)]).T

    def _turn(self, q: ArrayLike, u: Array, back: bool) -> Array:
        where = shaped("q", q, (self.num_qpos,))
        for first, k in self._turning:
            quaternion = where[first : first + 4]
            R = rotation_of(quaternion / np.linalg.norm(quaternion))
            u[k : k + 3] = (R.T if back else R) @ u[k : k + 3]
        return u

    def make_state(self, qpos: ArrayLike, qvel: ArrayLike | None = None, act: ArrayLike | None = None) -> State:
        """A new state at MuJoCo's numbers, like `Model.default_state`; what is left out is zero."""
        state: State = self._model.default_state()
        q = self.to_q(qpos)
        state.q = q
        if qvel is not None:
            state.u = self.to_u(q, qvel)
        if act is not None:
            values = np.asarray(act, np.float64)
            z = state.upd_z()
            for number, element in self._activations:
                z[element.first_z] = values[number]
        return state

    def get_qpos(self, state: State) -> Array:
        """MuJoCo's qpos of a state."""
        return self.to_qpos(state.q)

    def get_qvel(self, state: State) -> Array:
        """MuJoCo's qvel of a state."""
        return self.to_qvel(state.q, state.u)
