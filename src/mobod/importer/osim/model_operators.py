"""Models changed as OpenSim's ModelOperators change them: muscles of another kind, rigid tendons, reserves, ...

Each function takes a model from an OpenSim file and gives a new one; the old one stays as it was. `write_osim` writes it.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...errors import ModelError
from ...function import Function
from ...value import checks
from ..formats import as_model
from ..model import Model
from ..opensim_file import apply_defaults
from ..xml_element import Element
from .coupler import DependentCoordinate
from .document import read_document
from .functions import element_of
from .load import model_of_document
from .upgrade import upgrade

Given = Model | str | os.PathLike[str]

#: What muscles of all kinds have.
_SHARED = (
    "min_control", "max_control", "appliesForce", "max_isometric_force", "optimal_fiber_length", "tendon_slack_length",
    "pennation_angle_at_optimal", "max_contraction_velocity",
)  # fmt: skip
_FLAGS = ("ignore_tendon_compliance", "ignore_activation_dynamics")
_ACTIVATION = ("default_activation", "activation_time_constant", "deactivation_time_constant")
#: Kinds whose activation is a state, and how they call strains under the largest isometric force: of fiber, of tendon.
_STRAINS = {
    "Millard2012EquilibriumMuscle": (
        ("FiberForceLengthCurve", "strain_at_one_norm_force"),
        ("TendonForceLengthCurve", "strain_at_one_norm_force"),
    ),
    "Thelen2003Muscle": (("FmaxMuscleStrain",), ("FmaxTendonStrain",)),
    "DeGrooteFregly2016Muscle": (("passive_fiber_strain_at_one_norm_force",), ("tendon_strain_at_one_norm_force",)),
}
_DEFAULT_STRAINS = {
    "Millard2012EquilibriumMuscle": (0.7, 0.049),
    "Thelen2003Muscle": (0.6, 0.04),
    "DeGrooteFregly2016Muscle": (0.6, 0.049),
}
_TIMES = {
    "Millard2012EquilibriumMuscle": (0.010, 0.040),
    "Thelen2003Muscle": (0.015, 0.050),
    "DeGrooteFregly2016Muscle": (0.015, 0.060),
}
_DAMPING = {"Millard2012EquilibriumMuscle": 0.1, "Thelen2003Muscle": 0.0, "DeGrooteFregly2016Muscle": 0.0}
#: The least activation that a muscle has which becomes one of these.
_LEAST = {"Millard2012EquilibriumMuscle": 0.01, "Thelen2003Muscle": 0.01}
#: The kinds that muscles can become, by their names here.
_TAGS = {
    "Millard2012Equilibrium": "Millard2012EquilibriumMuscle",
    "Thelen2003": "Thelen2003Muscle",
    "DeGrooteFregly2016": "DeGrooteFregly2016Muscle",
    "RigidTendon": "RigidTendonMuscle",
}


def replace_muscles(model: Given, kind: Any) -> Model:
    """Give all muscles another kind, with their paths, lengths, strengths, times and strains.

    Parameters
    ----------
    model : Model or path
        From an OpenSim file.
    kind : class or str
        One of `mobod.muscle`: ``DeGrooteFregly2016``, ``Millard2012Equilibrium``, ``Thelen2003`` or ``RigidTendon``.

    Returns
    -------
    Model

    Raises
    ------
    ModelError
        If the model is not from an OpenSim file, the kind is none of these, or a muscle's kind has no such parameters.

    Notes
    -----
    To ``DeGrooteFregly2016`` as OpenSim's ModOpReplaceMusclesWithDeGrooteFregly2016 does it: strains under the largest
    isometric force, damping (0 from Thelen's) and times of activation are kept, other shapes of curves are not.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> leg = mb.biomechanics.replace_muscles(files("mobod") / "examples" / "leg6dof9musc.osim", mb.muscle.DeGrooteFregly2016)
    >>> leg.muscles["soleus_r"].state_variables
    ('activation', 'normalized_tendon_force')
    """
    name = getattr(kind, "__name__", kind)
    if name not in _TAGS:
        raise ModelError(f"muscles can become {', '.join(_TAGS)}; {checks.suggest(str(name), [*_TAGS])}")
    return _changed(model, lambda one: _become(one, _TAGS[name]))


def ignore_tendon_compliance(model: Given) -> Model:
    """Make a model with rigid tendons, of muscles whose kinds have them; others are named by a `ModelError`.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> path = files("mobod") / "examples" / "leg6dof9musc.osim"
    >>> leg = mb.biomechanics.replace_muscles(path, mb.muscle.Millard2012Equilibrium)
    >>> mb.biomechanics.ignore_tendon_compliance(leg).muscles["soleus_r"].state_variables
    ('activation',)
    """
    return _changed(model, lambda one: _flag(one, "ignore_tendon_compliance"))


def ignore_activation_dynamics(model: Given) -> Model:
    """Make a model whose activation is the excitation, of muscles whose kinds have that; others are named by a `ModelError`.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> path = files("mobod") / "examples" / "leg6dof9musc.osim"
    >>> leg = mb.biomechanics.replace_muscles(path, mb.muscle.Millard2012Equilibrium)
    >>> mb.biomechanics.ignore_activation_dynamics(leg).muscles["soleus_r"].state_variables
    ('fiber_length',)
    """
    return _changed(model, lambda one: _flag(one, "ignore_activation_dynamics"))


def ignore_passive_fiber_forces(model: Given) -> Model:
    """Take the passive forces of DeGrooteFregly2016 muscles away: a new model. Others are named by a `ModelError`.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> leg = mb.biomechanics.replace_muscles(files("mobod") / "examples" / "leg6dof9musc.osim", mb.muscle.DeGrooteFregly2016)
    >>> mb.biomechanics.ignore_passive_fiber_forces(leg).muscles["soleus_r"].passive_force_length(1.4)
    0.0
    """

    def change(one: Element) -> None:
        _only(one, "DeGrooteFregly2016Muscle", "ignore_passive_fiber_forces")
        one.child_made("ignore_passive_fiber_force").text = "true"

    return _changed(model, change)


def scale_active_force_length(model: Given, factor: float) -> Model:
    """Make the active force-length curves of DeGrooteFregly2016 muscles wider by a factor: a new model.

    Raises
    ------
    ModelError
        If a muscle is of another kind, or a width would be below 1.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> leg = mb.biomechanics.replace_muscles(files("mobod") / "examples" / "leg6dof9musc.osim", mb.muscle.DeGrooteFregly2016)
    >>> wide = mb.biomechanics.scale_active_force_length(leg, 1.5)
    >>> bool(wide.muscles["soleus_r"].active_force_length(1.4) > leg.muscles["soleus_r"].active_force_length(1.4))
    True
    """
    factor = checks.positive("factor", factor)

    def change(one: Element) -> None:
        _only(one, "DeGrooteFregly2016Muscle", "scale_active_force_length")
        one.child_made("active_force_width_scale").text = repr(factor * _number(one, "active_force_width_scale", 1.0))

    return _changed(model, change)


def scale_max_isometric_force(model: Given, factor: float) -> Model:
    """Multiply the largest isometric forces of all muscles by a factor: a new model.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> strong = mb.biomechanics.scale_max_isometric_force(leg, 2.0)
    >>> of = [one.muscles["soleus_r"].get_default_max_isometric_force() for one in (leg, strong)]
    >>> of[1] == 2.0 * of[0]
    True
    """
    factor = checks.positive("factor", factor)

    def change(one: Element) -> None:
        one.child_made("max_isometric_force").text = repr(factor * _number(one, "max_isometric_force", 1000.0))

    return _changed(model, change)


def replace_muscles_with_path_actuators(model: Given, names: Iterable[str] | None = None) -> Model:
    """Put actuators that pull along their paths in the place of muscles, all or some by name: a new model.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> path = files("mobod") / "examples" / "leg6dof9musc.osim"
    >>> leg = mb.biomechanics.replace_muscles_with_path_actuators(path, ["soleus_r"])
    >>> len(leg.muscles), list(leg.actuators)
    (8, ['soleus_r'])
    """
    model = as_model(model)
    wanted = [*model.muscles] if names is None else list(names)
    checks.all_known("there is no muscle", wanted, model.muscles, ModelError)

    def change(one: Element) -> None:
        if one.attributes.get("name", "").strip() in wanted:
            kept = [child for child in one.children if child.tag in ("GeometryPath", "path", "appliesForce") or _is_path(child)]
            one.tag, one.children = "PathActuator", [*kept, Element("optimal_force", {}, one.line, [], "1")]

    return _changed(model, change)


def remove_muscles(model: Given) -> Model:
    """Take all muscles away: a new model.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> len(mb.biomechanics.remove_muscles(files("mobod") / "examples" / "leg6dof9musc.osim").muscles)
    0
    """
    return _changed(model, None)


def add_reserves(model: Given, optimal_force: float = 1.0, bound: float | None = None) -> Model:
    """Give each free coordinate without an actuator of its own one, ``reserve_<coordinate>``: a new model.

    Coordinates that are locked, prescribed, or follow others by constraints have none, as in OpenSim.

    Parameters
    ----------
    model : Model or path
        From an OpenSim file.
    optimal_force : float
        Force, or force*length.
    bound : float, optional
        Of the controls, both ways; none unless given.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> leg = mb.biomechanics.add_reserves(files("mobod") / "examples" / "leg6dof9musc.osim", 10.0)
    >>> leg.actuators["reserve_knee_angle_r"].optimal_force
    10.0
    """
    model = as_model(model)
    optimal = checks.positive("optimal_force", optimal_force)
    limit = float("inf") if bound is None else checks.positive("bound", bound)
    document = _document(model)
    objects = _forces(document)
    everything = [one for held in _lists(document) for one in held.children]
    taken = {_text(one, "coordinate") for one in everything if one.tag == "CoordinateActuator"}
    begin = model.default_state()
    for name in model.speeds:
        plain = name.rpartition("/")[2]
        if plain in taken or _is_held(model, begin, name):
            continue
        values = {"coordinate": plain, "optimal_force": repr(optimal), "min_control": repr(-limit), "max_control": repr(limit)}
        children = [Element(tag, {}, 0, [], text) for tag, text in values.items()]
        objects.children.append(Element("CoordinateActuator", {"name": f"reserve_{plain}"}, 0, children))
    return model_of_document(model, document)


def add_forces(model: Given, *paths: str | os.PathLike[str], replace: bool = False) -> Model:
    """Add the forces of files of OpenSim's, a ``ForceSet`` or ``ActuatorSet`` each: a new model.

    A force that has the name of one that is there is left out, as by OpenSim's tools.

    Parameters
    ----------
    model : Model or path
        From an OpenSim file.
    *paths : path
        Of the files, as ``force_set_files`` of a tool's setup names them.
    replace : bool
        Whether all forces that the model has are left out, its muscles too.

    Returns
    -------
    Model

    Raises
    ------
    ModelError
        If the model is not from an OpenSim file, or a file holds no set of forces; with file and line.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import pathlib, tempfile
    >>> import mobod as mb
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "motors.xml"
    >>> written = path.write_text(
    ...     "<OpenSimDocument Version='40000'><ForceSet><objects><CoordinateActuator name='knee'>"
    ...     "<coordinate>knee_angle_r</coordinate><optimal_force>50</optimal_force></CoordinateActuator></objects></ForceSet>"
    ...     "</OpenSimDocument>"
    ... )
    >>> leg = mb.biomechanics.add_forces(files("mobod") / "examples" / "leg6dof9musc.osim", path, replace=True)
    >>> [*leg.actuators], len(leg.muscles)
    (['knee'], 0)
    """
    model = as_model(model)
    document = _document(model)
    objects = _forces(document)
    if replace:
        objects.children = []
        document.children = [one for one in document.children if one.tag != "ControllerSet"]
    there, known = list(objects.children), {one.attributes.get("name") for one in objects.children}
    for one in [one for path in paths for one in _forces_of(os.fspath(path))]:
        if one.attributes.get("name") not in known:
            there.append(one)
            known.add(one.attributes.get("name"))
    objects.children = there
    return model_of_document(model, document)


def _forces_of(path: str) -> list[Element]:
    """The forces of a file, in today's format."""
    held, version = read_document(path)
    if held.tag not in ("ForceSet", "ActuatorSet"):
        raise ModelError(f"{path}:{held.line}: the document holds a <{held.tag}>, not a <ForceSet>")
    held.tag = "ForceSet"
    apply_defaults(held)
    whole = Element("Model", {"name": "forces"}, held.line, [held])
    upgrade(whole, version, path)
    return list(_forces(whole).children)


def names_of_forces(path: str | os.PathLike[str]) -> list[str]:
    """Names of the forces of a file."""
    return [one.attributes.get("name", "").strip() for one in _forces_of(os.fspath(path))]


def move_mass_center(model: Given, body: str, shift: Sequence[float]) -> Model:
    """Move the mass center of one body, in its frame; its inertia about the mass center stays: a new model.

    Raises
    ------
    ModelError
        If the model is not from an OpenSim file, or has no such body.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> moved = mb.biomechanics.move_mass_center(leg, "pelvis", (0.01, 0.0, 0.0))
    >>> before, after = (one.bodies["pelvis"].get_default_mass_properties().com for one in (leg, moved))
    >>> float(round(after[0] - before[0], 12))
    0.01
    """
    model = as_model(model)
    document = _document(model)
    found = next(
        (one for one in document.below() if one.tag == "Body" and one.attributes.get("name", "").strip() == body), None
    )
    if found is None:
        raise ModelError(f"the model {model.name!r} has no body {body!r}; {checks.suggest(body, [*model.bodies])}")
    old = [float(word) for word in (_text(found, "mass_center") or "0 0 0").split()]
    new = [a + float(b) for a, b in zip(old, shift, strict=True)]
    found.child_made("mass_center").text = " ".join(map(repr, new))
    return model_of_document(model, document)


def with_loads(model: Model, path: str | os.PathLike[str]) -> Model:
    """Add the forces of a file of external loads: a new model."""
    if model.data["read with"].get("external_loads") is not None:
        raise ModelError(
            f"the model {model.name!r} was read with external loads; load it without, or give no external_loads here"
        )
    return model_of_document(model, _document(model), external_loads=path)


def replace_paths(model: Model, functions: Mapping[str, tuple[Function, Sequence[str]]]) -> Model:
    """Give forces, by name, paths whose length is a function of coordinates: a new model."""
    document = _document(model)
    held = model.data.get("coordinates", {})
    for one in [one for held in _lists(document) for one in held.children]:
        name = one.attributes.get("name", "").strip()
        if name in functions:
            function, coordinates = functions[name]
            ways = " ".join(f"/jointset/{held[c].joint.rpartition('/')[2]}/{c.rpartition('/')[2]}" for c in coordinates)
            length = Element("length_function", {}, one.line, [element_of(function, "length")])
            path = [Element("coordinate_paths", {}, one.line, [], ways), length]
            kept = [child for child in one.children if child.tag not in ("GeometryPath", "path") and not _is_path(child)]
            one.children = [*kept, Element("FunctionBasedPath", {"name": "path"}, one.line, path)]
    return model_of_document(model, document)


# ---------------------------------------------------------------------------------------------- how


def _changed(model: Given, change: Callable[[Element], None] | None) -> Model:
    """A model of the document in which all muscles are changed, or taken away."""
    model = as_model(model)
    document = _document(model)
    for held in _lists(document):
        if change is None:
            held.children = [one for one in held.children if not _is_muscle(one)]
            continue
        for one in held.children:
            if _is_muscle(one):
                change(one)
    return model_of_document(model, document)


def _document(model: Model) -> Element:
    found = model.data.get("document")
    if not isinstance(found, Element):
        raise ModelError(f"the model {model.name!r} is not from an OpenSim file, and its muscles cannot be changed so")
    return copy.deepcopy(found)


def _forces(document: Element) -> Element:
    return document.child_made("ForceSet", "forceset").child_made("objects")


def _lists(document: Element) -> list[Element]:
    """The lists that hold a model's forces: that of their set, and its components."""
    return [_forces(document), *document.find_all("components")]


def _is_muscle(one: Element) -> bool:
    return one.tag.endswith(("Muscle", "Muscle_Deprecated"))


def _is_path(one: Element) -> bool:
    return one.attributes.get("name") == "path"


def _is_held(model: Model, state: Any, name: str) -> bool:
    """True if a coordinate is locked, prescribed, or follows others."""
    tree, place = state.tree, model.speeds[name]
    b = next(b for b in range(1, tree.nb) if tree.first_u[b] <= place < tree.first_u[b] + tree.num_u[b])
    starts = [int(first) for first in tree.first_u]
    follows = any(
        one.dependent_place(starts) == place
        for one in model.matter.constraints
        if isinstance(one, DependentCoordinate) and not one.is_disabled(state)
    )
    own = model.data.get("coordinates", {}).get(name)  # some of a joint's are held by constraints
    said = own is not None and (own.locked or own.prescribed or own.is_free_to_satisfy_constraints)
    return bool(state.field("prescribed")[b]) or follows or said


def _text(one: Element, *tags: str) -> str:
    found: Element | None = one
    for tag in tags:
        found = found.child(tag) if found is not None else None
    return "" if found is None else found.text.strip()


def _number(one: Element, tag: str, otherwise: float) -> float:
    text = _text(one, tag)
    return float(text) if text else otherwise


def _flag(one: Element, tag: str) -> None:
    if one.tag in ("RigidTendonMuscle",):
        return
    _only(one, ("Millard2012EquilibriumMuscle", "DeGrooteFregly2016Muscle"), tag)
    one.child_made(tag).text = "true"


def _only(one: Element, tags: str | tuple[str, ...], what: str) -> None:
    known = (tags,) if isinstance(tags, str) else tags
    if one.tag not in known:
        name = one.attributes.get("name", "")
        raise ModelError(
            f"{what} is for {' and '.join(known)}; {name!r} is a {one.tag}: replace_muscles(model, ...) gives it another kind"
        )


def _become(one: Element, tag: str) -> None:
    """Make a muscle's element one of another kind."""
    old = one.tag
    if old == tag:
        return
    name = one.attributes.get("name", "")
    kept = [child for child in one.children if child.tag in (*_SHARED, *_FLAGS, "GeometryPath", "path") or _is_path(child)]
    if tag == "RigidTendonMuscle":
        one.tag, one.children = tag, kept
        return
    if old not in _STRAINS:
        raise ModelError(f"muscle {name!r} is a {old}, whose parameters {tag} does not have")
    usual = dict(zip(_ACTIVATION, (0.05, *_TIMES[old]), strict=True))
    values = {key: _text(one, key) or repr(value) for key, value in usual.items()}
    strains = [_text(one, *path) or repr(d) for path, d in zip(_STRAINS[old], _DEFAULT_STRAINS[old], strict=True)]
    damping = _text(one, "fiber_damping") or repr(_DAMPING[old])
    for child in kept:  # OpenSim refuses controls below the least activation of these
        if child.tag == "min_control" and tag in _LEAST and float(child.text) < _LEAST[tag]:
            child.text = repr(_LEAST[tag])
    made = [*kept, *(Element(key, {}, one.line, [], text) for key, text in values.items())]
    if tag != "Thelen2003Muscle":
        made.append(Element("fiber_damping", {}, one.line, [], damping))
    for path, text in zip(_STRAINS[tag], strains, strict=True):
        inner = Element(path[-1], {}, one.line, [], text)
        made.append(inner if len(path) == 1 else Element(path[0], {"name": f"{name}_{path[0]}"}, one.line, [inner]))
    one.tag, one.children = tag, made
