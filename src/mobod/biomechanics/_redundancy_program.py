"""The nonlinear program of muscle redundancy: the equations of muscles at the nodes of a mesh, and their derivatives.

Unknowns are, at each node, activations a, excitations e of muscles whose activation follows, normalized tendon forces f and
their rates d of muscles whose tendon stretches, and controls c of actuators and reserves:

    least      integral of (sum of w |control|^p + rate_weight sum of d^2)      control: e, or a that is the excitation, and c
    where      a' = activation_rate(e, a),  f' = d             by the scheme of the mesh
               f = (a fal fv + fpe) cos phi                    at each node, of f and d
               N^T (sum of r_i F_i + pushes c) = N^T tau       at each node, F_i = Fiso f, or of a rigid tendon P a + Q
               e = a                                           at the first node

A muscle's equations have its own unknowns only, so that second derivatives are small blocks; they are those of Duals, of all
muscles and nodes at once.
"""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.dual import hessian, jacobian, seed
from ..muscle import DeGrooteFregly2016
from ..muscle.degroote_fregly2016 import approach, contract, fiber_of, missed, tendon_length
from ..optimal.mesh import Mesh
from ..optimal.sparse import Pattern
from ._balance import Balance

#: Of normalized tendon forces: from a slack tendon to what none bears.
LEAST, MOST = 0.0, 5.0


