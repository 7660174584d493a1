"""Arguments of `grad` and the like: which of them are inputs of the model, and which the model is made for.

Arrays are inputs, and so are floats and numpy's scalars. Truth values, text, None, whole numbers and lists of these are
options: a model is made for each. A whole number that changes from call to call becomes an input; and where the
function needs to know a number when its model is made, that number is an option, too. `onnxsmith.numpy.jit` does the
same.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import types
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from onnxsmith.core.operands import holds_tensor
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.semantics.numpys_scalar import NumpysScalar
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array, Value
from onnxsmith.core.value_containers import Wall
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import (
    CallError,
    InputTypeError,
    NotDifferentiableError,
    OnnxsmithError,
)
from onnxsmith.grad.binding import Bound
from onnxsmith.grad.results import taken_apart
from onnxsmith.graphs.identity import slice_parts, value_key
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.model import bound as bound_to
from onnxsmith.graphs.run_values import session_value
from onnxsmith.schema.foreign_arrays import array_on_device, is_foreign
from onnxsmith.schema.promote import Place, given_array, is_literal
from onnxsmith.scripting.functions.definition import ScriptDefinition
from onnxsmith.scripting.functions.eager_call import check_names, input_argument
from onnxsmith.scripting.functions.specialised import UNCHANGING, Numbers, refused_class
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.tracing.model_maker import Known, MakesModels
from onnxsmith.tracing.trace import traced
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType

#: How the function meets an argument: as an array, as a scalar of numpy's, as a number of Python's, or as it is.
Role: TypeAlias = Literal["array", "scalar", "number", "option"]
#: The element types that a model makes of inputs that are numbers, by the position of the argument.
Casts: TypeAlias = "dict[int, tuple[DType, ...]]"

_PYTHONS: dict[str, type] = {"bool": bool, "int": int, "float": float}
#: What stands for no type of an input where types are given.
_NO_TYPES = (bool, str, bytes, slice, range, types.NoneType, types.EllipsisType)
#: Of these an object never changes, or not in what a gradient is made of.
_UNCHANGING = (*UNCHANGING, range, np.generic, enum.Enum, DType)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call, and what it is to the model."""

    name: str
    value: UserValue
    role: Role

    @property
    def key(self) -> Hashable:
        """The part that decides which model there is; types and sizes of inputs come on top."""
        if self.role == "option":
            return value_key(self.value)
        return (self.role, type(self.value) if self.role == "number" else None)

    @property
    def may_be_option(self) -> bool:
        """True if a model can be made for its value."""
        return self.role == "number" or isinstance(self.value, np.generic)


def _is_unchanging(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_unchanging, cast("Sequence[object]", value)))
    if isinstance(value, slice):
        return all(map(_is_unchanging, slice_parts(cast("slice[object, object, object]", value))))
    return isinstance(value, _UNCHANGING) or (callable(value) and not isinstance(value, Value))


# -- the arguments of a call ---------------------------------------------------------------------------------


def arguments_of(
    function: Callable[..., Any], bound: Bound, wrt: Sequence[str], numbers: Numbers, mode: str
) -> list[Argument]:
    """The arguments of a call on arrays; CallError for what is neither an input nor an option."""
    if isinstance(function, Model | ScriptDefinition):  # their inputs are tensors
        pairs = zip(bound.names, bound.values, strict=True)
        found = [Argument(name, value, "array") for name, value in pairs]
        refused = next((each for each in found if isinstance(each.value, dict)), None)
        if refused is not None:
            raise _no_input(function, refused.name, refused.value, mode, is_wrt=refused.name in wrt)
        return found
    return [
        Argument(name, value, _role(function, name, value, numbers, mode, is_wrt=name in wrt))
        for name, value in zip(bound.names, bound.values, strict=True)
    ]


def _role(
    function: Callable[..., Any], name: str, value: UserValue, numbers: Numbers, mode: str, *, is_wrt: bool
) -> Role:
    is_numpys = isinstance(function, MakesModels)
    kind = type(value)
    if isinstance(value, np.generic):
        if is_numpys:
            return "array"
        if name in numbers.needed and not is_wrt:
            return "option"
        return "scalar" if is_literal(value) else "array"
    if kind is float or kind is int:
        return "number" if is_wrt or numbers.is_input(name, value) else "option"
    if kind is bool and is_wrt:
        return "number"  # that it has no gradient is said with the model
    if isinstance(value, list | tuple):
        if is_wrt and not is_numpys:
            return "array"
        if not is_wrt and _is_unchanging(value):
            return "option"
    elif isinstance(value, Value) or (hasattr(value, "__array__") and not isinstance(value, type)):
        _refuse_complex(function, name, value)
        if isinstance(value, np.matrix | np.ma.MaskedArray):
            raise refused_class(name, value)
        return "array"
    elif not is_wrt and _is_unchanging(value):
        return "option"
    raise _no_input(function, name, value, mode, is_wrt=is_wrt)


