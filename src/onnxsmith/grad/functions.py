"""`grad`, `value_and_grad`, `vjp`, `jvp`: gradients of functions, scripts and models, as functions.

Each goes through the model of what it is given, made for the types of a call, and kept. On arrays the model runs;
where a graph is being made, it becomes a part of that.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from onnxsmith.core.target import ACTIVE
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array
from onnxsmith.diagnostics import described_type, shown_as
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    CallError,
    LossError,
    OnnxsmithError,
    boundary,
)
from onnxsmith.grad.arguments import (
    Casts,
    Numbers,
    argument_array,
    dtype_of,
    numbers_among,
    refuse_lost,
    traced,
    typed_array,
)
from onnxsmith.grad.models import differentiated, in_new_opset
from onnxsmith.grad.open_sizes import OpenSizes
from onnxsmith.graphs.model import Model
from onnxsmith.schema.promote import Place
from onnxsmith.scripting.functions.definition import ScriptDefinition
from onnxsmith.scripting.functions.export import make_model
from onnxsmith.scripting.staging.outside import Outside
from onnxsmith.tracing.model_maker import MakesModels
from onnxsmith.types.annotations import type_of_example
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType

#: Arguments by position or name; one alone has one gradient, several have a tuple of them.
Wrt: TypeAlias = "int | str | Sequence[int | str]"
_Mode: TypeAlias = Literal["grad", "value_and_grad", "vjp", "jvp"]
#: How many models of one function are kept.
_LIMIT = 64
#: What is no array in code for numpy, though numpy could make one of it.
_NO_ARRAYS = (list, tuple, dict, set, str, bytes)


@boundary
def grad(function: Callable[..., Any], wrt: Wrt = 0, *, keep_nested_loops: bool = False) -> Gradient:
    """The gradient of a function that gives one number, as a function of the same arguments.

    `function` is a Python function on tensors, a script, a model, or code for numpy: `onnxsmith.numpy.jit(f)`.
    `wrt` says which arguments, by position or name: one, or several for a tuple of gradients. `keep_nested_loops` is
    as for `gradient`.

    >>> from onnxsmith.grad import grad
    >>> import numpy as np
    >>> grad(lambda x: (x * x).sum())(np.float32([1, 2]))
    array([2., 4.], dtype=float32)
    """
    return Gradient(function, wrt, "grad", keeps_nested=keep_nested_loops)


@boundary
def value_and_grad(
    function: Callable[..., Any], wrt: Wrt = 0, *, keep_nested_loops: bool = False
) -> Gradient:
    """The results of a function and its gradient, computed together.

    `function` and `wrt` are as for `grad`. The gradient is that of the first argument, unless `wrt` says otherwise: a
    name, a position, or a list of these for a tuple of gradients.

    >>> from onnxsmith.grad import value_and_grad
    >>> import numpy as np
    >>> value_and_grad(lambda x: (x * x).sum())(np.float32([1, 2]))
    (array(5., dtype=float32), array([2., 4.], dtype=float32))
    >>> value_and_grad(lambda x, w, b: (x * w + b).sum(), wrt=["w", "b"])(np.float32([1, 2]), 3.0, 0.5)
    (array(10., dtype=float32), (array(3., dtype=float32), array(2., dtype=float32)))
    """
    return Gradient(function, wrt, "value_and_grad", keeps_nested=keep_nested_loops)


@boundary
def vjp(function: Callable[..., Any], wrt: Wrt = 0, *, keep_nested_loops: bool = False) -> Gradient:
    """The results of a function, and their gradient weighted with `cotangent`: a vector times the Jacobian.

    It is called with the function's arguments and `cotangent=`, an array of the shape of the result; a tuple of them
    where there are several results.

    >>> from onnxsmith.grad import vjp
    >>> import numpy as np
    >>> vjp(lambda x: x * x)(np.float32([1, 2]), cotangent=np.float32([1, 10]))
    (array([1., 4.], dtype=float32), array([ 2., 40.], dtype=float32))
    """
    return Gradient(function, wrt, "vjp", keeps_nested=keep_nested_loops)


@boundary
def jvp(function: Callable[..., Any], wrt: Wrt = 0) -> Gradient:
    """The results of a function, and their change along `tangent`: the Jacobian times a vector.

    It is called with the function's arguments and `tangent=`, an array of the shape of the argument; a tuple of them
    where `wrt` names several.

    >>> from onnxsmith.grad import jvp
    >>> import numpy as np
    >>> jvp(lambda x: x * x)(np.float32([1, 2]), tangent=np.float32([1, 10]))
    (array([1., 4.], dtype=float32), array([ 2., 40.], dtype=float32))
    """
    return Gradient(function, wrt, "jvp")


@dataclass(slots=True)
class _Call:
    """A model that was made for the types of a call, and what its outputs are."""

    model: Model
    value_count: int
    #: What the function's model makes of arguments that are numbers, by position.
    casts: Casts = field(default_factory=dict[int, tuple[DType, ...]])
    run: Callable[[Sequence[Any]], Any] | None = None


@dataclass(slots=True)
class _Kept:
    """Models by the types of their inputs, and the sizes that each element types and ranks have had."""

    calls: dict[tuple[AnyValueType, ...], _Call] = field(
        default_factory=dict[tuple[AnyValueType, ...], _Call]
    )
    sizes: dict[tuple[object, ...], OpenSizes] = field(default_factory=dict[tuple[object, ...], OpenSizes])
    #: Tells whether what the models were made with is another one now; None before there is one.
    is_old: Callable[[], bool] | None = None


@shown_as("gradient")
class Gradient:
    """A function that gives the gradient of another one; `grad` and the like make it."""

    def __init__(
        self, function: Callable[..., Any], wrt: Wrt, mode: _Mode, *, keeps_nested: bool = False
    ) -> None:
        if not callable(function):
            raise CallError(
                f"{mode} needs a function, a script or a model, not {described_type(type(function))}",
                help=f"{mode}(lambda x: (x * x).sum())",
            )
        self._function = function
        self._mode: _Mode = mode
        self._keeps_nested = keeps_nested
        self._is_single = isinstance(wrt, int | str)
        self._wrt: tuple[int | str, ...] = (wrt,) if isinstance(wrt, int | str) else tuple(wrt)
        given = cast("tuple[object, ...]", self._wrt)
        if not given or any(isinstance(each, bool) or not isinstance(each, int | str) for each in given):
            raise AttributeTypeError(
                f"wrt names arguments by position or name, and not {wrt!r}", culprit=("attribute", "wrt")
            )
        self._kept = _Kept()
        #: Which arguments are numbers, by position: they take the element types of the arrays that they meet.
        self._numbers: Numbers = {}
        #: What is kept for each choice of numbers: an array of the same type may mean something else.
        self._kept_by_numbers: dict[tuple[tuple[int, type], ...], _Kept] = {(): self._kept}
        self.__name__ = f"{mode}_of_{getattr(function, '__name__', 'model')}"
        self.__doc__ = f"{mode} of {function!r}"

    @property
    def differentiated(self) -> Callable[..., Any]:
        """The function that it is the gradient of."""
        return self._function

    def __repr__(self) -> str:
        return f"<{self._mode} of {self._function!r}>"

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The gradient at these arguments: arrays, or tensors of a graph that is being made."""
        extra = self._extra(kwargs)
        names, arguments = self._bound(args, kwargs)
        self._refuse_others(names, arguments)
        active = ACTIVE.get()
        if active is not None and active.recording is not None:
            self._note_numbers(())
            given = [active.recording.lift(cast(Any, each)) for each in (*arguments, *extra)]
            call = self._made(names, [each.known.type for each in given], len(extra))
            return self._result(call, call.model(*given))
        self._note_numbers(arguments)
        places = [Place(self._shown, f"'{name}'") for name in names]
        arrays = [
            argument_array(self._function, name, each, place)
            for name, each, place in zip(names, arguments, places, strict=True)
        ]
        open_place = Place(self._shown, "a cotangent or tangent")
        weights = [typed_array(each, None, open_place) for each in extra]
        call = self._made(names, self._open_types([*arrays, *weights]), len(extra))
        refuse_lost(arguments, call.casts, places)
        for port, each in zip(call.model.inputs[len(arrays) :], extra, strict=True):
            arrays.append(typed_array(each, dtype_of(port.type), open_place))
        if call.run is None:
            call.run = call.model.runner()
        return self._result(call, call.run(arrays))

    @boundary
    def to_model(self, *types: Any) -> Model:
        """The model for inputs of these types, or of the types of example arrays.

        >>> from onnxsmith import FLOAT, opset21 as op
        >>> grad(lambda x: op.ReduceSum(x * x, keepdims=0)).to_model(FLOAT["N"])
        Model(x: FLOAT['N']) -> reduce_sum: FLOAT, x_grad: FLOAT['N'], 6 nodes, opset 21
        """
        count = len(types)
        extra = 0
        if self._mode == "jvp":
            extra = len(self._wrt)
        elif self._mode == "vjp":
            raise CallError("the model of a vjp is made by a call", help="call it on arrays")
        names = self._names(count - extra)
        self._refuse_others(names, types[: count - extra])
        self._note_numbers(())
        kinds = [each if isinstance(each, TensorType) else type_of_example(each) for each in types]
        return self._made(names, kinds, extra).model

    def _note_numbers(self, arguments: Sequence[UserValue]) -> None:
        numbers = numbers_among(self._function, arguments)
        if numbers != self._numbers:
            self._numbers = numbers
            self._kept = self._kept_by_numbers.setdefault(tuple(numbers.items()), _Kept())

    def _refuse_others(self, names: Sequence[str], arguments: Sequence[object]) -> None:
        """Refuse what is no array: in code for numpy it would mean something else as one, and a dict means nothing."""
        refused = _NO_ARRAYS if isinstance(self._function, MakesModels) else (dict,)
        for name, each in zip(names, arguments, strict=False):
            if isinstance(each, refused) or (each is None and refused is _NO_ARRAYS):
                what = "None" if each is None else described_type(type(cast(object, each)))
                whose = "code for numpy" if refused is _NO_ARRAYS else "a function"
                raise CallError(
                    f"'{name}' of {self._shown} is given {what}, and a gradient of {whose} takes arrays and numbers",
                    help=self._instead_of_others(name, is_differentiated=name in self._chosen(names)),
                )

    def _instead_of_others(self, name: str, *, is_differentiated: bool) -> str:
        if is_differentiated:  # what is fixed by functools.partial would not be trained
            return f'one argument each, and wrt=[…]: {self._mode}(f, wrt=["w", "b"])(w, b, x)'
        if not isinstance(self._function, MakesModels):
            return "one argument each, or a variable around the function"
        return (
            f"give an array, np.asarray(…); options by {self._mode}(onnxsmith.numpy.jit("
            f"functools.partial({self._shown}, {name}=…))), or by a variable around the function"
        )

    # -- arguments -------------------------------------------------------------------------------------

    def _extra(self, kwargs: dict[str, UserValue]) -> list[UserValue]:
        """The cotangents or tangents of a call."""
        word = {"vjp": "cotangent", "jvp": "tangent"}.get(self._mode)
        if word is None:
            return []
        if word not in kwargs:
            raise CallError(f"{self._mode} needs {word}=", help=f"f(x, {word}=v)")
        given = kwargs.pop(word)
        return list(cast("Sequence[UserValue]", given)) if isinstance(given, tuple | list) else [given]

    def _bound(
        self, args: Sequence[UserValue], kwargs: Mapping[str, UserValue]
    ) -> tuple[list[str], list[UserValue]]:
        if not kwargs:
            return self._names(len(args)), list(args)
        names = self._names(len(args) + len(kwargs))
        given = dict(zip(names, args, strict=False))
        unknown = [name for name in kwargs if name not in names or name in given]
        if unknown:
            raise CallError(
                f"there is no argument {unknown[0]!r} to give", help=f"its arguments are {', '.join(names)}"
            )
        given.update(kwargs)
        return names, [given[name] for name in names]

    def _names(self, count: int) -> list[str]:
        """The names of the function's arguments."""
        function = self._function
        needed = 0  # tracing a function says what is missing
        if isinstance(function, Model):
            names = [each.name for each in function.inputs]
            needed = len(names)
        elif isinstance(function, ScriptDefinition):
            inputs = function.parameters.inputs
            names = [each.name for each in inputs]
            needed = sum(not (each.has_default or each.is_optional) for each in inputs)
        else:
            try:
                parameters = inspect.signature(function).parameters.values()
            except (TypeError, ValueError):  # builtins without a signature
                return [f"input_{k}" for k in range(count)]
            names = [
                each.name
                for each in parameters
                if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
            ]
            starred = next((each.name for each in parameters if each.kind == each.VAR_POSITIONAL), None)
            if starred is not None:
                names += [f"{starred}_{k}" for k in range(count - len(names))]
        if len(names) < count:
            raise CallError(f"{count} arguments were given, and there are {len(names)}: {', '.join(names)}")
        if count < needed:
            raise CallError(
                f"argument {names[count]!r} is missing", help=f"its arguments are {', '.join(names)}"
            )
        return names[:count]

    def _chosen(self, names: Sequence[str]) -> list[str]:
        chosen: list[str] = []
        for each in self._wrt:
            if isinstance(each, int) and -len(names) <= each < len(names):
                chosen.append(names[each])
            elif isinstance(each, str) and each in names:
                chosen.append(each)
            else:
                raise AttributeValueError(
                    f"wrt is {each!r}, and the arguments are {', '.join(names) or 'none'}",
                    culprit=("attribute", "wrt"),
                )
        return chosen

    def _open_types(self, arrays: Sequence[Array]) -> list[AnyValueType]:
        kinds = [type_of_example(each) for each in arrays]
        key = tuple((each.dtype, each.ndim) for each in arrays)
        sizes = tuple(size for each in arrays for size in each.shape)
        if len(self._kept.sizes) >= _LIMIT:
            self._kept.sizes.clear()
        dimensions = list(self._kept.sizes.setdefault(key, OpenSizes()).dimensions(sizes))
        types: list[AnyValueType] = []
        for array, kind in zip(arrays, kinds, strict=True):
            assert isinstance(kind, TensorType)  # the type of an array
            shape, dimensions = dimensions[: array.ndim], dimensions[array.ndim :]
            types.append(TensorType(kind.dtype, tuple(shape)))
        return types

    # -- models ----------------------------------------------------------------------------------------

    def _made(self, names: Sequence[str], kinds: Sequence[AnyValueType], extra: int) -> _Call:
        key = tuple(kinds)
        self._look_outside()
        calls = self._kept.calls
        found = calls.get(key)
        if found is None:
            if len(calls) >= _LIMIT:
                calls.clear()
            given = kinds[: len(kinds) - extra]
            model, casts = self._model(names, given)
            found = calls[key] = self._differentiated(model, self._chosen(names), kinds, extra)
            found.casts = casts
            # What tracing itself has changed, such as a list that the function appends to, makes nothing old.
            self._kept.is_old = _watched(self._function)
        return found

    def _look_outside(self) -> None:
        """Forget models where something around the function is another one: it runs with that, too."""
        kept = self._kept
        if kept.is_old is not None and kept.is_old():
            kept.calls.clear()
            kept.is_old = None

    def _model(self, names: Sequence[str], kinds: Sequence[AnyValueType]) -> tuple[Model, Casts]:
        """The model of the function, and the types that it makes of numbers."""
        function = self._function
        if isinstance(function, Model):
            return in_new_opset(function), {}
        if isinstance(function, ScriptDefinition):
            types = dict(zip(names, kinds, strict=True))
            return in_new_opset(make_model(function, {"input_types": types})), {}
        if isinstance(function, MakesModels):
            return in_new_opset(function.model_for(self._with_numbers(kinds))), {}
        try:
            model, casts = traced(function, kinds, self._numbers)
            return in_new_opset(model), casts
        except OnnxsmithError as error:
            # A function of numpy, or one of onnxsmith.numpy, has met a tensor.
            if error.message.startswith(
                ("numpy's ", "a tensor computes as ONNX does, and this function as numpy")
            ):
                error.help = f"{self._mode}(onnxsmith.numpy.jit({self._shown})) differentiates code for numpy"
            raise

    @property
    def _shown(self) -> str:
        name = getattr(self._function, "__name__", "f")
        return "f" if name == "<lambda>" else name

    def _with_numbers(self, kinds: Sequence[AnyValueType]) -> list[AnyValueType | type]:
        """The types of a call, with Python's own for its numbers, which take the element types of arrays."""
        return [self._numbers.get(position, each) for position, each in enumerate(kinds)]

    def _differentiated(
        self, model: Model, wrt: Sequence[str], kinds: Sequence[AnyValueType], extra: int
    ) -> _Call:
        outputs = [each.name for each in model.outputs]
        if self._mode in ("grad", "value_and_grad"):
            if len(outputs) != 1:
                raise LossError(
                    f"{self._mode} is of a function that gives one number, and this one gives {len(outputs)} results",
                    help="return the loss alone; vjp weights several results",
                )
            made = differentiated(model, outputs, wrt, fills=True, keeps_nested=self._keeps_nested)
            return _Call(made.model, 1)
        if self._mode == "vjp":
            if extra != len(outputs):
                raise CallError(
                    f"the function gives {len(outputs)} results, and {extra} cotangents were given"
                )
            named = [f"{each}_cotangent" for each in outputs]
            made = differentiated(
                model, outputs, wrt, fills=True, cotangents=named, keeps_nested=self._keeps_nested
            )
            return _Call(made.model, len(outputs))
        if extra != len(wrt):
            raise CallError(f"wrt names {len(wrt)} arguments, and {extra} tangents were given")
        return _Call(forward_model(model, outputs, wrt), len(outputs))

    def _result(self, call: _Call, results: Any) -> Any:
        found = cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)
        values, gradients = found[: call.value_count], found[call.value_count :]
        if self._mode == "grad":
            return gradients[0] if self._is_single else gradients
        value = values[0] if len(values) == 1 else values
        if self._mode == "jvp":
            return value, gradients[0] if len(gradients) == 1 else gradients
        return value, gradients[0] if self._is_single else gradients


