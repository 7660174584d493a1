"""Running a script eagerly: Python runs the function itself, on tensors that execute each operator at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.operands import tensors_of_arrays
from onnxsmith.core.target import ACTIVE, Target
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array, NumberValue, Value
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import (
    AttributeParameterError,
    DTypeNotAllowedError,
    InputTypeError,
    LiteralError,
    OnnxsmithError,
    ReturnTypeError,
    ShapeError,
)
from onnxsmith.graphs.run_values import session_value
from onnxsmith.runtime.kernels_in_python import Kernel, failed_kernel, kernel_of
from onnxsmith.runtime.settings import current
from onnxsmith.runtime.target import EagerTarget
from onnxsmith.runtime.tensor import EagerTensor
from onnxsmith.schema.foreign_arrays import DeviceArray, array_on_device, is_foreign
from onnxsmith.schema.promote import Place, given_array, number_array, refuse_past_end
from onnxsmith.scripting.functions.number_errors import division_of, method_of_tensors
from onnxsmith.scripting.functions.type_variables import (
    at_argument,
    check_same_dtype,
    literal_type,
    with_typed_literals,
)
from onnxsmith.scripting.staging.script_values import T
from onnxsmith.types.annotations import contradiction, type_of_example
from onnxsmith.types.dtypes import numpy_text
from onnxsmith.types.value_types import (
    UNKNOWN_TENSOR,
    AnyValueType,
    OptionalType,
    RangedName,
    SequenceType,
    TensorType,
    describe_shape,
    scalar_help,
    shapes_differ,
)

#: What is given for an input: an array, a sequence of them, or a value of a graph.
Input: TypeAlias = "Value | Array | list[Input]"

if TYPE_CHECKING:
    from onnxsmith.scripting.functions.definition import ScriptDefinition
    from onnxsmith.scripting.functions.signature import AttributeContent, ScriptParameter

#: Inside a script every result is a tensor of ours, also of operators that were given arrays or nothing.
EAGER_TARGET = EagerTarget(wraps=True)


def run_eagerly(
    script: ScriptDefinition, arguments: dict[str, UserValue], active: Target | None
) -> UserValue:
    """Call the function with tensors; arrays in give arrays out."""
    arguments, gives_tensors = prepared(script, arguments, active)
    kernel = kernel_of(script.domain, script.name)
    if kernel is not None and current().kernels:
        result = _by_kernel(script, kernel, arguments)
        return given_results(script, result, gives_tensors=gives_tensors, is_inside=active is not None)
    bound = script.signature.bind_partial()
    bound.arguments.update(arguments)  # type: ignore[arg-type]
    token = ACTIVE.set(EAGER_TARGET)
    try:
        result = script.function(*bound.args, **bound.kwargs)
    except ZeroDivisionError as error:
        raise division_of(script.name, error) from None
    except AttributeError as error:
        raise method_of_tensors(error) or error from None
    finally:
        ACTIVE.reset(token)
    if active is None:
        result = _apart(result, arguments.values())
    return given_results(script, result, gives_tensors=gives_tensors, is_inside=active is not None)


def _apart(result: UserValue, arguments: Iterable[UserValue]) -> UserValue:
    """The results of a script, with copies of arguments: these may be over the caller's memory."""
    given = {id(each.array) for each in arguments if isinstance(each, EagerTensor)}

    def apart(value: UserValue) -> UserValue:
        if isinstance(value, EagerTensor):
            return value.copied() if id(value.array) in given else value
        return tuple(map(apart, cast("tuple[UserValue, ...]", value))) if type(value) is tuple else value

    return apart(result)


def _by_kernel(script: ScriptDefinition, kernel: Kernel, arguments: Mapping[str, UserValue]) -> UserValue:
    """The results of the Python function that somebody wrote as the kernel of a script in a domain of its own."""
    parameters = script.parameters.parameters
    inputs = [
        session_value(cast(Any, arguments.get(each.name))) for each in parameters if each.role == "input"
    ]
    attributes = {
        each.name: arguments[each.name]
        for each in parameters
        if each.role == "attribute" and each.name in arguments
    }
    declared = script.parameters.returns or ()
    try:
        results = kernel.run(inputs, attributes, len(declared) or None)
        for number, (value, kind) in enumerate(zip(results, declared, strict=False)):
            kernel.check(number, value, kind, "the script declares")
    except OnnxsmithError:
        raise
    except Exception as error:
        raise failed_kernel(kernel, inputs, error) from error
    tensors = tuple(to_tensor(cast(Any, each)) for each in results)
    return cast(Any, tensors[0] if len(tensors) == 1 else tensors)


