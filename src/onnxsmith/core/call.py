"""The one way to call an operator: bind, promote, infer, emit.

Whoever calls (a user, Python's own operators, a translator) comes through here, and whatever is done with the call
(a node, a run) happens in the target. Knows no syntax trees and no runtimes.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnxsmith.core.stored import Stored
from onnxsmith.core.target import Target, target_of
from onnxsmith.core.value import NumberValue, Value
from onnxsmith.errors import InputTypeError, ModelWarning, OnnxsmithError, OutputCountError
from onnxsmith.schema.bind import bind
from onnxsmith.schema.definition import AttributeReference, AttributeType, OperatorDef
from onnxsmith.schema.inference import infer
from onnxsmith.schema.inference.known import Known
from onnxsmith.schema.inference.signature import outputs_by_signature
from onnxsmith.schema.promote import (
    Like,
    Resolved,
    check_types,
    is_literal,
    literal_array,
    parameter_at,
    resolve_literals,
)
from onnxsmith.source import unpack_count
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, OptionalType, TensorType, ValueType

if TYPE_CHECKING:
    from onnxsmith.core.operator import Operator


def call(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Perform a call; one output is returned as it is, several as a tuple."""
    op = operator.definition
    inputs, attributes, output_count = bind(op, args, kwargs)
    if has_open_outputs(op) and "outputs" not in kwargs:
        output_count, attributes = _as_unpacked(op, output_count, inputs, attributes)
    target = target_of(inputs)
    lifted = promote(op, inputs, target)
    if attributes and _has_graph(op, attributes):
        finished = target.run_bodies(op, lifted, attributes)
        if finished is not None:
            return finished[0] if len(finished) == 1 else finished
        attributes = dict(target.bodies(op, lifted, attributes))
    if output_count is None:
        output_count = count_outputs(op, lifted, attributes)
    known: Sequence[Known] = ()
    if target.needs_inference:
        given = [None if each is None else each.known for each in lifted]
        try:
            known = infer(
                op,
                operator.version,
                given,
                attributes,
                output_count,
                {name: value.outputs for name, value in attributes.items() if hasattr(value, "outputs")},
            )
        except OnnxsmithError as error:
            if not target.is_lenient:
                raise
            _warn(error)
            known = outputs_by_signature(op, given, output_count)
    outputs = target.emit(op, operator.version_to_record, lifted, attributes, output_count, known)
    target.learn(operator, args, kwargs, lifted, attributes, output_count)
    return outputs[0] if len(outputs) == 1 else outputs


def has_open_outputs(op: OperatorDef) -> bool:
    """Whether a call decides how many outputs there are, beyond those there always are."""
    return op.is_known and op.max_outputs > 1 and any(each.option != "single" for each in op.outputs)


def _as_unpacked(
    op: OperatorDef, count: int | None, inputs: Sequence[Any], attributes: dict[str, Any]
) -> tuple[int | None, dict[str, Any]]:
    """As many outputs as the user's code has variables for: `y, indices = op.MaxPool(x, kernel_shape=[2])`."""
    wanted = unpack_count()
    if wanted is None or not max(op.min_outputs, count or 1) <= wanted <= op.max_outputs:
        return count, attributes
    if count is None and op.name == "Split":
        says_how = len(inputs) > 1 or "split" in attributes or "num_outputs" in attributes
        if not says_how and "num_outputs" in op.attributes:
            attributes = {**attributes, "num_outputs": wanted}
    is_decided_by_body = any(callable(each) or hasattr(each, "outputs") for each in attributes.values())
    return (count if is_decided_by_body else wanted), attributes


def promote(op: OperatorDef, inputs: Sequence[Any], target: Target) -> list[Any]:
    """The inputs as the target takes them, with literals converted to the element types they meet."""
    types: list[AnyValueType | None] = []
    literals: dict[int, Any] = {}
    lifted: list[Any] = []
    for position, value in enumerate(inputs):
        if value is None:
            types.append(None)
            lifted.append(None)
        elif isinstance(value, NumberValue):
            types.append(None)
            literals[position] = value
            lifted.append(None)
        elif isinstance(value, Value):
            is_optional = isinstance(value.known.type, OptionalType)
            if is_optional and not target.is_lenient and not _takes_optional(op, position):
                # Whoever uses an optional as a value has made sure that there is one.
                value = target.operators.OptionalGetElement(value)
            types.append(value.known.type)
            lifted.append(value)
        elif isinstance(value, Stored):
            types.append(value.known.type)
            lifted.append(target.stored(value))
        elif isinstance(value, np.ndarray):
            array = cast("np.ndarray[Any, Any]", value)
            types.append(_array_type(op, position, array))
            lifted.append(target.constant(array))
        elif _takes_sequence(op, position) and isinstance(value, list | tuple):
            sequence = target.sequence(cast("list[Any]", value))
            types.append(sequence.known.type if isinstance(sequence, Value) else None)
            lifted.append(sequence)
        elif is_literal(value):
            types.append(None)
            literals[position] = value
            lifted.append(None)
        else:
            element = _lift_other(op, position, value, target)
            types.append(element.known.type if isinstance(element, Value) else None)
            lifted.append(element)
    if literals:
        samples = {
            each: value.sample if isinstance(value, NumberValue) else value
            for each, value in literals.items()
        }
        for position, resolved in resolve_literals(op, types, samples).items():
            value = literals[position]
            if isinstance(value, NumberValue):
                lifted[position], types[position] = _number_input(op, position, value, resolved, lifted)
                continue
            if isinstance(resolved, Like):
                lifted[position] = target.constant_like(np.asarray(value), lifted[resolved.position])
                continue
            array = literal_array(op, position, value, resolved)
            types[position] = TensorType(resolved, array.shape)
            lifted[position] = target.constant(array)
    if op.is_known:
        try:
            check_types(op, types)
        except OnnxsmithError as error:
            if not target.is_lenient:
                raise
            _warn(error)
    return lifted


