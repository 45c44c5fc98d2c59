"""The recorded numbers obey mechanics: checks of the reference cases themselves, without mobod.

What one method gave is derived here from what others gave, so that a case which records the wrong thing under a name, or a
wrong packing of q, is found before mobod is blamed for it.
"""

from __future__ import annotations

import numpy as np
import pytest
import reader
from numpy.testing import assert_allclose

CASES = [case for case in reader.all_cases() if not case.has_forces and not case.data["constraints"]]


def close(actual, desired):
    """Agreement to 1e-10 of the largest entry."""
    desired = np.asarray(desired, dtype=float)
    assert_allclose(actual, desired, rtol=0, atol=1e-10 * max(np.abs(desired).max(initial=0.0), 1e-3))


def array(value):
    """Array of a recorded list; Ground's null becomes zeros."""
    if value[0] is None:
        value = [np.zeros_like(np.asarray(value[1], dtype=float)), *value[1:]]
    return np.array(value, dtype=float)


def cross_matrix(p):
    """Matrix of ``p x``."""
    x, y, z = p
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def recorded(case, matrices=False):
    """Yield (state, results) for every state, or only for those (the first ones) whose matrices are recorded."""
    for state in case.states:
        if not matrices or "calc_m" in state["results"]["matter"]:
            yield state, state["results"]


def test_names_are_unique():
    """Tests name cases."""
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


def test_bodies_are_physical():
    """Inertias about the mass center are positive and obey the triangle inequality; frames are rotations."""
    for case in CASES:
        for body in case.data["bodies"]:
            for frame in (body["X_PF"], body["X_BM"]):
                R = np.reshape(frame["R"], (3, 3))
                assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
                assert np.linalg.det(R) > 0
            if body["mass"]:
                xx, yy, zz, xy, xz, yz = body["inertia"]
                c = cross_matrix(body["com"])
                central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + body["mass"] * c @ c
                a, b, c = np.linalg.eigvalsh(central)
                assert 0 < a and c < a + b


def test_every_kind_is_there_in_every_way():
    """Each kind between moving bodies, forward and reversed, in both representations if it has two; and in trees."""
    alone, quaternions = {}, set()  # kind: {(direction, Euler angles)}; kinds with more q than u
    for case in CASES:
        if case.file.startswith("kind_"):
            body = case.data["bodies"][1]
            alone.setdefault(body["kind"], set()).add((body["direction"], case.data["use_euler_angles"]))
            base = case.data["bodies"][0]
            assert base["kind"] == "Free" and body["parent"] == 1 and len(case.states) == 3
            if len(case.states[0]["q"]) - len(case.states[0]["u"]) > 1:
                quaternions.add(body["kind"])
            for _, results in recorded(case):
                products = {"multiply_by_n", "multiply_by_n_inv", "multiply_by_n_dot"}
                assert products | {f"{name}_transpose" for name in products} <= results["matter"].keys()
                fits = {(fit["method"], fit["reachable"]) for fit in results["fit"]}
                assert len(fits) == 12 or (fits and body["kind"] == "FunctionBased")  # of which Simbody gives some up
    assert len(quaternions) == 5
    for kind, ways in alone.items():
        directions = ["forward"] if kind == "Weld" else ["forward", "reverse"]  # Simbody's Weld has no direction
        assert ways == {(d, euler) for d in directions for euler in {False, kind in quaternions}}
    for size in (5, 12, 30):
        for euler in (False, True):
            trees = [c for c in CASES if c.file == f"mixed_{size}.json.gz" and c.data["use_euler_angles"] == euler]
            assert set().union(*(tree.kinds for tree in trees)) == set(alone) - {"FunctionBased"}


@each_case
def test_mass_matrix(case):
    """M is symmetric and positive, its inverse that of its free part, and products are products with it."""
    for state, results in recorded(case, matrices=True):
        matter = results["matter"]
        M, M_inv = array(matter["calc_m"]), array(matter["calc_m_inv"])
        close(M, M.T)
        assert np.linalg.eigvalsh(M)[0] > 0
        free = np.ix_(*2 * (matter.get("get_free_u_dot_index", np.arange(len(M))),))
        close(M[free] @ M_inv[free], np.eye(len(M[free])))
        assert np.count_nonzero(M_inv) == np.count_nonzero(M_inv[free])
        close(matter["multiply_by_m"], M @ state["u_like"])
        close(matter["multiply_by_m_inv"], M_inv @ state["u_like"])
        u = np.array(state["u"])
        close(u @ M @ u / 2, matter["calc_kinetic_energy"])


