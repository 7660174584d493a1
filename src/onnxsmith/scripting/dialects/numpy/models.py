"""`onnxsmith.numpy.to_model`: plain numpy code as a model, for arrays of the types that are given."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast, get_args, get_origin

import numpy as np

from onnxsmith.errors import (
    AnnotationError,
    AttributeValueError,
    OnnxsmithError,
    OperatorNotInOpsetError,
    TraceError,
)
from onnxsmith.graphs.interface import GivenNames, refuse_unknown
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.registry import entry_point
from onnxsmith.schema.inference.broadcasting import contradict
from onnxsmith.scripting.dialects.numpy.annotated import (
    hints_of,
    is_text,
    met_type,
    met_value,
    refuse_contradiction,
)
from onnxsmith.scripting.dialects.numpy.arguments import Leaf, Place
from onnxsmith.scripting.dialects.numpy.recording import PlainFunction, Recording, plain_function
from onnxsmith.scripting.dialects.numpy.reports import CodeModel, ModelReport
from onnxsmith.scripting.dialects.numpy.verifying import Verification
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.structure import parts, rebuilt, taking_apart
from onnxsmith.tracing.model_maker import Known
from onnxsmith.tracing.trace import definition_span
from onnxsmith.types.annotations import read_value_type
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType

#: From this opset on, all of numpy's functions have their operators.
_OPSET = 18
#: Python's numbers as types: an input that keeps their weak meaning.
_NUMBERS: dict[object, dtypes.NumpyDType] = {float: dtypes.FLOAT64, int: dtypes.INT64, bool: dtypes.BOOL}
#: What the floats of a model may be called: as types of tensors, and as numpy's and Python's.
Precision: TypeAlias = "DType | TensorType | type[np.floating[Any] | float] | np.dtype[Any]"
_PRECISIONS: dict[type, DType] = {
    float: DType.DOUBLE,
    np.float64: DType.DOUBLE,
    np.float32: DType.FLOAT,
    np.float16: DType.FLOAT16,
}


@entry_point
def to_model(
    function: Callable[..., Any],
    /,
    *types: Any,
    verify: bool | float = True,
    precision: Precision | None = None,
    data: Sequence[Any] | Mapping[str, Any] | None = None,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: GivenNames | None = None,
    output_names: GivenNames | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
    **named: Any,
) -> CodeModel:
    """The model of a plain function of numpy code.

    For each parameter a type is given, in order or by name: of an array (`DOUBLE["N", 2]`), of a Python number
    (`float`, `int`, `bool`), or lists, tuples and dicts of these. A value in the place of a type is fixed in the model.

    `verify` runs both, on sizes 0, 1 and two more of every dimension that is open, and on the arguments `data`;
    `model.report` says how near they are, and which sizes the function itself refuses. A difference past what rounding
    explains, in the least precise element type of the model, is an error; `verify=1e-6` says how large it may be, as a
    part of the largest number. `precision=FLOAT` makes a model
    that computes in float32 where the code says float64, and the report has the differences.

    >>> import numpy as np
    >>> import onnxsmith.numpy as xp
    >>> from onnxsmith import DOUBLE
    >>> def centred(x, axis=0):
    ...     return x - x.mean(axis=axis, keepdims=True)
    >>> model = xp.to_model(centred, DOUBLE["N", 2])
    >>> model(np.array([[1.0, 2.0], [3.0, 6.0]]))
    array([[-1., -2.],
           [ 1.,  2.]])
    """
    plain = plain_function(function)
    given = _bound(plain, types, named)
    reading = _Types()
    template = reading.all_apart(given)
    options: dict[str, Any] = {
        "opset_version": opset_version,
        "output_names": output_names,
        "doc_string": doc_string,
        "metadata": metadata,
    }
    if input_names is not None:
        options["input_names"] = input_names
    chosen = _read_precision(precision)
    allowed = _read_verify(verify)
    record = functools.partial(
        Recording,
        plain,
        reading.leaves,
        template,
        is_model=True,
        precision=chosen,
        name=name or plain.name,
    )
    try:
        made = record(**options)
        if made.unused_reads:
            with contextlib.suppress(OnnxsmithError):  # an error that cannot be noted here is left out
                made = record(noted=made.unused_reads, **options)
    except OnnxsmithError as error:
        if opset_version is None or opset_version >= _OPSET:
            raise
        try:
            record()
        except OnnxsmithError:
            raise error from None  # the opset is not why
        raise OperatorNotInOpsetError(
            f"the model of '{plain.name}' cannot have opset {opset_version}: numpy code becomes operators of opset "
            f"{_OPSET}, of which earlier ones have a part",
            help=f"leave opset_version out, or give {_OPSET} or later",
            labels=error.labels,
        ) from None
    model = cast(CodeModel, made.model)
    model.__class__ = CodeModel
    _check_results(plain, [each.type for each in model.outputs], has_precision=chosen is not None)
    if verify is not False or data is not None:
        beside = Verification(
            plain, function, made, reading.leaves, template, is_exact=chosen is None, allowed=allowed
        )
        model.report = beside.run(data)
    else:
        model.report = ModelReport()
    return model


def plain_model(
    function: Callable[..., Any], types: Sequence[object], named: Mapping[str, object]
) -> tuple[CodeModel, Held]:
    """The model that `to_model` makes for these types, without options: any parameter may be given by name.

    And the result of the function, with a `Slot` in the place of each output.
    """
    plain = plain_function(function)
    reading = _Types()
    given = _bound(plain, types, named)
    template = reading.all_apart(given)
    made = Recording(plain, reading.leaves, template, is_model=True, name=plain.name)
    model = cast(CodeModel, made.model)
    model.__class__ = CodeModel
    model.report = ModelReport()
    return model, made.result_form


def _read_verify(verify: bool | float) -> float | None:
    """The difference that is allowed, where it is given."""
    if isinstance(verify, bool):
        return None
    if not isinstance(cast(object, verify), int | float | np.floating) or not 0 <= verify < math.inf:
        raise AttributeValueError(
            f"verify is True, False, or the relative difference that is allowed, not {verify!r}",
            help="verify=1e-6 allows a millionth of the largest number of an output",
            culprit=("attribute", "verify"),
        )
    return float(verify)


def _read_precision(precision: Precision | None) -> DType | None:
    if precision is None:
        return None
    found: object = precision
    if isinstance(precision, TensorType):
        found = precision.dtype
    elif isinstance(precision, type | np.dtype):  # before comparing: a type of numpy's equals one of ours
        found = _PRECISIONS.get(precision if isinstance(precision, type) else precision.type)
    if found is DType.DOUBLE:
        return None
    if found is not DType.FLOAT and found is not DType.FLOAT16:
        raise AttributeValueError(
            f"a model computes in DOUBLE, FLOAT or FLOAT16, not in {precision!r}",
            help="precision=FLOAT computes in float32 where the code says float64",
            culprit=("attribute", "precision"),
        )
    return cast(DType, found)


def _bound(plain: PlainFunction, types: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The argument of each parameter; annotations that are types of tensors count for those that are left out."""
    parameters = plain.signature.parameters
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    unknown = [] if takes_any else [each for each in named if each not in parameters]
    options = inspect.getfullargspec(inspect.unwrap(to_model)).kwonlyargs
    refuse_unknown("to_model", unknown, list(dict.fromkeys((*options, *parameters))), TraceError)
    try:
        given = dict(plain.signature.bind_partial(*types, **named).arguments)
    except TypeError as error:
        raise _unlike(plain, f"{error}", len(types)) from None
    hints = hints_of(plain)
    left: list[str] = []
    for key, parameter in parameters.items():
        if key in given:
            _check_given(plain, key, hints.get(key, Any), given[key])
        elif (found := _annotated(hints.get(key))) is not None:
            given[key] = found
        elif parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            left.append(key)
    if left:
        raise _unlike(plain, f"no type is given for {', '.join(map(repr, left))}", len(types))
    return {key: given[key] for key in parameters if key in given}


