"""check_custom: what belongs together passes, and what was made wrong on purpose is named, function and column."""

import math

import numpy as np
import pytest

import mobod as mb
from mobod.algebra import mat33, rotation, zero
from mobod.mobilizer import KINDS, CompiledFunctions, check_custom


class Spiral(mb.mobilizer.CustomImplementation):
    """Turns about z while it slides along x by q0^2, and slides along z: H depends on q; right in everything."""

    def __init__(self, matter):
        super().__init__(matter, nu=2, nq=2)

    def calc_mobilizer_transform_from_q(self, state, q):
        return mb.Transform(mb.Rotation.about_axis(q[0], "z"), (q[0] ** 2, 0, q[1]))

    def multiply_by_h_matrix(self, state, u):
        return np.array([(0, 0, u[0]), (2 * self.get_q(state)[0] * u[0], 0, u[1])])

    def multiply_by_h_transpose(self, state, F):
        return F[0, 2] + 2 * self.get_q(state)[0] * F[1, 0], F[1, 2]

    def multiply_by_h_dot_matrix(self, state, u):
        return np.array([(0, 0, 0), (2 * self.get_q_dot(state)[0] * u[0], 0, 0)])

    def multiply_by_h_dot_transpose(self, state, F):
        return 2 * self.get_q_dot(state)[0] * F[1, 0], 0


class Scaled(Spiral):
    """The same in coordinates that go half as fast, the second one faster the farther it is: q_dot = N(q) u."""

    def calc_mobilizer_transform_from_q(self, state, q):
        return super().calc_mobilizer_transform_from_q(state, (2 * q[0], math.log(q[1])))

    def get_q(self, state):
        q = super().get_q(state)
        return np.array([2 * q[0], math.log(q[1])])

    def get_q_dot(self, state):
        return self.get_u(state)

    def factors(self, state):
        return np.array([0.5, super().get_q(state)[1]])

    def multiply_by_n(self, state, transpose_matrix, v):
        return self.factors(state) * v

    def multiply_by_n_inv(self, state, transpose_matrix, v):
        return v / self.factors(state)

    def multiply_by_n_dot(self, state, transpose_matrix, v):
        return np.array([0.0, super().get_q_dot(state)[1]]) * v


@pytest.fixture
def matter():
    return mb.SimbodyMatterSubsystem(mb.MultibodySystem())


def spoiled(kind, **methods):
    return type("Spoiled", (kind,), methods)


# ---------------------------------------------------------------------------------------------- what is right


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.facts.num_u], ids=lambda kind: kind.__name__)
def test_the_built_in_kinds_belong_together(kind, make):
    model = make.tree(0)
    body = make.mobilized_body(kind, make.mobilized_body(mb.mobilizer.Free, model.matter.ground))
    model.made().randomize()
    report = check_custom(body, state=model.state, trials=2)
    assert report.ok and max(report.errors.values()) < 1e-8 and len(report.places) == 2
    assert "belongs together" in str(report) and kind.__name__ in str(report)


@pytest.mark.parametrize("direction", mb.Direction, ids=lambda d: d.name.lower())
def test_what_belongs_together_passes_whether_it_is_part_of_a_system_or_not(direction, make):
    model = make.tree(0)
    for kind in (Spiral, Scaled):
        mine = kind(model.matter)
        q = {} if kind is Spiral else {"q": make.rng.uniform(0.5, 1.5, (3, 2))}
        alone = check_custom(mine, **q)
        assert mine.bound_mobod is None, "it is looked at in a copy"
        body = mb.mobilizer.Custom(model.matter.ground, make.body(), mine, direction=direction)
        for report in (alone, check_custom(body, **q), check_custom(mine, **q)):
            assert report.ok and len(report.errors) > 10 and max(report.errors.values()) < 1e-8
    assert mine.bound_mobod is body


def test_places_where_it_cannot_be_are_passed_over(make):
    """Scaled has a logarithm; of its random places half are out of reach."""
    report = check_custom(Scaled(make.tree(0).matter), trials=5, seed=3)
    assert report.ok and len(report.places) == 5 and (report.places[:, 1] > 0.0).all()
    nowhere = spoiled(Scaled, calc_mobilizer_transform_from_q=lambda self, state, q: np.full((4, 4), np.nan))
    with pytest.raises(mb.ModelError, match=r"fails wherever it was tried.*calc_mobilizer_transform_from_q"):
        check_custom(nowhere(make.tree(0).matter))