@each_case
def test_jacobians(case):
    """Products with a Jacobian and its transpose are those with its matrix; V = J u and A = J udot + bias."""
    for state, results in recorded(case, matrices=True):
        matter, mobod, tasks = results["matter"], results["mobod"], state["tasks"]
        for what, forces in (
            ("system", state["F_body"]),
            ("station", tasks["forces"]),
            ("frame", tasks["spatial_forces"]),
        ):
            J = array(matter[f"calc_{what}_jacobian"])
            close(np.ravel(matter[f"multiply_by_{what}_jacobian"]), J @ state["u_like"])
            close(matter[f"multiply_by_{what}_jacobian_transpose"], J.T @ np.ravel(forces))
        J, bias = array(matter["calc_system_jacobian"]), array(matter["calc_bias_for_system_jacobian"])
        close(array(mobod["get_body_velocity"]).ravel(), J @ state["u"])
        close(array(mobod["get_body_acceleration"]).ravel(), J @ results["state"]["u_dot"] + bias.ravel())
        close(np.ravel(matter["calc_body_acceleration_from_u_dot"]), J @ state["known_udot"] + bias.ravel())
        close(array(matter["get_total_coriolis_acceleration"]), bias)


@each_case
def test_task_jacobians_follow_from_the_system_jacobian(case):
    """Velocity and acceleration bias of a frame fixed to a body follow from its body's."""
    for state, results in recorded(case):
        matter = results["matter"]
        X_GB = array(results["mobod"]["get_body_transform"])
        X_GB[0] = np.eye(4)
        V, A = array(matter["multiply_by_system_jacobian"]), array(matter["calc_bias_for_system_jacobian"])
        spin = array(results["mobod"]["get_body_velocity"])[:, 0]
        for i, (b, station) in enumerate(zip(state["tasks"]["bodies"], state["tasks"]["stations"], strict=True)):
            r = X_GB[b, :3, :3] @ station
            velocity = V[b, 1] + np.cross(V[b, 0], r)
            bias = A[b, 1] + np.cross(A[b, 0], r) + np.cross(spin[b], np.cross(spin[b], r))
            close(matter["multiply_by_station_jacobian"][i], velocity)
            close(matter["multiply_by_frame_jacobian"][i], [V[b, 0], velocity])
            close(matter["calc_bias_for_station_jacobian"][i], bias)
            close(matter["calc_bias_for_frame_jacobian"][i], [A[b, 0], bias])


@each_case
def test_equations_of_motion(case):
    """M udot + C = f + J^T F, whoever is asked for which part of it."""
    for state, results in recorded(case, matrices=True):
        matter = results["matter"]
        M, J = array(matter["calc_m"]), array(matter["calc_system_jacobian"])
        C = J.T @ array(matter["get_total_centrifugal_forces"]).ravel()
        applied = state["f_mobility"] + J.T @ np.ravel(state["F_body"])
        gravity = J.T @ np.ravel(results["gravity"]["get_body_forces"])
        close(matter["calc_residual_force_ignoring_constraints"], M @ state["known_udot"] + C - applied)
        udot, A_GB = matter["calc_acceleration_ignoring_constraints"]
        free = matter.get("get_free_u_dot_index", np.arange(len(M)))
        close((M @ udot)[free], (applied - C)[free])
        close(np.ravel(A_GB), J @ udot + np.ravel(matter["calc_bias_for_system_jacobian"]))
        tau = array(matter.get("find_motion_forces", np.zeros(len(M))))
        close(M @ results["state"]["u_dot"] + tau, gravity - C)
        assert not np.any(tau[free])
        close(matter.get("calc_motion_power", 0.0), -tau @ state["u"])
        close(matter["calc_tree_equivalent_mobility_forces"], J.T @ np.ravel(state["F_body"]) - C)


@each_case
def test_composite_inertias_give_the_diagonal_of_the_mass_matrix(case):
    """The block of M of one mobilizer is H^T R H; a composite inertia is at least the articulated one."""
    for _, results in recorded(case, matrices=True):
        matter = results["matter"]
        M, first = array(matter["calc_m"]), 0
        triples = zip(
            results["mobod"]["get_h_col"],
            matter["get_composite_body_inertia"],
            matter["get_articulated_body_inertia"],
            strict=True,
        )
        for H, R, P in list(triples)[1:]:
            H, R, P = np.reshape(H, (-1, 6)), np.array(R, dtype=float), np.array(P, dtype=float)
            block = slice(first, first + len(H))
            close(H @ R @ H.T, M[block, block])
            assert np.linalg.eigvalsh(R - (P + P.T) / 2)[0] > -1e-10 * np.abs(R).max()
            first = block.stop
        assert first == len(M)


