"""Contact against Simbody 3.7: forces on bodies, energies, powers, contact by contact.

Where Simbody's numbers are put right before they are compared, the function that does so says what is wrong with them.
"""

from __future__ import annotations

import functools
import gzip
import json
import types

import numpy as np
import pytest
import reader
from scipy import optimize, special

import mobod as mb
from mobod.algebra.dual import Dual
from mobod.contact import access
from mobod.contact.shape import SPHERE, TRIANGLE_MESH
from mobod.force import routines
from mobod.force.contact import ellipse
from mobod.force.contact.law import TABLE, compliant, elastic_foundation, hunt_crossley

#: Of the largest entry: roundings, and those of depths, which are differences of places.
TOLERANCE = 1e-9


@functools.cache
def all_cases():
    with gzip.open(reader.HERE / "contact.json.gz", "rt", encoding="utf-8") as stream:
        return json.load(stream)["cases"]


def of_family(*families):
    return pytest.mark.parametrize("case", [c for c in all_cases() if c["family"] in families], ids=lambda c: c["name"])


def material(record):
    return mb.contact.Material(**record)


def floating(case):
    """A system with the bodies of a case."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    bodies = [matter.ground]
    for record in case["bodies"]:
        X_PF, X_BM = reader.frame(record["X_PF"]), reader.frame(record["X_BM"])
        bodies.append(mb.mobilizer.Free(bodies[record["parent"]], reader.rigid_body(record), X_PF=X_PF, X_BM=X_BM))
    return system, matter, bodies


def close(found, expected, tolerance=TOLERANCE, scale=None):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    size = np.abs(expected).max(initial=0.0) if scale is None else scale
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0.0) <= tolerance * max(size, 1e-300), (found, expected)


def states(case, system, state):
    """Each recorded state, set and realized."""
    for record in case["states"]:
        state.q, state.u = record["q"], record["u"]
        system.realize(state)
        yield record


# ------------------------------------------------------------------------------------------ the smooth force


def downward(X):
    """Simbody's half-space is solid where x > 0, mobod's where z < 0: its frame, turned so that its z is Simbody's -x."""
    return X @ mb.Transform(mb.Rotation([[0, 0, -1], [0, 1, 0], [1, 0, 0]]))


@of_family("smooth")
def test_smooth_sphere_half_space(case):
    system, _, bodies = floating(case)
    forces = mb.GeneralForceSubsystem(system)
    plane, ball = case["surfaces"]
    force = mb.force.SmoothSphereHalfSpace(
        forces,
        bodies[ball["body"]],
        ball["X_BS"]["p"],
        ball["shape"]["radius"],
        bodies[plane["body"]],
        downward(reader.frame(plane["X_BS"])),
        material(case["material"]),
        **{name: case[name] for name in case if name.endswith(("velocity", "force", "smoothing"))},
    )
    state = system.realize_topology()
    largest = max(np.abs(record["body_forces"]).max() for record in case["states"])
    for record in states(case, system, state):
        # what is left of a force far away is a small difference of numbers near one
        scale = max(np.abs(record["body_forces"]).max(), 1e-9 * largest)
        close(system.get_rigid_body_forces(state), record["body_forces"], scale=scale)
        energy = force.calc_potential_energy_contribution(state)
        assert energy == pytest.approx(record["potential_energy"], rel=TOLERANCE, abs=1e-16 * largest)


# ------------------------------------------------------------------------------------------ the laws alone


def bench(case):
    """The bodies and materials of a case, on small spheres, whose places do not matter: a test writes the points."""
    system, _, bodies = floating(case)
    contacts = mb.CompliantContactSubsystem(system, transition_velocity=case["transition_velocity"])
    for record in case["surfaces"]:
        made = mb.contact.Surface(mb.contact.Sphere(0.1), material(record["material"]), thickness=record.get("thickness"))
        bodies[record["body"]].add_contact_surface(made, reader.frame(record["X_BS"]))
    state = system.realize_topology()
    surfaces = [placed.X_BS.p for placed in contacts.surfaces]
    places = [next(i for i, p in enumerate(surfaces) if np.array_equal(p, one["X_BS"]["p"])) for one in case["surfaces"]]
    return system, contacts.element.element, state, places