def _no_input(function: object, name: str, value: object, mode: str, *, is_wrt: bool) -> CallError:
    shown = shown_name(function)
    what = "None" if value is None else described_type(type(value))
    if is_wrt:  # a variable around the function would not be trained
        return CallError(
            f"'{name}' of {shown} is given {what}, and a gradient is with respect to arrays and numbers",
            help=f'one argument each, and wrt=[…]: {mode}(f, wrt=["w", "b"])(w, b, x)',
        )
    return CallError(
        f"'{name}' of {shown} is given {what}, and a gradient takes arrays, numbers and options",
        help="one argument each, or a variable around the function",
    )


def shown_name(function: object) -> str:
    """The function as errors call it."""
    name = getattr(function, "__name__", "f")
    return "f" if name == "<lambda>" else name


def in_graph(function: Callable[..., Any], bound: Bound, wrt: Sequence[str], mode: str) -> list[Argument]:
    """The arguments of a call in a graph: tensors and arrays are inputs, and what else is known now is an option."""
    found: list[Argument] = []
    for name, value in zip(bound.names, bound.values, strict=True):
        is_input = name in wrt or isinstance(value, Value | np.ndarray) or holds_tensor(value)
        role: Role = "array" if is_input or isinstance(function, Model | ScriptDefinition) else "option"
        if isinstance(value, dict) or (role == "option" and not _is_unchanging(value)):
            raise _no_input(function, name, value, mode, is_wrt=name in wrt)
        if holds_tensor(value):
            _refuse_complex(function, name, value)
        found.append(Argument(name, value, "number" if isinstance(value, Number) else role))
    return found


def _refuse_complex(function: object, name: str, value: object) -> None:
    """Refuse complex numbers, which a model has as pairs: a gradient by these is none of the function."""
    kind: str = getattr(getattr(value, "dtype", None), "kind", "")
    if kind == "c":
        raise NotDifferentiableError(
            f"'{name}' of {shown_name(function)} is complex, and a gradient is with respect to real numbers",
            help="give the real and the imaginary part as arguments of their own",
        )


def of_types(function: Callable[..., Any], bound: Bound, wrt: Sequence[str], mode: str) -> list[Argument]:
    """The types that a model is made for, and the options among them."""
    found: list[Argument] = []
    for name, value in zip(bound.names, bound.values, strict=True):
        is_list = isinstance(function, MakesModels) and isinstance(value, list | tuple)
        is_dtype = np.generic in getattr(value, "__mro__", ()) and name.endswith("dtype")
        is_known = isinstance(value, _NO_TYPES) or is_list or is_dtype
        is_option = name not in wrt and is_known and _is_unchanging(value)
        if isinstance(value, dict) or (isinstance(value, str | bytes | types.NoneType) and not is_option):
            raise _no_input(function, name, value, mode, is_wrt=name in wrt)
        found.append(Argument(name, value, "option" if is_option else "array"))
    return found


def types_of(arguments: Sequence[Argument], kinds: Sequence[AnyValueType]) -> list[object]:
    """The arguments that a model of numpy code is made with: types of inputs, Python's own for numbers, and options."""
    left = iter(kinds)
    found: list[object] = []
    for each in arguments:
        if each.role == "option":
            found.append(Known(each.value))
            continue
        kind = next(left)
        kind_of_number = _PYTHONS[each.value.kind] if isinstance(each.value, Number) else type(each.value)
        found.append(kind_of_number if each.role == "number" else kind)
    return found


# -- as arrays -----------------------------------------------------------------------------------------------


def input_arrays(function: Callable[..., Any], arguments: Sequence[Argument]) -> list[Array]:
    """The inputs among the arguments as arrays, of the element types that they have in a call of the function itself.

    Models and scripts refuse what they refuse in a call.
    """
    if isinstance(function, Model):
        return [_array_or_there(each) for each in bound_to(function, [each.value for each in arguments])[1]]
    if isinstance(function, ScriptDefinition):
        return _of_script(function, arguments)
    return [session_value(each.value, each.name) for each in arguments if each.role != "option"]


def _of_script(script: ScriptDefinition, arguments: Sequence[Argument]) -> list[Array]:
    parameters = {each.name: each for each in script.parameters.inputs}
    found = {each.name: input_argument(script, parameters[each.name], each.value) for each in arguments}
    check_names(script, found)
    return [_array_or_there(each) for each in found.values()]


def _array_or_there(value: Any) -> Array:
    """A value as an array of numpy; one on a device as it is."""
    there = array_on_device(value)
    return np.asarray(value) if there is None else cast(Any, there)


def _plain(value: Any) -> Array:
    try:
        return np.asarray(value)
    except (
        ValueError,
        TypeError,
        RuntimeError,
    ) as error:  # lists of several lengths, or that hold themselves
        raise InputTypeError(
            f"this {type(value).__name__} is no array: {error}", help="give arrays, or lists of one length"
        ) from None


