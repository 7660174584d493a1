"""Calling a script where a graph is being made: a node that calls an ONNX function, or the body in its place."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnxsmith.context import setting
from onnxsmith.core.call import holds_array, stacked_scalars
from onnxsmith.core.recording import OpsetChoice, RecordedFunction
from onnxsmith.core.semantics.number import Number, NumberKind
from onnxsmith.core.stored import Stored
from onnxsmith.core.target import RecordingTarget, current_graph, recorded
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array, TensorValue, Value
from onnxsmith.errors import AttributeParameterError, OnnxsmithError, RecursiveFunctionError
from onnxsmith.graphs.identity import values_key
from onnxsmith.graphs.size_conditions import uncertain
from onnxsmith.schema.definition import AttributeReference
from onnxsmith.schema.inference.known import Known
from onnxsmith.schema.promote import Place
from onnxsmith.scripting.functions.eager_call import (
    attribute_argument,
    check_input,
    check_names,
    input_argument,
    rank_of_one_element,
)
from onnxsmith.scripting.functions.stage_script import make_function, stage
from onnxsmith.scripting.functions.type_variables import at_argument, with_typed_literals
from onnxsmith.scripting.source.outside import closure_of
from onnxsmith.scripting.staging.closures import run_staged
from onnxsmith.scripting.staging.function_stager import stage_frame
from onnxsmith.scripting.staging.mistakes import CURED_BY_VALUES, may_be_cured
from onnxsmith.source import traceback_span
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import UNKNOWN_TENSOR, AnyValueType, OptionalType, TensorType

if TYPE_CHECKING:
    from onnxsmith.scripting.functions.definition import ScriptDefinition
    from onnxsmith.scripting.functions.signature import ScriptParameter

#: The scripts that are being made into functions, or staged in place, one inside the other.
_IN_PROGRESS: ContextVar[tuple[ScriptDefinition, ...]] = ContextVar(
    "onnxsmith_scripts_in_progress", default=()
)


#: Under which the shared memory of a graph has a list if scripts are to be no functions in it: those that were called.
IN_PLACE = "scripts in place"
#: Under which the shared memory of a model has the scripts by the names of their functions.
_OWNERS = "names of functions"


def _in_progress(script: ScriptDefinition) -> AbstractContextManager[object]:
    return setting(_IN_PROGRESS, (*_IN_PROGRESS.get(), script))


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call: the types of the outputs, those that are Python numbers, and a flag for a tuple."""

    outputs: tuple[Known, ...]
    numbers: tuple[NumberKind | None, ...]
    is_tuple: bool


def call_in_graph(
    script: ScriptDefinition, arguments: dict[str, UserValue], *, given: frozenset[str] = frozenset()
) -> UserValue:
    """The outputs of a call, as values of the graph being made; `given` are the arguments that were named."""
    if script in _IN_PROGRESS.get():
        raise RecursiveFunctionError(
            f"'{script.name}' calls itself, and an ONNX function cannot", help="write a loop"
        )
    scope = current_graph()
    inputs: dict[str, Value | None] = {}
    attributes: dict[str, Any] = {}
    if not script.is_exact:
        arguments = with_typed_literals(script, arguments)
    for parameter in script.parameters.parameters:
        value = arguments.get(parameter.name)
        if parameter.role == "input":
            inputs[parameter.name] = _lift(script, parameter, value, scope)
        elif parameter.role == "attribute" and not (script.is_exact and parameter.name not in given):
            reference = getattr(value, "reference", None)
            attributes[parameter.name] = value if reference else attribute_argument(script, parameter, value)
    types = {name: None if value is None else value.known.type for name, value in inputs.items()}
    if not script.is_exact:
        check_names(script, types)
    in_place: list[ScriptDefinition] | None = scope.shared.get(IN_PLACE)
    if in_place is not None:
        in_place.append(script)
    is_part = script.is_inline or script.parameters.is_variadic or script.fixed_arguments
    if in_place is not None or is_part or _has_open_optional(script, types):
        return _inlined(script, {**arguments, **inputs, **attributes})
    resolve = _resolve_exactly if script.is_exact else _resolve
    body, result = resolve(script, types, attributes, scope)
    node_attributes = _node_attributes(script, body, attributes)
    # An exact function has all of its inputs; any other is made without those that are left out.
    every = list(inputs.values())
    passed = _trimmed(every) if script.is_exact else [each for each in every if each is not None]
    outputs = scope.call_function(body, passed, node_attributes, result.outputs)
    values = tuple(
        each if kind is None else Number(cast(TensorValue, each), kind)
        for each, kind in zip(outputs, result.numbers, strict=True)
    )
    return values if result.is_tuple else values[0]