def plain_model(state, points):
    """The arrays that laws read and write, for so many points."""
    names = (
        "force_numbers force_first_number force_integers force_first_integer surface_first_number surface_body surface_kind "
        "V_GB p_GB body_forces work_e".split()
    )
    model = types.SimpleNamespace(**{name: np.array(getattr(state.record, name)) for name in names})
    model.contact_point, model.contact_sum = np.zeros((points, 32)), np.zeros((1, 32))
    model.contact_point[:, access.PART] = 1.0
    model.body_forces[:], model.work_e[:] = 0.0, 0.0
    return model


def ask(law, model, element, pair, count, what):
    law.python(model, *pair, element, count, what)


def combined_share(case, one, power, thick=False):
    """s1 of a contact."""
    k = []
    for name in ("surface1", "surface2"):
        surface = case["surfaces"][one[name]]
        other = case["surfaces"][one["surface2" if name == "surface1" else "surface1"]]
        h = surface.get("thickness", other.get("thickness")) if thick else 1.0
        k.append((surface["material"]["stiffness"] / h) ** power)
    return k[1] / (k[0] + k[1])


def rows_of(case, one):
    """A contact of Simbody's as rows of points: what its pair's routine would have written."""
    if "depth" in one:
        curvatures = one.get("curvatures") or [1.0 / one["radius"]] * 2
        place = np.array(one["point"]) - one["depth"] * (0.5 - combined_share(case, one, 2 / 3)) * np.array(one["normal"])
        return [(*place, *one["normal"], one["depth"], access.HERTZ, *curvatures, 0.0, 0.0)]
    rows, faces = [], "face" in (one["details"] or [{}])[0]
    s1 = combined_share(case, one, 1, thick=faces)
    for detail in one["details"]:
        place = np.array(detail["point"]) - detail["depth"] * (0.5 - s1) * np.array(detail["normal"])
        law, area = (access.FACE, detail["area"]) if faces else (access.CORNER, 0.0)
        side = float(faces and detail["surface"] == one["surface2"])
        rows.append((*place, *detail["normal"], detail["depth"], law, area, 1.0, 0.0, side))
    return rows


@of_family("compliant")
def test_laws_of_compliant_contact(case):
    """Of the places, depths and curvatures that Simbody found; its elliptical force is good to 2e-6, REFERENCE.md 31."""
    system, element, state, places = bench(case)
    elliptical = any("curvatures" in one for record in case["states"] for one in record["contacts"])
    clipped = 0
    for record in states(case, system, state):
        model, energy, power, lost = plain_model(state, 200), 0.0, 0.0, 0.0
        for one in record["contacts"]:
            rows = rows_of(case, one)
            model.contact_point[: len(rows), :12] = np.array(rows).reshape(-1, 12)
            pair = (places[one["surface1"]], places[one["surface2"]], 0)
            ask(compliant, model, element, pair, len(rows), routines.FORCES)
            model.work_e[:] = 0.0
            ask(compliant, model, element, pair, len(rows), routines.ENERGY)
            pe = model.work_e[element, 0]
            model.work_e[:] = 0.0
            ask(compliant, model, element, pair, len(rows), routines.POWER)
            heat = model.work_e[element, 0]
            if "depth" in one and not one["details"]:  # Simbody has no energy, nor power, where the force is clipped: 27
                clipped += 1
                assert pe > 0.0 and heat > 0.0 and one["potential_energy"] == 0.0
            else:
                energy, power, lost = energy + pe, power + heat, lost + one["power_dissipation"]
        close(model.body_forces.reshape(-1, 2, 3), record["body_forces"], 3e-6 if elliptical else TOLERANCE)
        assert energy == pytest.approx(record["potential_energy"], rel=3e-6 if elliptical else TOLERANCE)
        assert power == pytest.approx(lost, rel=3e-6 if elliptical else TOLERANCE)
    assert clipped or "mesh" in case["name"] or "brick" in case["name"] or case["name"] == "crowd"


