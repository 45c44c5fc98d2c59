"""Muscles: what each kind of OpenSim's becomes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ... import muscle
from ...force.subsystem import GeneralForceSubsystem
from ...force.transmission import Transmission
from .building import Building
from .document import Item
from .functions import make_function

#: Parameters of every kind, which have the same names here.
_SHARED = (
    "max_isometric_force",
    "optimal_fiber_length",
    "tendon_slack_length",
    "pennation_angle_at_optimal",
    "max_contraction_velocity",
)
#: Times of activation, where the kind has these.
_ACTIVATION = ("activation_time_constant", "deactivation_time_constant", "minimum_activation")
#: What Thelen's muscle calls its parameters.
_OF_THELEN = {
    "FmaxTendonStrain": "tendon_strain_at_max_isometric_force",
    "FmaxMuscleStrain": "fiber_strain_at_max_isometric_force",
    "KshapeActive": "active_width",
    "KshapePassive": "passive_stiffness",
    "Af": "force_velocity_shape",
    "Flen": "max_lengthening_force",
    "fv_linear_extrap_threshold": "force_velocity_threshold",
}
_OF_DEGROOTE = (
    "active_force_width_scale",
    "fiber_damping",
    "passive_fiber_strain_at_one_norm_force",
    "tendon_strain_at_one_norm_force",
    "activation_dynamics_smoothing",
    "default_normalized_tendon_force",
)
_KEPT_ONCE = (*_ACTIVATION[:2], "activation_dynamics_smoothing")
_CURVES = {
    "ActiveForceLengthCurve": ("active_force_length", muscle.ActiveForceLengthCurve),
    "FiberForceLengthCurve": ("passive_force_length", muscle.FiberForceLengthCurve),
    "TendonForceLengthCurve": ("tendon_force_length", muscle.TendonForceLengthCurve),
    "ForceVelocityCurve": ("force_velocity", muscle.ForceVelocityCurve),
}
#: OpenSim's default of the fiber's length in a default state, whatever is optimal.
_FIBER = 0.1
#: ... and of the tendon's.
_TENDON = 0.2
#: Kinds whose tendon always stretches.
STRETCHING = ("Thelen2003Muscle", "Schutte1993Muscle_Deprecated", "Schutte1993Muscle")

Maker = Callable[["Building", Item, "GeneralForceSubsystem", "Transmission", dict[str, Any]], "muscle.Muscle"]


def _given(item: Item, names: dict[str, str] | tuple[str, ...]) -> dict[str, Any]:
    """Numbers that the file says, by their names here."""
    own = names if isinstance(names, dict) else {name: name for name in names}
    found: dict[str, Any] = {}
    for tag, name in own.items():
        child = item.find(tag)
        if child is not None and child.words:
            found[name] = float(child.numbers(1)[0])
    return found


def _flags(item: Item, *names: str) -> dict[str, Any]:
    return {name: item.flag(name, False) for name in names}


def _curve(item: Item, kind: Any) -> Any:
    """A curve, whose numbers have the same names."""
    own = item.find(kind.__name__)
    if own is None:
        return None
    own.is_read = True
    return kind(**_given(own, tuple(inspect.signature(kind).parameters)))


def has_no_tendon(item: Item) -> bool:
    """True if the tendon has no length: it is rigid then, the limit of ever shorter tendons, of ever greater stiffness."""
    return item.number("tendon_slack_length", _TENDON) == 0.0


def _tendon_flags(build: Building, item: Item, *names: str) -> dict[str, Any]:
    """Flags of those names, and whether the tendon is rigid."""
    found = {"ignore_tendon_compliance": item.flag("ignore_tendon_compliance", False)} | _flags(item, *names)
    if has_no_tendon(item) and not found["ignore_tendon_compliance"]:
        found["ignore_tendon_compliance"] = True
        build.report.depart(
            item.note(f"{item.tag} {item.name!r} has a tendon of no length, which is rigid here; OpenSim divides by zero")
        )
    return found


def _millard(build: Building, item: Item, forces: Any, path: Transmission, options: dict[str, Any]) -> muscle.Muscle:
    own = _given(item, (*_SHARED, *_ACTIVATION, "fiber_damping", "default_activation"))
    curves = {name: _curve(item, kind) for name, kind in _CURVES.values()}
    fiber = item.number("default_fiber_length", _FIBER)
    flags = _tendon_flags(build, item, "ignore_activation_dynamics")
    return muscle.Millard2012Equilibrium(forces, path, **own, **curves, **flags, default_fiber_length=fiber, **options)


def _thelen(build: Building, item: Item, forces: Any, path: Transmission, options: dict[str, Any]) -> muscle.Muscle:
    own = _given(item, {**{name: name for name in (*_SHARED, *_ACTIVATION, "default_activation")}, **_OF_THELEN})
    for name in ("ignore_tendon_compliance", "ignore_activation_dynamics"):
        if item.flag(name, False):
            build.report.depart(item.note(f"<{name}> of {item.tag} {item.name!r} is not taken up: its tendon stretches"))
    return muscle.Thelen2003(forces, path, **own, default_fiber_length=item.number("default_fiber_length", _FIBER), **options)


def _degroote(build: Building, item: Item, forces: Any, path: Transmission, options: dict[str, Any]) -> muscle.Muscle:
    own = _given(item, (*_SHARED, *_ACTIVATION[:2], *_OF_DEGROOTE, "default_activation"))
    kept = {name: own[name] for name in _KEPT_ONCE if name in own}  # by OpenSim once for the whole process
    first = build.of_the_first.setdefault(item.tag, kept)
    if build.as_opensim:
        own = {name: value for name, value in own.items() if name not in _KEPT_ONCE} | first
    elif kept != first:
        build.report.append(
            item.note(f"{item.tag} {item.name!r} has time constants of its own; OpenSim gives it those of the first muscle")
        )
    flags = _tendon_flags(build, item, "ignore_activation_dynamics", "ignore_passive_fiber_force")
    if item.text("tendon_compliance_dynamics_mode", "explicit") == "implicit" and not flags["ignore_tendon_compliance"]:
        build.report.append(
            item.note(f"{item.tag} {item.name!r}: its tendon's force follows by the explicit form, not as a control")
        )
    for tag in ("default_fiber_length", "minimum_activation"):
        item.find(tag)
    return muscle.DeGrooteFregly2016(forces, path, **own, **flags, **options)


_SPLINES = {
    "active_force_length_curve": "active_force_length",
    "passive_force_length_curve": "passive_force_length",
    "force_velocity_curve": "force_velocity",
    "tendon_force_length_curve": "tendon_force_strain",
}


def _splines(item: Item, *tags: str) -> dict[str, Any]:
    """Curves of the older kinds, which are functions."""
    found = {}
    for tag in tags:
        one = item.one_object(tag)
        if one is not None:
            found[_SPLINES[tag]] = make_function(one)
    return found


def _rigid(build: Building, item: Item, forces: Any, path: Transmission, options: dict[str, Any]) -> muscle.Muscle:
    curves = _splines(item, "active_force_length_curve", "passive_force_length_curve", "force_velocity_curve")
    _flags(item, "ignore_tendon_compliance", "ignore_activation_dynamics")
    return muscle.RigidTendon(forces, path, **_given(item, _SHARED), **curves, **options)


def _schutte(build: Building, item: Item, forces: Any, path: Transmission, options: dict[str, Any]) -> muscle.Muscle:
    names = {name: name for name in (*_SHARED, "time_scale", "damping", "default_activation", "default_fiber_length")}
    own = _given(item, {**names, "activation1": "activation_rise", "activation2": "activation_fall"})
    if own.get("max_contraction_velocity") == 0.0:  # which this kind does not use, and some files have
        del own["max_contraction_velocity"]
    curves = _splines(item, "active_force_length_curve", "passive_force_length_curve", "tendon_force_length_curve")
    _flags(item, "ignore_tendon_compliance", "ignore_activation_dynamics")
    return muscle.Schutte1993(forces, path, **own, **curves, **options)


#: What each kind becomes.
KINDS: dict[str, Maker] = {
    "Millard2012EquilibriumMuscle": _millard,
    "Thelen2003Muscle": _thelen,
    "DeGrooteFregly2016Muscle": _degroote,
    "RigidTendonMuscle": _rigid,
    "Schutte1993Muscle_Deprecated": _schutte,
    "Schutte1993Muscle": _schutte,
}
