"""Stages a whole script on a target that records: as the body of a function, or as a model.

A function's body is generic where its annotations leave types open; a model is typed, and its attributes have values.
Which it is, is said by the target that it is staged on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

from onnxsmith.core.operands import tensors_of_arrays
from onnxsmith.core.recording import FormalAttribute, FunctionHead, OpsetChoice, RecordedFunction
from onnxsmith.core.semantics.number import NumberKind, is_number, kind_of
from onnxsmith.core.stored import Stored
from onnxsmith.core.target import ACTIVE, RecordingTarget, recorded
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Operand, Value
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import (
    CallError,
    MissingReturnError,
    OpsetConflictError,
    ReturnTypeError,
    refusals_raised,
)
from onnxsmith.graphs.size_conditions import declared_in, ranges_of
from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.bounds import Ranges
from onnxsmith.schema.inference.broadcasting import contradict
from onnxsmith.schema.promote import refuse_past_end
from onnxsmith.schema.registry import default_opset_version
from onnxsmith.scripting.functions.debuggers import unwatched
from onnxsmith.scripting.functions.eager_call import input_argument
from onnxsmith.scripting.functions.number_errors import division_of, method_of_tensors
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.scripting.source.outside import closure_of
from onnxsmith.scripting.staging.attribute_values import attribute_value
from onnxsmith.scripting.staging.closures import run_staged
from onnxsmith.scripting.staging.function_stager import stage_frame
from onnxsmith.scripting.staging.merge import NUMBER_DTYPES
from onnxsmith.scripting.staging.merged_tensors import RESULT_NAME, number_as
from onnxsmith.scripting.staging.mistakes import Mistakes
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, OptionalType, TensorType

if TYPE_CHECKING:
    from onnxsmith.scripting.functions.definition import ScriptDefinition
    from onnxsmith.scripting.functions.signature import ScriptParameter


#: The target that a script is staged on.
ScopeT = TypeVar("ScopeT", bound=RecordingTarget)


@dataclass(frozen=True)
class Staged(Generic[ScopeT]):
    """A staged script: its graph is open until someone finishes it."""

    scope: ScopeT
    outputs: list[Value]
    #: Which outputs are Python numbers to whoever calls the script.
    numbers: tuple[NumberKind | None, ...]
    #: Whether the script returned a tuple, so that one output in a tuple stays one.
    is_tuple: bool
    #: The sizes that its types declare, and what these have decided.
    ranges: Ranges | None = None


def stage(
    script: ScriptDefinition,
    make_scope: Callable[[OpsetChoice], ScopeT],
    types: Mapping[str, AnyValueType | None],
    attributes: Mapping[str, Any],
    *,
    opset_version: int | None = None,
    caller: OpsetChoice | None = None,
) -> Staged[ScopeT]:
    """Stage a script on inputs of these types (None: left out); attributes not given stay references.

    `make_scope` makes the target: a new one for each attempt, of which there may be two. `caller` is the opset of the
    graph that calls it, which it takes where it names none itself.
    """
    if opset_version is not None:
        start = OpsetChoice(opset_version, is_fixed=True)
    elif caller is not None:
        start = OpsetChoice(caller.version, is_named=caller.is_named)
    else:
        start = OpsetChoice(default_opset_version(), is_named=False)
    # The dimensions of a function have names of their own: what its caller declares is not said of them.
    ranges = ranges_of(declared_in(types.values())) if caller is None else None
    declared = symbolic.DECLARED.set(ranges)
    try:
        with unwatched(script.function.__code__):
            staged = _stage_by_opset(script, make_scope, types, attributes, start)
    finally:
        symbolic.DECLARED.reset(declared)
    return staged if ranges is None else replace(staged, ranges=ranges)


def _stage_by_opset(
    script: ScriptDefinition,
    make_scope: Callable[[OpsetChoice], ScopeT],
    types: Mapping[str, AnyValueType | None],
    attributes: Mapping[str, Any],
    start: OpsetChoice,
) -> Staged[ScopeT]:
    if start.is_fixed:
        return _stage(script, make_scope, start, types, attributes)
    named = script.named_opset_version
    choice = start if named is None else OpsetChoice(named)
    try:
        return _stage(script, make_scope, choice, types, attributes)
    except OpsetConflictError as error:
        # An object that the code holds may name an older opset than could be seen in the code itself.
        if error.named_version is None or error.named_version == choice.version:
            raise
        try:
            return _stage(script, make_scope, OpsetChoice(error.named_version), types, attributes)
        except OpsetConflictError:
            raise error from None


def _stage(
    script: ScriptDefinition,
    make_scope: Callable[[OpsetChoice], ScopeT],
    opset: OpsetChoice,
    types: Mapping[str, AnyValueType | None],
    attributes: Mapping[str, Any],
) -> Staged[ScopeT]:
    """Stage a script by calling it, where that will do, and else from its syntax tree."""
    straight = script.straight_call()
    if straight is not None:
        try:
            return _stage_on(script, make_scope(opset), types, attributes, straight.run)
        except Exception:
            pass  # the tree has all mistakes of the function, and their places

    def from_tree(_: RecordingTarget, arguments: Mapping[str, UserValue]) -> UserValue:
        return run_staged(
            script.analysis,
            script.function.__globals__,
            closure_of(script.function),
            arguments,
            mistakes=Mistakes(script.known_mistakes),
            run=stage_frame,
        )

    try:
        return _stage_on(script, make_scope(opset), types, attributes, from_tree)
    except ZeroDivisionError as error:
        raise division_of(script.name, error) from None
    except AttributeError as error:
        raise method_of_tensors(error) or error from None


def _stage_on(
    script: ScriptDefinition,
    scope: ScopeT,
    types: Mapping[str, AnyValueType | None],
    attributes: Mapping[str, Any],
    run: Callable[[RecordingTarget, Mapping[str, UserValue]], UserValue],
) -> Staged[ScopeT]:
    arguments = dict(script.fixed_arguments)
    if arguments and script.instance is None:
        (name,) = arguments
        raise CallError(
            f"{script.name} is a method, and nobody says of which object: its '{name}' is not known",
            help=f"ask the object: obj.{script.name}.to_model(); "
            "for a class method, write @script above @classmethod",
        ).locate_at_caller()
    for parameter in script.parameters.inputs:
        if parameter.name in types:
            given = types[parameter.name]
            arguments[parameter.name] = (
                None if given is None else scope.input(parameter.name, given, script.place)
            )
        else:
            arguments[parameter.name] = _default(script, parameter, scope)
    for parameter in script.parameters.attributes:
        if parameter.name in attributes:
            value = attributes[parameter.name]
            arguments[parameter.name] = value if value is None else parameter.attribute_value(value)
        else:
            arguments[parameter.name] = cast(UserValue, attribute_value(parameter))
    token = ACTIVE.set(scope)
    try:
        with refusals_raised():
            result = tensors_of_arrays(run(scope, script.completed(arguments)))
        with located(None if _are_outputs(scope, result) else script.places.returned):
            if isinstance(result, list) and script.returns_sequence:
                result = cast(Value, scope.sequence(result))
            values = list(result) if isinstance(result, tuple | list) else [result]
            outputs = _outputs(script, scope, values)
    finally:
        ACTIVE.reset(token)
    is_annotated = script.parameters.returns is not None
    numbers: tuple[NumberKind | None, ...] = tuple(None if is_annotated else kind_of(each) for each in values)
    return Staged(scope, outputs, numbers, isinstance(result, tuple | list))


def _are_outputs(scope: RecordingTarget, result: UserValue) -> bool:
    """True if what a script returns can be its outputs as it is: nothing is made of it that needs a place."""
    values = result if isinstance(result, tuple) else (result,)
    return len({id(each) for each in values}) == len(values) and all(
        isinstance(each, Value) and each.is_symbolic and kind_of(each) is None and not scope.is_given(each)
        for each in values
    )


def _default(script: ScriptDefinition, parameter: ScriptParameter, scope: RecordingTarget) -> Operand | None:
    """The default of an input that nobody gives: a tensor of the annotated element type, as in an eager run."""
    kind = parameter.type.element if isinstance(parameter.type, OptionalType) else parameter.type
    is_typed = isinstance(kind, TensorType) and kind.dtype is not None
    if parameter.default is None or not is_typed:
        return parameter.default
    return scope.lift(input_argument(script, parameter, parameter.default))


def _outputs(script: ScriptDefinition, scope: RecordingTarget, values: Sequence[UserValue]) -> list[Value]:
    """The results of a script as outputs of its graph; one that is an input, or comes twice, gets an Identity."""
    returns = script.parameters.returns
    if returns is not None and len(returns) != len(values):
        count = f"{len(values)} value{'s' * (len(values) != 1)}"
        error = ReturnTypeError(
            f"'{script.name}' returns {count}, and its annotation says {len(returns)}",
            help="for several results, annotate a tuple: -> tuple[FLOAT[...], INT64[...]]",
        )
        raise error.locate(script.places.returned).also(script.places.annotation("return"), "annotated here")
    tensors: list[Value] = []
    for position, value in enumerate(values):
        which = "" if len(values) == 1 else f", value {position + 1} of {len(values)}"
        tensor = _as_output(script, scope, value, None if returns is None else returns[position], which)
        if returns is not None and not script.is_exact:
            _check_result(script, position, tensor.known.type, returns[position])
        tensors.append(tensor)
    if script.is_exact:
        return tensors
    outputs = scope.outputs_of(tensors)
    if returns is None:
        return outputs
    return [_refined(scope, tensor, kind) for tensor, kind in zip(outputs, returns, strict=True)]


#: What can be an output of a model: tensors, and what is made one.
_RESULTS = (Value, Stored, np.ndarray, np.generic, bool, int, float, complex, str, bytes, list, tuple)


def _as_output(
    script: ScriptDefinition,
    scope: RecordingTarget,
    value: UserValue,
    annotated: AnyValueType | None,
    which: str,
) -> Value:
    """A result as a tensor; a Python number takes the annotated element type, or else INT64, FLOAT or BOOL.

    `which` says of several results which one it is.
    """
    if value is None and not which:
        raise MissingReturnError(
            f"'{script.name}' returns nothing",
            help="return the tensors that are the outputs, as a tuple if several",
        )
    if not isinstance(value, _RESULTS):
        what = "None" if value is None else described_type(type(value))
        raise MissingReturnError(
            f"'{script.name}' returns {what}{which}, which is no tensor",
            help="return the tensors that are the outputs, as a tuple if several",
        )
    if isinstance(value, tuple):
        raise ReturnTypeError(
            f"'{script.name}' returns a tuple inside a tuple, and the outputs of a model are in a row",
            help="unpack it: return a, *pair",
        )
    if not is_number(value):
        if isinstance(value, Value) and value.is_symbolic:
            return recorded(value)
        return scope.lift(cast(Operand, value))
    if isinstance(annotated, TensorType) and annotated.dtype is not None:
        return number_as(scope, value, annotated.dtype, RESULT_NAME, ReturnTypeError)
    if not isinstance(value, Value):
        refuse_past_end(value)
    kind = kind_of(value)
    dtype = DType.FLOAT if kind is None or kind == "float" else NUMBER_DTYPES[kind]
    return number_as(scope, value, dtype, RESULT_NAME, ReturnTypeError)


def _check_result(
    script: ScriptDefinition, position: int, actual: AnyValueType, annotated: AnyValueType
) -> None:
    """Refuse what certainly differs from the annotation."""
    differs = type(actual) is not type(annotated) or contradict(actual, annotated)
    if differs:
        which = "returns" if position == 0 else f"returns as value {position}"
        error = ReturnTypeError(
            f"'{script.name}' {which} {actual.described}, but its annotation says {annotated!r}",
            help=f"change the annotation to {actual!r}, or convert the result",
        )
        raise error.locate(script.places.returned).also(script.places.annotation("return"), "annotated here")


def _refined(scope: RecordingTarget, tensor: Value, annotated: AnyValueType) -> Value:
    """An output with the dimensions that its annotation adds to what is known."""
    actual = tensor.known.type
    if not isinstance(actual, TensorType) or not isinstance(annotated, TensorType):
        return tensor
    dtype = actual.dtype or annotated.dtype
    shape = actual.shape
    if annotated.shape is not None:
        shape = (
            annotated.shape
            if shape is None
            else tuple(
                b if a is None or (isinstance(b, str) and not isinstance(a, int)) else a
                for a, b in zip(shape, annotated.shape, strict=True)
            )
        )
    return scope.refined(tensor, TensorType(dtype, shape))


def make_function(
    script: ScriptDefinition, staged: Staged[ScopeT], name: str, bound: Sequence[str] = ()
) -> RecordedFunction:
    """The function of a staged script; attributes in `bound` have their values inside already."""
    formal = [each for each in script.parameters.attributes if each.name not in bound]
    attributes = tuple(
        FormalAttribute(
            each.name,
            each.attribute_type,
            each.attribute_value(each.default) if each.has_default and each.default is not None else None,
        )
        for each in formal
    )
    head = FunctionHead(
        script.domain, name, script.overload, attributes, script.domain_version, script.__doc__ or None
    )
    return staged.scope.finish_function(staged.outputs, head)