def exact_hertz(E, depth, k_max, k_min):
    """The force between surfaces of relative curvatures, by elliptic integrals (Johnson 1985, section 4.2)."""
    if k_max == k_min:
        return 4 / 3 * E * np.sqrt(1 / k_max) * depth**1.5

    def ratio(b):
        K, e = special.ellipkm1(b * b), special.ellipe(1.0 - b * b)
        return b * b * (K - e) / (e - b * b * K) * k_max / k_min - 1.0

    b = optimize.brentq(ratio, 1e-4, 1.0 - 1e-7, xtol=1e-15, rtol=1e-14)
    K, e = special.ellipkm1(b * b), special.ellipe(1.0 - b * b)
    return 4 / 3 * np.pi * np.sqrt(e) / (2 * b * K**1.5) * E * np.sqrt(2 / (k_max + k_min)) * depth**1.5


@of_family("compliant")
def test_elliptical_force_is_hertzs(case):
    """To rounding, where the reference has six digits: the force by `exact_hertz`, and its energy."""
    if case["name"] == "crowd" or not any("curvatures" in one for record in case["states"] for one in record["contacts"]):
        return
    system, element, state, places = bench(case)
    E1, E2 = (one["material"]["stiffness"] for one in case["surfaces"])
    E = (E1 ** (-2 / 3) + E2 ** (-2 / 3)) ** -1.5
    for record in states(case, system, state):
        for one in record["contacts"]:
            model = plain_model(state, 1)
            model.contact_point[0, :12] = rows_of(case, one)[0]
            pair = (places[one["surface1"]], places[one["surface2"]], 0)
            ask(compliant, model, element, pair, 1, TABLE)
            pe, rate, load = (model.contact_point[0, i] for i in (access.ENERGY, access.RATE, access.LOAD))
            expected = exact_hertz(E, one["depth"], *one["curvatures"])
            assert pe == pytest.approx(0.4 * expected * one["depth"], rel=1e-11)
            s1 = combined_share(case, one, 2 / 3)
            c1, c2 = (case["surfaces"][one[name]]["material"]["dissipation"] for name in ("surface1", "surface2"))
            damped = expected * (1 + 1.5 * (s1 * c1 + (1 - s1) * c2) * rate)
            assert load == pytest.approx(max(damped, 0.0), rel=1e-11)
            if one["details"]:
                assert rate == pytest.approx(one["details"][0]["depth_rate"], rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("ratio", [1.0, 1 - 1e-12, 1 - 1e-6, 0.999, 0.9, 0.5, 0.1, 1e-2, 1e-4, 2e-6, 0.0])
def test_eccentricity(ratio):
    """Against elliptic integrals; near a circle it is 1 + (1 - ratio)^2 / 12, which these have no digits for."""
    found = ellipse.correction(3.0, 3.0 * ratio)
    if ratio > 0.9999:
        assert found == pytest.approx(1.0 + (1.0 - ratio) ** 2 / 12.0, rel=1e-14)
    elif ratio == 0.0:
        assert found == ellipse.correction(3.0, 3.0 * ellipse.FLATTEST)
    else:
        assert found == pytest.approx(exact_hertz(1.0, 1.0, 1.0, ratio) / (4 / 3 * np.sqrt(2 / (1 + ratio))), rel=1e-11)


def test_eccentricity_has_the_slope_of_its_values(derivative):
    for ratio in (0.9, 0.5, 0.05, 1e-3):
        x = Dual(ratio, [1.0])
        slope = derivative(lambda h, ratio=ratio: ellipse.correction(1.0, ratio * (1.0 + h))) / ratio
        assert ellipse.correction(1.0, x).tangents[0] == pytest.approx(slope, rel=1e-9)


@of_family("hunt_crossley")
def test_law_of_hunt_crossley(case):
    """Of the places and radii that Simbody found, also where these are wrong, REFERENCE.md 35."""
    system, element, state, places = bench(case)
    for record in states(case, system, state):
        model, energy = plain_model(state, 1), 0.0
        for one in record["contacts"]:
            model.contact_point[0, :12] = (*one["location"], *one["normal"], one["depth"], 0.0, *[1 / one["radius"]] * 2, 0, 0)
            pair = (places[one["surface1"]], places[one["surface2"]], 0)
            ask(hunt_crossley, model, element, pair, 1, routines.FORCES)
            ask(hunt_crossley, model, element, pair, 1, routines.ENERGY)
            energy += model.work_e[element, 0]
        close(model.body_forces.reshape(-1, 2, 3), record["body_forces"])
        assert energy == pytest.approx(record["potential_energy"], rel=TOLERANCE)


def nearest(shape, p):
    """The point of a shape's surface nearest to p inside it, or None of one outside; in its frame."""
    if shape["kind"] == "HalfSpace":
        return np.array([0.0, p[1], p[2]]) if p[0] >= 0.0 else None
    if shape["kind"] == "Sphere":
        return p / np.linalg.norm(p) * shape["radius"] if np.linalg.norm(p) <= shape["radius"] else None
    a, b, c = (np.array(shape["vertices"])[np.array(shape["faces"])[:, i]] for i in range(3))
    found = on_triangles(p, a, b, c)
    best = np.argmin(np.linalg.norm(found - p, axis=1))
    normal = np.cross(b - a, c - a)  # convex: inside all planes is inside
    return found[best] if (np.einsum("ni,ni->n", normal, p - a) <= 0.0).all() else None


def on_triangles(p, a, b, c):
    """The point nearest to p of each triangle: in its plane, or on one of its edges."""
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1)[:, None]
    candidates = [p - np.einsum("ni,ni->n", n, p - a)[:, None] * n]
    inside = np.ones(len(a), bool)
    for u, v in ((a, b), (b, c), (c, a)):
        inside &= np.einsum("ni,ni->n", np.cross(v - u, candidates[0] - u), n) >= 0.0
        t = np.clip(np.einsum("ni,ni->n", v - u, p - u) / np.einsum("ni,ni->n", v - u, v - u), 0.0, 1.0)
        candidates.append(u + t[:, None] * (v - u))
    distances = np.array([np.linalg.norm(one - p, axis=1) for one in candidates])
    distances[0, ~inside] = np.inf
    return np.array(candidates)[distances.argmin(axis=0), np.arange(len(a))]


