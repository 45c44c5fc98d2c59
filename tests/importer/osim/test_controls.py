"""Files of controls, and controllers of models: what they say, what they drive, beside OpenSim's, written and read again."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.cli.main import main

LEG = files("mobod") / "examples" / "leg6dof9musc.osim"
NODES = """<?xml version="1.0"?>
<ControlSet name="set"><objects>
  <ControlLinear name="soleus_r.excitation"><extrapolate>{extrapolate}</extrapolate><use_steps>{steps}</use_steps>
    <default_min>0.02</default_min><default_max>0.9</default_max>
    <x_nodes>
      <ControlLinearNode><t>0.1</t><value>0.2</value></ControlLinearNode>
      <ControlLinearNode><t>0.3</t><value>0.6</value></ControlLinearNode>
      <ControlLinearNode><t>0.4</t><value>0.1</value></ControlLinearNode>
    </x_nodes>
    <min_nodes>
      <ControlLinearNode><t>0.2</t><value>0.05</value></ControlLinearNode>
      <ControlLinearNode><t>0.4</t><value>0.1</value></ControlLinearNode>
    </min_nodes>
    <max_nodes>
      <ControlLinearNode><t>0.1</t><value>0.7</value></ControlLinearNode>
      <ControlLinearNode><t>0.3</t><value>0.8</value></ControlLinearNode>
    </max_nodes></ControlLinear>
  <ControlLinear name="bifemsh_r"><default_max>0.5</default_max></ControlLinear>
  <ControlConstant name="vas_int_r"><value>0.3</value></ControlConstant>
