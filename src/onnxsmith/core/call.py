"""The one way to call an operator: bind, promote, infer, emit.

Whoever calls (a user, Python's own operators, a translator) comes through here, and whatever is done with the call
(a node, a run) happens in the target. Knows no syntax trees and no runtimes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnxsmith.core import portable
from onnxsmith.core.bodies import is_function, make_bodies
from onnxsmith.core.call_cache import are_arrays
from onnxsmith.core.forms import Form, Key, form_key, forms_cache
from onnxsmith.core.initial_states import OpenState, settled, with_open_states
from onnxsmith.core.stored import Stored
from onnxsmith.core.target import ACTIVE, OperatorCall, Target, adopted, new_call, target_of
from onnxsmith.core.value import NumberValue, Operand, Value
from onnxsmith.errors import MixedDTypesError, OnnxsmithError, OutputCountError
from onnxsmith.errors.user_warnings import tell
from onnxsmith.schema.bind import Bound, bind, check_types
from onnxsmith.schema.definition import (
    AttributeReference,
    AttributeType,
    OperatorDef,
    Parameter,
    parameter_at,
)
from onnxsmith.schema.foreign_arrays import DeviceArray, is_foreign
from onnxsmith.schema.inference import infer
from onnxsmith.schema.inference.known import Known
from onnxsmith.schema.inference.signature import outputs_by_signature
from onnxsmith.schema.promote import (
    DEEPEST,
    Like,
    Place,
    Resolved,
    given_array,
    input_place,
    is_literal,
    list_of_tensors,
    literal_array,
    natural_dtype,
    resolve_literals,
)
from onnxsmith.source import unpack_count
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import (
    AnyValueType,
    OptionalType,
    TensorType,
    ValueType,
    parse_onnx_type,
)

if TYPE_CHECKING:
    from onnxsmith.core.operator import Operator


#: How many definitions what is asked of each is remembered for: those of one opset.
_OPERATORS = 1024


def call(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Perform a call; one output is returned as it is, several as a tuple."""
    active = ACTIVE.get()
    recording = None if active is None else active.recording
    key = None if recording is None or recording.is_exact else form_key(operator, args, kwargs)
    form = None if key is None else forms_cache.get(key)
    if active is None or recording is None or form is None:
        outputs = _perform(operator, args, kwargs, active, key)
    else:
        outputs = active.emit(form.call(operator, args, recording))
    return outputs[0] if len(outputs) == 1 else outputs


def _perform(
    operator: Operator,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    active: Target | None,
    key: Key | None,
) -> Sequence[Any]:
    """The outputs of a call, by its four steps; `key` is that of its form, where the form is to be learned."""
    op = operator.definition
    if (active is None or active.recording is None) and not are_arrays(map(type, args)):
        args = tuple(
            [adopted(each, input_place(op, k)) if is_foreign(each) else each for k, each in enumerate(args)]
        )
    bound = bind(op, args, kwargs)
    if has_open_outputs(op) and "outputs" not in kwargs:
        bound = _as_unpacked(op, bound)
    target = target_of(bound.inputs) if active is None else active
    if op.name == "OptionalHasElement" and _asks_for_nothing(op, bound.inputs, target):
        return (False,)
    inputs, attributes, output_count = _promoted(op, bound, target)
    known = _inferred(operator, inputs, attributes, output_count, target) if target.needs_inference else ()
    made = new_call((op, operator.version_to_record, inputs, attributes, output_count, known))
    outputs = target.emit(made)
    if key is None:
        target.learn(operator, args, kwargs, made)
    else:
        _learn_form(key, args, made)
    return outputs


def _promoted(op: OperatorDef, bound: Bound, target: Target) -> tuple[list[Any], dict[str, Any], int]:
    """Inputs as the target takes them, attributes with functions as bodies if it records, the number of outputs."""
    inputs, attributes, output_count = bound
    has_graph = bool(attributes) and _has_graph(op, attributes)
    if has_graph and not target.is_exact:
        inputs = with_open_states(op, inputs, attributes)
    lifted = promote(op, inputs, target)
    if has_graph and target.recording is not None:
        attributes = make_bodies(target.recording, op, lifted, attributes)
        lifted = settled(op, lifted, attributes.get("body"), target)
    if output_count is None:
        output_count = count_outputs(op, lifted, attributes)
    return lifted, attributes, output_count


