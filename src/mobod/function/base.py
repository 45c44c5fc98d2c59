"""Function: a number that depends on some arguments, with its derivatives. What every kind shares.

A kind of one's own is derived from `Function`, or is a `mobod.function.Custom` around a callable. A kind of the package has a
file beside this one, which provides

1. ``jet(integers, i, numbers, n, x)`` of any scalar: of a function of one argument the value and the first two derivatives,
   with the equations in the file's docstring;
2. a class derived from `Univariate`, with ``routine = of_one_argument(jet)``, `_at` for Python and `pack` for what the jet
   reads;
3. its name in ``__init__.py``.

A kind of several arguments is derived from `FunctionKind`, with a routine by `of_arguments`: see `routines`. One that
`is_affine` needs no routine. Kinds in a user's own file are made alike.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Never, Self

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..compiling import Routine
from ..value import checks
from ..value.abstract import Abstract
from ..value.attributes import Sealed

#: What `Function.get_max_derivative_order` returns where there is no limit.
UNLIMITED = 2**31 - 1


class Function(Sealed, Abstract):
    """A number that depends on some arguments, with its partial derivatives.

    A class derived from this provides, and a mechanism calls, four methods:

    1. `get_argument_size`, the number of arguments;
    2. `get_max_derivative_order`, the highest order of derivative;
    3. `calc_value`, at one point;
    4. `calc_derivative`, at one point.

    It must not change once it is part of a mechanism. ``f(x)`` is ``f.calc_value(x)``.

    Examples
    --------
    >>> import mobod as mb
    >>> f = mb.function.Polynomial([1.0, 2.0, 3.0])  # from the highest power
    >>> f(2.0)
    11.0
    """

    @abc.abstractmethod
    def get_argument_size(self) -> int:
        """The number of arguments."""

    @abc.abstractmethod
    def get_max_derivative_order(self) -> int:
        """The highest order of derivative that `calc_derivative` can give."""

    @abc.abstractmethod
    def calc_value(self, x: ArrayLike) -> Any:
        """The value at x.

        Parameters
        ----------
        x : (argument_size,) array_like
            The arguments; or a number, for one argument. The package's own kinds also take many points
            ``(n, argument_size)``.

        Returns
        -------
        float or (n,) array
        """

    @abc.abstractmethod
    def calc_derivative(self, deriv_components: Sequence[int], x: ArrayLike) -> Any:
        """A partial derivative at x.

        Parameters
        ----------
        deriv_components : sequence of int
            By which arguments to differentiate, from 0: ``[0]`` is the first derivative by the first argument, ``[0, 0]`` the
            second, ``[0, 1]`` the mixed one by the first two.
        x : (argument_size,) array_like
            As for `calc_value`.

        Returns
        -------
        float or (n,) array
        """

    def __call__(self, x: ArrayLike) -> Any:
        """The value at x, see `calc_value`."""
        return self.calc_value(x)


class FunctionKind(Function):
    """Base class of the package's own kinds: they check their arguments, compute many points at once, and are immutable."""

    #: Evaluates the kind in kernels, see `routines`; None where Python does, or where it is affine.
    routine: ClassVar[Routine | None] = None
    #: Whether it is a weighted sum of the arguments and a constant: `pack` gives the weights, then the constant.
    is_affine: ClassVar[bool] = False
    _names: ClassVar[tuple[str, ...]] = ()  # what the constructor takes, kept under these names with a _ before

    def _keep(self, **values: Any) -> None:
        """Set attributes: what a constructor does, and nothing else."""
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, f"_{name}", value)

    # ------------------------------------------------------------------------------------------ what a kind provides

    @abc.abstractmethod
    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        """The derivative at x, a tuple of floats or of arrays (n,); no components, the value."""

    def _jet(self) -> Callable[..., Any] | None:
        """``jet(x, v)``: the value, the gradient, and unless v is None its rate, at once; None where that is not known."""
        return None

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        """The integers and the numbers that the kind's routine reads."""
        raise NotImplementedError(f"{type(self).__name__} is not known to compiled code")

    def can_be_compiled(self) -> bool:
        """True if the compiler takes what the kind's routine is made of: the package's own it does."""
        return True

    # ------------------------------------------------------------------------------------------ for users

    def calc_value(self, x: ArrayLike) -> Any:
        """The value at x.

        Parameters
        ----------
        x : (argument_size,) or (n, argument_size) array_like
            The arguments, or those of many points; a bare number will do for one argument. NaN passes through.

        Returns
        -------
        float or (n,) array

        Raises
        ------
        ValueError
            If the number of arguments is wrong.
        """
        return self._calc((), x)

    def calc_derivative(self, deriv_components: Sequence[int], x: ArrayLike) -> Any:
        """A partial derivative at x.

        Parameters
        ----------
        deriv_components : sequence of int
            By which arguments to differentiate, from 0: ``[0]`` is the first derivative by the first argument, ``[0, 0]`` the
            second, ``[0, 1]`` the mixed one by the first two, ``[]`` the value itself.
        x : (argument_size,) or (n, argument_size) array_like
            The arguments, or those of many points; a bare number will do for one argument. NaN passes through.

        Returns
        -------
        float or (n,) array

        Raises
        ------
        ValueError
            If the number of arguments is wrong, or the order of the derivative is above `get_max_derivative_order`.
        IndexError
            If there is no such argument.
        """
        return self._calc(self._components(deriv_components), x)

    def _calc(self, components: tuple[int, ...], x: ArrayLike) -> Any:
        size = self.get_argument_size()
        if type(x) is float and size == 1:  # the usual cases first, for speed: a float, and an array of them
            return float(self._derivative(components, (x,)))
        if x is None:
            raise TypeError(f"x of {self._call_me()} must be numbers, not None")
        known = type(x) is np.ndarray and x.dtype == np.float64
        points: Array = x if known else checks.numbers(f"x of {self._call_me()}", x)  # type: ignore[assignment]
        if points.ndim == 0 and size == 1:
            return float(self._derivative(components, (float(points),)))
        if points.shape == (size,):
            return float(self._derivative(components, tuple(points.tolist())))
        if points.ndim == 2 and points.shape[1] == size:
            result = np.empty(len(points))
            result[:] = self._derivative(components, tuple(points.T))
            return result
        raise ValueError(
            f"{self._call_me()} is a function of {size} argument{'s' * (size != 1)}: x has the shape ({size},), or (n, {size}) "
            f"for many points; {x!r} has the shape {points.shape}"
        )

    def _components(self, components: Any) -> tuple[int, ...]:
        if isinstance(components, str) or not hasattr(components, "__iter__"):
            raise TypeError(f"deriv_components is a list of argument indices such as [0] or [0, 0], not {components!r}")
        result = tuple(components)
        size = self.get_argument_size()
        for k in result:
            if not isinstance(k, (int, np.integer)) or isinstance(k, bool):
                raise TypeError(f"deriv_components are indices of arguments, whole numbers, not {k!r}")
            if not 0 <= k < size:
                raise IndexError(
                    f"{self._call_me()} is a function of {size} argument{'s' * (size != 1)}, counted from 0; it has no {k}"
                )
        if len(result) > self.get_max_derivative_order():
            raise ValueError(
                f"{self._call_me()} has derivatives up to order {self.get_max_derivative_order()}; deriv_components "
                f"{list(result)} asks for order {len(result)}"
            )
        return tuple(map(int, result))

    def _call_me(self) -> str:
        return f"this {type(self).__name__}"

    def get_max_derivative_order(self) -> int:
        """Without limit, but for kinds that say otherwise: from some order on, all derivatives may be zero."""
        return UNLIMITED

    # ------------------------------------------------------------------------------------------ a value that stays as it is

    def __setattr__(self, name: str, value: Any) -> Never:
        raise AttributeError(f"a {type(self).__name__} cannot change; make another one")

    def __delattr__(self, name: str) -> Never:
        raise AttributeError(f"a {type(self).__name__} cannot change; make another one")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, f"_{name}") for name in self._names)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={show(getattr(self, '_' + name))}" for name in self._names)
        return f"{type(self).__name__}({given})"


class Univariate(FunctionKind):
    """A kind of one argument, which provides `_at`."""

    @abc.abstractmethod
    def _at(self, order: int, x: Any) -> Any:
        """The derivative of the given order, 0 the value, at a float or an array (n,)."""

    def get_argument_size(self) -> int:
        """One argument."""
        return 1

    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        return self._at(len(components), x[0])


def show(value: Any) -> str:
    """Write an argument of a constructor on one line; only the ends of a long array."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    return np.array2string(value, separator=", ", max_line_width=1_000_000, threshold=8, edgeitems=2).replace("\n", "")


def coefficients(value: ArrayLike, name: str) -> Array:
    """Read a list of at least one finite number, a copy."""
    array = checks.numbers(name, value)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(f"{name} must be a list of one or more numbers; {value!r} has the shape {array.shape}")
    return checks.array(name, array, array.shape)


def count(value: Any, name: str, least: int) -> int:
    """Read a whole number that is not too small."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < least:
        raise ValueError(f"{name} must be {least} or more; it is {value!r}")
    return int(value)