def faces_inside(case, frames, turned_away):
    """Rows of the faces whose centroid is inside the other surface; also of those that are *turned_away* from it, or not."""
    rows = []
    for mesh in (0, 1):
        shape = case["surfaces"][mesh]["shape"]
        if shape["kind"] != "TriangleMesh":
            continue
        X_G, X_O = frames[mesh], frames[1 - mesh]
        for face in np.array(shape["vertices"])[np.array(shape["faces"])]:
            cross, centroid = X_G.R @ np.cross(face[1] - face[0], face[2] - face[0]), X_G @ face.mean(axis=0)
            place = nearest(case["surfaces"][1 - mesh]["shape"], ~X_O @ centroid)
            if place is None:
                continue
            out = centroid - X_O @ place
            if not turned_away and cross @ out <= 0.0:
                continue
            depth, area = np.linalg.norm(out), np.linalg.norm(cross) / 2
            n = out / depth * (1.0 if mesh == 0 else -1.0)
            rows.append((*(centroid - 0.5 * out), *n, depth, access.FACE, area, 1.0, 0.0, mesh))
    return rows


def of_foundation(case, system, element, state, places, *, turned_away):
    """Forces and energy of `faces_inside` by the law."""
    model = plain_model(state, 200)
    for one, place in zip(case["surfaces"], places, strict=True):
        model.surface_kind[place] = TRIANGLE_MESH if one["shape"]["kind"] == "TriangleMesh" else SPHERE
    rows = faces_inside(case, frames_of(case, system, state), turned_away)
    if rows:
        model.contact_point[: len(rows), :12] = rows
        pair = (*places, 0)
        ask(elastic_foundation, model, element, pair, len(rows), routines.FORCES)
        ask(elastic_foundation, model, element, pair, len(rows), routines.ENERGY)
    return model.body_forces.reshape(-1, 2, 3), model.work_e[element, 0]


