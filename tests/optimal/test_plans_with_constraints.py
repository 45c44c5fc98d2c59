"""Plans whose constraints hold at the ends of all intervals: closed loops, those closed twice, speeds, functions of time."""

import numpy as np
import pytest

import mobod as mb
from mobod.optimal.collocate import SCHEMES
from mobod.optimal.kept import find_rows

ROD = mb.body.Rigid(mb.MassProperties(1.0, (0.5, 0, 0), mb.Inertia(0.01, 0.35, 0.35)))
LEAST = {"end_cost": lambda duration: duration, "max_iterations": 100}


@pytest.fixture(autouse=True)
def with_ipopt():
    pytest.importorskip("casadi", exc_type=ImportError)  # OpenSim in the process rules it out


def four_bar():
    """At rest, its crank to be pushed."""
    system, state = mb.examples.four_bar.build()
    crank = system.matter.bodies["crank"]
    push = mb.force.MobilityDiscreteForce(system.forces, crank, 0)
    q = np.array(state.q)
    state = system.realize_topology()
    state.q = q
    return system, state, crank, push


def missed_at_ends(system, plan):
    """The largest error of positions or velocities at the ends of intervals."""
    found = 0.0
    for one in plan.states[:: len(SCHEMES[plan.statistics["scheme"]].points) - 1]:
        system.realize(one, mb.Stage.VELOCITY)
        found = max(found, np.abs(one.q_err).max(), np.abs(one.u_err).max())
    return found


def replayed(system, plan, push, pieces=8):
    """The state where a run ends under the plan's forces, constant in so many pieces of each interval."""
    scheme, ends = SCHEMES[plan.statistics["scheme"]], plan.statistics["intervals"]
    s, one = len(scheme.points) - 1, plan.states[0]
    at = (np.arange(pieces) + 0.5) / pieces
    for i, length in enumerate(np.diff(ends)):
        for force in scheme.interpolate(plan.quantities["controls"][s * i : s * i + s + 1], at)[:, 0]:
            push.set_mobility_force(one, float(force))
            one = mb.simulate(system, one, length / pieces, accuracy=1e-8).states[-1]
    return one


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_crank_turns_once_in_the_least_time(scheme):
    """Forces at their bounds, all loops closed where intervals end; a run under the forces goes the same way."""
    system, state, crank, push = four_bar()
    end = {"crank.q": state.q[0] + 2 * np.pi, "crank.u": 0.0}
    given = {"end": end, "bounds": {"crank.force": (-20, 20)}, "scheme": scheme, **LEAST}
    plans = [mb.collocate(system, state, (0.1, 5.0), [(crank, 0)], intervals=n, **given) for n in (10, 20)]
    fine = plans[1]
    assert max(missed_at_ends(system, one) for one in plans) < 1e-6
    assert np.isclose(fine.statistics["duration"], 0.5321, atol=5e-4)
    assert fine.statistics["errors"].max() < (0.1 if scheme == "trapezoidal" else 5e-3)
    off = np.abs(replayed(system, fine, push).q - fine.q[-1]).max()
    assert off < (0.1 if scheme == "trapezoidal" else 0.01), "of a turn; it grows along the way, as in all runs"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_corrections_keep_the_order(scheme):
    """Costs of a smooth plan come nearer with more intervals as the scheme says, and each plan is on the loop."""
    system, state, crank, _ = four_bar()
    end = {"crank.q": state.q[0] + 1.0, "crank.u": 0.0}
    given = {"cost": lambda controls: controls[0] ** 2, "end": end, "scheme": scheme, "tolerance": 1e-9}
    costs = []
    for n in (8, 16, 32) if scheme == "trapezoidal" else (4, 8, 16):
        plan = mb.collocate(system, state, 1.0, [(crank, 0)], intervals=n, **given)
        costs.append(plan.statistics["cost"])
        assert missed_at_ends(system, plan) < 1e-8
    change = np.abs(np.diff(costs))
    assert np.log2(change[0] / change[1]) > (1.7 if scheme == "trapezoidal" else 3.0)


