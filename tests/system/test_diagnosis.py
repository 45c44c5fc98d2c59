"""The constraint doctor: what it finds redundant, contradictory and nearly singular, and the errors and tables that say so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb


def solid(mass=1.0):
    return mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia(1, 1, 1)))


def plane():
    """A system with a body that is free in a plane."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    return system, matter, mb.mobilizer.Planar(matter.ground, solid(), name="plate")


def arm():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    return system, matter, mb.mobilizer.Pin(matter.ground, solid(), name="arm")


def two_rods():
    system, matter, plate = plane()
    rods = [mb.constraint.Rod(matter.ground, (0, 0, 0), plate, (0, 1, 0), 1.0 + 0.5 * i, name=f"rod {i}") for i in range(2)]
    state = system.realize_topology()
    state.q = 0.1, 0.2, 0.3
    return system, state, rods


def test_two_rods_of_different_length_are_in_conflict():
    system, state, rods = two_rods()
    found = system.diagnose_constraints(state)
    assert found.rank == 1 and len(found.free_motions) == 2 and not found.nearly_singular
    (one,) = found.conflicting
    assert one.equation.constraint is rods[1] and [other.constraint for other in one.others] == [rods[0]]
    assert one.contradiction["position"] > 0.1 and not one.held_by
    assert found.droppable == rods
    text = str(found)
    assert (
        "2 constraint equations, 1 of them independent" in text and "rod 1 is redundant with rod 0 and CONTRADICTS it" in text
    )
    assert "could be dropped" in text and "ground - plate" in text


def test_a_failed_projection_carries_the_diagnosis():
    system, state, rods = two_rods()
    before = state.q.copy()
    with pytest.raises(mb.ConvergenceError, match="In conflict: rod 1 with rod 0") as caught:
        system.project(state)
    assert caught.value.diagnosis.conflicting[0].equation.constraint is rods[1]
    assert_allclose(state.q, before, rtol=0, atol=0)
    with pytest.raises(mb.ConvergenceError) as caught:
        mb.simulate(system, state, 0.1)
    assert caught.value.diagnosis.conflicting


def test_a_lock_against_a_coordinate_is_named():
    system, _, pin = arm()
    mb.constraint.ConstantCoordinate(pin, 0, 1.0, name="turned")
    state = system.realize_topology()
    pin.lock(state)
    found = system.diagnose_constraints(state)
    (one,) = found.conflicting
    assert one.held_by == ["arm"] and one.partners == ["the lock of arm"] and not one.others
    assert "turned moves nothing, as all on its path is locked or driven: the lock of arm and CONTRADICTS it" in str(found)
    with pytest.raises(mb.ConvergenceError, match="In conflict: turned with the lock of arm"):
        system.project(state)
    pin.unlock(state)
    mb.motion.Steady(pin, 2.0)
    state = system.realize_topology()
    assert system.diagnose_constraints(state).redundant[0].partners == ["the motion of arm"]


def test_equations_that_differ_in_what_is_locked_alone_are_redundant_given_the_lock():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    first = mb.mobilizer.Slider(matter.ground, solid(), name="first")
    second = mb.mobilizer.Slider(first, solid(), name="second")
    for i, factor in enumerate((1.0, 2.0)):
        function = mb.function.Linear((factor, 1.0, 0.0))
        mb.constraint.SpeedCoupler(matter, function, [first, second], [0, 0], name=f"coupler {i}")
    state = system.realize_topology()
    assert not system.diagnose_constraints(state).redundant
    first.lock(state)
    (one,) = system.diagnose_constraints(state).redundant
    assert one.held_by == ["first"] and one.partners == ["coupler 0", "the lock of first"] and not one.contradiction


def test_a_duplicate_is_redundant_and_no_contradiction():
    system, matter, plate = plane()
    balls = [mb.constraint.Ball(matter.ground, (0, 0, 0), plate, (0, 1, 0), name=name) for name in ("ball", "again")]
    state = system.realize_topology()
    state.q = 0.0, 0.0, -1.0
    system.project(state)
    found = system.diagnose_constraints(state)
    assert len(found.equations) == 6 and found.rank == 2 and len(found.free_motions) == 1
    assert not found.conflicting and found.droppable == balls
    again = [one for one in found.redundant if one.equation.constraint is balls[1] and one.others]
    assert [[str(other) for other in one.others] for one in again] == [["ball[0]"], ["ball[1]"]]
    # the third equation of each moves nothing in the plane, with no lock to blame
    assert [one.held_by for one in found.redundant if not one.others] == [[], []]