def _has_open_optional(script: ScriptDefinition, types: Mapping[str, AnyValueType | None]) -> bool:
    """True if what may be absent is given for a parameter that a function would have as a tensor of any type."""
    return not script.is_exact and any(
        isinstance(types[each.name], OptionalType)
        and (each.has_default or not isinstance(each.type, OptionalType))
        for each in script.parameters.inputs
    )


def _inlined(script: ScriptDefinition, arguments: Mapping[str, UserValue]) -> UserValue:
    with _in_progress(script):
        return run_staged(
            script.analysis,
            script.function.__globals__,
            closure_of(script.function),
            script.completed(arguments),
            run=stage_frame,
        )


def _lift(
    script: ScriptDefinition, parameter: ScriptParameter, value: UserValue, scope: RecordingTarget
) -> Value | None:
    """An argument as a value of the graph; a literal takes the annotated element type."""
    if value is None:
        if not script.is_exact:
            input_argument(script, parameter, None)  # refuses it where a tensor is needed
        return None
    kind = parameter.type.element if isinstance(parameter.type, OptionalType) else parameter.type
    if isinstance(value, Number):
        dtype = kind.dtype if isinstance(kind, TensorType) else None
        # Refuses what a literal of this kind would be refused for, and says which element type it would have.
        sample = cast(Array, input_argument(script, parameter, value.sample))
        lifted = value.as_dtype(dtype or cast(DType, DType.from_numpy(sample.dtype)))
    elif isinstance(value, Value):
        lifted = recorded(value) if value.is_symbolic else scope.lift(value)
        rank = rank_of_one_element(kind)
        is_optional = isinstance(lifted.known.type, OptionalType) and not parameter.is_optional
        if is_optional and not script.is_exact and kind != UNKNOWN_TENSOR:
            lifted = scope.operators.OptionalGetElement(lifted)  # as an operator takes it
        if rank and not script.is_exact and getattr(lifted.known.type, "shape", None) == ():
            lifted = scope.operators.Reshape(lifted, np.ones(rank, np.int64))
    elif isinstance(value, Stored):
        lifted = cast(Value, scope.stored(value))
    elif _is_vector(value, kind):
        place = Place(script.name, f"'{parameter.name}'")
        dtype = kind.dtype if isinstance(kind, TensorType) else None
        try:
            lifted = stacked_scalars(cast("Sequence[Any]", value), scope, place, dtype)
        except OnnxsmithError as error:
            raise at_argument(error, script, parameter) from None
    else:
        lifted = scope.lift(input_argument(script, parameter, value))
    check_input(script, parameter, lifted.known.type, kind)
    return lifted


def _is_vector(value: UserValue, kind: AnyValueType) -> bool:
    """True for a list that holds tensors of the graph, where one tensor is declared."""
    is_declared = isinstance(kind, TensorType) and kind != UNKNOWN_TENSOR
    return is_declared and isinstance(value, list | tuple) and holds_array(cast("Sequence[Any]", value))


