"""Rotor inertia: what the diagonal of the mass matrix has besides the bodies'. Every `MobilizedBody` has these methods.

    M = J^T M_B J + diag(R)        R_i = G^2 I of a rotor of inertia I about its axis, geared to turn at G u_i

It is the armature of MuJoCo and of Pinocchio, and the rotor and gear ratio of URDF's transmissions. What it leaves out, for
gears of high ratio, is small: the rotor's gyroscopic torques, and what couples its spin to the turning of the body it sits on,
G I to G^2 I (Featherstone 2008, section 9.6; Murphy, Wen and Saridis 1990).
"""

from __future__ import annotations

import math
from typing import Any, Self

from ..algebra.arrays import Array, ArrayLike
from ..errors import ModelError
from ..state.of_each import Present, Rows, of_each
from ..state.state import State
from ..value import checks, rows
from .inertia import HasInertia

#: The least rotor that is one.
_SMALLEST = math.ulp(0.0)


def _rotors_of_each(body: Any, template: State, values: Any, present: Present) -> Rows | None:
    """Rotor inertias ``(n, nu)``, or ``(n,)`` of one mobility."""
    part, array = body.u_slice(template, "set_rotor_inertia"), rows.as_array(values)
    count = part.stop - part.start
    if array is None or array.shape[1:] not in ((count,), () if count == 1 else (count,)) or rows.not_negative(array) is None:
        return None
    rotors = array.reshape(len(array), count)
    return Rows([("rotor_inertia", part, rotors[:, :, None])], typical=rotors.max(axis=0))


class HasRotorInertia(HasInertia):
    """The part of `MobilizedBody` that gives and changes the rotor inertia of its mobilities."""

    #: Those of a default state, ``(nu,)``.
    default_rotors: Array

    def get_default_rotor_inertia(self) -> Any:
        """The rotor inertia of each mobility where no state says otherwise; zero unless set.

        A float for kinds with one speed, else ``(nu,)``; see `set_rotor_inertia` for units and meaning.
        """
        return self._one_or_all(self.default_rotors)

    def set_default_rotor_inertia(self, value: ArrayLike) -> Self:
        """Change the rotor inertia of each mobility in a default state: a topological change. Returns the mobilized body.

        Parameters
        ----------
        value : float or (nu,) array_like
            Finite, not negative; a float for one mobility. See `set_rotor_inertia`.

        Raises
        ------
        ValueError
            If there are not `nu` numbers.
        TypeError
            If they are not real numbers.
        ModelError
            If one is not finite, or negative.
        """
        self.default_rotors = self._checked_rotors(value)
        self.instance_changed()
        return self

    def get_rotor_inertia(self, state: State) -> Any:
        """The rotor inertia of each mobility in this state: a float for kinds with one, else ``(nu,)``. Needs MODEL."""
        part = self.u_slice(state, "get_rotor_inertia")
        return self._one_or_all(state.field("rotor_inertia")[part, 0])

    @of_each(_rotors_of_each)
    def set_rotor_inertia(self, state: State, value: ArrayLike) -> None:
        """Change the rotor inertia of each mobility in this state alone, which falls to MODEL at most; the default stays.

        It is added to the diagonal of the mass matrix: the reflected inertia of a motor's rotor, its inertia about its axis
        times the square of the gear ratio. MuJoCo and Pinocchio call it armature.

        Parameters
        ----------
        state : State
            At MODEL or above.
        value : float or (nu,) array_like
            For each speed u, finite and not negative; a float for one mobility. Force per udot: mass*length^2 where u is an
            angle's rate, mass where it is a velocity.

        Raises
        ------
        ValueError
            If there are not `nu` numbers.
        TypeError
            If they are not real numbers.
        ModelError
            If one is not finite, or negative.
        StageError
            If the state is below MODEL.

        Notes
        -----
        It counts wherever the mass matrix does: in accelerations, inverse dynamics, forces of constraints and of prescribed
        motions, impacts, kinetic energy. Bodies without mass may have it. It is no body's: momentum of the system
        does not have the rotors' spin, as in MuJoCo, and reactions are those on the bodies, whose part along a mobility is the
        applied force less rotor inertia times udot. Mobilizers that are eliminated as a block without it (`Ball`, `Free` and
        other kinds that turn in every way) take up to half as long again with it.
        """
        without, n = state.own_fields.get("rotorless"), self.facts.num_u
        shape = () if n == 1 and isinstance(value, (float, int)) else (n,)
        if without is not None and not without[self.index]:  # how it moves stays as it is
            first = state.tree.first_u[self.index]
            if state.put_own(self.matter.token, "rotor_inertia", value, first, shape, _SMALLEST):
                state.invalidate_instance()
                return
        part = self.u_slice(state, "set_rotor_inertia")
        rotors = self._checked_rotors(value)
        state.own_field("rotor_inertia")[part, 0] = rotors
        state.leave_out("rotorless", self.index, not rotors.any())
        state.settle_motion(self)

    def _checked_rotors(self, value: ArrayLike) -> Array:
        n, what = self.facts.num_u, f"rotor inertia of {self._name!r}"
        given = checks.numbers(what, value)
        if given.shape != (n,) and not (n == 1 and given.shape == ()):
            raise ValueError(f"{what} takes {n} numbers, one a mobility, got shape {given.shape}")
        rotors = checks.array(what, given.reshape(n), (n,))
        if (rotors < 0.0).any():
            raise ModelError(f"{what} has to be zero or more, got {checks.shown(value)}")
        return rotors
