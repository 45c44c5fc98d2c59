"""Every class that OpenSim's library registers is known to the reader: built, or left out with a reason."""

import pytest

import mobod as mb
from when_used import Package

opensim = Package("opensim")

#: The classes of what a file holds, and where an element of each stands in a model.
PLACES = {
    "Force": "<ForceSet><objects>{}</objects></ForceSet>",
    "Joint": "<JointSet><objects>{}</objects></JointSet>",
    "Constraint": "<ConstraintSet><objects>{}</objects></ConstraintSet>",
    "Controller": "<ControllerSet><objects>{}</objects></ControllerSet>",
    "Probe": "<ProbeSet><objects>{}</objects></ProbeSet>",
    "ContactGeometry": "<ContactGeometrySet><objects>{}</objects></ContactGeometrySet>",
    "Frame": "<components>{}</components>",
    "Geometry": "<BodySet><objects><Body name='b'><attached_geometry>{}</attached_geometry></Body></objects></BodySet>",
    "WrapObject": (
        "<BodySet><objects><Body name='b'><WrapObjectSet><objects>{}</objects></WrapObjectSet></Body></objects></BodySet>"
    ),
    "Function": (
        "<ConstraintSet><objects><CoordinateCouplerConstraint><coupled_coordinates_function>{}</coupled_coordinates_function>"
        "<independent_coordinate_names>a</independent_coordinate_names><dependent_coordinate_name>b</dependent_coordinate_name>"
        "</CoordinateCouplerConstraint></objects></ConstraintSet>"
    ),
}


def registered(base):
    names = opensim.ArrayStr()
    opensim.OpenSimObject.getRegisteredTypenames(names)
    for k in range(names.getSize()):
        made = opensim.OpenSimObject.newInstanceOfType(names.get(k))
        if getattr(opensim, base).safeDownCast(made) is not None:
            yield names.get(k), made.dump()


@pytest.mark.parametrize("base", PLACES)
def test_every_registered_class_is_known(tmp_path, base):
    opensim.Logger.setLevelString("Off")
    found = dict(registered(base))
    found.pop("Ground", None)  # of which a model has one, and not among its components
    assert len(found) >= 3
    for name, text in found.items():
        path = tmp_path / f"{name}.osim"
        body = PLACES[base].format(text)
        path.write_text(f'<OpenSimDocument Version="40600"><Model name="m">{body}</Model></OpenSimDocument>')
        try:
            said = mb.load_osim(path).report
        except mb.ModelError as error:  # an element without its sockets, most of them
            assert str(error).startswith(f"{path}:"), error
            said = [str(error)]
        assert not any("kind that is not known" in one for one in said), (name, said)
