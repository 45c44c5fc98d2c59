"""Base parameters: the combinations of inertial parameters that forces on the mobilities can tell apart."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..state.state import State
from ..system.arguments import check_state, check_system
from ..system.system import MultibodySystem
from ..value import checks
from ..value.stage import Stage

_OF_BODY = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
#: The part of the largest entry of a row of the combinations below which another parameter is not named in it.
_NAMED = 1e-9


@dataclasses.dataclass(frozen=True, eq=False)
class BaseParameters:
    """The combinations of a system's inertial parameters that its motion depends on.

    Attributes
    ----------
    independent : (n,) int array
        Columns of `SimbodyMatterSubsystem.calc_inertial_parameter_regressor` that are a basis of all.
    matrix : (n, 10 (nb - 1)) array
        The base parameters are this matrix times (m, m c, I) of all bodies.
    names : list of str
        Of the base parameters, as sums of ``body.m``, ``body.mx``, ``body.Ixx`` and so on.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> base = mb.find_base_parameters(system)
    >>> len(base), base.names[0], base.matrix.shape
    (6, 'upper.mx', (6, 20))
    """

    independent: Array
    matrix: Array
    names: list[str]

    def __repr__(self) -> str:
        n, p = self.matrix.shape
        return f"<BaseParameters: {n} of {p} inertial parameters>"

    def __len__(self) -> int:
        return len(self.matrix)

    def calc_values(self, parameters: Array) -> Array:
        """Their values ``(n,)``, of (m, m c, I) of all bodies but Ground ``(10 (nb - 1),)``."""
        return self.matrix @ checks.shaped("parameters", parameters, (self.matrix.shape[1],))


def find_base_parameters(
    system: MultibodySystem, state: State | None = None, *, seed: int = 0, tolerance: float = 1e-8
) -> BaseParameters:
    """Find which combinations of inertial parameters forces on the mobilities can tell apart.

    Parameters
    ----------
    system : MultibodySystem
    state : State, optional
        Whose modelling choices, frames and gravity it has; the default state unless given. It is left as it is.
    seed : int
        Of the random motions that are looked at.
    tolerance : float
        Singular directions smaller than this part of the largest count as none.

    Returns
    -------
    BaseParameters

    Raises
    ------
    ModelError
        If nothing can move.

    Notes
    -----
    A QR decomposition, with pivoting, of the regressor at random q, u and u_dot. Columns that depend on others are added to
    these. Source: Gautier 1991.

    Examples
    --------
    >>> import mobod as mb
    >>> system, _ = mb.examples.double_pendulum.build()
    >>> mb.find_base_parameters(system)
    <BaseParameters: 6 of 20 inertial parameters>
    """
    from scipy.linalg import qr, solve_triangular

    if state is None:
        check_system("find_base_parameters", system)
        here = system.realize_topology()
    else:
        check_state("find_base_parameters", system, state)
        here = state.copy()
    tree, matter = here.tree, system.get_matter_subsystem()
    if tree.nu == 0:
        raise ModelError(f"nothing can move in {system.name!r}, so that its forces tell nothing of its inertias")
    rng, p, blocks = np.random.default_rng(seed), 10 * (tree.nb - 1), []
    for _ in range(2 + 2 * p // tree.nu):
        here.q = rng.normal(size=len(here.q_view))
        here.u = rng.normal(size=len(here.u_view))
        system.normalize_quaternions(here)
        system.realize(here, Stage.VELOCITY)
        blocks.append(matter.calc_inertial_parameter_regressor(here, rng.normal(size=tree.nu)))
    _, R, order = qr(np.vstack(blocks), mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int(np.sum(size > tolerance * size[0]))
    matrix = np.zeros((rank, p))
    matrix[np.arange(rank), order[:rank]] = 1.0
    matrix[:, order[rank:]] = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    matrix[np.abs(matrix) < tolerance] = 0.0
    first = np.argsort(order[:rank])
    independent, matrix = order[:rank][first], matrix[first]
    every = [f"{body.name}.{what}" for body in matter.body_list[1:] for what in _OF_BODY]
    return BaseParameters(independent, matrix, [_sum(row, k, every) for row, k in zip(matrix, independent, strict=True)])


def _sum(row: Array, leading: int, names: list[str]) -> str:
    """A row of the combinations in words, the leading parameter first."""
    text = names[leading]
    for k in np.flatnonzero(np.abs(row) > _NAMED * np.abs(row).max()):
        if k != leading:
            factor = "" if abs(abs(row[k]) - 1.0) < 1e-9 else f"{abs(row[k]):.4g} "
            text += f" {'-' if row[k] < 0.0 else '+'} {factor}{names[k]}"
    return text
