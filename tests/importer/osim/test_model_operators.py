"""Models changed as OpenSim's ModelOperators change them: beside these, by what muscles then have, and with wrong input."""

from importlib.resources import files

import pytest
from numpy.testing import assert_allclose

import mobod as mb

B = mb.biomechanics
LEG = files("mobod") / "examples" / "leg6dof9musc.osim"


@pytest.fixture(scope="module")
def smooth():
    return B.replace_muscles(LEG, mb.muscle.DeGrooteFregly2016)


def test_muscles_are_replaced_as_by_opensim(smooth):
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    processor = opensim.ModelProcessor(opensim.Model(str(LEG)))
    processor.append(opensim.ModOpReplaceMusclesWithDeGrooteFregly2016())
    theirs = processor.process()
    assert theirs.getMuscles().getSize() == len(smooth.muscles) == 9
    names = (
        "max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle_at_optimal",
        "max_contraction_velocity", "fiber_damping", "passive_fiber_strain_at_one_norm_force",
        "tendon_strain_at_one_norm_force", "activation_time_constant", "deactivation_time_constant",
    )  # fmt: skip
    for name, one in smooth.muscles.items():
        muscle = opensim.DeGrooteFregly2016Muscle.safeDownCast(theirs.getMuscles().get(name))
        for parameter in names:
            assert_allclose(getattr(one, f"get_default_{parameter}")(), getattr(muscle, f"get_{parameter}")(), rtol=1e-12)


def test_time_constants_other_than_the_first_muscles_are_told(smooth, tmp_path):
    """OpenSim has one set of them for all muscles of this kind in a process."""
    last = list(smooth.muscles)[-1]
    mb.write_osim(tmp_path / "leg.osim", smooth)
    text = (tmp_path / "leg.osim").read_text()
    at = text.index("<activation_time_constant>", text.index(f'name="{last}"'))
    end = text.index("</activation_time_constant>", at)
    (tmp_path / "own.osim").write_text(text[:at] + "<activation_time_constant>0.03" + text[end:])
    own, old = (mb.load_osim(tmp_path / "own.osim", as_opensim=flag) for flag in (False, True))
    said = f"{last!r} has time constants of its own; OpenSim gives it those of the first muscle"
    assert [said in line for line in own.report if "time constants" in line] == [True]
    assert not any("time constants" in line for line in [*old.report, *mb.load_osim(tmp_path / "leg.osim").report])
    assert own.muscles[last].get_default_activation_time_constant() == 0.03
    assert old.muscles[last].get_default_activation_time_constant() == 0.01


def test_what_is_written_is_read_again(smooth, tmp_path):
    strong = B.add_reserves(B.scale_max_isometric_force(smooth, 1.5), 20.0, bound=2.0)
    mb.write_osim(tmp_path / "leg.osim", strong)
    again = mb.load_osim(tmp_path / "leg.osim")
    for name, one in again.muscles.items():
        assert isinstance(one, mb.muscle.DeGrooteFregly2016)
        before = smooth.muscles[name].get_default_max_isometric_force()
        assert_allclose(one.get_default_max_isometric_force(), 1.5 * before)
    reserves = {name for name in again.actuators if name.startswith("reserve_")}
    # the patella follows the knee: OpenSim's ModOpAddReserves gives it none either
    assert reserves == {f"reserve_{name}" for name in again.speeds if name != "knee_angle_pat_r"}
    assert again.actuators["reserve_knee_angle_r"].optimal_force == 20.0
    opensim = pytest.importorskip("opensim")
    theirs = opensim.Model(str(tmp_path / "leg.osim"))
    theirs.initSystem()
    assert theirs.getMuscles().getSize() == 9


def test_muscles_of_every_kind_and_their_flags(smooth):
    for kind, variables in (
        (mb.muscle.Millard2012Equilibrium, ("activation", "fiber_length")),
        (mb.muscle.Thelen2003, ("activation", "fiber_length")),
        (mb.muscle.RigidTendon, ()),
    ):
        made = B.replace_muscles(smooth, kind)
        assert {type(one) for one in made.muscles.values()} == {kind}
        assert made.muscles["soleus_r"].state_variables == variables
        state = made.default_state()
        made.equilibrate_muscles(state)
        made.system.realize(state)
    plain = B.ignore_activation_dynamics(B.ignore_tendon_compliance(smooth))
    assert all(one.state_variables == () for one in plain.muscles.values())
    weak = B.ignore_passive_fiber_forces(smooth).muscles["soleus_r"]
    assert weak.passive_force_length(1.5) == 0.0
    assert smooth.muscles["soleus_r"].passive_force_length(1.5) > 0.1
    wide = B.scale_active_force_length(smooth, 1.5).muscles["soleus_r"]
    assert_allclose(wide.active_force_length(1.6), smooth.muscles["soleus_r"].active_force_length(1.4), rtol=1e-12)
    ropes = B.replace_muscles_with_path_actuators(smooth)
    assert not ropes.muscles
    assert len(ropes.actuators) == 9
    assert len(B.remove_muscles(smooth).muscles) == 0
    assert len(smooth.muscles) == 9


