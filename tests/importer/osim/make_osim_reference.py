"""Write osim_reference.json: what OpenSim's wheel says of the models in osim_cases, at random states. Run it by hand."""

import json
import pathlib
import sys
import tempfile

import numpy as np
from osim_cases import CASES, EFFORTS

HERE = pathlib.Path(__file__).parent
STATES = 2


def measure(text, seed=3):
    """Poses, velocities, M, what is missing for an acceleration, and udot, at random states; by names."""
    import opensim

    opensim.Logger.setLevelString("Off")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "case.osim"
        path.write_text(text)
        model = opensim.Model(str(path))
        state = model.initSystem()
        return _measured(opensim, model, state, np.random.default_rng(seed))


def _measured(opensim, model, state, rng):
    coordinates = [model.getCoordinateSet().get(k) for k in range(model.getCoordinateSet().getSize())]
    names = [one.getName() for one in coordinates]
    bodies = [model.getBodySet().get(k) for k in range(model.getBodySet().getSize())]
    matter = model.getMatterSubsystem()
    angles = [one.getName() for one in coordinates if one.getMotionType() == 1]
    forces = model.getForceSet()
    for k in range(forces.getSize()):
        actuator = opensim.ScalarActuator.safeDownCast(forces.get(k))
        if actuator is not None:
            actuator.overrideActuation(state, True)
            actuator.setOverrideActuation(state, EFFORTS[actuator.getName()])
    places, probe = {}, opensim.State(state)
    for one in coordinates:
        for other in coordinates:
            other.setSpeedValue(probe, 0.0)
        one.setSpeedValue(probe, 1.0)
        places[one.getName()] = int(np.argmax(np.abs(probe.getU().to_numpy())))
    order = [places[name] for name in names]
    found = {"names": names, "angles": angles, "states": []}
    for _ in range(STATES):
        for one in coordinates:
            one.setValue(state, one.getDefaultValue() + rng.uniform(-0.8, 0.8), False)
        state.setTime(0.3)
        if state.getNQErr():
            model.assemble(state)
        for one in coordinates:
            one.setSpeedValue(state, rng.normal())
        model.realizeVelocity(state)
        if state.getNUErr():
            G = opensim.Matrix()
            matter.calcG(state, G)
            G, u = G.to_numpy(), state.getU().to_numpy()
            state.setU(opensim.Vector.createFromMat(u - np.linalg.pinv(G) @ (G @ u)))
        model.realizeAcceleration(state)
        M = opensim.Matrix()
        matter.calcM(state, M)
        udot = rng.normal(size=len(names))
        whole = np.zeros(state.getNU())
        whole[order] = udot
        missing = opensim.InverseDynamicsSolver(model).solve(state, opensim.Vector.createFromMat(whole)).to_numpy()[order]
        poses = {}
        for one in bodies:
            X, V = one.getTransformInGround(state), one.getVelocityInGround(state)
            R = [[X.R().get(i, j) for j in range(3)] for i in range(3)]
            poses[one.getName()] = [R, X.p().to_numpy().tolist(), V.get(0).to_numpy().tolist(), V.get(1).to_numpy().tolist()]
        markers = model.getMarkerSet()
        found["states"].append(
            {
                "q": [one.getValue(state) for one in coordinates],
                "u": [one.getSpeedValue(state) for one in coordinates],
                "poses": poses,
                "markers": {
                    markers.get(k).getName(): markers.get(k).getLocationInGround(state).to_numpy().tolist()
                    for k in range(markers.getSize())
                },
                "M": M.to_numpy()[np.ix_(order, order)].tolist(),
                "udot": udot.tolist(),
                "missing": missing.tolist(),
                "accelerations": state.getUDot().to_numpy()[order].tolist(),
            }
        )
    return found


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    measured = {name: measure(text) for name, text in CASES.items()}
    short = json.loads(json.dumps(measured), parse_float=lambda text: float(f"{float(text):.13g}"))
    (HERE / "osim_reference.json").write_text(json.dumps(short, separators=(",", ":")) + "\n")