@dataclass(slots=True)
class Variants:
    """The functions made of one script for one model. A later model has its own: what a script reads may change."""

    #: Whether its code names an opset; else it is made for the opset of whoever calls it.
    names_opset: bool
    #: By the opset and the inputs that are left out; None where the function cannot be written for any types.
    bodies: dict[tuple[int | None, tuple[str, ...]], RecordedFunction | None] = field(
        default_factory=dict[tuple["int | None", tuple[str, ...]], "RecordedFunction | None"]
    )
    #: By the types of the inputs and the values of the attributes.
    results: dict[Any, tuple[RecordedFunction | None, Result]] = field(
        default_factory=dict[Any, tuple["RecordedFunction | None", Result]]
    )
    #: Why it cannot be written for any types.
    error: OnnxsmithError | None = None
    names: int = 0

    def opset_in(self, scope: RecordingTarget) -> int | None:
        """The opset that a call in this graph decides; None where the script itself does."""
        return None if self.names_opset else scope.opset.version

    def next_name(self, script: ScriptDefinition, shared: dict[Any, Any]) -> str:
        """Functions that are made per type are told apart by number. (ONNX Runtime finds no overload in a function.)

        So are different scripts of one name, which nobody gave a domain, and those that one factory made.
        """
        owners: dict[tuple[str, str], ScriptDefinition] = shared.setdefault(_OWNERS, {})
        while True:
            self.names += 1
            name = script.onnx_name if self.names == 1 else f"{script.onnx_name}_{self.names}"
            owner = owners.setdefault((script.domain, name), script)
            is_other = owner.function.__code__ is not script.function.__code__
            if owner is script or (is_other and not script.is_main):
                return name


def variants_of(script: ScriptDefinition, shared: dict[Any, Any]) -> Variants:
    """The functions that were made of a script before."""
    found = shared.get(script)
    if found is None:
        found = shared[script] = Variants(script.named_opset_version is not None)
    return found


def _function_in(
    scope: RecordingTarget, script: ScriptDefinition
) -> Callable[[OpsetChoice], RecordingTarget]:
    """A function that makes the target on which a function of a graph's model is staged."""
    return functools.partial(scope.function, is_exact=script.is_exact, is_lenient=script.is_lenient)


def _resolve(
    script: ScriptDefinition,
    types: Mapping[str, AnyValueType | None],
    attributes: Mapping[str, Any],
    scope: RecordingTarget,
) -> tuple[RecordedFunction, Result]:
    """The function to call, and what comes out of it for inputs of these types."""
    absent = tuple(name for name, kind in types.items() if kind is None)
    by_value = {name: value for name, value in attributes.items() if not hasattr(value, "reference")}
    body = generic_body(script, absent, scope)
    variants = variants_of(script, scope.shared)
    by_type = tuple(sorted((name, repr(kind)) for name, kind in types.items()))
    key = (variants.opset_in(scope), by_type, values_key(by_value))
    found = variants.results.get(key)
    if found is None:
        with _in_progress(script):
            staged = stage(script, _function_in(scope, script), types, by_value, caller=scope.opset)
        result = Result(tuple(each.known for each in staged.outputs), staged.numbers, staged.is_tuple)
        special = None
        if body is None:
            special = make_function(
                script, staged, variants.next_name(script, scope.shared), bound=tuple(by_value)
            )
        found = variants.results[key] = (special, result)
    special, result = found
    chosen = body if body is not None else special
    assert chosen is not None
    return chosen, result


def _resolve_exactly(
    script: ScriptDefinition,
    types: Mapping[str, AnyValueType | None],
    attributes: Mapping[str, Any],
    scope: RecordingTarget,
) -> tuple[RecordedFunction, Result]:
    """The one function of an exact script, whatever it is called with, and what comes out of it for these types."""
    body = generic_body(script, (), scope)
    variants = variants_of(script, scope.shared)
    if body is None:
        raise cast(OnnxsmithError, variants.error)
    key = (variants.opset_in(scope), *(repr(kind) for kind in types.values()))
    found = variants.results.get(key)
    if found is None:
        given = {name: UNKNOWN_TENSOR if kind is None else kind for name, kind in types.items()}
        try:
            with _in_progress(script):
                staged = stage(script, _function_in(scope, script), given, {}, caller=scope.opset)
                outputs = tuple(each.known for each in staged.outputs)
        except OnnxsmithError:
            if not script.is_lenient:
                raise
            # What it is for these types is the runtime's business.
            outputs = (Known(UNKNOWN_TENSOR),) * body.output_count
        result = Result(outputs, (None,) * len(outputs), len(outputs) > 1)
        found = variants.results[key] = (None, result)
    return body, found[1]