def test_redundant_rows_are_left_out():
    """A loop that is closed twice: two of its six equations say all, as the plane's two say nothing."""
    system, state, crank, _ = four_bar()
    given = {"bounds": {"crank.force": (-20, 20)}, "intervals": 8, "scheme": "trapezoidal", **LEAST}
    end = {"crank.q": state.q[0] + 1.5, "crank.u": 0.0}
    plan = mb.collocate(system, state, (0.1, 3.0), [(crank, 0)], end=end, **given)
    lengths = mb.examples.four_bar.COUPLER, mb.examples.four_bar.ROCKER
    stations = [(length, 0, 0) for length in lengths]
    mb.constraint.Ball(system.matter.bodies["coupler"], stations[0], system.matter.bodies["rocker"], stations[1], name="again")
    twice = system.realize_topology()
    twice.q = state.q
    positions, velocities = find_rows(twice)
    assert len(positions) == 2 and np.array_equal(positions, velocities)
    again = mb.collocate(system, twice, (0.1, 3.0), [(crank, 0)], end=end, **given)
    assert missed_at_ends(system, again) < 1e-6
    assert np.isclose(again.statistics["duration"], plan.statistics["duration"], rtol=1e-4)


def test_equations_that_follow_only_while_loops_are_closed_are_told():
    """Three parallel cranks on a bar: five equations of four pins, of which one follows from the others while all are met."""
    system = mb.MultibodySystem("cranks")
    matter, _ = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    cranks = [mb.mobilizer.Pin(matter.ground, ROD, X_PF=mb.Transform((0.4 * k, 0, 0)), name=f"crank {k}") for k in range(3)]
    bar = mb.mobilizer.Pin(cranks[0], ROD, X_PF=mb.Transform((1, 0, 0)), name="bar")
    for k in (1, 2):
        mb.constraint.Ball(bar, (0.4 * k, 0, 0), cranks[k], (1, 0, 0))
    state = system.realize_topology()
    state.q = (1.0, 1.0, 1.0, -1.0)
    given = {"cost": lambda controls: controls[0] ** 2, "intervals": 4, "max_iterations": 1, "end": {"crank 0.q": 1.5}}
    with pytest.raises(mb.ConvergenceError, match=r"of the loops of 'cranks' follow from the others, but only while"):
        mb.collocate(system, state, 0.5, [(cranks[0], 0)], **given)
    system, state, crank, _ = four_bar()
    with pytest.raises(mb.ConvergenceError, match="Begin with a better guess"):
        mb.collocate(system, state, 0.5, [(crank, 0)], **{**given, "end": {"crank.q": state.q[0] + 1.5}})


def test_ends_may_name_what_follows():
    """All speeds at the end, of which one is free; a whole state; what contradicts the loop is told by its name."""
    system, state, crank, _ = four_bar()
    given = {"cost": lambda controls: controls[0] ** 2, "intervals": 6, "scheme": "trapezoidal", "max_iterations": 100}
    end = {"crank.q": state.q[0] + 1.0, "crank.u": 0.0}
    plan = mb.collocate(system, state, 0.8, [(crank, 0)], end=end, **given)
    rest = {**end, "coupler.u": 0.0, "rocker.u": 0.0}
    whole = {**rest, **{f"{name}.q": q for name, q in zip(("crank", "coupler", "rocker"), plan.q[-1], strict=True)}}
    for one in (rest, whole, plan.states[-1]):
        again = mb.collocate(system, state, 0.8, [(crank, 0)], end=one, **given)
        assert np.isclose(again.statistics["cost"], plan.statistics["cost"], rtol=1e-4)
        assert again.statistics["iterations"] < 30
    whole["rocker.q"] += 0.1
    with pytest.raises(mb.ConvergenceError, match=r"a position constraint of 'four-bar' at t = 0\.8 is missed"):
        mb.collocate(system, state, 0.8, [(crank, 0)], end=whole, **given)


