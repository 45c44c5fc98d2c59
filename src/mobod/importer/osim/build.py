"""From a document of today's format to a model: tree, bodies, coordinates, constraints, forces, and all that is data."""

from __future__ import annotations

from functools import partial

import numpy as np

from ... import body, constraint
from ...errors import ModelError
from ...mobilizer.base import MobilizedBody
from ...value import Transform
from ..model import Model
from .bodies import Drawings, read_mass, share
from .building import Building
from .constraints import add_constraint
from .contact import read_shapes
from .controllers import add_controllers
from .coordinates import Coordinate, add_locks_and_motions, free_name, name_coordinates, set_defaults
from .coupler import DependentCoordinate
from .document import Item
from .external import add_external_loads
from .forces import add_force
from .frames import FRAMES
from .graph import Link, Tree
from .joints import JOINTS, Site, coordinates_of, idle_coordinates, kind_of
from .muscles import keep_wraps

#: What tells of the file and not of the mechanism, kept as it is.
_ABOUT = ("credits", "publications", "length_units", "force_units", "notes")
_UNITS = {
    "length_units": ("m", "meter", "meters", "metre", "metres", "unassigned"),
    "force_units": ("n", "newton", "newtons", "unassigned"),
}
_ASIDE = {"ControllerSet": "controller", "ProbeSet": "probe"}


