"""Checks the arguments of `export` before torch sees them: example arguments, and the wishes for their dimensions."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Generator, Mapping
from typing import Any, cast

import numpy as np
import torch
from torch.utils import _pytree as pytree

from onnxsmith.errors import ExportError
from onnxsmith.torch.dynamic_shape_spec import (
    Wish,
    asked_range,
    by_axis,
    by_key,
    by_place,
    dim_name,
    flat_wishes,
    like,
    root_of,
)
from onnxsmith.torch.library.kinds import ModuleArgument, Named, Positional

#: What to do about example arguments that do not fit; the command line says it in its own words.
EXAMPLE_HELP = "args is a tuple with an example of each, kwargs a dict of those that go by name"


class Given:
    """The example arguments of a module, and what is asked of their dimensions."""

    def __init__(
        self,
        module: torch.nn.Module,
        args: Positional | ModuleArgument,
        kwargs: Named | ModuleArgument,
        dynamic_shapes: Wish,
    ) -> None:
        if isinstance(args, list | dict):
            raise ExportError(
                f"args is a tuple of example arguments, not a {type(args).__name__}",
                help="(x,) is a tuple of one; arguments by name are kwargs={…}",
            )
        if kwargs is not None and not isinstance(kwargs, dict):
            raise ExportError(
                f"kwargs is a dict of example arguments, not a {type(kwargs).__name__}",
                help="export returns the model: model.save(path) writes it"
                if isinstance(kwargs, str)
                else None,
            )
        self.args: Positional = args if isinstance(args, tuple) else (args,)
        self.kwargs: Named | None = kwargs
        #: Dimensions that were asked to be open and are 0 or 1 in the example, which torch takes for fixed.
        self.small: list[str] = []
        self.small_names: list[str] = []
        #: What `forward` calls the arguments that it takes by any name, and their names; `forward(x, **options)`.
        self._keywords: tuple[str, tuple[str, ...]] | None = None
        self._signature = inspect.signature(module.forward)
        parameters = self._parameters(module)
        for name, value in parameters.items():
            for path, leaf in pytree.tree_flatten_with_path(value)[0]:
                _check_leaf(f"{name}{pytree.keystr(path)}", leaf)
        #: Where the module goes another way for the example than for a larger one, as far as that is known.
        self.decided_at: tuple[str, ...] = ()
        #: Dimensions by whose size the module decides, by position of the input and axis, in any way of tracing it.
        self.decided: set[tuple[int, int]] = set()
        self.args, self.kwargs = _apart(self.args, self.kwargs)
        self.dynamic_shapes = self._checked_shapes(dynamic_shapes, parameters)

    def _parameters(self, module: torch.nn.Module) -> Named:
        """The example arguments by the names of the parameters of `forward`."""
        signature = self._signature
        try:
            found: Named = signature.bind(*self.args, **(self.kwargs or {})).arguments
        except TypeError as error:
            raise ExportError(
                f"the example arguments are not those of {type(module).__name__}.forward{signature}: {error}",
                help=EXAMPLE_HELP,
            ) from None
        for name, each in signature.parameters.items():
            if each.kind is inspect.Parameter.VAR_KEYWORD and name in found:
                keywords = cast("Named", found.pop(name))
                self._keywords = (name, tuple(keywords))
                found.update(keywords)
        return found

    # -- dimensions ------------------------------------------------------------------------------------

    def _checked_shapes(self, shapes: Wish, parameters: Named) -> Wish:
        """The wishes, in the order of the parameters and with axes counted from the front."""
        shapes = self._by_keyword(shapes, parameters)
        named, placed = by_key(shapes), by_place(shapes)
        if named is not None:
            unknown = [each for each in named if each not in parameters]
            if unknown:
                raise ExportError(
                    f"dynamic_shapes has {unknown[0]!r}, which is no argument of the example",
                    help=f"the arguments are {', '.join(parameters)}",
                )
            return {name: self._checked(value, named.get(name), name) for name, value in parameters.items()}
        if placed is not None:
            names = list(parameters)
            if len(placed) != len(names):
                return placed  # torch says so
            return like(
                placed,
                [
                    self._checked(parameters[name], each, name)
                    for name, each in zip(names, placed, strict=True)
                ],
            )
        if isinstance(shapes, str | int | float | set | torch.Tensor):
            raise ExportError(
                f"dynamic_shapes={shapes!r} does not say of which input and axis",
                help=f'{{"{next(iter(parameters), "x")}": {{0: "batch"}}}} leaves its first dimension open',
            )
        return shapes

    def _by_keyword(self, shapes: Wish, parameters: Named) -> Wish:
        """The wishes with those for `**options`, under its own name or those of the arguments, by the latter."""
        if self._keywords is None:
            return shapes
        called, keywords = self._keywords
        named, placed = by_key(shapes), by_place(shapes)
        if placed is not None:
            names = list(parameters)
            together = [*(each for each in names if each not in keywords), called]
            last = by_key(placed[-1]) if len(placed) == len(together) else None
            if last is not None and set(last) <= {*keywords}:
                names = together
            if len(placed) != len(names):
                return placed
            return self._spread(dict[str | int, Wish](zip(names, placed, strict=True)), called, parameters)
        return shapes if named is None else self._spread(named, called, parameters)

    @staticmethod
    def _spread(named: dict[str | int, Wish], called: str, parameters: Named) -> Wish:
        """The wishes for `**options` as a whole, spread among those for other arguments."""
        options = by_key(named.get(called))
        if called in parameters or options is None:
            return named
        return {**{name: each for name, each in named.items() if name != called}, **options}

    def _checked(self, value: ModuleArgument, wish: Wish, label: str) -> Wish:
        if isinstance(value, torch.Tensor):
            return self._checked_tensor(value, wish, label)
        named, placed = by_key(wish), by_place(wish)
        if isinstance(value, dict) and named is not None:
            return {
                key: self._checked(value.get(key), each, f"{label}[{key!r}]") for key, each in named.items()
            }
        fields: tuple[str, ...] | None = getattr(value, "_fields", None)
        if fields is not None and named is not None and set(named) <= set(fields):
            placed = tuple(named.get(each) for each in fields)  # a NamedTuple by its names
        if isinstance(value, tuple | list) and placed is not None and len(placed) == len(value):
            parts = [
                self._checked(a, b, f"{label}[{k}]")
                for k, (a, b) in enumerate(zip(value, placed, strict=True))
            ]
            return like(placed if fields is None else value, parts)
        return wish

    def _checked_tensor(self, tensor: torch.Tensor, wish: Wish, label: str) -> Wish:
        rank = tensor.dim()
        if isinstance(wish, str):
            raise ExportError(
                f"dynamic_shapes has {wish!r} for input '{label}', and not of which axis",
                help=f"{{0: {wish!r}}} is for its first",
            )
        named, placed = by_key(wish), by_place(wish)
        if placed is not None and len(placed) != rank:
            raise ExportError(
                f"dynamic_shapes has {len(placed)} dimensions for input '{label}', which has {rank}",
                help="give None for each dimension that is fixed, or a dict by axis",
            )
        if named is not None:
            for axis in named:
                if not isinstance(axis, int) or not -rank <= axis < rank:
                    raise ExportError(
                        f"dynamic_shapes has axis {axis!r} for input '{label}', which has {rank} dimensions",
                        help=f"its axes are 0 to {rank - 1}" if rank else "a number has none",
                    )
            wish = {int(axis) % rank: each for axis, each in named.items()}
        for axis, each in by_axis(wish).items():
            if isinstance(each, str | torch.export.Dim) and tensor.shape[axis] < 2:
                self.small.append(f"dimension {axis} of input '{label}' is {tensor.shape[axis]}")
                self.small_names.append(dim_name(each))
            self._check_range(each, tensor.shape[axis], f"dimension {axis} of input '{label}'")
        return wish

    def _check_range(self, asked: Wish, size: int, place: str) -> None:
        low, high = asked_range(asked)
        # An example of 1 can be traced as 2; torch has no smaller one that is open.
        if (size < low and not (size == 1 and low == 2)) or (high is not None and size > high):
            ends = f"{low} to {high}" if high is not None else f"{low} or more"
            raise ExportError(
                f"{place} is {size} in the example, and {dim_name(asked) or 'its Dim'} is {ends}",
                help="give an example of a size in the range, or another range",
            )

    @contextlib.contextmanager
    def explicit(self, module: torch.nn.Module) -> Generator[None]:
        """While torch looks at it, `forward(x, **options)` takes the arguments of the example by their names.

        torch (2.13) has no way to say which dimensions are open of what goes by any name.
        """
        if self._keywords is None or self.dynamic_shapes is None:
            yield
            return
        called, keywords = self._keywords
        before = [each for each in self._signature.parameters.values() if each.name != called]
        named = [inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY) for each in keywords]
        inner = module.forward

        def forward(*args: Any, **kwargs: Any) -> Any:
            return inner(*args, **kwargs)

        forward.__signature__ = self._signature.replace(parameters=[*before, *named])  # type: ignore[attr-defined]
        is_own = "forward" in vars(module)
        module.forward = forward
        try:
            yield
        finally:
            if is_own:
                module.forward = inner
            else:
                del module.forward

    # -- a larger example ------------------------------------------------------------------------------

    def enlarged(self, but_for: str = "") -> tuple[Positional, Named | None] | None:
        """The arguments with 2 for each size of 0 or 1 that was named, which torch takes for fixed; None without.

        Dimensions of one name may be left as they are.
        """
        flat, spec = pytree.tree_flatten((self.args, self.kwargs or {}))
        if not self.small:
            return None
        wishes = flat_wishes(self.dynamic_shapes, spec, len(flat))
        new = [
            self._enlarged(value, by_axis(wish), but_for) if isinstance(value, torch.Tensor) else value
            for value, wish in zip(flat, wishes, strict=True)
        ]
        args, kwargs = pytree.tree_unflatten(new, spec)
        return args, kwargs if self.kwargs is not None else None

    @staticmethod
    def _enlarged(tensor: torch.Tensor, wishes: Mapping[int, Wish], but_for: str) -> torch.Tensor:
        for axis, asked in wishes.items():
            _, high = asked_range(asked)
            is_named = isinstance(asked, str | torch.export.Dim) and root_of(asked) is None
            is_named = is_named and (not but_for or dim_name(asked) != but_for)
            if is_named and tensor.shape[axis] < 2 and (high is None or high >= 2):
                rest = (*tensor.shape[:axis], 2, *tensor.shape[axis + 1 :])
                tensor = tensor.expand(rest).clone() if tensor.shape[axis] else tensor.new_zeros(rest)
        return tensor


def _check_leaf(name: str, value: ModuleArgument) -> None:
    """Raise where an example argument is nothing that a model can be given."""
    if isinstance(value, np.ndarray | np.generic):
        raise ExportError(
            f"the example argument '{name}' is a numpy {type(value).__name__}, which torch.export takes for a constant",
            help=f"torch.as_tensor({name}) is the tensor",
        )
    if isinstance(value, torch.Tensor) and (value.layout is not torch.strided or value.is_quantized):
        kind = "quantised" if value.is_quantized else f"of layout {str(value.layout).removeprefix('torch.')}"
        raise ExportError(
            f"the example argument '{name}' is a tensor {kind}, and a model takes dense ones",
            help="give .to_dense(), .dequantize() or its parts as inputs, and put it together in forward",
        )


def _apart(args: Positional, kwargs: Named | None) -> tuple[Positional, Named | None]:
    """The arguments with each tensor once: torch takes one that is given twice for one input, whatever its place."""
    seen: set[int] = set()

    def copied(value: ModuleArgument) -> ModuleArgument:
        if type(value) is not torch.Tensor:
            return value
        if id(value) in seen:
            return value.detach().clone()
        seen.add(id(value))
        return value

    return pytree.tree_map(copied, (args, kwargs))
