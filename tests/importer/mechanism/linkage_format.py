"""A reader of a made-up format: linkages as TOML files, in the words of textbooks."""

import tomllib

import numpy as np

import mobod as mb
from mobod.importer.mechanism import Axis, Joint, Link, Mechanism, Mimic, Options, build
from mobod.importer.parts import LinkMass

KINDS = {"turning pair": "revolute", "sliding pair": "prismatic", "spherical pair": "ball", "rigid": "fixed"}


def load_linkage(path, *, gravity=(0.0, -9.81, 0.0), strict=False, joint_damping=True, mimic=True):
    """Build a multibody system from a linkage file."""
    options = Options.among("load_linkage", locals())
    with open(path, "rb") as file:
        text = tomllib.load(file)
    mechanism = Mechanism(str(path), text["name"], {}, {})
    for name, bar in text["bar"].items():
        mass = LinkMass(bar["mass"], np.array(bar["centre"], float), np.diag(np.array(bar["inertia"], float)))
        mechanism.links[name] = Link(name, mass, mass_place=f"bar {name}", place=f"bar {name}")
    for name, pair in text["pair"].items():
        place = f"pair {name}"
        if pair["kind"] not in KINDS:
            raise mechanism.fail(place, f"no kind {pair['kind']!r}")
        geared = pair.get("geared")
        axis = Axis(
            pair.get("axis", (0.0, 0.0, 1.0)),
            damping=pair.get("damping", 0.0),
            start=pair.get("start", 0.0),
            mimic=None if geared is None else Mimic(geared["to"], multiplier=geared["ratio"]),
        )
        ends = [None if end == "frame" else end for end in pair["of"]]
        X_PJ, X_CJ = (mb.Transform(at) for at in pair["at"])
        mechanism.joints[name] = Joint(name, KINDS[pair["kind"]], *ends, X_PJ=X_PJ, X_CJ=X_CJ, axes=[axis], place=place)
    for word in text.keys() - {"name", "bar", "pair"}:
        mechanism.report.depart(f"{word} is left out")
    model = build(mechanism, options, gravity)
    model.report.finish(str(path), strict)
    return model