def test_muscles_among_components_are_changed_too(tmp_path):
    """As in Moco's model that walks in a plane; what becomes Millard's has no control below its least activation."""
    text = LEG.read_text().replace(
        '<Thelen2003Muscle name="soleus_r">', '<Thelen2003Muscle name="soleus_r"><min_control>0</min_control>'
    )
    head, tag, rest = text.partition('<Thelen2003Muscle name="soleus_r">')
    muscle, end, tail = rest.partition("</Thelen2003Muscle>")
    before, name, after = (head + tail).partition("<ForceSet")
    (tmp_path / "loose.osim").write_text(f"{before}<components>{tag}{muscle}{end}</components>{name}{after}")
    model = mb.load_osim(tmp_path / "loose.osim")
    assert len(model.muscles) == 9
    made = B.replace_muscles(model, mb.muscle.Millard2012Equilibrium)
    assert {type(one) for one in made.muscles.values()} == {mb.muscle.Millard2012Equilibrium}
    strong = B.scale_max_isometric_force(made, 2.0)
    of = [one.muscles["soleus_r"].get_default_max_isometric_force() for one in (model, strong)]
    assert of[1] == 2.0 * of[0]
    assert not B.remove_muscles(model).muscles
    assert list(B.replace_muscles_with_path_actuators(model, ["soleus_r"]).actuators) == ["soleus_r"]
    mb.write_osim(tmp_path / "written.osim", made)
    assert "<min_control>0.01</min_control>" in (tmp_path / "written.osim").read_text()
    opensim = pytest.importorskip("opensim")
    theirs = opensim.Model(str(tmp_path / "written.osim"))
    theirs.initSystem()
    assert sum(1 for _ in theirs.getMuscleList()) == 9  # getMuscles has those of the set only


def test_what_cannot_be_is_refused(smooth):
    with pytest.raises(mb.ModelError, match="muscles can become Millard2012Equilibrium"):
        B.replace_muscles(smooth, mb.muscle.Schutte1993)
    with pytest.raises(
        mb.ModelError, match=r"scale_active_force_length is for DeGrooteFregly2016Muscle; .* is a Thelen2003Muscle"
    ):
        B.scale_active_force_length(LEG, 1.5)
    with pytest.raises(mb.ModelError, match="no muscle 'soleus'"):
        B.replace_muscles_with_path_actuators(smooth, ["soleus"])
    with pytest.raises(mb.ModelError, match="factor"):
        B.scale_max_isometric_force(smooth, -1.0)
    robot = mb.load_urdf(files("mobod") / "examples" / "panda.urdf")
    with pytest.raises(mb.ModelError, match="not from an OpenSim file"):
        B.ignore_tendon_compliance(robot)


def test_older_kinds_are_read_with_their_curves_and_times(tmp_path):
    """A velocity of zero, which Schutte's muscle does not use and files have, is none; its own numbers and curves count."""
    text = LEG.read_text()
    for tag in ("Thelen2003Muscle", "Millard2012EquilibriumMuscle"):
        text = text.replace(f"<{tag} ", "<Schutte1993Muscle_Deprecated ").replace(
            f"</{tag}>", "</Schutte1993Muscle_Deprecated>"
        )
    own = "<max_contraction_velocity>0</max_contraction_velocity><damping>0.07</damping><activation1>5</activation1>"
    own += "<passive_force_length_curve><SimmSpline><x>0 1 2</x><y>0 0 0.5</y></SimmSpline></passive_force_length_curve>"
    text = text.replace("</Schutte1993Muscle_Deprecated>", own + "</Schutte1993Muscle_Deprecated>")
    (tmp_path / "old.osim").write_text(text)
    found = mb.load_osim(tmp_path / "old.osim").muscles["soleus_r"]
    assert isinstance(found, mb.muscle.Schutte1993)
    assert (found.get_default_damping(), found.get_default_activation_rise()) == (0.07, 5.0)
    assert found.passive_force_length(2.0) == 0.5
