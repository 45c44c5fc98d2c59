"""Contact against Simbody 3.7: forces on bodies, energies, powers, contact by contact.

Where Simbody's numbers are put right before they are compared, the function that does so says what is wrong with them.
"""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import reader

import mobod as mb

#: Of the largest entry: roundings, and those of depths, which are differences of places.
TOLERANCE = 1e-9


@functools.cache
def all_cases():
    with gzip.open(Path(__file__).parent / "contact.json.gz", "rt", encoding="utf-8") as stream:
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


# ------------------------------------------------------------------------------------------ CompliantContactSubsystem


def shape(record):
    return getattr(mb.contact, record["kind"])(**{key: value for key, value in record.items() if key != "kind"})


def surface(record):
    return mb.contact.Surface(shape(record["shape"]), material(record["material"]), thickness=record.get("thickness"))


def kinds(case):
    return {one["shape"]["kind"] for one in case["surfaces"]}


def touching(case):
    """The system of a case with its surfaces, and their numbers in the order of the case."""
    for kind in kinds(case):
        if not hasattr(mb.contact, kind):
            pytest.skip(f"no shape {kind} yet")
    system, _, bodies = floating(case)
    contacts = mb.CompliantContactSubsystem(system, transition_velocity=case["transition_velocity"])
    made = [surface(one) for one in case["surfaces"]]
    for one, record in zip(made, case["surfaces"], strict=True):
        bodies[record["body"]].add_contact_surface(one, reader.frame(record["X_BS"]))
    try:
        state = system.realize_topology()
    except mb.ModelError as error:
        pytest.skip(str(error))
    found = [placed.surface for placed in contacts.surfaces]
    return system, contacts, state, [next(i for i, one in enumerate(found) if one is given) for given in made]


@of_family("compliant")
def test_it_builds(case):
    system, contacts, state, numbers = touching(case)
    for record in states(case, system, state):
        rows = contacts.get_contacts(state)
        print(record["kind"], np.abs(system.get_rigid_body_forces(state) - record["body_forces"]).max() / np.abs(record["body_forces"]).max())