def test_speeds_are_kept_and_constraints_that_move():
    """A coordinate that is a function of time, and a speed that couples with it: exact where intervals end."""
    system = mb.MultibodySystem("coupled")
    matter, _ = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    one, two, three = (mb.mobilizer.Pin(matter.ground, ROD, name=name) for name in ("one", "two", "three"))
    mb.constraint.PrescribedMotion(matter, mb.function.Sinusoid(0.5, 2.0, 0.0), one, 0)
    mb.constraint.SpeedCoupler(matter, mb.function.Linear([1.0, -2.0, 0.0]), [one, two], [0, 0])
    state = system.realize_topology()
    state.u = 1.0, 0.5, 0.0
    end = {"three.q": 1.0, "three.u": 0.0}
    given = {"bounds": {"three.force": (-9, 9)}, "scheme": "trapezoidal", "intervals": 6, **LEAST}
    plan = mb.collocate(system, state, (0.2, 3.0), [(three, 0)], end=end, **given)
    assert missed_at_ends(system, plan) < 1e-7
    np.testing.assert_allclose(plan.q[:, 0], 0.5 * np.sin(2 * plan.time), atol=1e-7)
    np.testing.assert_allclose(plan.u[:, 1], 0.5 * np.cos(2 * plan.time), atol=1e-7)


@pytest.mark.parametrize("level", ["position", "velocity"])
def test_what_locks_prescribe_is_not_corrected(level):
    """A four-bar whose coupler has a joint that is locked, or turns steadily: corrections move the others alone."""
    system = mb.MultibodySystem("five-bar")
    matter, _ = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    crank = mb.mobilizer.Pin(matter.ground, ROD, name="crank")
    coupler = mb.mobilizer.Pin(crank, ROD, X_PF=mb.Transform((0.5, 0, 0)), name="coupler")
    wrist = mb.mobilizer.Pin(coupler, ROD, X_PF=mb.Transform((1.0, 0, 0)), name="wrist")
    rocker = mb.mobilizer.Pin(matter.ground, ROD, X_PF=mb.Transform((1.0, 0, 0)), name="rocker")
    mb.constraint.Ball(wrist, (0.5, 0, 0), rocker, (1.2, 0, 0), name="loop")
    state = system.realize_topology()
    state.q, state.u = (1.0, -0.5, -0.3, 1.0), (0.0, 0.0, 0.4 if level == "velocity" else 0.0, 0.0)
    wrist.lock(state, level)
    system.project(state, 1e-12)
    end = {"crank.q": state.q[0] + 1.0, "crank.u": 0.0}
    given = {"cost": lambda controls: controls[0] ** 2, "end": end, "scheme": "trapezoidal", "intervals": 6}
    plan = mb.collocate(system, state, 0.8, [(crank, 0)], **given)
    assert missed_at_ends(system, plan) < 1e-6
    np.testing.assert_allclose(plan.u[:, 2], state.u[2], atol=1e-10, err_msg="as it is prescribed, to rounding")
    if level == "position":
        np.testing.assert_allclose(plan.q[:, 2], state.q[2], atol=1e-10)


def test_what_attitudes_at_an_end_give_is_not_asked_for_again():
    """A ball whose axis keeps an angle: at an end that is an orientation at rest both equations follow from that."""
    from mobod.optimal.kept import Kept
    from mobod.optimal.mesh import Mesh
    from mobod.optimal.transcription import Transcription

    system = mb.MultibodySystem()
    matter, _ = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    ball = mb.mobilizer.Ball(matter.ground, ROD, name="ball")
    mb.constraint.ConstantAngle(matter.ground, (0, 0, 1), ball, (1, 0, 0), np.pi / 2)
    state, end = system.realize_topology(), mb.Rotation.about_axis(1.0, "z").to_quaternion()
    at_rest = {f"ball[{i}].u": 0.0 for i in range(3)}
    for known in (at_rest | {f"ball[{i}].q": float(x) for i, x in enumerate(end)}, at_rest):
        phase = mb.optimal.Phase(system, state, 0.6, [(ball, 2)], end=known)
        part = Transcription([phase], [Mesh(SCHEMES["radau"], np.linspace(0, 1, 4))], []).parts[0]
        slack = Kept(part).high.reshape(3, 2)
        assert (slack[:2] == 0.0).all() and (slack[2] > 0.0).tolist() == [len(known) > 3, True]
