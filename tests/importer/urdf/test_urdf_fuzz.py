"""No file, however mangled, gets anything but a model or a clear error."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from importlib.resources import files

from hypothesis import given, settings, strategies as st

import mobod as mb

SEED = """<?xml version="1.0"?>
<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="a"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"/>
  <link name="c">
    <inertial><origin xyz="0 0 1" rpy="0 0.5 0"/><mass value="2"/>
      <inertia ixx="2" iyy="3" izz="4"/></inertial>
    <visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry>
      <material name="red"/></visual>
  </link>
  <link name="d"><inertial><mass value="0.5"/></inertial></link>
  <joint name="ab" type="revolute"><parent link="a"/><child link="b"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="2" velocity="3"/></joint>
  <joint name="bc" type="prismatic"><parent link="b"/><child link="c"/>
    <origin rpy="1 2 3"/><axis xyz="0 1 0"/>
    <dynamics damping="0.1" friction="0.2"/><mimic joint="ab" multiplier="2"/></joint>
  <joint name="ad" type="fixed"><parent link="a"/><child link="d"/></joint>
</robot>
"""

# values that break assumptions: names of other things, numbers at every edge, no numbers
VALUES = [
    "",
    " ",
    "0",
    "-0.0",
    "-1",
    "1e300",
    "1e-300",
    "5e-324",
    "1e30",
    "-1e30",
    "1e999",
    "nan",
    "inf",
    "1 2",
    "a",
]
VALUES += [
    "0 0 0",
    "1 1 1",
    "0 0 1e-20",
    "1e30 1e30 1e30",
    "b",
    "c",
    "ab",
    "bc",
    "fixed",
    "floating",
    "planar",
    "${x}",
]
VALUES += ["revolute", "\u0661", "1,5", "0x10", "1e-31", "3", "1e-9"]


def parse(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.urdf")
        with open(path, "wb") as file:
            file.write(data)
        for floating_base in (False, True):
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # overflow in arithmetic is a check that is missing
                warnings.filterwarnings("ignore", ".*joints that move no mass", UserWarning)
                warnings.simplefilter("ignore", mb.ModelWarning)
                warnings.filterwarnings(
                    "ignore", ".*no body has|.*should be three|.*has no <mass>|.*stands before", UserWarning
                )
                try:
                    model = mb.load_urdf(path, floating_base=floating_base)
                except mb.ModelError as error:
                    assert str(error).startswith(path)
                else:
                    assert len(model.default_state().q) == len(model.coordinates)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**6), st.integers(0, 4), st.binary(max_size=8)),
        min_size=1,
        max_size=6,
    )
)
def test_bytes_replaced_removed_and_inserted(edits):
    data = bytearray(SEED.encode())
    for place, removed, inserted in edits:
        at = place % len(data)
        data[at : at + removed] = inserted
    parse(bytes(data))


@settings(max_examples=600, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(VALUES)), min_size=1, max_size=4))
def test_attributes_replaced(edits):
    places = [match.span(1) for match in re.finditer(r'="([^"]*)"', SEED)]
    chosen = {place % len(places): value for place, value in edits}
    text = SEED
    for number in sorted(chosen, reverse=True):
        start, end = places[number]
        text = text[:start] + chosen[number] + text[end:]
    parse(text.encode())


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.booleans()),
        min_size=1,
        max_size=4,
    )
)
def test_elements_removed_doubled_and_moved(edits):
    lines = SEED.splitlines()
    for first, second, keep in edits:
        line = lines[first % len(lines)]
        if not keep:
            lines.remove(line)
        lines.insert(second % (len(lines) + 1), line)
    parse("\n".join(lines).encode())


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_bundled_robot_cut_and_pasted(data):
    text = (files("mobod") / "examples" / "panda.urdf").read_text(encoding="utf-8")
    at = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(at, min(len(text), at + 400)))
    parse((text[:at] + text[end:]).encode())