def _annotated(hint: object) -> TensorType | None:
    """The type of an annotation, where it is one of a tensor."""
    return (
        hint if isinstance(hint, TensorType) and hint.dtype is not None and hint.shape is not None else None
    )


def _check_given(plain: PlainFunction, name: str, hint: object, given: object) -> None:
    """Refuse what contradicts the annotation of its parameter, and text where a type is meant."""
    kind = plain.signature.parameters[name].kind
    if kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        return
    if isinstance(given, Known):
        refuse_contradiction(plain, name, hint, met_value(given.value), "the call")
        return
    refuse_contradiction(plain, name, hint, met_type(given), "to_model")
    if not isinstance(given, str) or name.endswith("dtype") or is_text(plain, name, hint):
        return
    meant = _element_type(given)
    if meant is not None:
        raise AnnotationError(
            f"'{name}' of '{plain.name}' is given the text {given!r}, and a type is no text",
            help=f'{meant.name}["N"] is a vector, and {meant.name} a number of numpy\'s; where the text itself is '
            f"meant, give '{name}' a default or an annotation that is text",
        ).locate_at_caller()


def _element_type(text: str) -> DType | None:
    """The element type that a text names, with or without a shape."""
    name = text.partition("[")[0].strip()
    for each in DType:
        if name.upper() == each.name:
            return each
    if len(name) < 3:  # numpy's codes are letters that options are called, too: order="F"
        return None
    try:
        dtype = np.dtype(name.lower())
    except TypeError:
        return None
    return dtypes.onnx_type(dtype) if dtype in dtypes.DTYPES and dtype.kind != "c" else None