def test_almost_parallel_rods_are_nearly_singular():
    system, matter, plate = plane()
    mb.constraint.Rod(matter.ground, (0, 0, 0), plate, (0, 0, 0), 1.0, name="one")
    mb.constraint.Rod(matter.ground, (0, 1e-4, 0), plate, (0, 0, 0), (1.0 + 1e-8) ** 0.5, name="other")
    state = system.realize_topology()
    state.q = 0.0, 1.0, 0.0
    found = system.diagnose_constraints(state)
    (near,) = found.nearly_singular
    assert near.value < 1e-3 and [str(equation) for equation in near.equations] == ["one", "other"]
    assert found.rank == 2 and "nearly singular" in str(found) and "one, other" in str(found)


def test_all_is_locked():
    system, matter, plate = plane()
    mb.constraint.Rod(matter.ground, (0, 0, 0), plate, (0, 1, 0), 1.0, name="rod")
    state = system.realize_topology()
    plate.lock(state)
    found = system.diagnose_constraints(state)
    assert found.rank == 0 and not found.free_motions and not found.conflicting
    assert found.redundant[0].held_by == ["plate"] and len(found.droppable) == 1


def test_no_constraints_at_all():
    system, _, _ = plane()
    found = system.diagnose_constraints(system.realize_topology())
    assert not found.equations and found.rank == 0 and len(found.free_motions) == 3
    assert str(found).splitlines()[0] == "0 constraint equations, 0 of them independent; 3 free motions remain"


def test_a_leaf_without_mass_is_diagnosed_and_its_failure_is_one_of_convergence():
    system, matter, plate = plane()
    leaf = mb.mobilizer.Pin(plate, mb.body.Massless(), name="leaf")
    mb.constraint.Rod(matter.ground, (0, 0, 0), leaf, (1, 0, 0), 1.0, name="short")
    mb.constraint.Rod(matter.ground, (0, 0, 0), leaf, (1, 0, 0), 2.0, name="long")
    state = system.realize_topology()
    state.q = 0.0, 0.3, 0.2, 0.5
    found = system.diagnose_constraints(state)
    assert found.rank == 1 and "position" in found.conflicting[0].contradiction
    with pytest.raises(mb.ConvergenceError, match="long with short"):
        system.project(state)


class Failing(mb.force.CustomImplementation):
    """A force that cannot be had."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        raise ZeroDivisionError("of the user's own making")

    def calc_potential_energy(self, state):
        return 0.0


def test_a_force_that_fails_leaves_positions_and_velocities_to_be_diagnosed():
    system, matter, plate = plane()
    mb.force.Custom(mb.GeneralForceSubsystem(system), Failing())
    mb.constraint.Rod(matter.ground, (0, 0, 0), plate, (0, 1, 0), 1.0, name="short")
    mb.constraint.Rod(matter.ground, (0, 0, 0), plate, (0, 1, 0), 2.0, name="long")
    state = system.realize_topology()
    state.q = 0.1, 0.2, 0.3
    assert list(system.diagnose_constraints(state).conflicting[0].contradiction) == ["position"]
    with pytest.raises(mb.ConvergenceError, match="In conflict: long with short"):
        system.project(state)


def test_where_nothing_can_be_found_out_the_error_is_still_one_of_convergence(monkeypatch):
    system, state, _ = two_rods()

    def refuse(*_):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(mb.MultibodySystem, "diagnose_constraints", refuse)
    with pytest.raises(mb.ConvergenceError, match=r"errors are left of .*rod.*SVD did not converge") as caught:
        system.project(state)
    assert caught.value.diagnosis is None


def test_the_table_shows_velocity_errors_of_velocity_equations():
    system, _, pin = arm()
    mb.constraint.ConstantSpeed(pin, 0, 2.0, name="speed")
    state = system.realize_topology()
    state.u = (1.75,)
    assert str(system.diagnose_constraints(state)).splitlines() == [
        "1 constraint equations, 1 of them independent; 0 free motions remain",
        "  constraint  ties  error  remarks",
        "  speed       arm   0.25   -",
    ]


def test_accelerations_that_exclude_each_other_are_warned_of_once():
    system, _, pin = arm()
    mb.constraint.ConstantAcceleration(pin, 0, 1.0, name="slow")
    fast = mb.constraint.ConstantAcceleration(pin, 0, 2.0, name="fast")
    state = system.realize_topology()
    with pytest.warns(RuntimeWarning, match="In conflict: fast with slow") as caught:
        mb.simulate(system, state, 0.1)
    assert len(caught) == 1 and caught[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="In conflict: fast with slow"):
        mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system)).initialize(state)
    fast.disable(state)
    assert_allclose(mb.simulate(system, state, 0.1).u[-1], 0.1, rtol=1e-6)
    assert np.isfinite(state.y).all()