</objects></ControlSet>"""


@pytest.mark.parametrize(
    ("extrapolate", "steps", "at"),
    [
        ("true", "false", {0.0: 0.0, 0.2: 0.4, 0.35: 0.35, 0.5: -0.4}),
        ("false", "false", {0.0: 0.2, 0.2: 0.4, 0.5: 0.1}),
        ("true", "true", {0.0: 0.2, 0.2: 0.6, 0.35: 0.1, 0.5: 0.1}),
    ],
)
def test_nodes_of_a_set_of_controls(tmp_path, extrapolate, steps, at):
    """Straight between nodes; in steps the value of a node holds from the one before on."""
    path = tmp_path / "controls.xml"
    path.write_text(NODES.format(extrapolate=extrapolate, steps=steps))
    found = mb.biomechanics.read_controls(path)
    for time, value in at.items():
        assert_allclose(found.functions["soleus_r"].calc_value([time]), value, atol=1e-14)
    assert found.functions["vas_int_r"].calc_value([7.0]) == 0.3
    assert found.ranges == {"soleus_r": (0.02, 0.9), "bifemsh_r": (0.02, 0.5)}  # the other end is OpenSim's usual one
    assert [*found.limits] == ["soleus_r"]
    lines = path.read_text().split("<min_nodes>")[0] + "<max_nodes>" + path.read_text().split("<max_nodes>")[1]
    path.write_text(lines)  # OpenSim looks for nodes of the least value alone
    least, largest = mb.biomechanics.read_controls(path).limits["soleus_r"]
    assert least.calc_value([0.2]) == 0.02 and 0.7 < largest.calc_value([0.2]) < 0.81


def test_a_set_of_controls_is_read_as_by_opensim(tmp_path):
    opensim = pytest.importorskip("opensim")
    path = tmp_path / "controls.xml"
    for extrapolate, steps in (("true", "false"), ("false", "false"), ("true", "true")):
        path.write_text(NODES.format(extrapolate=extrapolate, steps=steps))
        theirs, ours = opensim.ControlSet(str(path)), mb.biomechanics.read_controls(path)
        for time in np.random.default_rng(1).uniform(0.0, 0.5, 20):
            control = theirs.get("soleus_r.excitation")
            assert_allclose(ours.functions["soleus_r"].calc_value([time]), control.getControlValue(time), atol=1e-13)
            least, largest = (one.calc_value([time]) for one in ours.limits["soleus_r"])
            assert_allclose(least, control.getControlValueMin(time), atol=1e-13)
            assert_allclose(largest, control.getControlValueMax(time), atol=1e-13)
        assert ours.ranges["bifemsh_r"][0] == theirs.get("bifemsh_r").getControlValueMin(0.3)


def test_controls_drive_muscles_and_are_written_and_read_again(tmp_path):
    leg = mb.load_osim(LEG)
    table = mb.Table([0.0, 0.1, 0.2], {"/forceset/soleus_r": [0.1, 0.5, 0.2], "vas_int_r.excitation": [0.3, 0.3, 0.4]})
    leg.set_controls(table)
    leg.set_controls({"vas_int_r": mb.function.Step(0.0, 0.5, 0.1, 0.2), "tib_ant_r": 0.25})
    path = tmp_path / "driven.osim"
    mb.write_osim(path, leg)
    again = mb.load_osim(path)
    for model in (leg, again):
        state = model.default_state()
        state.time = 0.15
        found = {name: model.muscles[name].calc_excitation(state) for name in ("soleus_r", "vas_int_r", "tib_ant_r", "psoas_r")}
        assert_allclose([*found.values()], [0.35, 0.25, 0.25, 0.0], atol=1e-14)
    opensim = pytest.importorskip("opensim")
    theirs = opensim.Model(str(path))
    state = theirs.initSystem()
    state.setTime(0.15)
    theirs.realizeDynamics(state)
    for name, value in found.items():
        assert_allclose(theirs.getMuscles().get(name).getExcitation(state), value, atol=1e-12)


def test_controllers_of_a_file_drive_actuators(tmp_path):
    """A PrescribedController of functions and of a file; a ControlSetController; what is switched off does nothing."""
    text = Path(str(LEG)).read_text()
    (tmp_path / "controls.sto").write_text("c\nversion=1\ninDegrees=no\nendheader\ntime\tsoleus_r\n0\t0.1\n1\t0.5\n")
    (tmp_path / "set.xml").write_text(NODES.format(extrapolate="true", steps="false"))
    controllers = """<ControllerSet name="controllerset"><objects>
      <PrescribedController name="one"><actuator_list>vas_int_r drive</actuator_list>
        <FunctionSet name="ControlFunctions"><objects><PiecewiseLinearFunction><x>0 1</x><y>0.2 0.4</y>
        </PiecewiseLinearFunction><Constant><value>0.5</value></Constant>
      </objects></FunctionSet><controls_file>controls.sto</controls_file></PrescribedController>
      <PrescribedController name="off"><enabled>false</enabled><actuator_list>tib_ant_r</actuator_list>
        <FunctionSet name="ControlFunctions"><objects><Constant><value>0.9</value></Constant></objects></FunctionSet>
      </PrescribedController>
      <ControlSetController name="lost"><controls_file>nowhere.xml</controls_file></ControlSetController>
      <ControlSetController name="twice"><controls_file>set.xml</controls_file></ControlSetController>
    </objects></ControllerSet>"""
    drive = '<CoordinateActuator name="drive"><coordinate>knee_angle_r</coordinate>'
    drive += "<optimal_force>40</optimal_force></CoordinateActuator>"
    head, _, rest = text.partition("<ForceSet")
    begin, _, end = rest.partition("<objects>")
    path = tmp_path / "model.osim"
    path.write_text(f"{head}{controllers}<ForceSet{begin}<objects>{drive}{end}")
    with pytest.warns(mb.ModelWarning, match="controllers, which do not act: 1"):
        model = mb.load_osim(path)
    mb.write_osim(tmp_path / "written.osim", model)  # OpenSim's Model refuses plain names in it
    assert "<socket_actuators>/forceset/vas_int_r /forceset/drive</socket_actuators>" in (tmp_path / "written.osim").read_text()
    report = str(model.report)
    assert "'off' is switched off" in report
    assert "'lost' is left out: its file of controls" in report
    assert "'twice' does not drive 'soleus_r': another controller drives it" in report
    state = model.default_state()
    state.time = 0.5
    found = [model.muscles[name].calc_excitation(state) for name in ("soleus_r", "vas_int_r", "tib_ant_r")]
    assert_allclose(found, [0.3, 0.3, 0.0], atol=1e-14)
    bare = model.default_state()
    model.system.realize(state)
    model.system.realize(bare)
    place = model.speeds["knee_angle_r"]
    given = model.actuators["drive"].calc_force_contribution(state)[2]
    assert_allclose(given, 20.0 * np.eye(len(given))[place], atol=1e-12)
    model.actuators["drive"].set_effort(state, 3.0)
    model.system.realize(state)
    assert_allclose(model.actuators["drive"].calc_force_contribution(state)[2][place], 23.0)


@pytest.mark.parametrize("extrapolate", ["true", "false"])
def test_nodes_at_one_time_are_a_jump(tmp_path, extrapolate):
    """As in OpenSim, but at the time itself, where it has NaN."""
    opensim = pytest.importorskip("opensim")
    path, node = tmp_path / "controls.xml", "<ControlLinearNode><t>0.3</t><value>{}</value></ControlLinearNode>"
    text = NODES.format(extrapolate=extrapolate, steps="false")
    path.write_text(text.replace(node.format(0.6), "".join(map(node.format, (0.6, 0.8, 0.5)))))
    assert path.read_text().count("<t>0.3</t>") == 4
    theirs, ours = opensim.ControlSet(str(path)), mb.biomechanics.read_controls(path).functions["soleus_r"]
    assert_allclose(ours.calc_value([0.3]), 0.5, atol=1e-13)
    for time in (0.05, 0.15, 0.299999, 0.300001, 0.35, 0.5):
        assert_allclose(ours.calc_value([time]), theirs.get(0).getControlValue(time), atol=1e-12)
    path.write_text(text.replace("<t>0.3</t>", "<t>0.1</t>").replace("<t>0.4</t>", "<t>0.1</t>"))
    assert mb.biomechanics.read_controls(path).functions["soleus_r"].calc_value([7.0]) == 0.1


def test_what_cannot_drive_is_refused_and_nothing_changes(tmp_path):
    leg = mb.load_osim(LEG)
    with pytest.raises(mb.ModelError, match=r"controls drive 'soleus', and the model has no such actuator; .*soleus_r"):
        leg.set_controls({"vas_int_r": 0.4, "soleus": 0.1})
    leg.actuators["motor"] = leg.gravity  # of a kind that is not driven
    with pytest.raises(mb.ModelError, match=r"controls of 'motor': no function of time drives"):
        leg.set_controls({"vas_int_r": 0.4, "motor": 0.1})
    del leg.actuators["motor"]
    assert leg.muscles["vas_int_r"].get_excitation_function() is None
    with pytest.raises(ValueError, match=r"control of 'vas_int_r'"):
        leg.set_controls({"vas_int_r": np.nan})
    path = tmp_path / "x.xml"
    path.write_text("<OpenSimDocument><Nothing/></OpenSimDocument>")
    with pytest.raises(mb.ModelError, match=r"x\.xml:1: this file holds no ControlSet"):
        leg.set_controls(path)
    with pytest.raises(ValueError, match="a number a time"):
        leg.set_controls(mb.Table([0.0, 1.0], {"soleus_r": np.zeros((2, 3))}))


def test_the_command_takes_controls(tmp_path, capsys):
    controls = tmp_path / "controls.sto"
    mb.write_sto(controls, mb.Table([0.0, 1.0], {"soleus_r": [0.3, 0.5]}))
    run = ["simulate", str(LEG), "--time", "0.01", "--equilibrate", "--quiet", "--output"]
    assert main([*run, str(tmp_path / "driven.npz"), "--controls", str(controls)]) == 0
    assert main([*run, str(tmp_path / "plain.npz")]) == 0
    driven, plain = (np.load(tmp_path / f"{name}.npz")["q"] for name in ("driven", "plain"))
    assert np.abs(driven[-1] - plain[-1]).max() > 1e-9
    assert main(["simulate", "panda", "--controls", str(controls), "--time", "0.01"]) == 2
    assert "--controls is for OpenSim files" in capsys.readouterr().err
