"""The arguments for the inputs of a model, as arrays or as values of a graph; wrong ones are refused."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from onnxsmith.core.call import stacked_scalars
from onnxsmith.core.stored import Stored
from onnxsmith.core.target import RecordingTarget
from onnxsmith.core.value import NumberValue, Value
from onnxsmith.diagnostics import clipped, described_type, did_you_mean, printable
from onnxsmith.errors import InputTypeError, ModelInputError
from onnxsmith.graphs import size_conditions
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.records import ValueRecord
from onnxsmith.schema.foreign_arrays import is_foreign
from onnxsmith.schema.promote import Place, given_array
from onnxsmith.types.annotations import contradiction
from onnxsmith.types.dtypes import DType, numpy_text
from onnxsmith.types.value_types import (
    UNKNOWN_TENSOR,
    AnyValueType,
    Dimension,
    OptionalType,
    SequenceType,
    Shape,
    TensorType,
    describe_shape,
)


class Port(NamedTuple):
    """An input or output of a model: its name and type."""

    name: str
    type: AnyValueType


def port_of(value: ValueRecord | ir.Value) -> Port:
    """The port that an input or output of a graph is."""
    if isinstance(value, ValueRecord):
        return Port(value.name, UNKNOWN_TENSOR if value.type is None else value.type)
    return Port(value.name or "", type_from_ir(value.type, value.shape))


#: Under which the metadata of a model says which columns of a data frame it takes.
COLUMNS_KEY = "onnxsmith.sklearn.signature"
#: In a file of IR version 3 every weight is an optional input.
_SHOWN_OPTIONAL = 4
#: A training step has an input for each weight, and several for what its optimiser keeps.
_SHOWN_PORTS = 12
_LONGEST_LINE = 2000


def described(ports: Sequence[Port], optional: Sequence[Port] = ()) -> list[str]:
    """Inputs as parameters are written, those with a default last; of many, the first.

    >>> described([Port("x", TensorType(DType.FLOAT, (2,)))], [Port("w", TensorType(DType.FLOAT, (2,)))])
    ['x: FLOAT[2]', 'w: FLOAT[2] = ...']
    """
    shown = [f"{each.name}: {each.type!r}" for each in ports[:_SHOWN_PORTS]]
    if len(ports) > _SHOWN_PORTS:
        shown.append(f"{len(ports) - _SHOWN_PORTS} more")
    shown += [f"{each.name}: {each.type!r} = ..." for each in optional[:_SHOWN_OPTIONAL]]
    more = len(optional) - _SHOWN_OPTIONAL
    return [*shown, f"{more} more with defaults"] if more > 0 else shown


def one_line(
    inputs: Sequence[Port],
    optional: Sequence[Port],
    outputs: Sequence[Port],
    nodes: int,
    opsets: Mapping[str, int],
) -> str:
    """A model in a line, whatever its names and types are."""
    count = "1 node" if nodes == 1 else f"{nodes} nodes"
    versions = ", ".join(f"{domain or 'opset'} {version}" for domain, version in opsets.items())
    ports = f"{', '.join(described(inputs, optional))}) -> {', '.join(described(outputs))}"
    return clipped(printable(f"Model({ports}, {count}, {versions}"), _LONGEST_LINE)


def described_inputs(ports: Sequence[Port], optional: Sequence[Port] = ()) -> str:
    return "the model takes " + (", ".join(described(ports, optional)) or "no inputs")


def wrong_count(given: int, ports: Sequence[Port], optional: Sequence[Port] = ()) -> ModelInputError:
    """The error of a call with more arguments than the model has inputs, or of a list with another number."""
    count = len(ports) + len(optional)
    return ModelInputError(
        f"the model has {count} input{'s' * (count != 1)}, and was given {given}",
        help=described_inputs(ports, optional),
        culprit=count,
    )


def by_name(
    ports: Sequence[Port], optional: Sequence[Port], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The argument of each input: by position those that must be given, then the optional ones; or by name."""
    names = [port.name for port in (*ports, *optional)]
    if len(args) > len(names):
        raise wrong_count(len(args), ports, optional)
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            refuse_keys((name,), ports, optional)
            raise ModelInputError(
                f"the model has no input '{name}'",
                help=did_you_mean(name, names) or described_inputs(ports, optional),
                culprit=name,
            )
        if name in given:
            raise ModelInputError(f"input '{name}' was given twice", culprit=name)
        given[name] = value
    missing = [port.name for port in ports if port.name not in given]
    if missing:
        raise ModelInputError(f"input '{missing[0]}' is missing", help=described_inputs(ports, optional))
    return given


