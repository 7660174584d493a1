# pyright: basic
"""What `export` is given, checked before torch sees it, and torch's refusals in terms of what was given."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils import _pytree as pytree

from onnxsmith.errors import ExportError
from onnxsmith.source import PACKAGE_DIRECTORY, Span, is_library
from onnxsmith.torch.origins import is_torch_file
from onnxsmith.torch.wishes import asked_range, by_axis, dim_name, flat_wishes

#: What torch's refusals to leave dimensions open have in them.
_ABOUT_SIZES = ("Constraints violated", "user-specified ranges", "specialized due to hint", "not in range [")


_ABOUT_STRUCTURE = (
    "Node type mismatch",
    "Node arity mismatch",
    "Node keys mismatch",
    "Detected mismatch between",
)


class Given:
    """The example arguments of a module, and what is asked of their dimensions."""

    def __init__(self, module: torch.nn.Module, args: Any, kwargs: Any, dynamic_shapes: Any) -> None:
        if isinstance(args, list | dict):
            raise ExportError(
                f"args is a tuple of example arguments, not a {type(args).__name__}",
                help="(x,) is a tuple of one; arguments by name are kwargs={…}",
            )
        if kwargs is not None and not isinstance(kwargs, dict):
            raise ExportError(f"kwargs is a dict of example arguments, not a {type(kwargs).__name__}")
        self.args: tuple[Any, ...] = args if isinstance(args, tuple) else (args,)
        self.kwargs: dict[str, Any] | None = kwargs
        #: Dimensions that were asked to be open and are 0 or 1 in the example, which torch takes for fixed.
        self._small: list[str] = []
        #: What `forward` calls the arguments that it takes by any name, and their names; `forward(x, **options)`.
        self._keywords: tuple[str, tuple[str, ...]] | None = None
        self._signature = inspect.signature(module.forward)
        parameters = self._parameters(module)
        for name, value in parameters.items():
            for path, leaf in pytree.tree_flatten_with_path(value)[0]:
                _check_leaf(f"{name}{pytree.keystr(path)}", leaf)
        #: Where the module goes another way for the example than for a larger one, as far as that is known.
        self.decided_at: tuple[str, ...] = ()
        self.args, self.kwargs = _apart((self.args, self.kwargs))
        self.dynamic_shapes = self._checked_shapes(dynamic_shapes, parameters)

    def _parameters(self, module: torch.nn.Module) -> dict[str, Any]:
        """The example arguments by the names of the parameters of `forward`."""
        signature = self._signature
        try:
            found = signature.bind(*self.args, **(self.kwargs or {})).arguments
        except TypeError as error:
            raise ExportError(
                f"the example arguments are not those of {type(module).__name__}.forward{signature}: {error}",
                help="args is a tuple with an example of each, kwargs a dict of those that go by name",
            ) from None
        for name, each in signature.parameters.items():
            if each.kind is inspect.Parameter.VAR_KEYWORD and name in found:
                keywords = found.pop(name)
                self._keywords = (name, tuple(keywords))
                found.update(keywords)
        return found

    # -- dimensions ------------------------------------------------------------------------------------

    def _checked_shapes(self, shapes: Any, parameters: dict[str, Any]) -> Any:
        """What is asked, in the order of the parameters and with axes counted from the front."""
        shapes = self._by_keyword(shapes, parameters)
        if isinstance(shapes, dict):
            unknown = [each for each in shapes if each not in parameters]
            if unknown:
                raise ExportError(
                    f"dynamic_shapes has {unknown[0]!r}, which is no argument of the example",
                    help=f"the arguments are {', '.join(parameters)}",
                )
            return {name: self._checked(value, shapes.get(name), name) for name, value in parameters.items()}
        if isinstance(shapes, tuple | list):
            names = list(parameters)
            if len(shapes) != len(names):
                return shapes  # torch says so
            return type(shapes)(
                self._checked(parameters[name], each, name) for name, each in zip(names, shapes, strict=True)
            )
        if isinstance(shapes, str | int | float | set | torch.Tensor):
            raise ExportError(
                f"dynamic_shapes={shapes!r} does not say of which input and axis",
                help=f'{{"{next(iter(parameters), "x")}": {{0: "batch"}}}} leaves its first dimension open',
            )
        return shapes

    def _by_keyword(self, shapes: Any, parameters: dict[str, Any]) -> Any:
        """What is asked of `**options`, under its own name or those of the arguments, by the latter."""
        if self._keywords is None or not isinstance(shapes, dict | tuple | list):
            return shapes
        called, keywords = self._keywords
        if not isinstance(shapes, dict):
            names = list(parameters)
            together = [*(each for each in names if each not in keywords), called]
            if (
                len(shapes) == len(together)
                and isinstance(shapes[-1], dict)
                and set(shapes[-1]) <= {*keywords}
            ):
                names = together
            if len(shapes) != len(names):
                return shapes
            shapes = dict(zip(names, shapes, strict=True))
        if called not in parameters and isinstance(shapes.get(called), dict):
            shapes = {**{k: v for k, v in shapes.items() if k != called}, **shapes[called]}
        return shapes

    def _checked(self, value: Any, wish: Any, label: str) -> Any:
        if isinstance(value, torch.Tensor):
            return self._checked_tensor(value, wish, label)
        if isinstance(value, dict) and isinstance(wish, dict):
            return {
                key: self._checked(value.get(key), each, f"{label}[{key!r}]") for key, each in wish.items()
            }
        if isinstance(value, tuple | list) and type(wish) in (tuple, list) and len(wish) == len(value):
            return type(wish)(
                self._checked(a, b, f"{label}[{k}]") for k, (a, b) in enumerate(zip(value, wish, strict=True))
            )
        return wish

    def _checked_tensor(self, tensor: torch.Tensor, wish: Any, label: str) -> Any:
        rank = tensor.dim()
        if isinstance(wish, str):
            raise ExportError(
                f"dynamic_shapes has {wish!r} for input '{label}', and not of which axis",
                help=f"{{0: {wish!r}}} is for its first",
            )
        if isinstance(wish, tuple | list) and len(wish) != rank:
            raise ExportError(
                f"dynamic_shapes has {len(wish)} dimensions for input '{label}', which has {rank}",
                help="give None for each dimension that is fixed, or a dict by axis",
            )
        if isinstance(wish, dict):
            for axis in wish:
                if not isinstance(axis, int) or not -rank <= axis < rank:
                    raise ExportError(
                        f"dynamic_shapes has axis {axis!r} for input '{label}', which has {rank} dimensions",
                        help=f"its axes are 0 to {rank - 1}" if rank else "a number has none",
                    )
            wish = {axis % rank: each for axis, each in wish.items()}
        by_axis = wish if isinstance(wish, dict) else dict(enumerate(wish or ()))
        for axis, each in by_axis.items():
            if isinstance(each, str | torch.export.Dim) and tensor.shape[axis] < 2:
                self._small.append(f"dimension {axis} of input '{label}' is {tensor.shape[axis]}")
            self._check_range(each, tensor.shape[axis], f"dimension {axis} of input '{label}'")
        return wish

    def _check_range(self, asked: Any, size: int, place: str) -> None:
        low, high = asked_range(asked)
        # An example of 1 can be traced as 2; torch has no smaller one that is open.
        if (size < low and not (size == 1 and low == 2)) or (high is not None and size > high):
            ends = f"{low} to {high}" if high is not None else f"{low} or more"
            raise ExportError(
                f"{place} is {size} in the example, and {dim_name(asked) or 'its Dim'} is {ends}",
                help="give an example of a size in the range, or another range",
            )

    @contextlib.contextmanager
    def explicit(self, module: torch.nn.Module) -> Iterator[None]:
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

    def enlarged(self) -> tuple[Any, Any] | None:
        """The arguments with 2 for each size of 0 or 1 that was named, which torch takes for fixed; None without."""
        flat, spec = pytree.tree_flatten((self.args, self.kwargs or {}))
        if not self._small:
            return None
        wishes = flat_wishes(self.dynamic_shapes, spec, len(flat))
        new = [
            self._enlarged(value, by_axis(wish)) if isinstance(value, torch.Tensor) else value
            for value, wish in zip(flat, wishes, strict=True)
        ]
        args, kwargs = pytree.tree_unflatten(new, spec)
        return args, kwargs if self.kwargs is not None else None

    @staticmethod
    def _enlarged(tensor: torch.Tensor, wishes: dict[int, Any]) -> torch.Tensor:
        for axis, asked in wishes.items():
            _, high = asked_range(asked)
            is_named = isinstance(asked, str | torch.export.Dim) and getattr(asked, "root", None) is None
            if is_named and tensor.shape[axis] < 2 and (high is None or high >= 2):
                rest = (*tensor.shape[:axis], 2, *tensor.shape[axis + 1 :])
                tensor = tensor.expand(rest).clone() if tensor.shape[axis] else tensor.new_zeros(rest)
        return tensor

    # -- refusals --------------------------------------------------------------------------------------

    def explained(self, error: Exception) -> ExportError | None:
        """torch's error in terms of what was given; None for one that the module's own code raises."""
        if isinstance(error, GuardOnDataDependentSymNode):
            return ExportError(
                "what the module does here depends on the values in a tensor, which only a run of the model has",
                help="torch.cond(condition, if_true, if_false, operands) puts both ways into the model; "
                "torch._check(…) tells torch what is always so",
            ).locate(_place(error.__traceback__))
        if isinstance(
            error, UnsupportedFakeTensorException | DynamicOutputShapeException | DataDependentOutputException
        ):
            return ExportError(
                f"torch.export cannot trace this call: {error} has no result that can be known without running it",
                help="keep it out of the module, or write it with other operators",
            ).locate(_place(error.__traceback__))
        text = str(error)
        if any(each in text for each in _ABOUT_STRUCTURE):
            return ExportError(
                f"dynamic_shapes is not built like the arguments: {text.splitlines()[0]}",
                help="a tuple, list or dict of tensors has its like; of other containers, what torch flattens them to",
            )
        if not any(each in text for each in _ABOUT_SIZES):
            if _is_raised_by_user(error.__traceback__):
                return None
            return ExportError(
                f"torch.export cannot trace the module: {_first_paragraph(text) or type(error).__name__}",
                help="see that the module runs on the example; ONNXSMITH_TRACEBACK=full shows where torch stopped",
            ).locate(_place(error.__traceback__))
        if self._small:
            return ExportError(
                f"{'; '.join(self._small)} in the example, and torch takes sizes of 0 and 1 for fixed",
                help="give an example of size 2 or more for each dimension that stays open",
            )
        reasons = [each.strip(" -") for each in text.splitlines() if each.startswith(("  - ", "- "))]
        fixes = [each.strip() for each in text.partition("Suggested fixes:")[2].splitlines() if " = " in each]
        return ExportError(
            f"torch cannot keep the dimensions open: {' '.join(reasons) or text.splitlines()[0]}",
            help=f"torch suggests {'; '.join(fixes)}"
            if fixes
            else "a name in quotes takes the sizes that are possible",
        )


def _check_leaf(name: str, value: Any) -> None:
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


def _place(traceback: TracebackType | None) -> Span | None:
    """The innermost line that is neither torch's nor ours."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        # torch runs text of its own, too, which has no file.
        is_torch = is_torch_file(code.co_filename) or code.co_filename.startswith(
            ("<string>", "<eval_with_key>")
        )
        if not is_torch and not code.co_filename.startswith(PACKAGE_DIRECTORY):
            line = traceback.tb_lineno
            found = Span(code.co_filename, line, 0, line, 0, code.co_name)
        traceback = traceback.tb_next
    return found


def _is_raised_by_user(traceback: TracebackType | None) -> bool:
    """Whether the line that raised is neither torch's nor another library's."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and not is_library(traceback.tb_frame.f_code.co_filename)


def _first_paragraph(text: str) -> str:
    """What torch says before it goes into details, on one line."""
    return " ".join(text.strip().partition("\n\n")[0].split())


def _apart(arguments: Any) -> Any:
    """The arguments with each tensor once: torch takes one that is given twice for one input, whatever its place."""
    seen: set[int] = set()

    def copied(value: Any) -> Any:
        if type(value) is not torch.Tensor:
            return value
        if id(value) in seen:
            return value.detach().clone()
        seen.add(id(value))
        return value

    return pytree.tree_map(copied, arguments)