def _inferred(
    operator: Operator,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
    output_count: int,
    target: Target,
) -> Sequence[Known]:
    """The facts of the outputs: types, and contents where they are known."""
    op = operator.definition
    given = [None if each is None else each.known for each in inputs]
    try:
        bodies = _outputs_of_bodies(attributes) if attributes and _has_graph(op, attributes) else {}
        known = infer(op, operator.version, given, attributes, output_count, bodies)
    except OnnxsmithError as error:
        if not _is_lenient(target):
            raise
        _warn(error)
        known = outputs_by_signature(op, given, output_count)
    return known if target.is_exact else forms_cache.shared(known)


def _learn_form(key: Key, args: tuple[Any, ...], call: OperatorCall) -> None:
    """Remember what a call of this form comes to, if that depends on nothing else."""
    # Where the number of outputs is open, what is done with the results says how many there are.
    if len(call.inputs) != len(args) or has_open_outputs(call.op):
        return
    literals: list[tuple[int, np.ndarray[Any, Any] | None]] = []
    for position, (given, taken) in enumerate(zip(args, call.inputs, strict=True)):
        if given is taken:
            continue
        data = taken.known.data if isinstance(taken, Value) else None
        if isinstance(given, np.ndarray):
            if data is not None:
                return  # what comes out may depend on what it holds
            literals.append((position, None))
        elif isinstance(given, Value) or not isinstance(data, np.ndarray):
            return  # put in by promotion: a node of its own
        else:
            literals.append((position, data))
    forms_cache.learn(key, Form(call.attributes, tuple(call.outputs), tuple(literals)))


def _outputs_of_bodies(attributes: Mapping[str, Any]) -> dict[str, tuple[Known, ...]]:
    return {name: value.outputs for name, value in attributes.items() if hasattr(value, "outputs")}


@functools.lru_cache(maxsize=_OPERATORS)
def has_open_outputs(op: OperatorDef) -> bool:
    """True if a call decides how many outputs there are, beyond those there always are."""
    return op.max_outputs > 1 and any(each.option != "single" for each in op.outputs)


def _as_unpacked(op: OperatorDef, bound: Bound) -> Bound:
    """As many outputs as the user's code has variables for: `y, indices = op.MaxPool(x, kernel_shape=[2])`."""
    inputs, attributes, count = bound
    if any(callable(each) or hasattr(each, "outputs") for each in attributes.values()):
        return bound  # a body decides
    wanted = unpack_count()
    if wanted is None or not max(op.min_outputs, count or 1) <= wanted <= op.max_outputs:
        return bound
    if count is None and op.name == "Split":
        says_how = len(inputs) > 1 or "split" in attributes or "num_outputs" in attributes
        if not says_how and "num_outputs" in op.attributes:
            attributes = {**attributes, "num_outputs": wanted}
    return Bound(inputs, attributes, wanted)


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
            if not value.is_symbolic and target.recording is not None:
                value = target.recording.lift(value)
            is_optional = isinstance(value.known.type, OptionalType)
            if is_optional and not target.is_exact and not _takes_optional(op, position):
                # Whoever uses an optional as a value has made sure that there is one.
                value = target.operators.OptionalGetElement(value)
            types.append(value.known.type)
            lifted.append(value)
        elif isinstance(value, OpenState):
            types.append(None)
            lifted.append(value)
        elif isinstance(value, Stored):
            types.append(value.known.type)
            lifted.append(target.stored(value))
        elif isinstance(value, np.ndarray):
            array = cast("np.ndarray[Any, Any]", value)
            dtype = DType.from_numpy(array.dtype)
            if dtype is None or dtype is DType.STRING:
                given_array(array, None, input_place(op, position))  # says what is wrong with it
            types.append(TensorType(dtype, array.shape))
            lifted.append(target.constant(array))
        elif isinstance(value, list | tuple) and _is_sequence(op, position, cast("list[Any]", value)):
            sequence = target.sequence(cast("list[Any]", value))
            types.append(_type_of(sequence))
            lifted.append(sequence)
        elif is_literal(value):
            types.append(None)
            literals[position] = value
            lifted.append(None)
        else:
            element = _lift_other(op, position, value, target)
            types.append(_type_of(element))
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
                lifted[position] = constant_like(target, np.asarray(value), lifted[resolved.position])
                continue
            array = literal_array(op, position, value, resolved)
            types[position] = TensorType(resolved, array.shape)
            lifted[position] = target.constant(array)
    if op.is_known:
        try:
            check_types(op, types)
        except OnnxsmithError as error:
            if not _is_lenient(target):
                raise
            _warn(error)
    return lifted