@of_family("elastic_foundation")
def test_law_of_elastic_foundation(case):
    """Every centroid of a mesh that is inside the other surface."""
    system, element, state, places = bench(case)
    for record in states(case, system, state):
        forces, energy = of_foundation(case, system, element, state, places, turned_away=True)
        close(forces, record["body_forces"])
        assert energy == pytest.approx(record["potential_energy"], rel=TOLERANCE)


# ------------------------------------------------------------------------------------------ CompliantContactSubsystem


def shape(record):
    return getattr(mb.contact, record["kind"])(**{key: value for key, value in record.items() if key != "kind"})


def surface(record, case):
    """A surface of a case; a brick touches nothing but half-spaces there, and Simbody does not say so: REFERENCE.md 36."""
    bounded = [i for i, one in enumerate(case["surfaces"]) if one["shape"]["kind"] != "HalfSpace"]
    bricks = [i for i in bounded if case["surfaces"][i]["shape"]["kind"] == "Brick"]
    number = case["surfaces"].index(record)
    cliques = [f"{brick} {number}" for brick in bricks if number in bounded]  # with each brick one of their own
    if number in bricks:
        cliques = [f"{number} {other}" for other in bounded]
    made = shape(record["shape"])
    return mb.contact.Surface(made, material(record["material"]), thickness=record.get("thickness"), cliques=cliques)


def touching(case):
    """The system of a case with its surfaces, and their numbers in the order of the case."""
    system, _, bodies = floating(case)
    contacts = mb.CompliantContactSubsystem(system, transition_velocity=case["transition_velocity"])
    made = [surface(one, case) for one in case["surfaces"]]
    for one, record in zip(made, case["surfaces"], strict=True):
        bodies[record["body"]].add_contact_surface(one, reader.frame(record["X_BS"]))
    state = system.realize_topology()
    found = [placed.surface for placed in contacts.surfaces]
    return system, contacts, state, [next(i for i, one in enumerate(found) if one is given) for given in made]


def frames_of(case, system, state):
    bodies = system.matter.bodies
    return [
        mb.Transform.from_matrix(np.asarray(bodies[one["body"]].get_body_transform(state))) @ reader.frame(one["X_BS"])
        for one in case["surfaces"]
    ]


def put_right(case, one, frames):
    """The forces on surface 2 of a contact of Simbody's at their points, with what mobod has and Simbody has not.

    Faces get their cosine, max(0, -n_face . n), and half of their own area where both surfaces are meshes, REFERENCE.md 30.
    """
    both = all(case["surfaces"][one[name]]["shape"]["kind"] == "TriangleMesh" for name in ("surface1", "surface2"))
    for detail in one["details"]:
        factor = 1.0
        if "face" in detail:
            shape = case["surfaces"][detail["surface"]]["shape"]
            a, b, c = np.array(shape["vertices"])[shape["faces"][detail["face"]]]
            cross = frames[detail["surface"]].R @ np.cross(b - a, c - a)
            sign = 1.0 if detail["surface"] == one["surface1"] else -1.0
            area = np.linalg.norm(cross) / 2
            factor = max(0.0, sign * (cross @ detail["normal"]) / (2 * area)) * area * (0.5 if both else 1.0) / detail["area"]
        yield detail, factor


