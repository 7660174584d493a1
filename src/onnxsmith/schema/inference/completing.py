"""Completes inferred types by the types that the model declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from onnxsmith.types.value_types import AnyValueType, Dimension, TensorType


def completed_type(
    known: AnyValueType, declared: AnyValueType, sizes: Mapping[str, Dimension]
) -> AnyValueType:
    """The type that is known, with what is declared where that is more; `sizes` are those of declared names."""
    if not isinstance(known, TensorType):
        return known
    if not isinstance(declared, TensorType):
        return declared if known.dtype is None and known.shape is None else known
    dtype = known.dtype or declared.dtype
    shape = known.shape
    if declared.shape is not None and (shape is None or len(shape) == len(declared.shape)):
        theirs = [each if isinstance(each, int) else sizes.get(each or "") for each in declared.shape]
        ours = shape or (None,) * len(theirs)
        # A size is more than a name, and what the caller calls it is more than what the model does.
        shape = tuple(
            b if a is None or (isinstance(b, int) and not isinstance(a, int)) else a
            for a, b in zip(ours, theirs, strict=True)
        )
    return known if (dtype, shape) == (known.dtype, known.shape) else TensorType(dtype, shape)


class OwnNames(Mapping[str, Dimension]):
    """Every name of a dimension stands for itself."""

    def __getitem__(self, name: str) -> Dimension:
        if not name:
            raise KeyError(name)
        return name

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0