def constant_like(target: Target, array: np.ndarray[Any, Any], like: Operand) -> Value:
    """A literal as an input, with the element type of `like`, which is not known yet."""
    # Python's floats are doubles: rounding them when the type is known gives what an eager run gives.
    return portable.cast_like(target.operators, target.constant(array), like)


def _asks_for_nothing(op: OperatorDef, inputs: Sequence[Any], target: Target) -> bool:
    """True if a call in a graph asks whether an optional has an element, and is given none.

    The answer is known now, so that code behind an `if` does not compute with None.
    """
    is_left_out = not inputs or inputs[0] is None
    return op.domain == "" and is_left_out and target.recording is not None and not target.is_exact


def _is_lenient(target: Target) -> bool:
    return target.recording is not None and target.recording.is_lenient


def _warn(error: OnnxsmithError) -> None:
    """Say what is wrong with a call that is made all the same, because the user wants the model as it is."""
    error.locate_at_caller()
    tell(str(error), error.span)


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


def _type_of(lifted: Any) -> AnyValueType | None:
    """The type of an input as a target takes it; None for sequences and maps that are Python's own."""
    if isinstance(lifted, Value):
        return lifted.known.type
    if isinstance(lifted, np.ndarray):
        array = cast("np.ndarray[Any, Any]", lifted)
        return TensorType(DType.from_numpy(array.dtype), array.shape)
    return None


def _is_sequence(op: OperatorDef, position: int, elements: Sequence[Any]) -> bool:
    """True if a list is an ONNX sequence: where nothing else is taken, or where its elements are no scalars."""
    parameter = parameter_at(op.inputs, position)
    types = () if parameter is None else parameter.types
    if not any(each.startswith("seq(") for each in types):
        return False
    if not any(each.startswith("tensor(") for each in types):
        return True
    # A tuple is what several outputs come as: they are no sequence unless the user makes one of them.
    return isinstance(elements, list) and not (
        is_literal(elements) or all(_may_be_scalar(each) for each in elements)
    )


def _takes_optional(op: OperatorDef, position: int) -> bool:
    parameter = parameter_at(op.inputs, position)
    return (
        parameter is None
        or not parameter.types
        or any(each.startswith("optional(") for each in parameter.types)
    )


def _lift_other(op: OperatorDef, position: int, value: Any, target: Target) -> Any:
    """Vectors of scalars, numpy scalars, and whatever says that it can be an array."""
    parameter = parameter_at(op.inputs, position)
    if isinstance(value, dict) and parameter is not None and any("map(" in each for each in parameter.types):
        return cast(Any, value)  # the maps of the ml domain
    place = input_place(op, position)
    if isinstance(value, list | tuple):
        elements = cast("list[Any]", value)
        if holds_array(elements):
            return stacked_scalars(
                elements, target, place, _only_dtype(parameter), lambda: _instead_of_list(op, parameter)
            )
    array = given_array(value, None, place)
    # A graph holds its constants itself.
    return target.constant(cast(Any, array.numpy()) if isinstance(array, DeviceArray) else array)


def holds_array(elements: Sequence[Any]) -> bool:
    """True if a tensor or an array is among the elements of a list."""
    return any(isinstance(each, np.ndarray) or _holds_tensor(each) for each in elements)


def stacked_scalars(
    elements: Sequence[Any],
    target: Target,
    place: Place,
    wanted: DType | None,
    instead: Callable[[], str] = lambda: "join them with op.Concat(a, b, axis=0), or give them one by one",
) -> Any:
    """A list that holds tensors, where one tensor is wanted: a vector of its scalars; InputTypeError for others."""
    if all(_may_be_scalar(each) for each in elements):
        return stack(elements, target, place, wanted)
    raise list_of_tensors(place, instead())