@each_case
def test_mobilizer_velocity_and_poses(case):
    """V_FM = H_FM u, and X_GB = X_GP X_PF X_FM X_BM^-1."""
    for state, results in recorded(case):
        mobod = results["mobod"]
        X_GB, first = array(mobod["get_body_transform"]), 0
        X_GB[0] = np.eye(4)
        for b, body in enumerate(case.data["bodies"], start=1):
            H_FM = np.reshape(mobod["get_h_fm_col"][b], (-1, 6))
            close(np.ravel(mobod["get_mobilizer_velocity"][b]), H_FM.T @ state["u"][first : first + len(H_FM)])
            first += len(H_FM)
            X_PF, X_BM = np.eye(4), np.eye(4)
            for X, frame in ((X_PF, body["X_PF"]), (X_BM, body["X_BM"])):
                X[:3, :3], X[:3, 3] = np.reshape(frame["R"], (3, 3)), frame["p"]
            close(X_GB[b], X_GB[body["parent"]] @ X_PF @ mobod["get_mobilizer_transform"][b] @ np.linalg.inv(X_BM))
        assert first == len(state["u"])


@each_case
def test_coordinate_products(case):
    """A product with N, its inverse or its derivative, and that with the transpose, are adjoint; q_dot = N u."""
    for state, results in recorded(case):
        matter = results["matter"]
        q_like, u_like = np.array(state["q_like"]), np.array(state["u_like"])
        close(q_like @ matter["multiply_by_n"], u_like @ matter["multiply_by_n_transpose"])
        close(q_like @ matter["multiply_by_n_dot"], u_like @ matter["multiply_by_n_dot_transpose"])
        close(u_like @ matter["multiply_by_n_inv"], q_like @ matter["multiply_by_n_inv_transpose"])
        close(matter["calc_q_dot"], matter["multiply_by_n"])
        assert len(results["state"]["q_dot"]) == len(state["q"]) == len(q_like)


@each_case
def test_mass_momentum_energy(case):
    """Totals are sums over the bodies."""
    for _, results in recorded(case):
        matter, mobod = results["matter"], results["mobod"]
        X_GB, V_GB, A_GB = (
            array(mobod[key])[1:] for key in ("get_body_transform", "get_body_velocity", "get_body_acceleration")
        )
        mass = np.array([body["mass"] for body in case.data["bodies"]])
        r = np.einsum("bij,bj->bi", X_GB[:, :3, :3], [body["com"] for body in case.data["bodies"]])
        p, w = X_GB[:, :3, 3] + r, V_GB[:, 0]
        v = V_GB[:, 1] + np.cross(w, r)
        a = A_GB[:, 1] + np.cross(A_GB[:, 0], r) + np.cross(w, np.cross(w, r))
        close(matter["calc_system_mass"], mass.sum())
        close(matter["calc_system_mass_center_location_in_ground"], mass @ p / mass.sum())
        close(matter["calc_system_mass_center_velocity_in_ground"], mass @ v / mass.sum())
        close(matter["calc_system_mass_center_acceleration_in_ground"], mass @ a / mass.sum())
        close(matter["calc_system_momentum_about_ground_origin"][1], mass @ v)
        field = case.data["gravity"]
        heights = -p @ field["down_direction"] - field["zero_height"]
        close(results["system"]["calc_potential_energy"], field["magnitude"] * mass @ heights)
        forces = array(results["gravity"]["get_body_forces"])[1:, 1]
        close(forces, field["magnitude"] * np.outer(mass, field["down_direction"]))
        close(results["system"]["calc_energy"], matter["calc_kinetic_energy"] + results["system"]["calc_potential_energy"])


@each_case
def test_reactions_balance_each_body(case):
    """Reaction at a body's inboard mobilizer, gravity, and those of its children make it move as it does."""
    for _, results in recorded(case):
        mobod, matter = results["mobod"], results["matter"]
        if "find_mobilizer_reaction_on_body_at_origin_in_ground" not in mobod:
            continue  # recorded where one body is examined
        on_body = array(mobod["find_mobilizer_reaction_on_body_at_origin_in_ground"])
        on_parent = array(mobod["find_mobilizer_reaction_on_parent_at_origin_in_ground"])
        close(matter["calc_mobilizer_reaction_forces"][1:], mobod["find_mobilizer_reaction_on_body_at_m_in_ground"][1:])
        acting = on_body + array(results["gravity"]["get_body_forces"])
        for b, body in enumerate(case.data["bodies"], start=1):
            acting[body["parent"]] += on_parent[b]
        for b in range(1, len(acting)):
            inertial = np.array(mobod["get_body_spatial_inertia_in_ground"][b]) @ np.ravel(mobod["get_body_acceleration"][b])
            close(acting[b].ravel(), inertial + np.ravel(matter["get_gyroscopic_force"][b]))