def _check_results(plain: PlainFunction, found: Sequence[AnyValueType], *, has_precision: bool) -> None:
    """Refuse results that contradict the annotation of what the function returns, one or a tuple of them."""
    hint = hints_of(plain).get("return")
    wanted = cast("Sequence[object]", get_args(hint)) if get_origin(hint) is tuple else [hint]
    if len(wanted) != len(found) or has_precision:
        return
    for given, each in zip(found, wanted, strict=True):
        annotated = _annotated(each)
        if (
            annotated is None
            or not isinstance(given, TensorType)
            or given.dtype is None
            or given.shape is None
        ):
            continue
        if contradict(given, annotated):
            raise AnnotationError(
                f"'{plain.name}' is annotated to return {annotated!r}, and the model gives {given!r}",
                help="change the annotation, or leave it out",
            ).also(definition_span(plain.function), "the function")


def _unlike(plain: PlainFunction, why: str, count: int) -> OnnxsmithError:
    shown = ", ".join(_example(each) for each in plain.signature.parameters.values() if _is_needed(each))
    return (
        TraceError(
            f"the model of '{plain.name}' needs one type per parameter: {why}",
            help=f"xp.to_model({plain.name}, {shown}) for arrays of two dimensions, and DOUBLE for a number of numpy's",
        )
        .locate_at_caller()
        .also(definition_span(plain.function), "the function")
    )


def _is_needed(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD


def _example(parameter: inspect.Parameter) -> str:
    text = 'DOUBLE["N", "M"]'
    return f"{parameter.name}={text}" if parameter.kind is parameter.KEYWORD_ONLY else text


class _Types:
    """The types of a call, taken apart."""

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []

    def all_apart(self, given: Mapping[str, Any]) -> dict[str, Held]:
        """The arguments by parameter, with positions of leaves for types."""
        with taking_apart():
            return {key: self.taken_apart(value, key) for key, value in given.items()}

    def taken_apart(self, value: Held, name: str) -> Held:
        """The argument of a parameter, with a `Place` for each input in it."""
        if isinstance(value, Known):
            return cast(Held, value.value)
        if isinstance(value, type) and value in _NUMBERS:
            dtype = _NUMBERS[value]
            return self._input(Leaf(name, dtype, (), "number"))
        if isinstance(value, type) and issubclass(value, np.generic) and name.endswith("dtype"):
            return cast(Held, value)  # an element type is what such a parameter is called after
        if isinstance(value, type):
            raise AnnotationError(
                f"'{name}' is given the class {value.__name__}, which is no type of an array",
                help="an array is DOUBLE[\"N\", 2], a number of numpy's DOUBLE, and one of Python's float, int or bool",
            ).locate_at_caller()
        if isinstance(value, TensorType | DType | np.ndarray | np.generic):
            return self._array(read_value_type(cast(Any, value), f"the type of '{name}'"), name)
        inner = parts(value)
        if inner is None:
            return value
        return rebuilt(value, [self.taken_apart(each, f"{name}_{key}") for key, each in inner])

    def _array(self, kind: AnyValueType, name: str) -> Place:
        if not isinstance(kind, TensorType) or kind.dtype is None or kind.shape is None:
            raise AnnotationError(
                f"the type of '{name}' is {kind!r}, and an array has an element type and a rank that are known",
                help='give both: DOUBLE["N", 2]',
            )
        dtype = kind.dtype.numpy
        if dtype not in dtypes.DTYPES:
            raise AnnotationError(
                f"the type of '{name}' is {kind!r}, and numpy has no such element type",
                help=f"there are {', '.join(each.name for each in dtypes.DTYPES)}",
            )
        role = "array" if kind.shape else "scalar"
        return self._input(Leaf(name, dtype, kind.shape, role))

    def _input(self, leaf: Leaf) -> Place:
        self.leaves.append(leaf)
        return Place(len(self.leaves) - 1)