def _holds_tensor(value: Any, depth: int = DEEPEST) -> bool:
    if isinstance(value, list | tuple):
        return depth > 0 and any(_holds_tensor(each, depth - 1) for each in cast("list[Any]", value))
    return isinstance(value, Value) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _may_be_scalar(value: Any) -> bool:
    """True if a value is a number, or a tensor that is not known to have dimensions."""
    if isinstance(value, NumberValue):
        return True
    if isinstance(value, Value):
        kind = value.known.type
        return isinstance(kind, TensorType) and not kind.shape
    if isinstance(value, np.ndarray):
        return cast("np.ndarray[Any, Any]", value).ndim == 0
    return isinstance(value, np.generic) or (is_literal(value) and not isinstance(value, list | tuple))


def _instead_of_list(op: OperatorDef, parameter: Parameter | None) -> str:
    if parameter is not None and parameter.option == "variadic":
        return f"give them one by one: {op.name}(a, b, …), or {op.name}(*tensors, …)"
    return (
        f"call {op.name} for each of them, or join them first: Concat(a, b, axis=0);\n"
        "of the outputs of an operator take one: outputs[0]"
    )


def _only_dtype(parameter: Parameter | None) -> DType | None:
    """The element type of an input that takes one only."""
    if parameter is None or len(parameter.types) != 1:
        return None
    kind = parse_onnx_type(next(iter(parameter.types)))
    return kind.dtype if isinstance(kind, TensorType) else None


_INDEX = Place("an index", "its list")


def stack(elements: Sequence[Any], target: Target, place: Place = _INDEX, wanted: DType | None = None) -> Any:
    """A list that mixes scalar tensors with numbers, `[n, 4]`, as a vector.

    Numbers take the tensors' element type, or `wanted` where that is not known.
    """
    typed = [each for each in elements if not isinstance(each, NumberValue) and not is_literal(each)]
    dtypes = [dtype for each in typed if (dtype := _dtype_of(each)) is not None]
    other = next((each for each in dtypes if each is not dtypes[0]), None)
    if other is not None:
        raise MixedDTypesError(
            f"{place.owner} was given a list of {dtypes[0].spelling} and {other.spelling} as {place.name}",
            help="ONNX does not promote element types; convert one of them with x.astype(…)",
            culprit=place.culprit,
        )
    dtype = dtypes[0] if dtypes else wanted
    if dtype is None and not typed:
        dtype = natural_dtype([each.sample if isinstance(each, NumberValue) else each for each in elements])
    row = np.array([-1], np.int64)
    parts: list[Any] = []
    for element in elements:
        if isinstance(element, NumberValue):
            if dtype is None:
                element = element.as_like(typed[0])
            else:
                given_array(element.sample, dtype, place)  # refuses what a literal of this kind would be
                element = element.as_dtype(dtype)
            parts.append(target.operators.Reshape(element, row))
        elif not is_literal(element):
            parts.append(target.operators.Reshape(element, row))
        elif dtype is None:
            parts.append(constant_like(target, np.asarray([element]), typed[0]))
        else:
            parts.append(target.constant(given_array([element], dtype, place)))
    return target.operators.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]


def _dtype_of(value: Any) -> DType | None:
    if isinstance(value, Value):
        kind = value.known.type
        return kind.dtype if isinstance(kind, TensorType) else None
    return DType.from_numpy(np.asarray(value).dtype)


def _has_graph(op: OperatorDef, attributes: Mapping[str, Any]) -> bool:
    if not op.is_known:
        return any(callable(value) and not isinstance(value, ValueType) for value in attributes.values())
    return not _graph_attributes(op).isdisjoint(attributes)


@functools.lru_cache(maxsize=_OPERATORS)
def _graph_attributes(op: OperatorDef) -> frozenset[str]:
    graphs = (AttributeType.GRAPH, AttributeType.GRAPHS)
    return frozenset(name for name, each in op.attributes.items() if each.type in graphs)


def count_outputs(op: OperatorDef, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> int:
    """How many outputs a call has where the schema leaves it open: a body, a list or an attribute decides."""
    for name, hidden in (("then_branch", 0), ("body", 1 if op.name == "Loop" else 0)):
        body = attributes.get(name)
        if body is not None:
            if is_function(body):
                return 0  # what it returns is not known before it runs
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