def prepared(
    script: ScriptDefinition, arguments: dict[str, UserValue], active: Target | None
) -> tuple[dict[str, UserValue], bool]:
    """The arguments by parameter, checked and as tensors; and whether tensors were given, so that tensors come out."""
    gives_tensors = active is not None
    arguments = with_typed_literals(script, arguments)
    for parameter in script.parameters.parameters:
        value = arguments.get(parameter.name)
        if parameter.role == "attribute":
            arguments[parameter.name] = attribute_argument(script, parameter, value)
        elif parameter.role == "input":
            gives_tensors = gives_tensors or isinstance(value, EagerTensor) or is_foreign(value)
            arguments[parameter.name] = _input(script, parameter, value)
    check_names(script, arguments)
    return {name: _extra(script, name, value) for name, value in arguments.items()}, gives_tensors


def given_results(
    script: ScriptDefinition, result: UserValue, *, gives_tensors: bool, is_inside: bool
) -> UserValue:
    """The result for the caller, made of what the function returned."""
    annotated = script.parameters.returns or (None,)
    try:
        return _results(result, annotated, gives_tensors=gives_tensors, is_inside=is_inside)
    except (LiteralError, ReturnTypeError) as error:
        raise error.locate(script.places.returned) from None


def _extra(script: ScriptDefinition, name: str, value: UserValue) -> UserValue:
    """The arguments that came in through `*args` and `**kwargs`."""
    known = any(each.name == name for each in script.parameters.parameters)
    if known:
        return value
    if isinstance(value, tuple):
        return tuple(to_tensor(each) for each in value)
    return {key: to_tensor(each) for key, each in cast("dict[str, UserValue]", value).items()}


def to_tensor(value: T) -> T | EagerTensor:
    """An array as a tensor; everything else as it is."""
    return EagerTensor(np.asarray(cast(Any, value))) if isinstance(value, np.ndarray | np.generic) else value


def attribute_argument(
    script: ScriptDefinition, parameter: ScriptParameter, value: UserValue
) -> AttributeContent | None:
    """The value of an attribute parameter, checked."""
    if value is None and parameter.default is None:
        return None
    annotation = parameter.attribute
    assert annotation is not None
    word = (
        f"a list of {annotation.scalar.__name__}s"
        if annotation.is_list
        else described_type(annotation.scalar)
    )
    items = value if annotation.is_list and isinstance(value, list | tuple) else [value]
    accepted = {
        int: (int, np.integer),
        float: (int, float, np.integer, np.floating),
        bool: (bool, np.bool_, int),
        str: str,
        np.ndarray: np.ndarray,
    }
    if annotation.scalar is np.ndarray and hasattr(value, "SerializeToString"):
        return parameter.attribute_value(value)
    fits = all(isinstance(each, accepted[annotation.scalar]) for each in items)
    if not fits or (annotation.is_list and not isinstance(value, list | tuple)):
        is_tensor = isinstance(value, Value | np.ndarray)
        error = AttributeParameterError(
            f"'{parameter.name}' of {script.name} is an attribute, {word}, and was given "
            + ("a tensor" if is_tensor else repr(value)),
            help="an attribute has its value when the model is made, a tensor when it runs;\n"
            f"for a tensor, annotate '{parameter.name}' as one, or not at all"
            if is_tensor
            else None,
        )
        # A number may be computed of an attribute whose value comes with each call of the function that is made.
        error.needs_values = all(isinstance(each, NumberValue | int | float) for each in items)
        raise at_argument(error, script, parameter)
    return parameter.attribute_value(value)


def _input(script: ScriptDefinition, parameter: ScriptParameter, value: UserValue) -> UserValue:
    given = input_argument(script, parameter, value)
    if given is None or isinstance(given, list):
        return given if given is None else [to_tensor(each) for each in given]
    given = given if isinstance(given, DeviceArray) else np.asarray(given)
    return EagerTensor(cast(Any, given))  # a tensor of a graph says itself that it has no value here