class Builder(Building):
    """Makes a model, step by step."""

    def build(self) -> Model:
        """Make it all."""
        tree = self._tree()
        self._make_bodies(tree)
        name_coordinates(self.model, self.coordinates)
        self._close_loops(tree)
        for item in self._members("ConstraintSet", "Constraint"):
            add_constraint(self, item)
        locked = add_locks_and_motions(self.model, self.coordinates)
        self._keep_frames()
        Drawings(self.components, self.path, self.mesh_dirs, self.report).draw(self.mobods)
        keep_wraps(self)
        read_shapes(self)
        for item in self._members("ForceSet", "Force", "Actuator", "Spring", "Muscle", "Ligament"):
            add_force(self, item)
        self._keep_the_rest()
        self.model.prepare = partial(_prepare, coordinates=self.coordinates, locked=locked, couplers=self.couplers)
        self.model.data["coordinates"] = {one.name: one for one in self.coordinates}
        return self.model

    def _members(self, group: str, *endings: str) -> list[Item]:
        """The objects of a set, and those of its kind among the model's components."""
        loose = [item for item in self.document.objects("components") if item.tag.endswith(endings)]
        return loose + self.document.objects(group)

    def _tree(self) -> Tree:
        components = self.components
        self.masses = {}
        bodies = []
        for item in components.all("Body"):
            item.is_read = True
            mass, properties = read_mass(item, self.report, self.strict)
            self.masses[id(item)] = properties
            bodies.append((item, mass))
        joints = []
        self.places: dict[int, tuple[Transform, Transform]] = {}
        for item in self.document.objects("JointSet") + [
            i for i in components.paths.values() if i.tag in JOINTS and i.parent is not None and i.parent.tag == "components"
        ]:
            item.is_read = True
            kind_of(item)
            (parent, X_P), (child, X_C) = components.frame(item, "parent_frame"), components.frame(item, "child_frame")
            if parent is child:
                item.refuse(f"joint {item.name!r} connects body {parent.name!r} to itself")
            self.places[id(item)] = X_P, X_C
            joints.append((item, parent, child))
        for item in components.renamed:  # as OpenSim numbers them
            what = "body" if item.tag == "Body" else item.tag
            self.report.append(item.note(f"a second {what} {item.name!r} is called {components.name_of(item)!r}"))
        return Tree(components.ground, bodies, joints)

    def _make_bodies(self, tree: Tree) -> None:
        model, ground = self.model, self.components.ground
        self.mobods[id(ground)] = model.bodies["ground"] = model.matter.ground
        for mobilizer in tree.mobilizers:
            link, item = mobilizer.joint, mobilizer.outboard.item
            inboard = link.child if mobilizer.is_reversed else link.parent
            properties = share(self.masses[id(item)], 1 + tree.copies.get(id(item), 0))
            part = body.Massless() if properties.mass == 0.0 else body.Rigid(properties)
            name = self.components.name_of(item)
            if mobilizer.copy:
                name = f"{name}_slave_{mobilizer.copy}"
            while name == model.matter.ground.name or name in model.bodies:
                name += "_body"
            site = Site(self.mobods[id(inboard.item)], part, Transform(), Transform(), mobilizer.is_reversed, name)
            mobod = self._float(item, site) if link.item is None else self._join(link.item, site)
            if mobilizer.copy:
                weld = free_name(f"{name}_weld", model.constraints)
                model.constraints[weld] = constraint.Weld(self.mobods[id(item)], Transform(), mobod, Transform(), name=weld)
                self.report.append(
                    (link.item or item).note(
                        f"joint {_name(link)!r} closes a loop: it moves a copy of body {item.name!r} with an equal "
                        f"share of its mass, held to it by the constraint {weld!r}"
                    )
                )
                model.bodies[name] = mobod
            else:
                self.mobods[id(item)] = model.bodies[name] = mobod

    def _float(self, item: Item, site: Site) -> MobilizedBody:
        """A body that no joint holds is free, with coordinates named after it."""
        self.report.append(
            item.note(f"no joint holds body {item.name!r}: it is free to move, by a joint called 'free_{item.name}'")
        )
        joint = Item(self.path, type(item.element)("FreeJoint", {"name": f"free_{item.name}"}, item.element.line))
        return self._join(joint, site, known=False)

    def _join(self, joint: Item, site: Site, known: bool = True) -> MobilizedBody:
        if known:
            X_P, X_C = self.places[id(joint)]
            site.X_PF, site.X_BM = (X_C, X_P) if site.is_reversed else (X_P, X_C)
        own = coordinates_of(joint)
        for item in idle_coordinates(joint):
            self.lose(
                item, f"coordinate {item.name!r} is on no axis of joint {joint.name!r}, and moves nothing: it is left out"
            )
        try:
            mobod, places = kind_of(joint).make(joint, site)
        except (ModelError, ValueError) as error:
            joint.refuse_for(error)
        mobod.joint_name = joint.name
        for one, (whose, which) in zip(own, places, strict=True):
            one.mobod, one.which = whose, which
        self.coordinates += own
        return mobod

    def _close_loops(self, tree: Tree) -> None:
        """Welds that close loops are constraints; a free joint that would close one holds nothing, and has no coordinates."""
        for link in tree.loops:
            assert link.item is not None
            if link.item.tag == "FreeJoint":
                self.report.append(
                    link.item.note(f"FreeJoint {link.item.name!r} closes a loop, where it holds nothing; it is left out")
                )
                continue
            self._weld_loop(link)

    def _weld_loop(self, link: Link) -> None:
        assert link.item is not None
        X_P, X_C = self.places[id(link.item)]
        name = free_name(f"{link.item.name}_Loop", self.model.constraints)
        one, other = self.mobods[id(link.parent.item)], self.mobods[id(link.child.item)]
        self.model.constraints[name] = constraint.Weld(one, X_P, other, X_C, name=name)

    # ------------------------------------------------------------------------------------------ what is kept

    def _keep_frames(self) -> None:
        """Frames and markers, by name; a name that comes twice is the whole path."""
        model, components = self.model, self.components
        frames = [item for item in components.all(*FRAMES) if item.tag not in ("Body", "Ground")]
        names = [components.name_of(item) for item in frames]
        for item, name in zip(frames, names, strict=True):
            item.is_read = True
            base, X = components.place(item)
            key = name if names.count(name) == 1 else components.path_of[id(item)][1:]
            model.frames[key] = self.mobods[id(base)], X
        for item in components.all("Marker", "Station"):
            item.is_read = True
            base, where = components.station(item)
            item.find("fixed")
            place = self.mobods[id(base)], np.asarray(where, dtype=np.float64)
            if item.tag == "Marker":
                model.markers[components.name_of(item)] = place
            else:
                model.data.setdefault("stations", {})[components.name_of(item)] = place

    def _keep_the_rest(self) -> None:
        """Data about the file; and a line of the report for each thing that is left out, or was never asked for."""
        for tag in _ABOUT:
            child = self.document.find(tag)
            if child is not None and child.words:
                self.model.data[tag] = " ".join(child.words)
                if tag in _UNITS and child.words[0].lower() not in _UNITS[tag]:
                    self.report.append(
                        child.note(f"<{tag}> is {' '.join(child.words)!r}, and numbers are taken as they are, as by OpenSim")
                    )
        add_controllers(self)
        for tag, kind in _ASIDE.items():
            for item in self.document.objects(tag):
                if item.is_read:
                    continue
                self.lose(
                    item,
                    f"{kind} {item.name!r} ({item.tag}) is left out: it drives or observes, and is no part of the mechanism",
                    "controllers, which do not act" if kind == "controller" else "",
                )
        self._add_external_loads()
        for item in self.document.find_loose():
            self.lose(item, f"{item.tag} {item.name!r} is left out: a component of a kind that is not known")
        counts: dict[tuple[str, str], list[Item]] = {}
        for item in self.document.unread():
            counts.setdefault((item.parent.tag if item.parent else "", item.tag), []).append(item)
        for (above, tag), items in counts.items():
            more = f", and {len(items) - 1} more like it" if len(items) > 1 else ""
            self.report.depart(items[0].note(f"<{tag}> of {above} is not taken up{more}"))

    def _add_external_loads(self) -> None:
        """Measured forces that are a component of the model: OpenSim has no other place for them in its file."""
        item = next((item for item in self.document.objects("components") if item.tag == "ExternalLoads"), None)
        if item is None:
            return
        item.read_all()
        try:
            self.model.data["external loads"] = add_external_loads(self.model, self.path)
        except FileNotFoundError as error:
            self.lose(
                item,
                f"ExternalLoads {item.name!r} is left out: its file of data, {error.filename}, is not there",
                "external forces",
                "external_loads=...",
            )


def _name(link: Link) -> str:
    return "" if link.item is None else link.item.name


def _prepare(
    model: Model,
    state: object,
    *,
    coordinates: list[Coordinate],
    locked: list[MobilizedBody],
    couplers: list[DependentCoordinate],
) -> None:
    """Bring a new state to the file's: angles for quaternions, values and speeds, locks."""
    from ...state.state import State

    assert isinstance(state, State)
    model.matter.set_use_euler_angles(state, True)
    model.system.realize_model(state)
    set_defaults(state, model, coordinates, locked, couplers)
    for name, activation in model.data.get("activations", {}).items():
        model.actuators[name].set_activation(state, activation)
