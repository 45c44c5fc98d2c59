"""What driven, damped mechanisms store, lose and are given adds up: by the audit, and by powers that are summed up here."""

import numpy as np
import pytest
from integrated_models import ALL
from scipy.integrate import simpson
from test_against_simbody import make_mechanism

import mobod as mb

TIME = 0.1
each = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)


def method_of(kind, system):
    """With settings that leave two thousandths of a joule to the first order, and less to the others."""
    if kind.order == 1:
        return kind(system, fixed_step_size=1e-4)
    return kind(system, accuracy=1e-6 if kind.order == 2 else 1e-8)


def tolerance_of(kind):
    return 4e-3 if kind.order == 1 else 2e-5 if kind.order == 2 else 2e-6


@each
def test_the_audit_finds_the_balance(kind):
    system, state = make_mechanism("driven")
    run = mb.simulate(system, state, TIME, integrator=method_of(kind, system), report_interval=TIME / 200)
    audit = run.audit
    assert abs(audit.energy_change) > 0.1 and abs(audit.work["motions"]) > 0.1
    assert audit.energy_error < tolerance_of(kind) + audit.energy_uncertainty
    assert audit.energy_uncertainty < 1e-4 and not [text for text in audit.warnings if "is off by" in text]


@each
def test_powers_add_up_to_the_change_of_energy(kind):
    """Dissipation by the forces themselves, the motion's by tau, and constant forces, which store nothing, by the speeds."""
    system, state = make_mechanism("driven")
    matter = system.matter
    _, cart, _, swing, loose = matter.bodies
    run = mb.simulate(system, state, TIME, integrator=method_of(kind, system), report_interval=TIME / 200)
    powers = []
    for i in range(len(run.time)):
        at = run.states[i]
        system.realize(at)
        pushed = at.u[swing.get_first_u_index(at) + 1] * 0.5
        pushed += loose.find_station_velocity_in_ground(at, (0, 0.1, 0)) @ (0.5, 3, -1)
        apart = loose.find_station_location_in_ground(at, (0.1, 0, 0)) - cart.get_body_origin_location(at)
        rate = loose.find_station_velocity_in_ground(at, (0.1, 0, 0)) - cart.get_body_origin_velocity(at)
        pushed += 0.8 * apart @ rate / np.linalg.norm(apart)
        pushed += swing.get_body_angular_velocity(at) @ (0.1, -0.2, 0.3)
        powers.append(pushed + matter.calc_motion_power(at) - system.calc_power_dissipation(at))
    change = run.energy[-1] - run.energy[0]
    assert abs(change) > 0.1
    assert simpson(powers, x=run.time) == pytest.approx(change, abs=tolerance_of(kind))