def corners_below(case, one, frames):
    """The number of corners of a brick below a half-space: Simbody counts those of one face, REFERENCE.md 32."""
    plane, brick = case["surfaces"][one["surface1"]], case["surfaces"][one["surface2"]]
    if brick["shape"]["kind"] != "Brick":
        return None
    signs = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T
    corners = frames[one["surface2"]] @ (signs * brick["shape"]["half_lengths"])
    X = frames[one["surface1"]]
    return int(((corners - X.p) @ (X.R @ plane["shape"]["normal"]) < 0.0).sum())


@of_family("compliant")
def test_compliant_contact(case):
    """From shapes to forces on bodies: pair by pair, and point by point where there are several."""
    system, contacts, state, numbers = touching(case)
    compared = 0
    for record in states(case, system, state):
        frames, rows, points = frames_of(case, system, state), contacts.get_contacts(state), contacts.get_contact_points(state)
        loaded = {(row["surface1"], row["surface2"]): row for row in rows}
        total = np.zeros((len(system.matter.bodies), 2, 3))
        whole = True
        for one in record["contacts"]:
            n1, n2 = numbers[one["surface1"]], numbers[one["surface2"]]
            elliptical = "curvatures" in one
            tolerance = 3e-6 if elliptical else 2 * TOLERANCE
            corners = corners_below(case, one, frames)
            whole = whole and corners in (None, len(one["details"]))
            key, sign = (min(n1, n2), max(n1, n2)), 1.0 if n1 < n2 else -1.0
            if key not in loaded:  # a mesh of which no centroid is inside, or all of whose faces are turned away
                assert "depth" not in one and corners is None and not any(f for _, f in put_right(case, one, frames))
                continue
            row = loaded.pop(key)
            force, moment = np.zeros(3), np.zeros(3)
            pe = power = 0.0
            for detail, factor in put_right(case, one, frames):
                f = factor * np.array(detail["force"])
                force, moment = force + f, moment + np.cross(detail["point"], f)
                pe, power = pe + factor * detail["potential_energy"], power + factor * detail["power_dissipation"]
            if corners in (None, len(one["details"])):
                scale = np.abs(force).max()
                close(sign * row["force"], force, tolerance, scale)
                close(sign * (row["moment"] + np.cross(row["point"], row["force"])), moment, tolerance, scale)
                compared += 1
            if "depth" in one:
                assert row["depth"] == pytest.approx(one["depth"], rel=1e-9, abs=1e-12)
                close(sign * row["normal"], one["normal"], 1e-8 if elliptical else TOLERANCE)
                close(row["point"], one["point"], 1e-8 if elliptical else TOLERANCE)
                if one["details"]:
                    assert row["potential_energy"] == pytest.approx(pe, rel=tolerance)
                    assert row["power_dissipation"] == pytest.approx(power, rel=tolerance, abs=tolerance * abs(pe))
                    assert row["depth_rate"] == pytest.approx(one["details"][0]["depth_rate"], rel=1e-7, abs=1e-9)
                    close(sign * row["slip"], one["details"][0]["slip"], 1e-7, 1.0)
                else:
                    assert row["potential_energy"] > 0.0 and not row["force"].any()
                    assert row["power_dissipation"] > 0.0 > row["depth_rate"]
            else:
                mine = points[(points["surface1"] == key[0]) & (points["surface2"] == key[1])]
                compare_points(mine, sign, list(put_right(case, one, frames)))
            b1, b2 = case["surfaces"][one["surface1"]]["body"], case["surfaces"][one["surface2"]]["body"]
            for b, way in ((b1, -1.0), (b2, 1.0)):
                p = np.asarray(system.matter.bodies[b].get_body_transform(state))[:3, 3]
                total[b] += way * np.array([moment - np.cross(p, force), force])
        assert not loaded, "Simbody does not touch there"
        if whole:
            ellipses = any("curvatures" in one for one in record["contacts"])
            close(system.get_rigid_body_forces(state), total, 3e-6 if ellipses else 2 * TOLERANCE)
            if "mesh" not in case["name"]:
                close(total, record["body_forces"])
    assert compared > 3