def generic_body(
    script: ScriptDefinition, absent: tuple[str, ...], scope: RecordingTarget
) -> RecordedFunction | None:
    """The function for any types; None where it cannot be written without knowing them."""
    variants = variants_of(script, scope.shared)
    key = (variants.opset_in(scope), absent)
    if key in variants.bodies:
        return variants.bodies[key]
    types: dict[str, AnyValueType | None] = {}
    for parameter in script.parameters.inputs:
        kind = parameter.type
        if parameter.name in absent:
            types[parameter.name] = None
        else:
            types[parameter.name] = (
                kind.element if isinstance(kind, OptionalType) and parameter.has_default else kind
            )
    try:
        with _in_progress(script), uncertain(scope.shared):
            staged = stage(script, _function_in(scope, script), types, {}, caller=scope.opset)
        body: RecordedFunction | None = make_function(
            script, staged, variants.next_name(script, scope.shared)
        )
    except OnnxsmithError as error:
        if not may_pass_with_types(script, error) and not _passes_with_values(script, types, error, scope):
            raise
        variants.error = error
        body = None
    except Exception as raised:  # Python's own functions, which were given what stands for an attribute
        error = _without_values(script, raised)
        if not script.parameters.attributes or not _passes_with_values(script, types, error, scope):
            raise
        variants.error = error
        body = None
    variants.bodies[key] = body
    return body


def _without_values(script: ScriptDefinition, raised: Exception) -> OnnxsmithError:
    """Why a function cannot be written for any values of its attributes: Python needs them."""
    names = " and ".join(f"'{each.name}'" for each in script.parameters.attributes)
    return AttributeParameterError(
        f"Python needs the values of {names}, which come with each call: {raised}",
        help="make a model, in which they are known: to_model(attributes={…})",
        needs_values=True,
    ).locate(traceback_span(raised.__traceback__))


def may_pass_with_types(script: ScriptDefinition, error: OnnxsmithError) -> bool:
    """True if a mistake may vanish when types and attribute values are known, as they are in every call."""
    is_open = script.parameters.attributes or any(_is_open(each.type) for each in script.parameters.inputs)
    return bool(is_open) and may_be_cured(error)


def _passes_with_values(
    script: ScriptDefinition,
    types: Mapping[str, AnyValueType | None],
    error: OnnxsmithError,
    scope: RecordingTarget,
) -> bool:
    """True if a mistake vanishes when the attributes have values: their defaults, or others where they have none."""
    attributes = script.parameters.attributes
    if not attributes or (error.code not in CURED_BY_VALUES and not error.needs_values):
        return False
    values = {each.name: each.default if each.has_default else each.example for each in attributes}
    try:
        with _in_progress(script):
            stage(script, _function_in(scope, script), types, values, caller=scope.opset)
    except OnnxsmithError as other:
        if all(each.has_default for each in attributes) and not may_pass_with_types(script, other):
            raise
        return (other.code, other.span) != (error.code, error.span)
    except Exception:  # the user's own code, on values that mean nothing to it
        if all(each.has_default for each in attributes):
            raise
    return True


def _is_open(kind: AnyValueType) -> bool:
    return not isinstance(kind, TensorType) or kind.dtype is None or kind.shape is None or None in kind.shape


def _node_attributes(
    script: ScriptDefinition, body: RecordedFunction, attributes: Mapping[str, Any]
) -> dict[str, Any]:
    formal = body.attribute_names
    result: dict[str, Any] = {}
    for parameter in script.parameters.attributes:
        value = attributes.get(parameter.name)
        if parameter.name not in formal or value is None:
            continue
        reference = getattr(value, "reference", None)
        if isinstance(reference, AttributeReference):
            result[parameter.name] = reference
        elif isinstance(value, list):
            result[parameter.name] = tuple(cast("list[Any]", value))
        else:
            result[parameter.name] = int(value) if isinstance(value, bool) else value
    return result


def _trimmed(values: list[Any]) -> list[Any]:
    while values and values[-1] is None:
        values.pop()
    return values
