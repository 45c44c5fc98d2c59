"""Records of the methods of integration, by which tests go."""

import dataclasses

from kinds import Records
from mobod import integrator


@dataclasses.dataclass(frozen=True, kw_only=True)
class Integrator:
    """The record of a method.

    Parameters
    ----------
    kind : type
        The class.
    halved_from : int or None
        How many steps of half a second show the order of an explicit method, when they are halved twice.
    evaluations : int or None
        Of a step of a pendulum, with the rate at its end for the next; None where their number depends on the model.
    error_control : bool
        Whether it chooses its steps; else it needs a `fixed_step_size`.
    iterates : bool
        Whether it solves equations in a step.
    stage_near_end : bool
        Whether one of its stages is near the end of a step, where it sees a jump of forces; else it does a step later.
    order_varies : bool
        Whether `order` is the highest of several.
    of_rates : bool
        Whether it solves differential equations alone; False for what finds impulses of contact, and has tests of its own.
    reference : str
        Where its coefficients are from.
    """

    kind: type
    halved_from: int | None
    evaluations: int | None
    error_control: bool
    iterates: bool
    stage_near_end: bool
    order_varies: bool
    of_rates: bool
    reference: str

    @property
    def explicit(self):
        """True if its order shows when steps are halved."""
        return self.halved_from is not None

    def settings(self, fixed_step_size, **controlled):
        """Its keywords: a fixed step where it needs one, else those that ask for a step of its own."""
        return controlled if self.error_control else {"fixed_step_size": fixed_step_size}


def explicit(kind, halved_from, evaluations, reference, **other):
    """The record of an explicit method."""
    facts = {"error_control": True, "iterates": False, "stage_near_end": True, "order_varies": False, "of_rates": True, **other}
    return Integrator(kind=kind, halved_from=halved_from, evaluations=evaluations, reference=reference, **facts)


INTEGRATORS = Records(
    "integrator",
    explicit(integrator.ExplicitEuler, 400, 1, "Euler's rule, its error by the next one's"),
    explicit(integrator.RungeKutta2, 100, 2, "Simbody's: the trapezoidal rule with Euler's inside"),
    explicit(integrator.RungeKutta3, 50, 3, "Simbody's, of order 3 with 2"),
    explicit(integrator.RungeKuttaFeldberg, 8, 6, "Fehlberg 1969, of order 5 with 4"),
    explicit(integrator.RungeKuttaMerson, 25, 5, "Merson 1957, of order 4 with 3"),
    explicit(integrator.Verlet, 100, None, "Simbody's velocity Verlet, whose speeds are iterated", iterates=True),
    explicit(integrator.SemiExplicitEuler, 400, 1, "Euler and Cromer's rule", error_control=False),
    explicit(integrator.SemiExplicitEuler2, 400, 2, "two half steps of Euler and Cromer's, the error by a whole one"),
    Integrator(
        kind=integrator.BDF,
        halved_from=None,
        evaluations=None,
        error_control=True,
        iterates=True,
        stage_near_end=True,
        order_varies=True,
        of_rates=True,
        reference="Byrne and Hindmarsh 1975, against SUNDIALS in test_bdf.py",
    ),
    Integrator(
        kind=integrator.TimeStepping,
        halved_from=None,
        evaluations=None,
        error_control=False,
        iterates=True,
        stage_near_end=True,
        order_varies=False,
        of_rates=False,
        reference="Stewart and Trinkle 1996, in tests/unilateral",
    ),
)
