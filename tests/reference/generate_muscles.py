"""Writes muscles.json: what OpenSim's muscles give at random states, from its wheel (`pip install opensim`, 4.6).

A muscle pulls a weight along a slider. DeGrooteFregly2016Muscle's time constants are those of the first muscle of a process,
in static variables of its function: each of its cases has the same.
"""

import json
from pathlib import Path

import numpy as np
import opensim as osim

rng = np.random.default_rng(20261124)


def muscle_in_model(muscle, length, speed):
    model = osim.Model()
    body = osim.Body("weight", 1.0, osim.Vec3(0), osim.Inertia(1, 1, 1))
    joint = osim.SliderJoint("slider", model.getGround(), body)
    joint.updCoordinate().setName("x")
    model.addBody(body)
    model.addJoint(joint)
    muscle.addNewPathPoint("a", model.getGround(), osim.Vec3(0))
    muscle.addNewPathPoint("b", body, osim.Vec3(0))
    model.addForce(muscle)
    state = model.initSystem()
    coordinate = model.getCoordinateSet().get("x")
    coordinate.setValue(state, length, False)
    coordinate.setSpeedValue(state, speed)
    return model, state


def curves(muscle):
    x = np.round(np.sort(rng.uniform(0.2, 2.2, 12)), 4).tolist()
    n = np.round(np.sort(rng.uniform(0.99, 1.08, 12)), 5).tolist()
    v = np.round(np.sort(rng.uniform(-1.2, 1.2, 12)), 4).tolist()
    out = {"fiber": x, "tendon": n, "velocity": v}
    for name, curve, at in (
        ("active_force_length", muscle.getActiveForceLengthCurve(), x),
        ("passive_force_length", muscle.getFiberForceLengthCurve(), x),
        ("tendon_force_length", muscle.getTendonForceLengthCurve(), n),
        ("force_velocity", muscle.getForceVelocityCurve(), v),
    ):
        out[name] = [[curve.calcValue(one), *(curve.calcDerivative(one, k) for k in (1, 2))] for one in at]
    return out


def made(kind):
    """A muscle of a kind; the deprecated ones have no class in Python, and their time constants no accessors."""
    if hasattr(osim, kind):
        return getattr(osim, kind)()
    found = osim.Muscle.safeDownCast(osim.OpenSimObject.newInstanceOfType(kind))
    found.this.disown()
    return found


def case(kind, settings):
    fiso, lopt, lts = rng.uniform(100, 3000), rng.uniform(0.03, 0.15), rng.uniform(0.03, 0.4)
    angle = float(rng.choice([0.0, rng.uniform(0.05, 0.6)]))
    muscle = made(kind)
    muscle.setName("m")
    muscle.setMaxIsometricForce(fiso)
    muscle.setOptimalFiberLength(lopt)
    muscle.setTendonSlackLength(lts)
    muscle.setPennationAngleAtOptimalFiberLength(angle)
    vmax = rng.uniform(5, 15)
    muscle.setMaxContractionVelocity(vmax)
    for name, value in settings.items():
        if hasattr(muscle, f"set_{name}"):
            getattr(muscle, f"set_{name}")(value)
        else:
            osim.PropertyHelper.setValueDouble(value, muscle.updPropertyByName(name))
    normal = rng.uniform(0.5, 1.5)
    fiber = normal * lopt
    cos = np.sqrt(1 - (lopt * np.sin(angle) / fiber) ** 2) if fiber > lopt * np.sin(angle) else 0.3
    rigid = settings.get("ignore_tendon_compliance", False) or kind == "RigidTendonMuscle"
    strain = rng.uniform(-0.005, 0.06)
    length = fiber * cos + lts * (1.0 if rigid else 1.0 + strain)
    if rigid and rng.uniform() < 0.15:
        length = 0.98 * lts + 0.01 * lopt
    speed = rng.uniform(-0.7, 0.7) * vmax * lopt
    activation, excitation = rng.uniform(0.02, 1.0), rng.uniform(0, 1)
    model, state = muscle_in_model(muscle, length, speed)
    muscle = getattr(osim, kind, osim.Muscle).safeDownCast(model.getMuscles().get(0))
    given = {"length": length, "speed": speed, "excitation": excitation}
    if not settings.get("ignore_activation_dynamics", False) and kind != "RigidTendonMuscle":
        model.setStateVariableValue(state, "/forceset/m/activation", activation)
        given["activation"] = activation
    if not rigid:
        if kind == "DeGrooteFregly2016Muscle":
            force = rng.uniform(0.01, 1.5)
            muscle.setNormalizedTendonForce(state, force)
            given["normalized_tendon_force"] = force
        else:
            model.setStateVariableValue(state, "/forceset/m/fiber_length", fiber)
            given["fiber_length"] = fiber
    model.realizeVelocity(state)
    model.setControls(state, osim.Vector(1, excitation))
    model.realizeDynamics(state)
    try:
        found = {
            "tendon_force": muscle.getTendonForce(state),
            "fiber_length": muscle.getFiberLength(state),
            "fiber_velocity": muscle.getFiberVelocity(state),
            "pennation_angle": muscle.getPennationAngle(state),
            "active_fiber_force": muscle.getActiveFiberForce(state),
            "passive_fiber_force": muscle.getPassiveFiberForce(state),
        }
        model.realizeAcceleration(state)
        rates = {
            name: model.getStateVariableDerivativeValue(state, f"/forceset/m/{name}")
            for name in ("activation", "fiber_length", "normalized_tendon_force")
            if name in given
        }
    except RuntimeError as error:
        print("left out:", str(error)[:100])
        return None
    parameters = {"max_isometric_force": fiso, "optimal_fiber_length": lopt, "tendon_slack_length": lts}
    parameters |= {"pennation_angle_at_optimal": angle, "max_contraction_velocity": vmax}
    return {"kind": kind, "settings": settings, "parameters": parameters, "given": given, "found": found, "rates": rates}


def main():
    out = {"opensim": osim.GetVersion(), "curves": {}, "cases": []}
    muscle = osim.Millard2012EquilibriumMuscle("m", 1000.0, 0.1, 0.2, 0.0)
    muscle.finalizeFromProperties()
    out["curves"]["damped"] = curves(muscle)
    muscle.set_fiber_damping(0.0)
    muscle.finalizeFromProperties()
    out["curves"]["undamped"] = curves(muscle)
    millard = [
        {},
        {"fiber_damping": 0.01},
        {"fiber_damping": 0.0},
        {"ignore_tendon_compliance": True},
        {"ignore_tendon_compliance": True, "ignore_activation_dynamics": True, "fiber_damping": 0.0},
        {"ignore_activation_dynamics": True, "activation_time_constant": 0.02},
    ]
    thelen = [{}, {"Af": 0.3, "Flen": 1.8, "FmaxTendonStrain": 0.033}]
    fregly = [{"tendon_compliance_dynamics_mode": "explicit"}, {"ignore_tendon_compliance": True}]
    for kind, all_settings in (
        ("Millard2012EquilibriumMuscle", millard),
        ("Thelen2003Muscle", thelen),
        ("DeGrooteFregly2016Muscle", fregly),
        ("RigidTendonMuscle", [{}, {}]),
        ("Schutte1993Muscle_Deprecated", [{}, {"damping": 0.05, "time_scale": 0.08, "activation1": 5.0, "activation2": 2.0}]),
    ):
        for settings in all_settings:
            out["cases"] += [found for found in (case(kind, settings) for _ in range(8)) if found]
    Path(__file__).with_name("muscles.json").write_text(json.dumps(out, separators=(",", ":")))
    print(len(out["cases"]), "cases")


main()