# ---------------------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("methods", "messages"),
    [
        (
            {"multiply_by_h_matrix": lambda self, state, u: np.array([(0, 0, u[0]), (self.get_q(state)[0] * u[0], 0, u[1])])},
            [r"column 0 of multiply_by_h_matrix, of u\[0\]", "column 0 of multiply_by_h_dot_matrix", "multiply_by_h_transpose"],
        ),
        (
            {"multiply_by_h_dot_matrix": lambda self, state, u: np.array([(0, 0, 0), (2 * u[0], 0, 0)])},
            [r"column 0 of multiply_by_h_dot_matrix, of u\[0\], is .* at q = .*, u = ", "multiply_by_h_dot_transpose"],
        ),
        ({"multiply_by_h_transpose": lambda self, state, F: (0, F[1, 2])}, ["multiply_by_h_transpose .* in number 0"]),
        ({"multiply_by_h_dot_transpose": lambda self, state, F: (0, 1)}, ["multiply_by_h_dot_transpose .* in numbers 0, 1"]),
        (
            {"multiply_by_h_matrix": lambda self, state, u: -Spiral.multiply_by_h_matrix(self, state, u)},
            ["column 0 .*wrong sign", "column 1 .*wrong sign", "h_dot_matrix", "h_transpose"],
        ),
        (
            {
                "calc_mobilizer_transform_from_q": lambda self, state, q: mb.Transform(
                    mb.Rotation.about_axis(q[0], "x"), (q[0] ** 2, 0, q[1])
                )
            },
            [r"column 0 of multiply_by_h_matrix.* where the transform moves with \[\[1, 0, 0\]"],
        ),
        (
            {"multiply_by_h_matrix": lambda self, s, u: np.array([(0, 0, u[0]), (2 * self.get_q(s)[0] * u[0], 0, u[1] ** 3)])},
            ["multiply_by_h_matrix is not linear"],
        ),
        (
            {"set_q_to_fit_transform": lambda self, state, X_FM: (0.1, X_FM.p[2])},
            ["set_q_to_fit_transform does not find q"],
        ),
        (
            {"set_u_to_fit_velocity": lambda self, state, V_FM: (V_FM[0, 2], V_FM[1, 1])},
            ["set_u_to_fit_velocity does not find u"],
        ),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else "",
)  # fmt: skip
def test_a_wrong_method_is_named(methods, messages, matter):
    import re

    wrong = spoiled(Spiral, **methods)(matter)
    report = check_custom(wrong, raise_error=False)
    assert not report.ok and len(report.findings) == len(messages), report
    for message, finding in zip(messages, report.findings, strict=True):
        assert re.search(message, finding)
    with pytest.raises(mb.ModelError, match=messages[0]):
        check_custom(wrong)
    assert "does not belong together" in str(report) and report.findings[0] in str(report)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"multiply_by_n": lambda self, s, t, v: 2.0 * self.factors(s) * v}, "or multiply_by_n is wrong"),
        ({"multiply_by_n_inv": lambda self, s, t, v: v}, "n_inv is not the inverse of multiply_by_n"),
        ({"multiply_by_n_dot": lambda self, s, t, v: 0.0 * v}, "column 1 of multiply_by_n_dot"),
        (
            {"multiply_by_n": lambda self, s, t, v: (3.0 if t else 1.0) * self.factors(s) * v},
            "multiply_by_n with transpose_matrix = True is not the transpose",
        ),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else "",
)  # fmt: skip
def test_a_wrong_n_is_named(methods, message, matter):
    with pytest.raises(mb.ModelError, match=message):
        check_custom(spoiled(Scaled, **methods)(matter))


def test_products_of_the_wrong_length_are_named(matter):
    with pytest.raises(mb.ModelError, match="multiply_by_h_transpose has to return 2 numbers"):
        check_custom(spoiled(Spiral, multiply_by_h_transpose=lambda self, state, F: [1.0])(matter))
    wrong = spoiled(Scaled, multiply_by_n=lambda self, state, t, v: np.zeros(3) if t else self.factors(state) * v)
    with pytest.raises(mb.ModelError, match="multiply_by_n with transpose_matrix = True has to return 2 numbers"):
        check_custom(wrong(matter))


def test_a_method_that_changes_the_state_is_found(matter):
    def meddle(self, state, F):
        state.q_values[0] += 1.0
        return Spiral.multiply_by_h_transpose(self, state, F)

    with pytest.raises(mb.ModelError, match="changes the q or the u"):
        check_custom(spoiled(Spiral, multiply_by_h_transpose=meddle)(matter))


def test_compiled_functions_that_do_not_belong_together_are_named():
    def transform(q, p):  # by twice the coordinate, about an axis that leans in F
        return mat33.mul(rotation.about_x(0.3 + zero(q[0])), rotation.about_z(2.0 * q[0])), (0, 0, 0)

    def in_m(q, p):
        return (((0, 0, 1), (0, 0, 0)),)

    def half(q, p):
        return ((0.5,),)

    shape = {"num_q": 1, "num_u": 1, "transform": transform, "n": half}
    assert check_custom(CompiledFunctions(**shape, n_inv=lambda q, p: ((2.0,),))).ok
    with pytest.raises(mb.ModelError, match=r"column 0 of hinge.*its angular part is expressed in M, and has to be in F"):
        check_custom(CompiledFunctions(**shape, hinge=in_m, n_inv=lambda q, p: ((2.0,),)))
    with pytest.raises(mb.ModelError, match="n_inv is not the inverse of n"):
        check_custom(CompiledFunctions(**shape, n_inv=half))


def test_a_transform_that_depends_on_the_length_of_its_quaternion_is_named():
    def transform(q, p):
        w, x, y, z = q
        R = (
            1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
        )  # fmt: skip
        return R, (0, 0, 0)

    with pytest.raises(mb.ModelError, match="transform depends on the length of the quaternion"):
        check_custom(CompiledFunctions(num_q=4, num_u=3, num_angles=4, transform=transform))


def test_bad_arguments_are_refused(matter, make):
    mine = Spiral(matter)
    with pytest.raises(TypeError, match="CustomImplementation"):
        check_custom(Spiral)
    with pytest.raises(ValueError, match="trials"):
        check_custom(mine, trials=0)
    for q in ([1.0], np.zeros((2, 3)), [np.nan, 0.0]):
        with pytest.raises(ValueError, match="places of 2 finite numbers"):
            check_custom(mine, q=q)
    other = make.tree(1)
    body = mb.mobilizer.Custom(matter.ground, make.body(), mine)
    with pytest.raises(mb.TopologyError, match="another system"):
        check_custom(body, state=other.state)
    with pytest.raises(mb.ModelError, match="is not finite at q"):
        check_custom(
            CompiledFunctions(num_q=1, num_u=1, transform=lambda q, p: (rotation.identity(q[0]), (p[0] / q[0], 0, 0))),
            parameters=[1.0],
            q=[0.0],
        )