class Program:
    """A `mobod.optimal` program; attributes other than those of the unknowns are as there.

    Parameters
    ----------
    own : Balance
        At the nodes; its muscles are `DeGrooteFregly2016`.
    mesh : Mesh
    exponent, rate_weight : float
    """

    def __init__(self, own: Balance, mesh: Mesh, exponent: float, rate_weight: float) -> None:
        self.own, self.mesh, self.p, self.rate_weight = own, mesh, exponent, rate_weight
        muscles = list(own.muscles.values())
        n, self.nm = len(mesh), len(muscles)
        self.active, self._at_once = _with(muscles, "activation")
        self.elastic, self._rigid = _with(muscles, "normalized_tendon_force")
        num_numbers = DeGrooteFregly2016.FUNCTIONS.num_numbers
        self._numbers = np.array([one.default_numbers[:num_numbers] for one in muscles]).T[:, None]
        self.strength = np.array([one.get_default_max_isometric_force() for one in muscles])
        self.duration = float(own.taken.time[-1] - own.taken.time[0])
        counts = {"a": self.nm, "e": len(self.active), "f": len(self.elastic), "d": len(self.elastic), "c": own.pushes.shape[1]}
        self.at: dict[str, Any] = {}
        self.n = 0
        for name, count in counts.items():
            self.at[name] = self.n + np.arange(n * count).reshape(n, count)
            self.n += n * count
        self._bound()
        self._weigh_controls()
        self._balance()
        self._pattern()
        self._v: bytes | None = None
        self._here: tuple[Any, ...] = ()

    # ------------------------------------------------------------------------------------------ what does not change

    def _bound(self) -> None:
        own = self.own
        self.low, self.high = np.full(self.n, -np.inf), np.full(self.n, np.inf)
        for name, which in (("a", slice(self.nm)), ("e", self.active), ("c", slice(self.nm, None))):
            self.low[self.at[name]], self.high[self.at[name]] = own.low[which], own.high[which]
        self.low[self.at["f"]], self.high[self.at["f"]] = LEAST, MOST

    def _weigh_controls(self) -> None:
        """Places of the controls, and their weights in the integral; and of the rates."""
        w, quadrature = self.own.weights, self.duration * self.mesh.weights[:, None]
        parts = [(self.at["a"][:, self._at_once], w[self._at_once]), (self.at["e"], w[self.active])]
        parts.append((self.at["c"], w[self.nm :]))
        self._controls = np.concatenate([places.ravel() for places, _ in parts])
        self._weights = np.concatenate([(quadrature * weights).ravel() for _, weights in parts])
        self._rates = self.at["d"].ravel()
        self._rate_weights = self.rate_weight * np.broadcast_to(quadrature, self.at["d"].shape).ravel()

    def _balance(self) -> None:
        """Coefficients of the moment balance, which is linear; by the largest of the forces."""
        own, rigid = self.own, self._rigid
        self.rigid_active, self.rigid_passive = self.rigid_forces()
        along, pushes = own.along(own.arms), own.along(own.pushes)
        self.scale = 1.0 + np.abs(own.tau).max()
        self._by = {
            "f": along[:, self.elastic] * self.strength[self.elastic, None],
            "a": along[:, rigid] * self.rigid_active[:, rigid, None],
            "c": pushes,
        }
        held = np.einsum("tj,tju->tu", self.rigid_passive[:, rigid], own.arms[:, rigid])
        self._wanted = own.along((own.tau - held)[:, None])[:, 0]
        self._places = {"f": self.at["f"], "a": self.at["a"][:, rigid], "c": self.at["c"]}

    def rigid_forces(self) -> tuple[Array, Array]:
        """Tendon forces (n, nm) of muscles with rigid tendons: the active one at full activation, the passive one."""
        pool = self._pool(slice(None))
        lengths, speeds = self.own.lengths, self.own.speeds
        none, full = (contract(pool, 0, 0, 0, a + 0.0 * lengths, lengths, speeds)[3] for a in (0.0, 1.0))
        return full - none, none

    def _pattern(self) -> None:
        mesh, at, act = self.mesh, self.at, self.active
        k, s = len(mesh.sizes), mesh.scheme.L.shape[0]
        n, na, ne, dof = len(mesh), len(act), len(self.elastic), self._wanted.shape[1]
        counts = [k * s * na, k * s * ne, n * ne, n * dof, na]
        self.m = sum(counts)
        rows = np.split(np.arange(self.m), np.cumsum(counts)[:-1])
        self.rows = dict(zip(("activation", "force", "equilibrium", "balance", "first"), rows, strict=True))
        self.g_low, self.g_high = np.zeros(self.m), np.zeros(self.m)
        by: list[Any] = [
            (self.rows["activation"].reshape(k, s, 1, na), at["a"][:, act][mesh.nodes][:, None]),
            (self.rows["activation"].reshape(k, s, 1, na), at["e"][mesh.nodes][:, None]),
            (self.rows["force"].reshape(k, s, 1, ne), at["f"][mesh.nodes][:, None]),
            (self.rows["force"].reshape(k, s, 1, ne), at["d"][mesh.nodes][:, None]),
            *((self.rows["equilibrium"].reshape(n, ne), places) for places in self._three()),
            *((self.rows["balance"].reshape(n, 1, dof), self._places[name][:, :, None]) for name in self._by),
            (self.rows["first"], at["e"][0]),
            (self.rows["first"], at["a"][0, act]),
        ]
        self.jacobian_pattern = Pattern(
            (max(self.m, 1), self.n), [(r, c) for r, c in itertools.starmap(np.broadcast_arrays, by)]
        )
        both, three = [at["a"][:, act], at["e"]], self._three()
        second = [(self._controls, self._controls), (self._rates, self._rates)]
        second += [(both[i], both[j]) for i in range(2) for j in range(2)]
        second += [(three[i], three[j]) for i in range(3) for j in range(3)]
        self.hessian_pattern = Pattern((self.n, self.n), second, upper=True)

    def _three(self) -> list[Any]:
        """Places of what an equilibrium depends on."""
        return [self.at["a"][:, self.elastic], self.at["f"], self.at["d"]]

    # ------------------------------------------------------------------------------------------ equations of muscles

    def _pool(self, which: Any) -> Any:
        """Numbers of some muscles, as records have them; their tendons are rigid where the equations ask."""
        return SimpleNamespace(force_numbers=self._numbers[:, :, which], force_integers=np.zeros(4, int))

    def _rate(self, a: Any, e: Any) -> Any:
        return approach(self._pool(self.active), 0, a, e)

    def _missed(self, a: Any, f: Any, d: Any) -> Any:
        el = self.elastic
        return missed(self._pool(el), 0, a, f, d, self.own.lengths[:, el], self.own.speeds[:, el])

    def fiber_lengths(self, v: Array) -> Array:
        """Those of all muscles (n, nm)."""
        t = np.ones((len(self.mesh), self.nm))
        t[:, self.elastic] = tendon_length(self._pool(self.elastic), 0, v[self.at["f"]])
        along = self.own.lengths - t * [one.get_default_tendon_slack_length() for one in self.own.muscles.values()]
        along[:, self._rigid] = np.maximum(along[:, self._rigid], 0.0)
        return np.asarray(fiber_of(self._pool(slice(None)), 0, along)[0])

    def tendon_forces(self, v: Array) -> Array:
        """Those of all muscles (n, nm)."""
        found = v[self.at["a"]] * self.rigid_active + self.rigid_passive
        found[:, self.elastic] = self.strength[self.elastic] * v[self.at["f"]]
        return found

    def _of_muscles(self, v: Array) -> tuple[Any, ...]:
        """Rates of activation and what equilibria miss, with first derivatives; once for each point."""
        key = v.tobytes()
        if key != self._v:
            rate = self._rate(*seed((v[self.at["a"]][:, self.active], v[self.at["e"]])))
            lack = self._missed(*seed(tuple(v[places] for places in self._three())))
            self._v, self._here = key, (rate.value, jacobian(rate), lack.value, jacobian(lack))
        return self._here

    # ------------------------------------------------------------------------------------------ what solvers ask

    def cost(self, v: Array) -> float:
        """The integral."""
        return float(self._weights @ np.abs(v[self._controls]) ** self.p + self._rate_weights @ v[self._rates] ** 2)

    def gradient(self, v: Array) -> Array:
        """Its derivatives."""
        found, x = np.zeros(self.n), v[self._controls]
        found[self._controls] = self._weights * self.p * np.sign(x) * np.abs(x) ** (self.p - 1.0)
        found[self._rates] = 2.0 * self._rate_weights * v[self._rates]
        return found

    def missing(self, v: Array) -> Array:
        """Missing generalized forces along the free speeds (n, dof)."""
        given = [np.einsum("tjk,tj->tk", by, v[self._places[name]]) for name, by in self._by.items()]
        return np.asarray(self._wanted - sum(given))

    def constraints(self, v: Array) -> Array:
        """Residuals of all equations, in the order of `rows`."""
        rate, _, lack, _ = self._of_muscles(v)
        a, f, d = (v[self.at[name]] for name in "afd")
        parts = [
            self.mesh.defects(a[:, self.active], rate, self.duration),
            self.mesh.defects(f, d, self.duration),
            lack,
            -self.missing(v) / self.scale,
            v[self.at["e"][0]] - a[0, self.active],
        ]
        return np.concatenate([part.ravel() for part in parts])

    def jacobian(self, v: Array) -> Array:
        """Entries of the derivatives, in the order of `jacobian_pattern`."""
        _, by_ae, _, by_afd = self._of_muscles(v)
        mesh = self.mesh
        L = mesh.scheme.L[None, :, :, None]
        W = self.duration * mesh.sizes[:, None, None, None] * mesh.scheme.W[None, :, :, None]
        by_a, by_e = (one[mesh.nodes][:, None] for one in by_ae)
        whole = (len(mesh.sizes), *mesh.scheme.L.shape, len(self.elastic))
        first = np.ones(len(self.active))
        return self.jacobian_pattern.entries(
            [
                L - W * by_a, -W * by_e, np.broadcast_to(L, whole), np.broadcast_to(-W, whole), *by_afd,
                *(by / self.scale for by in self._by.values()), first, -first,
            ]
        )  # fmt: skip

    def hessian(self, v: Array, factor: float, multipliers: Array) -> Array:
        """Entries of the second derivatives of factor times the cost, plus multipliers times equations."""
        x, k, s = v[self._controls], len(self.mesh.sizes), len(self.mesh.scheme.L)
        of_rates = -self.duration * self.mesh.weigh(multipliers[self.rows["activation"]].reshape(k, s, -1))
        of_equilibria = multipliers[self.rows["equilibrium"]].reshape(len(self.mesh), -1)
        rate = self._rate(*seed(seed((v[self.at["a"]][:, self.active], v[self.at["e"]]))))
        lack = self._missed(*seed(seed(tuple(v[places] for places in self._three()))))
        parts = [factor * self._weights * self.p * (self.p - 1.0) * np.abs(x) ** (self.p - 2.0)]
        parts += [2.0 * factor * self._rate_weights, of_rates * hessian(rate), of_equilibria * hessian(lack)]
        return self.hessian_pattern.entries(parts)


def _with(muscles: list[Any], variable: str) -> tuple[Any, Any]:
    """Places of the muscles that have a variable, and of the others."""
    has = np.array([variable in one.state_variables for one in muscles])
    return np.flatnonzero(has), np.flatnonzero(~has)