def compare_points(points, sign, details):
    """Each of Simbody's corners or faces is a point of ours; ours that it has not bear no load."""
    left = list(range(len(points)))
    for detail, factor in details:
        if factor == 0.0:
            continue
        i = min(left, key=lambda i: np.abs(points[i]["point"] - detail["point"]).max())
        left.remove(i)
        point = points[i]
        close(point["point"], detail["point"], 1e-8, 1.0)
        close(sign * point["force"], factor * np.array(detail["force"]), 1e-7, max(np.abs(detail["force"]).max(), 1e-3))
        assert point["depth"] == pytest.approx(detail["depth"], rel=1e-7, abs=1e-12)
        assert point["potential_energy"] == pytest.approx(factor * detail["potential_energy"], rel=1e-7)
        close(sign * point["normal"], detail["normal"], 1e-7)
    return left


# ------------------------------------------------------------------------------------------ GeneralContactSubsystem


@of_family("hunt_crossley", "elastic_foundation")
def test_forces_of_listed_surfaces(case):
    """From shapes to forces. Simbody takes the semi-axes of sections for radii, REFERENCE.md 35: ellipsoids are compared in
    direction and point of application, and in size by `exact_radius`. In Simbody faces that are turned away act too; these are
    left out of what its law, which `test_law_of_elastic_foundation` compares, is asked for."""
    system, _, bodies = floating(case)
    forces = mb.GeneralForceSubsystem(system)
    kind = mb.force.HuntCrossley if case["family"] == "hunt_crossley" else mb.force.ElasticFoundation
    listed = [(bodies[one["body"]], surface(one, case), reader.frame(one["X_BS"])) for one in case["surfaces"]]
    force = kind(forces, listed, case["transition_velocity"])
    state = system.realize_topology()
    ellipsoids = [one["shape"]["kind"] == "Ellipsoid" for one in case["surfaces"]]
    alone = bench(case) if case["family"] == "elastic_foundation" else None
    for record in states(case, system, state):
        expected, energy = np.array(record["body_forces"]), record["potential_energy"]
        if alone:
            alone[2].q, alone[2].u = state.q, state.u
            alone[0].realize(alone[2])
            expected, energy = of_foundation(case, *alone, turned_away=False)
        if any(ellipsoids) and record["contacts"]:
            (one,) = record["contacts"]
            factor = np.sqrt(exact_radius(case, one, frames_of(case, system, state)) / one["radius"])
            expected, energy = factor * expected, factor * energy
        # Simbody finds the least overlap of two ellipsoids to about 1e-8 of it
        tolerance = 1e-6 if ellipsoids[1] and case["surfaces"][0]["shape"]["kind"] != "HalfSpace" else 2 * TOLERANCE
        close(system.get_rigid_body_forces(state), expected, tolerance)
        assert force.calc_potential_energy_contribution(state) == pytest.approx(energy, rel=tolerance)


def exact_radius(case, one, frames):
    """1 / sqrt(k1 k2) of the relative curvatures where the surfaces have the contact's normal.

    Of an ellipsoid with A = diag(1/r^2), in its frame: on the surface x.Ax = 1 the second fundamental form is A / |A x|.
    """
    n = np.array(one["normal"])
    form = np.zeros((2, 2))
    basis = across(n)
    for name, sign in (("surface1", 1.0), ("surface2", -1.0)):
        record, X = case["surfaces"][one[name]]["shape"], frames[one[name]]
        if record["kind"] == "HalfSpace":
            continue
        radii = np.array(record.get("radii", [record.get("radius")] * 3), float)
        d = ~X.R @ (sign * n)
        x = radii**2 * d / np.sqrt((radii**2 * d**2).sum())
        t = np.array([~X.R @ axis for axis in basis])
        form += t @ np.diag(radii**-2.0) @ t.T / np.linalg.norm(x / radii**2)
    return np.linalg.det(form) ** -0.5


def across(n):
    """Two unit vectors across n."""
    a = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    a /= np.linalg.norm(a)
    return a, np.cross(n, a)
