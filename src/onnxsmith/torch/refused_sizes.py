"""Sizes for which an operator of torch raises an error, and notes no guard while it is traced.

ONNX has a result for most of them: the greatest of no numbers, say, is the least number that there is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import torch
from torch.fx.node import Argument as FxArgument

from onnxsmith.torch.guards import lines_of
from onnxsmith.torch.library.kinds import TorchSize, schema_of, sizes_in
from onnxsmith.torch.symbols import Expression, expression_of, is_of_inputs, not_empty

#: The arguments of a call by name, and the shape of its first; gives the sizes that have to be 1 at least.
_Needing: TypeAlias = "Callable[[dict[str, FxArgument], Sequence[TorchSize]], Sequence[TorchSize]]"


def _along(given: dict[str, FxArgument], shape: Sequence[TorchSize]) -> Sequence[TorchSize]:
    """The sizes of the dimensions that are reduced."""
    dim = given.get("dim")
    dims = [dim] if isinstance(dim, int) else dim if isinstance(dim, list | tuple) else []
    axes = [each for each in dims if isinstance(each, int)] or range(len(shape))
    return [shape[each] for each in axes] if shape else []


def _without_identity(given: dict[str, FxArgument], shape: Sequence[TorchSize]) -> Sequence[TorchSize]:
    """The same for a norm that is no sum."""
    order = given.get("ord", given.get("p"))
    is_sum = order is None or (isinstance(order, int | float) and 0 <= order < math.inf)
    return [] if is_sum else _along(given, shape)


def _pooled(given: dict[str, FxArgument], shape: Sequence[TorchSize]) -> Sequence[TorchSize]:
    """Dimensions that are divided into parts; all as one has a mean, which is no number."""
    outputs = given.get("output_size")
    parts = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    return [] if all(isinstance(each, int) and each == 1 for each in parts) else shape[-len(parts) :]


def _resized(given: dict[str, FxArgument], shape: Sequence[TorchSize]) -> Sequence[TorchSize]:
    """Dimensions behind batch and channels."""
    return shape[2:]


def _windowed(given: dict[str, FxArgument], shape: Sequence[TorchSize]) -> Sequence[TorchSize]:
    """The dimension that is cut into windows; of larger ones there is a guard."""
    dimension, size = given.get("dimension"), given.get("size")
    return [shape[dimension]] if isinstance(dimension, int) and shape and size == 1 else []


def _narrowed(given: dict[str, FxArgument], shape: Sequence[TorchSize]) -> Sequence[TorchSize]:
    """The elements of a dimension from the last that is taken on."""
    dim, start, length = given.get("dim"), given.get("start"), given.get("length")
    if not isinstance(dim, int) or not isinstance(start, int) or not isinstance(length, int) or start < 0:
        return []
    return [shape[dim] - (start + length - 1)] if length else []


def _windows(given: dict[str, FxArgument], shape: Sequence[TorchSize]) -> Sequence[TorchSize]:
    """The elements from the last of the first window on, unless a window may reach beyond the end."""
    if given.get("ceil_mode"):
        return []
    sizes, padding, dilation = (_numbers(given.get(name)) for name in ("kernel_size", "padding", "dilation"))
    wanted = [1 + _at(dilation, k, 1) * (size - 1) - 2 * _at(padding, k, 0) for k, size in enumerate(sizes)]
    behind = shape[len(shape) - len(sizes) :]
    return [size - (least - 1) for size, least in zip(behind, wanted, strict=False)]


def _numbers(given: FxArgument) -> list[int]:
    listed = list(given) if isinstance(given, list | tuple) else [given]
    return [each for each in listed if isinstance(each, int)]


def _at(numbers: Sequence[int], k: int, otherwise: int) -> int:
    """One number stands for all dimensions."""
    return numbers[min(k, len(numbers) - 1)] if numbers else otherwise


_REDUCING = (
    *("amax.default", "amin.default", "max.default", "min.default", "max.dim", "min.dim", "aminmax.default"),
    *("argmax.default", "argmin.default", "median.dim", "nanmedian.dim", "mode.default"),
)
_NORMS = ("linalg_vector_norm.default", "norm.Scalar", "norm.ScalarOpt_dim", "norm.ScalarOpt_dim_dtype")
_POOLS = tuple(f"adaptive_{kind}_pool{rank}d.default" for kind in ("avg", "max") for rank in (1, 2, 3))
_WINDOWS = tuple(
    f"{kind.format(rank)}.default"
    for kind in ("avg_pool{}d", "max_pool{}d", "max_pool{}d_with_indices")
    for rank in (1, 2, 3)
)
_RESIZING = tuple(
    f"{kind}.{form}"
    for kind in (
        *("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d"),
        *("upsample_bilinear2d", "upsample_bicubic2d", "upsample_trilinear3d"),
    )
    for form in ("default", "vec")
)
#: Operators of aten by name.
_NEEDING: dict[str, _Needing] = {
    **dict.fromkeys(_REDUCING, _along),
    **dict.fromkeys(_NORMS, _without_identity),
    **dict.fromkeys(_POOLS, _pooled),
    **dict.fromkeys(_RESIZING, _resized),
    **dict.fromkeys(_WINDOWS, _windows),
    "unfold.default": _windowed,
    "narrow.default": _narrowed,
}


def refused_sizes(graph: torch.fx.Graph) -> Iterator[tuple[Expression, tuple[str, ...]]]:
    """The conditions on sizes that calls have, each with its line. Those in branches are not among them."""
    for node in graph.nodes:
        schema = schema_of(node.target) if node.op == "call_function" else None
        if schema is None or not schema.name.startswith("aten::"):
            continue
        needing = _NEEDING.get(f"{schema.name.removeprefix('aten::')}.{schema.overload_name or 'default'}")
        first = node.args[0] if node.args else None
        fake = first.meta.get("val") if isinstance(first, torch.fx.Node) else None
        if needing is None or not isinstance(fake, torch.Tensor):
            continue
        given = dict(zip([each.name for each in schema.arguments], node.args, strict=False)) | node.kwargs
        for size in needing(given, sizes_in(fake)):
            if isinstance(size, torch.SymInt) and all(map(is_of_inputs, expression_of(size).free_symbols)):
                yield not_empty(expression_of(size)), lines_of(node)