def input_argument(script: ScriptDefinition, parameter: ScriptParameter, value: UserValue) -> Input | None:
    """The argument of an input as an array (a sequence as a list of arrays), checked against the annotation."""
    kind = parameter.type.element if isinstance(parameter.type, OptionalType) else parameter.type
    content = value.array if isinstance(value, EagerTensor) else value
    if content is None and not parameter.is_optional and kind != UNKNOWN_TENSOR:
        error = InputTypeError(
            f"{script.name} needs a tensor for '{parameter.name}', not None",
            help=f"an input that may be missing is annotated so, {parameter.name}: {kind!r} | None, "
            "or has the default None",
        )
        raise at_argument(error, script, parameter)
    if content is None or isinstance(content, Value):
        return content
    try:
        place = Place(script.name, f"'{parameter.name}'", remedy=_declared(parameter, kind))
        given = _given(content, literal_type(parameter, kind, content), place)
    except (InputTypeError, LiteralError) as error:
        raise at_argument(error, script, parameter) from None
    if isinstance(given, np.ndarray) and isinstance(kind, SequenceType):
        error = _other_kind(script, f"'{parameter.name}'", kind, described_type(type(value)))
        raise at_argument(error, script, parameter)
    if isinstance(given, np.ndarray | DeviceArray):
        if (
            isinstance(value, EagerTensor)
            and not array_on_device(given)
            and given.ndim == 0
            and (rank := rank_of_one_element(kind))
        ):
            given = given.reshape((1,) * rank)  # as a literal: in a graph a number is a tensor, too
        actual = given.type if isinstance(given, DeviceArray) else type_of_example(given)
        check_input(script, parameter, actual, kind)
    elif isinstance(kind, SequenceType):
        for k, each in enumerate(given):
            if isinstance(each, np.ndarray):
                check_input(script, parameter, type_of_example(each), kind.element, f"[{k}]")
    return given


def _given(value: UserValue, kind: AnyValueType, place: Place) -> Array | list[Input]:
    if isinstance(value, list | tuple):
        elements = value
        if isinstance(kind, SequenceType):
            inner = kind.element if isinstance(kind.element, TensorType) else UNKNOWN_TENSOR
            return [_element(each, inner, place) for each in elements]
        if kind == UNKNOWN_TENSOR and isinstance(value, list) and holds_tensors(elements):
            return [_element(each, kind, place) for each in elements]
    array = given_array(value, kind.dtype if isinstance(kind, TensorType) else None, place)
    if isinstance(value, int | float) and (rank := rank_of_one_element(kind)):
        return array.reshape((1,) * rank)  # a literal for a tensor of one element
    return array


def rank_of_one_element(kind: AnyValueType) -> int:
    """The number of dimensions of a tensor that has exactly one element; 0 for all other types."""
    shape = kind.shape if isinstance(kind, TensorType) else None
    return len(shape) if shape and set(shape) == {1} else 0


def _element(value: UserValue, kind: AnyValueType, place: Place) -> Input:
    """An element of a sequence; a tensor of a graph stays one."""
    if isinstance(value, EagerTensor):
        return value.array
    return value if isinstance(value, Value) else _given(value, kind, place)


def holds_tensors(values: Sequence[UserValue]) -> bool:
    """True if there is a tensor with dimensions among the elements of a list."""
    return any(isinstance(each, Value) or getattr(each, "ndim", 0) for each in values)


def _declared(parameter: ScriptParameter, kind: AnyValueType) -> str | None:
    dtype = kind.dtype if isinstance(kind, TensorType) else None
    return None if dtype is None else f"'{parameter.name}' is declared as {dtype.name}"


