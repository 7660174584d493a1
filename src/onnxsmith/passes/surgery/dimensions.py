"""Names of dimensions: which ones a model has, and other names or sizes in their places, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import onnx_ir as ir

from onnxsmith.errors import ShapeError
from onnxsmith.graphs import size_conditions
from onnxsmith.graphs.ir_types import shape_from_ir, shape_to_ir
from onnxsmith.graphs.rewriting.scopes import graphs_of, own_values
from onnxsmith.graphs.size_conditions import SIZES_KEY, SizeCondition
from onnxsmith.passes.surgery.holding import ModelContent
from onnxsmith.schema.inference.expression import parse
from onnxsmith.schema.inference.symbolic import add
from onnxsmith.types.value_types import (
    AnyValueType,
    Dimension,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
)

#: Other names, or sizes, for names of dimensions.
Sizes: TypeAlias = Mapping[str, int | str]

#: A name in an expression such as `2*N+1`, without `max(` and `min(`.
_NAME = re.compile(r"[^\W\d][\w.]*(?!\w)(?!\s*\()")


def atoms(text: str) -> list[str]:
    """The names in the text of a dimension: itself, or those that it is computed from.

    >>> atoms("2*N+max(M,1)"), atoms("batch size")
    (['N', 'M'], ['batch size'])
    """
    return _NAME.findall(text) if parse(text) is not None else [text]


def substituted(dimension: Dimension, sizes: Sizes) -> Dimension:
    """A dimension where names have others, or sizes; None where the result has no text.

    >>> substituted("N", {"N": 4}), substituted("N+1", {"N": 4}), substituted("2*N", {"N": "batch"})
    (4, 5, '2*batch')
    """
    if not isinstance(dimension, str):
        return dimension
    if dimension in sizes:
        return sizes[dimension]
    names = atoms(dimension)
    if not any(each in sizes for each in names):
        return dimension
    text = _NAME.sub(lambda match: f"({sizes.get(match[0], match[0])})", dimension)
    return add(text, "0") if parse(text) is not None else None


def substituted_type(kind: AnyValueType, sizes: Sizes) -> AnyValueType:
    """A type with other names of dimensions, or sizes."""
    if isinstance(kind, TensorType):
        if kind.shape is None:
            return kind
        return TensorType(kind.dtype, tuple(substituted(each, sizes) for each in kind.shape))
    if isinstance(kind, MapType):
        value = substituted_type(kind.value, sizes)
        return MapType(kind.key, value) if isinstance(value, TensorType) else kind
    element = substituted_type(kind.element, sizes)
    if isinstance(kind, SequenceType):
        return SequenceType(element)
    return OptionalType(element) if isinstance(element, TensorType | SequenceType) else kind


def dimension_texts(held: ModelContent) -> dict[str, str]:
    """The texts of dimensions in a model, nested graphs included, each with a value that has it."""
    found: dict[str, str] = {}
    for value in _values(held):
        for each in value.shape or ():
            if not isinstance(each, int) and each.value:
                found.setdefault(each.value, value.name or "")
    for name, kind in held.special.items():
        for each in _special_texts(kind):
            found.setdefault(each, name)
    return found


def dimension_names(held: ModelContent) -> dict[str, str]:
    """The names of dimensions in a model, each with a value that has it."""
    found: dict[str, str] = {}
    for text, value in dimension_texts(held).items():
        for name in atoms(text):
            found.setdefault(name, value)
    return found


def _values(held: ModelContent) -> Iterator[ir.Value]:
    for graph in graphs_of(held.graph):
        yield from own_values(graph)


def _special_texts(kind: AnyValueType) -> Iterable[str]:
    if isinstance(kind, TensorType):
        return [each for each in kind.shape or () if isinstance(each, str)]
    return _special_texts(kind.value if isinstance(kind, MapType) else kind.element)


def substitute(held: ModelContent, sizes: Sizes) -> None:
    """Put other names, or sizes, in the places of names of dimensions: in all types and in the model's conditions.

    In place. Raises ShapeError where the model's metadata says that it is for other sizes.
    """
    if not sizes:
        return
    for value in _values(held):
        shape = shape_from_ir(value.shape)
        if shape is not None and any(isinstance(each, str) for each in shape):
            value.shape = shape_to_ir(tuple(substituted(each, sizes) for each in shape))
    for name, kind in held.special.items():
        held.special[name] = substituted_type(kind, sizes)
    _set_conditions(held, list(substituted_conditions(held, sizes)))


def substituted_conditions(held: ModelContent, sizes: Sizes) -> Iterator[SizeCondition]:
    """The conditions that the model's metadata has, in other names; those that are known to hold are left out."""
    for condition in size_conditions.read(held.ir.metadata_props):
        if not condition.names & sizes.keys():
            yield condition
            continue
        told = condition.with_sizes(sizes)
        holds = None if told.names else told.holds({})
        if holds is False:
            given = ", ".join(f"{name} = {sizes[name]}" for name in sorted(condition.names & sizes.keys()))
            raise ShapeError(
                f"the model is for {condition.text}, and would have {given}",
                help=f"it was made so: {condition.because}" if condition.because else None,
            )
        if not holds:
            yield told


def _set_conditions(held: ModelContent, conditions: list[SizeCondition]) -> None:
    before = size_conditions.read(held.ir.metadata_props)
    if list(before) == conditions:
        return
    if conditions:
        held.ir.metadata_props[SIZES_KEY] = size_conditions.written(conditions)
    else:
        held.ir.metadata_props.pop(SIZES_KEY, None)


def add_conditions(held: ModelContent, more: Iterable[SizeCondition]) -> None:
    """Let a model be for the sizes that another one is for, too."""
    _set_conditions(held, list(dict.fromkeys((*size_conditions.read(held.ir.metadata_props), *more))))