def forward_model(model: Model, outputs: Sequence[str], wrt: Sequence[str]) -> Model:
    """The model of the Jacobian times a vector: the gradient of the gradient, which is linear in its cotangents.

    A rule for the way back so gives the way forth, and there is no second table.
    """
    cotangents = [f"{each}_cotangent" for each in outputs]
    back = differentiated(model, outputs, wrt, fills=True, cotangents=cotangents, is_tidied=False).model
    ports = [each.name for each in back.outputs]
    gradients = ports[len(outputs) :]
    tangents = [f"{each}_tangent" for each in wrt]
    forth = differentiated(
        back,
        gradients,
        cotangents,
        fills=True,
        cotangents=tangents,
        late=[(name, ports[k]) for k, name in enumerate(cotangents)],
        kept=len(outputs),
    )
    return forth.model


def _watched(function: Callable[..., Any]) -> Callable[[], bool]:
    """A function that says if something that a function finds around it has changed since now."""
    while isinstance(function, Gradient):
        function = function.differentiated
    if isinstance(function, MakesModels):
        return function.watch()
    if isinstance(function, Model):
        return lambda: False  # made of what was around it when it was written
    code = function.__wrapped__ if isinstance(function, ScriptDefinition) else function
    outside = Outside(code, is_lenient=True)
    return lambda: outside.changed() is not None