def check_input(
    script: ScriptDefinition,
    parameter: ScriptParameter,
    actual: AnyValueType,
    wanted: AnyValueType,
    place: str = "",
) -> None:
    """Refuse an argument, or what stands in one at a place `[0]`, whose type is certainly not the annotated one."""
    if isinstance(actual, SequenceType) and isinstance(wanted, SequenceType):
        check_input(script, parameter, actual.element, wanted.element, f"{place}[i]")
    shown = f"'{parameter.name}{place}'"
    if isinstance(actual, TensorType) != isinstance(wanted, TensorType) and not script.is_exact:
        if wanted == UNKNOWN_TENSOR or isinstance(actual, OptionalType):
            return
        raise at_argument(_other_kind(script, shown, wanted, actual.described), script, parameter)
    if not isinstance(actual, TensorType) or not isinstance(wanted, TensorType):
        return
    if actual.dtype is not None and wanted.dtype is not None and actual.dtype is not wanted.dtype:
        error = DTypeNotAllowedError(
            f"{script.name} takes {wanted.dtype.spelling} as {shown}, not {actual.dtype.spelling}",
            help=f"convert it with .astype({numpy_text(wanted.dtype)}), or leave the parameter without annotation",
        )
        raise at_argument(error, script, parameter)
    if parameter.dtypes and actual.dtype is not None and actual.dtype not in parameter.dtypes:
        allowed = " or ".join(each.spelling for each in parameter.dtypes)
        error = DTypeNotAllowedError(
            f"{script.name} takes {allowed} as {shown}, not {actual.dtype.spelling}",
            help=f"convert it with .astype({numpy_text(parameter.dtypes[0])}), "
            "or leave the parameter without annotation",
        )
        raise at_argument(error, script, parameter)
    if actual.shape is None or wanted.shape is None:
        return
    if shapes_differ(actual.shape, wanted.shape):
        error = ShapeError(
            f"{script.name} takes shape {describe_shape(wanted.shape)} as {shown}, "
            f"not {describe_shape(actual.shape)}",
            help=None if wanted.shape else scalar_help(wanted.dtype),
        )
        raise at_argument(error, script, parameter)
    for size, name in zip(actual.shape, wanted.shape, strict=True):
        if isinstance(name, RangedName) and isinstance(size, int) and not name.declared.allows(size):
            error = ShapeError(
                f"{script.name} is for {name.declared!r} in {shown}, and was given {name} = {size}"
            )
            raise at_argument(error, script, parameter)


def _other_kind(script: ScriptDefinition, shown: str, wanted: AnyValueType, given: str) -> InputTypeError:
    """The error for a tensor where a sequence is declared, and the other way round."""
    is_sequence = isinstance(wanted, SequenceType)
    return InputTypeError(
        f"{script.name} takes {'a ' * is_sequence}{wanted.described} as {shown}, not {given}",
        help="give a list, one element each" if is_sequence else None,
    )


def check_names(script: ScriptDefinition, arguments: Mapping[str, Any]) -> None:
    """Refuse arguments (arrays, tensors or types) that disagree about the size of a name, or the type of a TypeVar."""
    for group in script.parameters.same_dtype:
        check_same_dtype(script, group, arguments)
    if not script.parameters.repeats_dimensions:
        return
    inputs = script.parameters.inputs
    given = {each.name: arguments.get(each.name) for each in inputs}
    arrays = {name: each.array if isinstance(each, EagerTensor) else each for name, each in given.items()}
    found = contradiction((each.name, each.type, arrays[each.name]) for each in inputs)
    if found is not None:
        parameter = next(each for each in inputs if each.name == found.second)
        error = ShapeError(f"{script.name}: {found.described}, and the same name is the same size")
        raise at_argument(error, script, parameter)


def _results(
    result: UserValue, annotated: Sequence[AnyValueType | None], *, gives_tensors: bool, is_inside: bool
) -> UserValue:
    """The results for the caller: a script that calls another one goes on with tensors and Python numbers."""
    if isinstance(result, tuple | list):
        kinds = annotated if len(annotated) == len(result) else (None,) * len(result)
        made = [
            _results(each, (kind,), gives_tensors=gives_tensors, is_inside=is_inside)
            for each, kind in zip(result, kinds, strict=True)
        ]
        return tuple(made) if isinstance(result, tuple) else made
    if isinstance(result, bool | int | float):
        kind = annotated[0] if len(annotated) == 1 else None
        if isinstance(kind, TensorType) and kind.dtype is not None:
            result = EagerTensor(number_array(result, kind.dtype, "the result", ReturnTypeError))
            return result if gives_tensors else result.array
        refuse_past_end(result)
        if is_inside:
            return result
        # What a model would give: Python's numbers are INT64, FLOAT and BOOL.
        result = EagerTensor(np.array(result, np.float32 if isinstance(result, float) else None))
    elif isinstance(result, str):
        return result if is_inside else np.array(result, object)
    elif isinstance(result, np.ndarray | np.generic):
        result = EagerTensor(np.asarray(cast(Any, result)))
    else:
        result = tensors_of_arrays(result)
    return result if gives_tensors or not isinstance(result, EagerTensor) else result.array
