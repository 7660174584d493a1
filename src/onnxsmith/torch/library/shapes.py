"""Views and their like: reshaping, permuting, slicing, joining. Elements move, and none is computed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    Size,
    axis_of,
    dimensions_of,
    int64s,
    product,
    rank_of,
    reshape,
)
from onnxsmith.algorithms.values import expand as expanded
from onnxsmith.core.semantics.number import Number
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Argument, Translated
from onnxsmith.torch.library.padding import padded
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.torch.size_arithmetic import as_number, greatest
from onnxsmith.types.dtypes import DType

#: The end of a slice that has none.
NO_END = 9223372036854775807


@translates(
    *("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default", "aten.view_copy.default"),
    *("aten.view_as.default", "aten.reshape_as.default"),
    *("aten.flatten.using_ints", "aten.unflatten.int", "aten.ravel.default"),
    lifts=True,
)
def view(call: Call, x: Tensor, *_: Argument) -> Translated:
    return reshape(x, call.output_shape())


@translates("aten.permute.default", "aten.permute_copy.default", lifts=True)
def permute(call: Call, x: Tensor, dims: Sequence[int]) -> Translated:
    order = [axis_of(each, len(dims)) for each in dims]
    return x if order == list(range(len(order))) else op.Transpose(x, perm=order)


@translates(
    *("aten.transpose.int", "aten.swapaxes.default", "aten.swapdims.default", "aten.transpose_copy.int"),
    lifts=True,
)
def transpose(call: Call, x: Tensor, a: int, b: int) -> Translated:
    rank = rank_of(x)
    a, b = axis_of(a, rank), axis_of(b, rank)
    order = list(range(rank))
    if a == b:
        return x
    order[a], order[b] = b, a
    return op.Transpose(x, perm=order)


@translates("aten.t.default", "aten.numpy_T.default", "aten.mT.default", "aten.adjoint.default", lifts=True)
def matrix_transpose(call: Call, x: Tensor) -> Translated:
    rank = rank_of(x)
    if rank < 2:
        return x
    if call.overload == "aten.numpy_T.default":
        return op.Transpose(x, perm=list(range(rank))[::-1])
    return op.Transpose(x, perm=[*range(rank - 2), rank - 1, rank - 2])


@translates(
    "aten.movedim.int", "aten.moveaxis.int", "aten.movedim.intlist", "aten.moveaxis.intlist", lifts=True
)
def movedim(
    call: Call, x: Tensor, source: int | Sequence[int], destination: int | Sequence[int]
) -> Translated:
    rank = rank_of(x)
    sources = [axis_of(each, rank) for each in ([source] if isinstance(source, int) else source)]
    targets = [
        axis_of(each, rank) for each in ([destination] if isinstance(destination, int) else destination)
    ]
    rest = iter([k for k in range(rank) if k not in sources])
    places = dict(zip(targets, sources, strict=True))
    order = [places[k] if k in places else next(rest) for k in range(rank)]
    return x if order == sorted(order) else op.Transpose(x, perm=order)


@translates(
    *(
        "aten.expand.default",
        "aten.expand_copy.default",
        "aten.broadcast_to.default",
        "aten.expand_as.default",
    ),
    lifts=True,
)
def expand(call: Call, x: Tensor, *_: Argument) -> Translated:
    return expanded(x, call.output_shape())


@translates("aten.unsqueeze.default", "aten.unsqueeze_copy.default", lifts=True)
def unsqueeze(call: Call, x: Tensor, dim: int) -> Translated:
    return op.Unsqueeze(x, [axis_of(dim, rank_of(x) + 1)])


@translates(
    *("aten.squeeze.default", "aten.squeeze.dim", "aten.squeeze.dims"),
    *("aten.squeeze_copy.default", "aten.squeeze_copy.dim", "aten.squeeze_copy.dims"),
    lifts=True,
)
def squeeze(call: Call, x: Tensor, dim: int | Sequence[int] | None = None) -> Translated:
    shape = dimensions_of(x)
    if dim is None and not all(isinstance(each, int) for each in shape):
        return op.Squeeze(x)  # without axes it takes away what is 1 when the model runs
    dims = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    axes = sorted({axis_of(each, len(shape)) for each in dims}) if shape else []
    ones = [each for each in axes if shape[each] == 1]
    # Torch knows more of some sizes, such as those of `x[:1]`: the rank of its result says whether they are 1.
    perhaps = [each for each in axes if not isinstance(shape[each], int)]
    if len(ones) + len(perhaps) == len(shape) - len(call.output_shape()):
        ones = sorted([*ones, *perhaps])
    return op.Squeeze(x, ones) if ones else x


@translates("aten.slice.Tensor", "aten.slice_copy.Tensor", lifts=True)
def slice_(
    call: Call,
    x: Tensor,
    dim: int = 0,
    start: Size | None = None,
    end: Size | None = None,
    step: int = 1,
) -> Translated:
    axis = axis_of(dim, rank_of(x))
    size = dimensions_of(x)[axis]
    start = 0 if start is None else start
    is_whole = isinstance(start, int) and start == 0 and step == 1
    if is_whole and (
        end is None or (isinstance(end, int) and end >= (size if isinstance(size, int) else NO_END))
    ):
        return x
    if is_whole and isinstance(end, Number) and end.known.data is not None and end.known.data == size:
        return x
    ends = int64s([NO_END if end is None else end])
    return op.Slice(x, int64s([start]), ends, np.array([axis]), np.array([step]))


@translates("aten.narrow.default", lifts=True)
def narrow(call: Call, x: Tensor, dim: int, start: Size, length: Size) -> Translated:
    axis = axis_of(dim, rank_of(x))
    if isinstance(start, int) and start < 0:
        start = start + call.size(x, axis)
    return op.Slice(x, int64s([start]), int64s([start + length]), np.array([axis]))


@translates("aten.select.int", "aten.select_copy.int", lifts=True)
def select(call: Call, x: Tensor, dim: int, index: Tensor) -> Translated:
    position = (
        index
        if isinstance(index, int)
        else index.as_dtype(DType.INT64)
        if isinstance(index, Number)
        else index
    )
    return op.Gather(x, np.array(position, np.int64) if isinstance(position, int) else position, axis=dim)


@translates("aten.cat.default", "aten.concat.default", "aten.concatenate.default", lifts=("tensors",))
def cat(call: Call, tensors: Sequence[Tensor], dim: int = 0) -> Translated:
    # torch leaves out empty vectors among tensors of more dimensions.
    kept = [each for each in tensors if rank_of(each) == call.rank and not _is_empty_vector(each, call)]
    parts = [cast(each, call.dtype) for each in (kept or tensors[:1])]
    return parts[0] if len(parts) == 1 else op.Concat(*parts, axis=axis_of(dim, call.rank))


def _is_empty_vector(x: Tensor, call: Call) -> bool:
    return dimensions_of(x) == (0,) and call.rank != 1


@translates("aten.stack.default", lifts=("tensors",))
def stack(call: Call, tensors: Sequence[Tensor], dim: int = 0) -> Translated:
    axis = axis_of(dim, call.rank)
    parts = [op.Unsqueeze(cast(each, call.dtype), [axis]) for each in tensors]
    return parts[0] if len(parts) == 1 else op.Concat(*parts, axis=axis)


@translates(
    *("aten.split.Tensor", "aten.split.sizes", "aten.split_with_sizes.default", "aten.chunk.default"),
    *("aten.tensor_split.sections", "aten.tensor_split.indices", "aten.unsafe_split.Tensor"),
    *("aten.unsafe_chunk.default", "aten.unsafe_split_with_sizes.default", "aten.split_copy.Tensor"),
    *("aten.split_with_sizes_copy.default",),
    lifts=True,
)
def split(call: Call, x: Tensor, sizes: Size | Sequence[Size], dim: int = 0) -> Translated:
    axis = axis_of(dim, rank_of(x))
    lengths = [call.output_shape(k)[axis] for k in range(len(call.outputs))]
    if len(lengths) == 1:
        return [x]
    return several(op.Split, x, int64s(lengths), axis=axis, outputs=len(lengths))


@translates("aten.tensor_split.tensor_indices_or_sections", lifts=True)
def split_at(call: Call, x: Tensor, places: Tensor, dim: int = 0) -> Translated:
    if rank_of(places) == 0:
        raise call.refuse("as many parts as the data says")
    axes, count = np.array([axis_of(dim, rank_of(x))]), len(call.outputs)
    cuts = [op.Slice(places, np.array([k]), np.array([k + 1]), np.array([0])) for k in range(count - 1)]
    bounds = [np.array([0]), *cuts, np.array([NO_END])]
    return [op.Slice(x, bounds[k], bounds[k + 1], axes) for k in range(count)]


@translates("aten.unbind.int", "aten.unbind_copy.int", lifts=True)
def unbind(call: Call, x: Tensor, dim: int = 0) -> Translated:
    axis = axis_of(dim, rank_of(x))
    return [op.Gather(x, np.array(k), axis=axis) for k in range(len(call.outputs))]


@translates("aten.repeat.default", "aten.tile.default", lifts=True)
def repeat(call: Call, x: Tensor, repeats: Sequence[Size]) -> Translated:
    missing = len(repeats) - rank_of(x)
    if missing > 0:
        x = op.Unsqueeze(x, list(range(missing)))
    repeats = [1] * -missing + list(repeats) if missing < 0 else repeats
    return op.Tile(x, int64s(repeats))


@translates("aten.roll.default", lifts=True)
def roll(call: Call, x: Tensor, shifts: Sequence[Size], dims: Sequence[int] = ()) -> Translated:
    if not len(dims):
        flat = op.Reshape(x, np.array([-1], np.int64))
        return reshape(_rolled(call, flat, shifts[0], 0), call.output_shape())
    for shift, dim in zip(shifts, dims, strict=True):
        x = _rolled(call, x, shift, axis_of(dim, rank_of(x)))
    return x


def _rolled(call: Call, x: Tensor, shift: Size, axis: int) -> Tensor:
    """A tensor of which the last elements along an axis come first."""
    size = call.size(x, axis)
    if isinstance(size, int) and size < 2:
        return x
    whole = size if isinstance(size, int) else greatest(size, 1)
    assert not isinstance(whole, float)  # of whole numbers
    start = -shift % whole
    if isinstance(start, int) and start == 0:
        return x
    cut, axes = int64s([start]), np.array([axis])
    back = op.Slice(x, cut, np.array([NO_END]), axes)
    return op.Concat(back, op.Slice(x, np.array([0]), cut, axes), axis=axis)


@translates("aten._chunk_cat.default", lifts=("tensors",))
def chunk_cat(call: Call, tensors: Sequence[Tensor], dim: int, count: int) -> Translated:
    """Each tensor cut into so many equal chunks, the last filled up with zeros; the chunks' contents side by side."""
    axis = axis_of(dim, rank_of(tensors[0]))
    parts: list[Tensor] = []
    for each in tensors:
        sizes = call.shape_of(each)
        missing = -sizes[axis] % count
        pads = [0, 0] * (len(sizes) - 1 - axis) + [0, missing]
        filled_up = padded(cast(each, call.dtype), pads)
        parts.append(
            reshape(
                filled_up,
                [*sizes[:axis], count, product([sizes[axis] + missing, *sizes[axis + 1 :]]) // count],
            )
        )
    return op.Concat(*parts, axis=axis + 1) if len(parts) > 1 else parts[0]


@translates("aten.flip.default", lifts=True)
def flip(call: Call, x: Tensor, dims: Sequence[int]) -> Translated:
    axes = [axis_of(each, rank_of(x)) for each in dims] if rank_of(x) else []
    if not axes:
        return x
    count = len(axes)
    return op.Slice(x, np.full(count, -1), np.full(count, -NO_END), np.array(axes), np.full(count, -1))


@translates("aten.sym_size.int")
def sym_size(call: Call, x: Tensor, dim: int) -> Translated:
    value = call.output
    return value if isinstance(value, int) else call.sizes.axis(x, dim)


@translates("aten.sym_numel.default", "aten.sym_stride.int", "aten.sym_storage_offset.default")
def sym_number(call: Call, x: Tensor, *_: Argument) -> Translated:
    return call.output_numbers()[0]


@translates("aten.sym_size.default", "aten.sym_stride.default")
def sym_numbers(call: Call, x: Tensor) -> Translated:
    return call.output_numbers()


@translates(
    "aten.sym_is_contiguous.default", "aten.is_contiguous.default", "aten.is_contiguous.memory_format"
)
def is_contiguous(call: Call, x: Tensor, *_: Argument) -> Translated:
    if not isinstance(call.output, bool):
        raise call.refuse("sizes decide whether memory is contiguous")
    return call.output


@translates("aten.item.default", "aten._local_scalar_dense.default")
def item(call: Call, x: Tensor) -> Translated:
    return as_number(op.Reshape(x, np.array([], np.int64)).as_number())