def refuse_keys(given: Iterable[object], ports: Sequence[Port], optional: Sequence[Port]) -> None:
    """Refuse a mapping of inputs whose keys are no strings."""
    for key in given:
        if not isinstance(key, str):
            raise ModelInputError(f"the model has no input {key!r}", help=described_inputs(ports, optional))


def refuse_frame(ports: Sequence[Port], value: Any, keys: Container[str]) -> None:
    """Refuse a data frame for the first of several columns; `keys` are those of the model's metadata."""
    if COLUMNS_KEY not in keys or not ports or type(value).__name__ != "DataFrame":
        return
    first = ports[0].type
    if isinstance(first, TensorType) and first.shape is not None and len(first.shape) == 1:
        raise ModelInputError(
            f"a data frame is no array for input '{ports[0].name}': the model has one input for each column",
            help="model.predict(frame) takes the columns by their names; so do predict_proba and transform",
            culprit=0,
        )


def feed(port: Port, value: Any) -> Any:
    """The argument of an input as an array; refused where its type is certainly not the input's."""
    if isinstance(value, dict) and isinstance(port.type, TensorType):
        raise InputTypeError(
            f"the model cannot take dict as '{port.name}'",
            help="give inputs by name with model(**inputs)",
        )
    if value is None or isinstance(value, dict):
        return cast(Any, value)
    if isinstance(port.type, OptionalType):
        return feed(Port(port.name, port.type.element), value)
    if isinstance(port.type, SequenceType):
        return _elements(port.name, port.type, value)
    if not isinstance(port.type, TensorType):
        return value
    dtype, shape = port.type.dtype, port.type.shape
    remedy = None if dtype is None else f"'{port.name}' is declared as {dtype.name}"
    array = given_array(value, dtype, Place("the model", f"'{port.name}'", remedy=remedy))
    given = DType.from_numpy(array.dtype)
    if dtype is not None and given is not dtype:
        if is_foreign(value) and given is not None:
            raise _wrong_dtype(port, dtype, given.spelling, f"convert it to {dtype.spelling} first")
        raise _wrong_dtype(port, dtype, str(getattr(value, "dtype", array.dtype)))
    if shape is not None and not fits(array.shape, shape):
        raise _wrong_shape(port, shape, array.shape)
    return array