def typed_array(value: UserValue, dtype: DType | None, place: Place) -> Array:
    """A value as an array: a number takes an element type, or has its own where that is open."""
    if (there := array_on_device(value)) is not None:
        return cast(Any, there)
    if is_foreign(value):
        return given_array(value, dtype, place)
    if isinstance(value, list | tuple) or not is_literal(value):
        return _plain(value)
    return given_array(value, dtype, place)


def dtype_of(kind: AnyValueType) -> DType | None:
    """The element type of a tensor, where it is known."""
    return kind.dtype if isinstance(kind, TensorType) else None


# -- the model of a plain function ---------------------------------------------------------------------------


def traced_function(
    function: Callable[..., Any],
    bound: Bound,
    arguments: Sequence[Argument],
    kinds: Sequence[AnyValueType],
    *,
    mixes_dtypes: bool,
    as_array: Callable[[Tensor], object] | None = None,
) -> tuple[Model, Casts, Held]:
    """The model of a function on these arguments, the types that it makes of those that are numbers, and the form of
    its result.

    `as_array` makes of a tensor what numpy code computes with, where the function is called in such code.
    """

    @functools.wraps(function)
    def with_options(*tensors: Tensor) -> Any:
        left = iter(tensors)
        met = [
            each.value if each.role == "option" else _met(each, next(left), as_array) for each in arguments
        ]
        args, kwargs = bound.handed(met)
        # Arrays from around the function are those of another graph, which nothing here can write to.
        with contextlib.nullcontext() if as_array is None else Wall():
            flat, forms[:] = _with_form(function(*args, **kwargs))
            return flat

    forms: list[Held] = []
    inputs = [each for each in arguments if each.role != "option"]
    model = traced(
        with_options,
        cast("Sequence[Any]", kinds),
        input_names=[each.name for each in inputs],
        mixes_dtypes=mixes_dtypes,
    )
    return model, _casts(model, arguments), forms[0]


def _with_form(result: Any) -> tuple[Any, list[Held]]:
    flat, form = taken_apart(result)
    return flat, [form]


def _met(argument: Argument, tensor: Tensor, as_array: Callable[[Tensor], object] | None) -> object:
    if argument.role == "scalar":
        return NumpysScalar(tensor)
    if argument.role != "number":
        return tensor if as_array is None else as_array(tensor)
    if isinstance(argument.value, Number):
        return Number(tensor, argument.value.kind)
    return tensor.as_number()


def _casts(model: Model, arguments: Sequence[Argument]) -> Casts:
    """The element types of the tensors that numbers meet; a number becomes no integer by itself."""
    inputs = iter(model.ir.graph.inputs)
    found: Casts = {}
    for position, argument in enumerate(arguments):
        if argument.role == "option":
            continue
        given = next(inputs)
        if argument.role == "array":
            continue
        casts = [node for node in given.consumers() if node.op_type == "Cast" and not node.domain]
        dtypes = [DType(node.attributes["to"].as_int()) for node in casts]
        found[position] = tuple(each for each in dtypes if each.is_float)
    return found


def refuse_lost(arguments: Sequence[Argument], casts: Casts, shown: str) -> None:
    """Refuse numbers that lose more than rounding as what the model makes of them, as operators refuse literals."""
    for position, dtypes in casts.items():
        argument = arguments[position]
        for dtype in dtypes:
            given_array(argument.value, dtype, Place(shown, f"'{argument.name}'"))


def numpys_model(
    function: MakesModels, bound: Bound, arguments: Sequence[Argument], kinds: Sequence[AnyValueType]
) -> tuple[Model, object]:
    """The model of numpy code: for these sizes, or for any where the code is such that only a `Loop` can run it.

    And the result of the code, with a `Slot` for each output.
    """

    def made(types: Sequence[AnyValueType]) -> tuple[Model, object]:
        args, kwargs = bound.handed(types_of(arguments, types))
        return function.model_for(args, kwargs)

    try:
        return made(kinds)
    except OnnxsmithError:
        opened = [_with_open_sizes(kind, position) for position, kind in enumerate(kinds)]
        if opened == list(kinds):
            raise
        try:
            return made(opened)
        except OnnxsmithError:
            pass  # what is wrong at these sizes is what the caller has met
        raise


def _with_open_sizes(kind: AnyValueType, position: int) -> AnyValueType:
    """The type of an argument with a name for each of its sizes."""
    if not isinstance(kind, TensorType) or not kind.shape:
        return kind
    return TensorType(kind.dtype, tuple(f"N{position}_{axis}" for axis in range(len(kind.shape))))


def options_key(arguments: Sequence[Argument]) -> tuple[Hashable, ...]:
    """The part of the arguments that decides which model there is, whatever the types of the inputs."""
    return tuple((each.name, each.key) for each in arguments)
