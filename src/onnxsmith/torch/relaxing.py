"""Makes a dimension dynamic that torch.export has fixed, where the model is right in other sizes all the same.

torch fixes a size of 1 that is broadcast, and one that is added to a tensor of a fixed size; the operators of ONNX
broadcast what they are given. So the model is tried with the dimension dynamic, beside its module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import torch
from torch.utils import _pytree as pytree

from onnxsmith.errors import OnnxsmithError, VerificationError
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.trial_inputs import Draw
from onnxsmith.passes import with_tried_shapes
from onnxsmith.torch.dynamic_shape_spec import FixedDimension
from onnxsmith.torch.library.kinds import Example
from onnxsmith.torch.recorded_calls import may_hide
from onnxsmith.torch.reporting import ExportedModel
from onnxsmith.torch.resizing import Inputs, resized
from onnxsmith.torch.trying import as_called
from onnxsmith.torch.verifying import Verification

#: The sizes that are tried besides those in the example; a module that broadcasts takes few of them.
_SIZES = (1, 2, 3, 5, 9, 33, 130)
_LARGEST = 256
#: Puts a model beside its module.
Verifying: TypeAlias = Callable[[Model], Verification]


def relaxed(
    model: ExportedModel, fixed: Sequence[FixedDimension], example: Example, verification: Verifying
) -> tuple[ExportedModel, list[FixedDimension]]:
    """The model with dimensions dynamic that were fixed, and those that are."""
    found: list[FixedDimension] = []
    for each in fixed:
        if not each.called or each.called in [other.called for other in found]:
            continue
        new = _with_name(model, each)
        if new is not None and _is_right(verification(new), [*found, each], example):
            model = new
            found.append(each)
    return model, found


def _with_name(model: ExportedModel, fixed: FixedDimension) -> ExportedModel | None:
    port = next((each for each in model.inputs if each.name == fixed.input), None)
    shape = None if port is None else getattr(port.type, "shape", None)
    if port is None or shape is None:
        return None
    wanted = tuple(fixed.called if axis == fixed.axis else size for axis, size in enumerate(shape))
    try:
        made = ExportedModel(with_tried_shapes(model, {port.name: wanted}).ir)
    except OnnxsmithError:  # the sizes that follow do not fit
        return None
    made.export_report = model.export_report
    return made


def _is_right(verification: Verification, fixed: Sequence[FixedDimension], example: Example) -> bool:
    """True if a model is right in all sizes that its module takes, and fails in others.

    The module has to take other sizes than the example's.
    """
    if verification.is_random:
        return False
    run = as_called(verification.model)
    traced = Inputs("example", *cast("Example", verification.program.example_inputs or example))
    others = 0
    for sizes in _sizes(fixed, example):
        for seed in (0, 1):
            inputs = _resized(example, sizes, Draw(seed))
            try:
                verification.wanted(inputs)
            except Exception:  # torch's code, or the module's, refuses the sizes in whatever way
                if verification.is_run(run, inputs):
                    return False
                break
            try:
                rows = verification.compared(run, inputs)
            except VerificationError:
                return False
            if not all(each.is_close for each in rows):
                return False
            is_other = any(size != each.size for each, size in sizes.items())
            if seed and is_other and may_hide(verification.reference, traced, inputs):
                return False
            others += seed and is_other
    return others > 0


def _sizes(fixed: Sequence[FixedDimension], example: Example) -> Iterator[dict[FixedDimension, int]]:
    """The last dimension in each size; and those before it, which were found to be dynamic, in the same size."""
    tensors = [each for each in pytree.tree_leaves(example) if isinstance(each, torch.Tensor)]
    given = {size for each in tensors for size in each.shape if 0 < size <= _LARGEST}
    for size in sorted({*_SIZES, *given}):
        yield {fixed[-1]: size}
        if len(fixed) > 1:
            yield dict.fromkeys(fixed, size)


def _resized(example: Example, sizes: Mapping[FixedDimension, int], draw: Draw) -> Inputs:
    flat, spec = pytree.tree_flatten(example)
    new: list[Any] = list(flat)
    for each, size in sizes.items():
        tensor = new[each.position]
        shape = [size if axis == each.axis else old for axis, old in enumerate(tensor.shape)]
        new[each.position] = resized(tensor, shape, draw)
    label = ", ".join(f"{each.called}={size}" for each, size in sizes.items())
    return Inputs(label, *pytree.tree_unflatten(new, spec))