def _elements(name: str, wanted: SequenceType, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ModelInputError(
            f"input '{name}' is a {wanted.described}, and was given {described_type(value.__class__)}",
            help="give a list, one element each",
        )
    elements = cast("Sequence[Any]", value)
    return [feed(Port(f"{name}[{index}]", wanted.element), each) for index, each in enumerate(elements)]


def argument(port: Port, value: Any, graph: RecordingTarget) -> Any:
    """The argument of an input as a value of a graph; refused where its type is certainly not the input's."""
    wanted = port.type
    if isinstance(value, NumberValue) and isinstance(wanted, TensorType) and wanted.dtype is not None:
        value = value.as_dtype(wanted.dtype)
    is_of_graph = isinstance(value, Value | Stored) or (
        isinstance(value, list | tuple)
        and any(isinstance(each, Value) for each in cast("Sequence[Any]", value))
    )
    if is_of_graph and isinstance(wanted, TensorType) and isinstance(value, list | tuple):
        place = Place("the model", f"'{port.name}'")
        value = stacked_scalars(cast("Sequence[Any]", value), graph, place, wanted.dtype)
    lifted = graph.lift(cast(Any, value) if is_of_graph else feed(port, value))
    if isinstance(lifted.known.type, OptionalType) and not isinstance(wanted, OptionalType):
        lifted = graph.operators.OptionalGetElement(lifted)  # as an operator takes it
    _check(port, lifted.known.type)
    return lifted


def _check(port: Port, actual: AnyValueType) -> None:
    """Refuse what is certainly not of the type of an input."""
    wanted = port.type
    if isinstance(wanted, TensorType) != isinstance(actual, TensorType):
        raise ModelInputError(
            f"input '{port.name}' of the model is {wanted.described}, and was given {actual.described}"
        )
    if isinstance(wanted, SequenceType) and isinstance(actual, SequenceType):
        _check(Port(f"{port.name}[i]", wanted.element), actual.element)
    if not isinstance(wanted, TensorType) or not isinstance(actual, TensorType):
        return
    if None not in (wanted.dtype, actual.dtype) and wanted.dtype is not actual.dtype:
        raise _wrong_dtype(port, cast(DType, wanted.dtype), cast(DType, actual.dtype).spelling)
    if wanted.shape is not None and actual.shape is not None and not fits(actual.shape, wanted.shape):
        raise _wrong_shape(port, wanted.shape, actual.shape)


def _wrong_dtype(port: Port, wanted: DType, given: str, help_text: str | None = None) -> ModelInputError:
    return ModelInputError(
        f"input '{port.name}' is {wanted.spelling}, and was given {given}",
        help=help_text or f"convert it with .astype({numpy_text(wanted)})",
    )


def _wrong_shape(port: Port, wanted: Shape, given: Shape) -> ModelInputError:
    return ModelInputError(
        f"input '{port.name}' has shape {describe_shape(wanted)}, and was given {describe_shape(given)}"
    )


def check_names(
    ports: Sequence[Port], feeds: Sequence[Any], kwargs: Mapping[str, Any], order: Sequence[str]
) -> None:
    """Refuse inputs that disagree about the size of a dimension of one name; `order` is that of the call."""
    found = contradiction((port.name, port.type, feed) for port, feed in zip(ports, feeds, strict=True))
    if found is not None:
        raise ModelInputError(
            f"{found.described}, and the same name is the same size",
            help=described_inputs(ports),
            culprit=found.second if found.second in kwargs else order.index(found.second),
        )


def check_sizes(
    ports: Sequence[Port],
    feeds: Sequence[Any],
    kwargs: Mapping[str, Any],
    order: Sequence[str],
    conditions: Sequence[size_conditions.SizeCondition],
) -> None:
    """Refuse inputs that disagree about a size, or have one that the model is not for."""
    check_names(ports, feeds, kwargs, order)
    if conditions:
        size_conditions.check(conditions, sizes(ports, feeds))


def sizes(ports: Sequence[Port], feeds: Sequence[Any]) -> dict[str, int]:
    """The sizes of named dimensions, where they first stand."""
    sizes = dimensions(ports, [getattr(each, "shape", ()) for each in feeds])
    return {name: size for name, size in sizes.items() if isinstance(size, int)}


def dimensions(ports: Sequence[Port], shapes: Sequence[Shape]) -> dict[str, Dimension]:
    """The sizes or names of named dimensions, from the first place that has one."""
    found: dict[str, Dimension] = {}
    for port, given in zip(ports, shapes, strict=True):
        shape = port.type.shape if isinstance(port.type, TensorType) else None
        for wanted, size in zip(shape or (), given, strict=False):
            if isinstance(wanted, str) and size is not None:
                found.setdefault(wanted, size)
    return found


def fits(given: Shape, wanted: Shape) -> bool:
    """True if a tensor of one shape may be one of the other."""
    return len(given) == len(wanted) and all(
        not isinstance(a, int) or not isinstance(b, int) or a == b for a, b in zip(given, wanted, strict=True)
    )
