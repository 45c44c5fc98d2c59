"""Actuators: `force.Actuator` each, through what they act on.

| transmission | becomes |
| --- | --- |
| joint, jointinparent: hinge or slide | `transmission.Coordinates` |
| the same: ball | `transmission.RelativePose` of the joint's frames |
| the same: free | `transmission.BodyWrench` |
| tendon | the tendon's, times the gear |
| site | `transmission.BodyWrench`; with a reference site `transmission.RelativePose` |
| slidercrank | `transmission.SliderCrank` |

Muscles are of `muscles`; adhesion, DC motors, PID controllers, three-way servos, delays, users' laws and plugins are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import force
from ...algebra.arrays import Array, ArrayLike
from ...errors import ModelError
from ...force import transmission
from ...state.of_each import Present, Rows, of_each
from ...state.state import State
from ...value import rows
from ...value.checks import shaped
from ...value.stage import Stage
from ..model import Model
from .bodies import BALL, FREE, Tree
from .muscles import MuscleActuator
from .sites import Placed
from .source import Source, listed, plural
from .tendons import Tendons

#: What an actuator becomes.
Element = force.Actuator | MuscleActuator
Range = tuple[float, float]


def _controls_of_each(controls: Any, template: State, values: Any, present: Present) -> Rows | None:
    array = rows.as_array(values)
    if array is None or array.shape[1:] != (controls.num_controls,) or not np.isfinite(array).all():
        return None
    controls.get_controls(template)  # refuses a state of another system
    places, numbers = controls.places_of_numbers()
    return Rows([("force_numbers", numbers, array[:, places, None])], Stage.DYNAMICS)


class Controls:
    """All controls of a file at once, in MuJoCo's order: ``model.data["controls"]``.

    ``set_controls(state, ctrl)`` is MuJoCo's ``data.ctrl[:] = ctrl``; controls of actuators that are not simulated are kept
    nowhere.
    """

    def __init__(self, places: Sequence[int], elements: Sequence[Element], count: int) -> None:
        self._places, self._elements = np.array(places, int), list(elements)
        self.num_controls = count

    def places_of_numbers(self) -> tuple[Array, Array]:
        """The controls that are simulated, and their places among the numbers of forces."""
        return self._places, np.array([element.span[2] for element in self._elements], int)

    @of_each(_controls_of_each)
    def set_controls(self, state: State, ctrl: ArrayLike) -> None:
        """Set all controls ``(nu,)`` in a state, which falls to VELOCITY at most. Needs MODEL."""
        values = shaped("ctrl", ctrl, (self.num_controls,))
        if self._elements:
            self._elements[0].get_control(state)  # refuses a state of another system
            places, numbers = self.places_of_numbers()
            state.own_numbers()[numbers] = values[places]

    def get_controls(self, state: State) -> Array:
        """All controls ``(nu,)``; zero of actuators that are not simulated. Needs MODEL."""
        ctrl = np.zeros(self.num_controls)
        for place, element in zip(self._places.tolist(), self._elements, strict=True):
            ctrl[place] = element.get_control(state)
        return ctrl


class Actuators:
    """Makes the actuators of a file."""

    def __init__(self, source: Source, tree: Tree, sites: list[Placed], tendons: Tendons, model: Model) -> None:
        self.source, self.tree, self.sites, self.tendons, self.model = source, tree, sites, tendons, model
        self.activations: list[tuple[int, Element]] = []
        m = source.m
        places: list[int] = []
        elements: list[Element] = []
        for a in range(m.nactuator):
            name = source.actuators[a]
            why = self.why_not(a)
            if why is not None:
                if source.strict:
                    raise ModelError(f"{source.path}: actuator {name!r} is not simulated: {why}; strict=False loads the rest")
                source.lose(f"actuator {name!r} is not simulated: {why}", "actuators, which do not act")
                kept = {field: np.array(getattr(m, f"actuator_{field}")[a]) for field in _KEPT}
                model.data.setdefault("actuators", {})[name] = kept
                continue
            element = self.make(a, name)
            model.actuators[name] = element
            if isinstance(element, MuscleActuator):
                model.muscles[name] = element
            places.append(int(m.actuator_ctrladr[a]))
            elements.append(element)
            if element.num_z:
                self.activations.append((int(m.actuator_actadr[a]), element))
        model.data["controls"] = Controls(places, elements, int(m.nu))
        self.report_limits()

    def report_limits(self) -> None:
        """Limits of the sum of all actuators' forces on a joint that no single actuator's limit stands for."""
        m, trn = self.source.m, self.source.mujoco.mjtTrn
        names, shared = [], 0
        of_joints = (int(trn.mjTRN_JOINT), int(trn.mjTRN_JOINTINPARENT))
        elsewhere = any(kind not in of_joints for kind in m.actuator_trntype.tolist())
        for j in np.flatnonzero(np.array(m.jnt_actfrclimited)).tolist():
            if elsewhere or m.jnt_actgravcomp[j] or self._count(j, True) > 1:
                names.append(self.source.joints[j])
                shared += self._count(j, True) > 1
        line = (
            f"actuatorfrcrange of {plural(len(names), 'joint')} {listed(names)}: limits the actuator of a joint "
            "that has one alone, not the sum with gravity compensation and actuators of tendons and sites"
        )
        if shared:
            self.source.lose(line, "joints whose several actuators are limited together", shared)
        elif names:
            self.source.depart(line)

    def _count(self, target: int, on_joint: bool) -> int:
        """Number of actuators that a joint or a tendon has of its own."""
        m, trn = self.source.m, self.source.mujoco.mjtTrn
        kinds = (trn.mjTRN_JOINT, trn.mjTRN_JOINTINPARENT) if on_joint else (trn.mjTRN_TENDON,)
        chosen = [int(kind) for kind in kinds]
        return sum(m.actuator_trnid[a, 0] == target and int(m.actuator_trntype[a]) in chosen for a in range(m.nactuator))

    def out(self, field: str, a: int) -> Any:
        """The transmission of an actuator."""
        m = self.source.m
        return np.array(getattr(m, f"actuator_{field}")[m.actuator_outadr[a]])

    def target(self, a: int) -> str:
        """The name of the joint or tendon it acts on."""
        m, trn = self.source.m, self.source.mujoco.mjtTrn
        names = self.source.tendons if m.actuator_trntype[a] == trn.mjTRN_TENDON else self.source.joints
        number = int(m.actuator_trnid[a, 0])
        return names[number] if number < len(names) else ""

    def why_not(self, a: int) -> str | None:
        """Why it cannot be simulated; None if it can."""
        m, mj = self.source.m, self.source.mujoco
        gain, bias, dynamics, trn = m.actuator_gaintype[a], m.actuator_biastype[a], m.actuator_dyntype[a], m.actuator_trntype[a]
        if m.actuator_plugin[a] >= 0:
            return "it is a plugin's"
        is_muscle = gain == mj.mjtGain.mjGAIN_MUSCLE
        if is_muscle != (dynamics == mj.mjtDyn.mjDYN_MUSCLE) or (bias == mj.mjtBias.mjBIAS_MUSCLE and not is_muscle):
            return "it is a muscle in part"
        if trn == mj.mjtTrn.mjTRN_BODY:
            return "it is adhesion"
        known = {
            "gain": ("FIXED", "AFFINE"),
            "bias": ("NONE", "AFFINE"),
            "dyn": ("NONE", "INTEGRATOR", "FILTER", "FILTEREXACT"),
        }
        if is_muscle:
            known = {"gain": ("MUSCLE",), "bias": ("NONE", "MUSCLE"), "dyn": ("MUSCLE",)}
        for what, own in (("gain", gain), ("bias", bias), ("dyn", dynamics)):
            kinds = getattr(mj, f"mjt{what.capitalize()}")
            if own not in [int(getattr(kinds, f"mj{what.upper()}_{one}")) for one in known[what]]:
                return f"its {what}type is {str(kinds(int(own))).rpartition('_')[2].lower()}"
        if trn not in (int(getattr(mj.mjtTrn, f"mjTRN_{one}")) for one in _TRANSMISSIONS):
            return "its transmission is not known"
        if m.actuator_outnum[a] != 1 or m.actuator_ctrlnum[a] != 1:
            return "it has several controls or outputs"
        return None

    def through(self, a: int) -> transmission.Transmission:
        """Its transmission."""
        m, trn, forces = self.source.m, self.source.mujoco.mjtTrn, self.model.forces
        kind, (one, other), gear = int(m.actuator_trntype[a]), m.actuator_trnid[a].tolist(), self.out("gear", a)
        if kind == trn.mjTRN_TENDON:
            return self.tendons.path(one, float(gear[0]))
        if kind == trn.mjTRN_SLIDERCRANK:
            (crank, X), (slider, Y) = self.sites[one], self.sites[other]
            rod = float(m.actuator_cranklength[a])
            return transmission.SliderCrank(forces, crank, slider, X, Y, rod_length=rod, ratio=float(gear[0]))
        if kind == trn.mjTRN_SITE:
            body, X = self.sites[one]
            if other < 0:
                return transmission.BodyWrench(forces, body, X, force=gear[:3], torque=gear[3:])
            reference, Y = self.sites[other]
            return transmission.RelativePose(forces, body, reference, X, Y, translation=gear[:3], rotation=gear[3:])
        joint = self.tree.joints[one]
        in_parent, mobod = kind == trn.mjTRN_JOINTINPARENT, joint.mobod
        if joint.kind == FREE:
            return transmission.BodyWrench(
                forces, mobod, force=gear[:3], torque=gear[3:], force_in_ground=True, torque_in_ground=in_parent
            )
        if joint.kind == BALL:
            M, F = mobod.get_default_outboard_frame(), mobod.get_default_inboard_frame()
            parent = mobod.get_parent_mobilized_body()
            return transmission.RelativePose(forces, mobod, parent, M, F, rotation=gear[:3], rotation_in_frame=not in_parent)
        return transmission.Coordinates(forces, [(mobod, 0, 1.0)], ratio=float(gear[0]))

    def make(self, a: int, name: str) -> Element:
        """The element."""
        m, mj, note = self.source.m, self.source.mujoco, self.source.note
        affine_gain = m.actuator_gaintype[a] == mj.mjtGain.mjGAIN_AFFINE
        gain = np.array(m.actuator_gainprm[a, :3]) if affine_gain else np.array([m.actuator_gainprm[a, 0], 0.0, 0.0])
        has_bias = m.actuator_biastype[a] == mj.mjtBias.mjBIAS_AFFINE
        bias = np.array(m.actuator_biasprm[a, :3]) if has_bias else np.zeros(3)
        dyn = int(m.actuator_dyntype[a])
        dynamics = None if dyn == mj.mjtDyn.mjDYN_NONE else "integrator" if dyn == mj.mjtDyn.mjDYN_INTEGRATOR else "filter"
        clamped = m.actuator_ctrllimited[m.actuator_ctrladr[a]] and not self.source.disabled("CLAMPCTRL")
        if m.actuator_delay[a]:
            line = f"actuator {name!r}: its delay of {m.actuator_delay[a]:g} is left out"
            self.source.lose(line, "actuators' delays")
        if m.actuator_actearly[a]:
            self.source.depart(f"actuator {name!r}: actearly is left out, which is about MuJoCo's steps")
        off = self.source.disabled("ACTUATION") or (
            0 <= m.actuator_group[a] < 31 and bool(m.opt.disableactuator & (1 << int(m.actuator_group[a])))
        )
        if off:
            rests = "" if dynamics is None else ", and its activation rests till then"
            note(f"actuator {name!r}: switched off in the file; enable(state) switches it on{rests}")
        own = self.source.m.actuator_ctrlrange[m.actuator_ctrladr[a]]
        force_range, applied_range = self.ranges(a, name)
        if m.actuator_gaintype[a] == mj.mjtGain.mjGAIN_MUSCLE:
            low, high = _bounds(m.actuator_actrange[a], m.actuator_actlimited[a])
            if low > 0.0 or high < 1.0:  # within which its activation is by itself
                line = f"actuator {name!r}: the range of its activation, {low:g} to {high:g}, is left out"
                self.source.lose(line, "muscles whose activation has a range")
            return self.make_muscle(a, name, _bounds(own, clamped), force_range, applied_range, off)
        return force.Actuator(
            self.model.forces,
            self.through(a),
            gain=gain,
            bias=bias,
            control_range=_bounds(own, clamped),
            force_range=force_range,
            applied_range=applied_range,
            dynamics=dynamics,
            time_constant=max(float(m.actuator_dynprm[a, 0]), 1e-15) if dynamics == "filter" else 1.0,
            activation_range=_bounds(m.actuator_actrange[a], m.actuator_actlimited[a]),
            period=self.period(a, gain, bias, affine_gain, has_bias, dynamics),
            disabled_by_default=off,
            name=name,
        )

    def make_muscle(
        self, a: int, name: str, control_range: Range, force_range: Range, applied_range: Range, off: bool
    ) -> MuscleActuator:
        """The element of a muscle; without a bias of muscles nothing pulls passively."""
        m, mj = self.source.m, self.source.mujoco
        bias = np.array(m.actuator_biasprm[a, :9])
        if m.actuator_biastype[a] != mj.mjtBias.mjBIAS_MUSCLE:
            bias = np.array([0.75, 1.05, 0.0, 0.0, 0.5, 1.6, 1.5, 0.0, 1.2])
        return MuscleActuator(
            self.model.forces,
            self.through(a),
            np.array(m.actuator_gainprm[a, :9]),
            bias,
            self.out("lengthrange", a),
            float(np.ravel(self.out("acc0", a))[0]),
            np.array(m.actuator_dynprm[a, :3]),
            control_range=control_range,
            force_range=force_range,
            applied_range=applied_range,
            disabled_by_default=off,
            name=name,
        )

    def period(self, a: int, gain: Array, bias: Array, affine: bool, biased: bool, dynamics: str | None) -> float | None:
        """Of a servo on an angle of three dimensions: the set-point that is nearest to it counts."""
        m, trn = self.source.m, self.source.mujoco.mjtTrn
        if affine or not biased or gain[0] != -bias[1] or dynamics == "filter" or not gain[0]:
            return None
        kind, (one, other), gear = int(m.actuator_trntype[a]), m.actuator_trnid[a].tolist(), self.out("gear", a)
        size = 0.0
        if kind == trn.mjTRN_SITE and other >= 0 and not gear[:3].any():
            size = float(np.linalg.norm(gear[3:]))
        elif kind in (trn.mjTRN_JOINT, trn.mjTRN_JOINTINPARENT) and self.tree.joints[one].kind == BALL:
            size = float(np.linalg.norm(gear[:3]))
        return 2.0 * np.pi * size or None

    def ranges(self, a: int, name: str) -> tuple[Range, Range]:
        """Of the force, and of what acts.

        A joint's limit is of what acts, a tendon's of the force, within the actuator's own; either counts where no other
        actuator shares it.
        """
        m, trn = self.source.m, self.source.mujoco.mjtTrn
        force_range = _bounds(m.actuator_forcerange[a], m.actuator_forcelimited[a])
        applied = _bounds((), False)
        kind, target, gear = int(m.actuator_trntype[a]), int(m.actuator_trnid[a, 0]), float(self.out("gear", a)[0])
        if kind == trn.mjTRN_TENDON and m.tendon_actfrclimited[target]:
            if self._count(target, False) == 1:
                low, high = np.clip(m.tendon_actfrcrange[target], *force_range).tolist()
                force_range = low, high
            else:
                line = f"actuator {name!r}: the limit of the sum of all actuators' forces on its tendon is left out"
                self.source.lose(line, "actuators of tendons whose forces are limited together")
        elif kind in (trn.mjTRN_JOINT, trn.mjTRN_JOINTINPARENT) and self.tree.joints[target].kind not in (FREE, BALL):
            if m.jnt_actfrclimited[target] and gear and self._count(target, True) == 1:
                low, high = sorted(float(bound) / gear for bound in m.jnt_actfrcrange[target])
                applied = low, high
        return force_range, applied


def _bounds(pair: Any, limited: Any) -> Range:
    return (float(pair[0]), float(pair[1])) if limited else (-np.inf, np.inf)


_TRANSMISSIONS = ("JOINT", "JOINTINPARENT", "SLIDERCRANK", "TENDON", "SITE")
#: What is kept of an actuator that is not simulated.
_KEPT = ("trntype", "dyntype", "gaintype", "biastype", "trnid", "dynprm", "gainprm", "biasprm", "forcerange")