def _warn(error: OnnxsmithError) -> None:
    """Say what is wrong with a call that is made all the same, because the user wants the model as it is."""
    error.locate_at_caller()
    place = error.span
    if place is None or place.claimed_by:
        warnings.warn(ModelWarning(str(error)), stacklevel=2)
    else:  # a warning points at the user's own line, as an error does
        warnings.warn_explicit(ModelWarning(str(error)), None, place.file, place.line)


def _number_input(
    op: OperatorDef, position: int, value: NumberValue, resolved: Resolved, lifted: Sequence[Any]
) -> tuple[Any, TensorType]:
    """A number that only the model knows, with the element type that a literal would take in its place."""
    if isinstance(resolved, Like):
        return value.as_like(lifted[resolved.position]), TensorType(None, ())
    literal_array(
        op, position, value.sample, resolved
    )  # refuses what a literal of this kind would be refused for
    return value.as_dtype(resolved), TensorType(resolved, ())


def _array_type(op: OperatorDef, position: int, array: np.ndarray[Any, Any]) -> TensorType:
    dtype = DType.from_numpy(array.dtype)
    if dtype is None:
        raise InputTypeError(
            f"{op.qualified_name} was given an array of numpy dtype {array.dtype}, which ONNX does not have",
            culprit=("input", position),
        )
    return TensorType(dtype, array.shape)


def _takes_sequence(op: OperatorDef, position: int) -> bool:
    parameter = parameter_at(op, position)
    return parameter is not None and any(each.startswith("seq(") for each in parameter.types)


def _takes_optional(op: OperatorDef, position: int) -> bool:
    parameter = parameter_at(op, position)
    return (
        parameter is None
        or not parameter.types
        or any(each.startswith("optional(") for each in parameter.types)
    )


def _lift_other(op: OperatorDef, position: int, value: Any, target: Target) -> Any:
    """Lists that hold tensors, numpy scalars, and whatever says that it can be an array."""
    if isinstance(value, list | tuple):
        return stack(cast("list[Any]", value), target)
    if isinstance(value, np.generic) or hasattr(value, "__array__"):
        array: np.ndarray[Any, Any] = np.asarray(cast(Any, value))
        _array_type(op, position, array)
        return target.constant(array)
    parameter = parameter_at(op, position)
    if isinstance(value, dict) and parameter is not None and any("map(" in each for each in parameter.types):
        return cast(Any, value)  # the maps of the ml domain
    name = "an input" if parameter is None else f"'{parameter.name}'"
    raise InputTypeError(
        f"{op.qualified_name} cannot take {type(cast(object, value)).__name__} as {name}",
        help="an input is a tensor, an array, a number, or a list of these",
        culprit=("input", position),
    )


def stack(elements: Sequence[Any], target: Target) -> Any:
    """A list that mixes scalar tensors with numbers, `[n, 4]`, as a vector."""
    operators = target.operators
    tensors = [each for each in elements if isinstance(each, Value)]
    if not tensors:
        return target.constant(np.asarray(elements))
    parts: list[Any] = []
    for element in elements:
        if is_literal(element):
            dtype = tensors[0].known.type
            known = dtype.dtype if isinstance(dtype, TensorType) else None
            element = np.asarray(element, known.numpy if known is not None and known.is_native else None)
        parts.append(operators.Reshape(element, np.array([-1], np.int64)))
    return operators.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]


def _has_graph(op: OperatorDef, attributes: Mapping[str, Any]) -> bool:
    if not op.is_known:
        return any(callable(value) and not isinstance(value, ValueType) for value in attributes.values())
    return any(op.attributes[name].type in (AttributeType.GRAPH, AttributeType.GRAPHS) for name in attributes)


def count_outputs(op: OperatorDef, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> int:
    """How many outputs a call has where the schema leaves it open: a body, a list or an attribute decides."""
    for name, hidden in (("then_branch", 0), ("body", 1 if op.name == "Loop" else 0)):
        body = attributes.get(name)
        if body is not None:
            return len(body.outputs if hasattr(body, "outputs") else body.output) - hidden
    count = attributes.get("num_outputs", attributes.get("split"))
    if isinstance(count, int):
        return count
    if isinstance(count, tuple):
        return len(cast("tuple[Any, ...]", count))
    if op.name == "Split" and len(inputs) > 1 and inputs[1] is not None:
        length = _vector_length(inputs[1])
        if length is not None:
            return length
    reason = (
        "num_outputs is given by reference"
        if isinstance(count, AttributeReference)
        else "nothing says how many"
    )
    raise OutputCountError(
        f"{op.qualified_name} has any number of outputs, and {reason}",
        help="Split(…, num_outputs=2)" if "num_outputs" in op.attributes else f"{op.name}(…, outputs=2)",
    )


def _vector_length(value: Any) -> int | None:
    if isinstance(value, np.ndarray):
        return int(cast("np.ndarray[Any, Any]", value).size)
    kind = value.known.type
    if isinstance(kind, TensorType) and kind.shape is not None and len(kind.shape) == 1:
        return kind.shape[0] if isinstance(kind.shape[0], int) else None
    return None
