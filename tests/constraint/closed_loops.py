"""Closed mechanisms by other means than mobod's: Lagrange's equation of the four-bar, and equations solved as they stand."""

import numpy as np

from mobod.examples import four_bar


def four_bar_bodies():
    """(mass, mass center, central inertia about z) of crank, coupler and rocker."""
    found = []
    crank = four_bar.make_bar(four_bar.CRANK, "red", 0, four_bar.FLYWHEEL)
    for body in (crank, four_bar.make_coupler(), four_bar.make_bar(four_bar.ROCKER, "red", 0)):
        properties = body.get_default_rigid_body_mass_properties()
        found.append((properties.mass, properties.com[:2], np.asarray(properties.central_inertia)[2, 2]))
    return found


def four_bar_rates(_, y):
    """Rates of the crank's angle a and of its rate.

    The loop, a e(A) + b e(B) - c e(C) = f with A = a and e(x) = (cos x, sin x), gives B', C' and B'', C'' by differentiation by
    the crank's angle; then with J(a) a'^2 / 2 the kinetic and V(a) the potential energy, J a'' + J' a'^2 / 2 + V' = 0.
    """
    angle, rate = y
    lengths = np.array([four_bar.CRANK, four_bar.COUPLER, -four_bar.ROCKER])
    angles = np.array([angle, *four_bar.close(angle)])
    e, n = np.array([np.cos(angles), np.sin(angles)]), np.array([-np.sin(angles), np.cos(angles)])
    A = (lengths * n)[:, 1:]
    slope = np.array([1.0, *np.linalg.solve(A, -lengths[0] * n[:, 0])])
    bend = np.array([0.0, *np.linalg.solve(A, (lengths * e) @ slope**2)])
    J = J_slope = V_slope = 0.0
    for body, (mass, com, inertia) in enumerate(four_bar_bodies()):
        # the mass center goes by x' and x'': of its own link, and of the crank's end where it hangs on that
        x1, x2 = np.zeros(2), np.zeros(2)
        parts = [(com[0] * e[:, body] + com[1] * n[:, body], com[0] * n[:, body] - com[1] * e[:, body], body)]
        if body == 1:
            parts.append((lengths[0] * e[:, 0], lengths[0] * n[:, 0], 0))
        for along, across, which in parts:
            x1 += across * slope[which]
            x2 += across * bend[which] - along * slope[which] ** 2
        J += mass * x1 @ x1 + inertia * slope[body] ** 2
        J_slope += 2.0 * (mass * x1 @ x2 + inertia * slope[body] * bend[body])
        V_slope += mass * 9.81 * x1[1]
    return [rate, -(0.5 * J_slope * rate**2 + V_slope) / J]


def kkt(system, state, known=None):
    """udot and multipliers of one linear system, from M, G and what is missing in both equations at udot = 0.

    M udot + G^T lambda = f - c,   G udot = b; the solution of the smallest norm where equations are redundant: udot is unique.
    *known* gives udot of some mobilities, by index, whose equations of motion are left out.
    """
    system.realize(state)
    matter = system.get_matter_subsystem()
    M, G = matter.calc_m(state), matter.calc_g(state)
    f, F = system.get_mobility_forces(state), system.get_rigid_body_forces(state)
    missing = matter.calc_residual_force_ignoring_constraints(state, f, F)
    errors = matter.calc_bias_for_acceleration_constraints(state)
    n, m = len(M), len(G)
    A = np.block([[M, G.T], [G, np.zeros((m, m))]])
    right = -np.concatenate([missing, errors])
    for i, udot in (known or {}).items():
        A[i], right[i] = np.eye(n + m)[i], udot
    solution = np.linalg.lstsq(A, right, rcond=1e-12)[0]
    return solution[:n], solution[n:]
