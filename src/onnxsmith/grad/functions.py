"""`grad`, `value_and_grad`, `vjp`, `jvp`: gradients of functions, scripts and models, as functions.

Each goes through the model of what it is given, made for the types of a call, and kept. On arrays the model runs;
where a graph is being made, it becomes a part of that.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, cast

from onnxsmith.core.call_cache import CallCache
from onnxsmith.core.operands import NUMPYS_NUMBER, holds_tensor, tensors_of_arrays
from onnxsmith.core.target import ACTIVE, RecordingTarget, recorded
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array
from onnxsmith.diagnostics import described_type, shown_as
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    CallError,
    LossError,
    OnnxsmithError,
    TracedValueError,
    boundary,
)
from onnxsmith.errors.arguments import check_flags
from onnxsmith.grad.arguments import (
    Argument,
    Casts,
    arguments_of,
    dtype_of,
    in_graph,
    input_arrays,
    numpys_model,
    of_types,
    options_key,
    refuse_lost,
    shown_name,
    traced_function,
    typed_array,
)
from onnxsmith.grad.binding import (
    Bound,
    attributes_of,
    bind,
    gradient_signature,
    signature_of,
    with_attributes,
)
from onnxsmith.grad.models import differentiated, forward_model, in_new_opset, refuse_twice
from onnxsmith.grad.open_sizes import CachedModel, OpenSizes, open_types
from onnxsmith.grad.results import check_form, cotangents_of, put_together, taken_apart
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.captured import AROUND, Captures
from onnxsmith.graphs.identity import values_key
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.model import bound as bound_to
from onnxsmith.graphs.model_calls import gives_tensors
from onnxsmith.runtime.device_arrays import device_of
from onnxsmith.runtime.tensor import as_tensor
from onnxsmith.schema.promote import Place
from onnxsmith.scripting.functions.definition import ScriptDefinition
from onnxsmith.scripting.functions.export import make_model
from onnxsmith.scripting.functions.specialised import LIMIT, ArraysCall, Specialised, Watch
from onnxsmith.scripting.staging.outside import Outside
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.structure import Slot, parts, taking_apart, unflatten
from onnxsmith.tracing.model_maker import MakesModels
from onnxsmith.types.annotations import type_of_example
from onnxsmith.types.value_types import AnyValueType, TensorType

#: Arguments by position or name; one alone has one gradient, several have a tuple of them.
Wrt: TypeAlias = "int | str | Sequence[int | str]"
_Mode: TypeAlias = Literal["grad", "value_and_grad", "vjp", "jvp"]
#: The argument that some take besides those of the function.
_EXTRA: dict[_Mode, str] = {"vjp": "cotangent", "jvp": "tangent"}


@boundary
def grad(function: Callable[..., Any], wrt: Wrt = 0, *, keep_nested_loops: bool = False) -> Gradient:
    """The gradient of a function that gives one number, as a function of the same arguments.

    `function` is a Python function on tensors, a script, a model, or code for numpy: `onnxsmith.numpy.jit(f)`.
    `wrt` says which arguments, by position or name: one, or several for a tuple of gradients. The gradient by a dict,
    list, tuple or dataclass of arrays has its form. `keep_nested_loops` is as for `gradient`.

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


@shown_as("gradient")
class Gradient(Specialised[CachedModel]):
    """A function that gives the gradient of another one; `grad` and the like make it."""

    _form_of = operator.attrgetter("dtype", "shape")

    def __init__(
        self, function: Callable[..., Any], wrt: Wrt, mode: _Mode, *, keeps_nested: bool = False
    ) -> None:
        if not callable(function):
            raise CallError(
                f"{mode} needs a function, a script or a model, not {described_type(type(function))}",
                help=f"{mode}(lambda x: (x * x).sum())",
            )
        check_flags(keep_nested_loops=keeps_nested)
        super().__init__()
        self._function = function
        self._mode: _Mode = mode
        self._keeps_nested = keeps_nested
        self._is_single = isinstance(wrt, int | str)
        several = cast(object, (wrt,) if isinstance(wrt, int | str) else wrt)
        # An array without dimensions is iterable by its class alone.
        is_listed = isinstance(several, Iterable) and getattr(cast(object, several), "ndim", 1) != 0
        given = tuple(cast("Sequence[object]", several)) if is_listed else ()
        self._wrt = cast("tuple[int | str, ...]", given)
        if not given or any(isinstance(each, bool) or not isinstance(each, int | str) for each in given):
            raise AttributeTypeError(
                f"wrt names arguments by position or name, and not {wrt!r}", culprit="wrt"
            )
        #: The sizes that arguments have had, by options, element types and ranks.
        self._sizes: CallCache[OpenSizes] = CallCache(LIMIT)
        #: The gradients of a script with some of its attributes given, by these.
        self._with_attributes: CallCache[Gradient] = CallCache(LIMIT)
        self.__name__ = f"{mode}_of_{getattr(function, '__name__', 'model')}"
        self.__doc__ = f"{mode} of {function!r}"
        self._signature = signature_of(function)
        self.__signature__ = gradient_signature(self._signature, _EXTRA.get(mode))

    @property
    def differentiated(self) -> Callable[..., Any]:
        """The function that it is the gradient of."""
        return self._function

    def __reduce__(self) -> tuple[Any, ...]:
        wrt = self._wrt[0] if self._is_single else self._wrt
        return _unpickled, (self._function, wrt, self._mode, self._keeps_nested)  # the models are made anew

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Load what was pickled before there was `__reduce__`: all attributes, with a cache that was empty."""
        wrt = state["_wrt"][0] if state["_is_single"] else state["_wrt"]
        Gradient.__init__(self, state["_function"], wrt, state["_mode"], keeps_nested=state["_keeps_nested"])

    def __repr__(self) -> str:
        return f"<{self._mode} of {self._function!r}>"

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The gradient at these arguments: arrays, or tensors of a graph that is being made."""
        return super().__call__(*args, **kwargs)

    @boundary
    def _general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        options, rest = attributes_of(self._function, args, kwargs)
        if options:
            wrt = self._wrt[0] if self._is_single else self._wrt
            return self._with_attributes.get_or_make(
                values_key(options),
                lambda: Gradient(
                    with_attributes(self._function, options), wrt, self._mode, keeps_nested=self._keeps_nested
                ),
            )(*rest.args, **rest.kwargs)
        cotangent = kwargs.get("cotangent")
        given = self._extra(kwargs)
        bound = bind(self._function, args, kwargs, self._signature)
        wrt = self._chosen(bound)
        extra = self._flat_extra(bound, given)
        active = ACTIVE.get()
        if active is not None and active.recording is not None:
            return self._in_graph(active.recording, bound, wrt, extra, cotangent)
        arguments = arguments_of(self._function, bound, wrt, self._numbers, self._mode)
        try:
            made = self._on_arrays(bound, arguments, extra)
        except OnnxsmithError as error:
            loose = {each.name for each in arguments if each.may_be_option} - set(wrt)
            if not loose or isinstance(self._function, Model | ScriptDefinition):
                raise
            # Numbers that the function needs to know when its model is made are options.
            try:
                with self._numbers.known(loose, error.message):
                    arguments = arguments_of(self._function, bound, wrt, self._numbers, self._mode)
                    made = self._on_arrays(bound, arguments, extra)
            except OnnxsmithError:
                raise error from None
        call, arrays = made
        if self._mode == "vjp":
            check_form(call.form, cotangent)
        refuse_lost(arguments, call.casts, self._shown)
        open_place = Place(self._shown, "a cotangent or tangent")
        for port, each in zip(call.model.inputs[len(arrays) :], extra, strict=True):
            dtype = dtype_of(port.type)
            array = typed_array(each, dtype, open_place)
            is_number = dtype is not None and self._is_of_number(port.name, arguments)
            arrays.append(array.astype(dtype.numpy) if is_number and dtype is not None else array)
        # What is on a device is run there.
        model = call.model
        run: Callable[[Sequence[Any]], Any] = (
            model.runner() if device_of(arrays) is None else lambda given: model(*given)
        )
        if not kwargs and not extra and not bound.has_containers and len(args) == len(arrays):
            self._learn(args, self._on_such_arrays(call))
        try:
            results = run(arrays)
        except OnnxsmithError as error:
            raise self._of_the_call(bound, call.model, arrays, error) from None
        results = self._as_numbers(call, wrt, arguments, results)
        if any(gives_tensors(each) for each in (*bound.values, *extra)):
            several = cast("tuple[Any, ...]", results if isinstance(results, tuple) else (results,))
            results = tuple(map(as_tensor, several))
        return self._result(call, bound, results)

    def _on_such_arrays(self, call: CachedModel) -> ArraysCall:
        """A call on arrays alone, of the element types and shapes that `call` has run on."""
        run, count = call.model.native_runner(), call.value_count
        has_value = self._mode == "value_and_grad"

        def again(args: tuple[Any, ...]) -> Any:
            active = ACTIVE.get()
            is_old = call.options is not None and call.options.changed() is not None
            if is_old or (active is not None and active.recording is not None):
                return self._general(args, {})
            try:
                results = run(args)
            except OnnxsmithError as error:
                bound = bind(self._function, args, {}, self._signature)
                raise self._of_the_call(bound, call.model, args, error) from None
            gradients = results[count] if self._is_single else tuple(results[count:])
            return (put_together(call.form, results[:count]), gradients) if has_value else gradients

        return again

    def _of_the_call(
        self, bound: Bound, model: Model, arrays: Sequence[Array], error: OnnxsmithError
    ) -> Exception:
        """The error of a call of the function itself, where that fails, too: it says what users know of.

        Else a cotangent or tangent may be wrong, which the model of the gradient tells.
        """
        args, kwargs = bound.handed(bound.values)
        try:
            self._function(*args, **kwargs)
            bound_to(model, arrays)
        except Exception as own:
            return own
        return error

    def _on_arrays(
        self, bound: Bound, arguments: Sequence[Argument], extra: Sequence[UserValue]
    ) -> tuple[CachedModel, list[Array]]:
        """The model for these arguments, and its inputs without the cotangents or tangents."""
        arrays = input_arrays(self._function, arguments)
        weights = [typed_array(each, None, Place(self._shown, "a cotangent or tangent")) for each in extra]
        mixes = not any(gives_tensors(each.value) for each in arguments)
        given = [*arrays, *weights]
        key = (options_key(arguments), *((each.dtype, each.ndim) for each in given))
        kinds = open_types(given, self._sizes.get_or_make(key, OpenSizes))
        return self._call_for(bound, arguments, kinds, len(extra), mixes_dtypes=mixes), arrays

    def _in_graph(
        self,
        graph: RecordingTarget,
        bound: Bound,
        wrt: Sequence[str],
        extra: Sequence[UserValue],
        cotangent: UserValue,
    ) -> Any:
        """The gradient as a part of a graph that is being made: what is known now is known to the function."""
        arguments = in_graph(self._function, bound, wrt, self._mode)
        inputs = [each.value for each in arguments if each.role != "option"]
        as_array = _array_maker([*inputs, *extra])
        given = [recorded(graph.lift(cast(Any, tensors_of_arrays(each)))) for each in (*inputs, *extra)]
        kinds = [each.known.type for each in given]
        captures = Captures(_graph_target(graph).reaches)
        token = AROUND.set(captures)
        try:
            call = self._call_for(
                bound,
                arguments,
                kinds,
                len(extra),
                mixes_dtypes=graph.mixes_dtypes,
                as_array=as_array,
            )
        finally:
            AROUND.reset(token)
        if captures.values:  # they are of this very graph
            self._made.clear()
        if self._mode == "vjp":
            check_form(call.form, cotangent)
        # What the function has read from around it stands behind its arguments, and before cotangents.
        own = len(given) - len(extra)
        results = call.model(*given[:own], *captures.values, *given[own:])
        if as_array is None:
            return self._result(call, bound, results)
        found = cast("Sequence[Tensor]", results if isinstance(results, tuple) else (results,))
        return self._result(call, bound, tuple(map(as_array, found)))

    def _is_of_number(self, port: str, arguments: Sequence[Argument]) -> bool:
        """True if an input is the tangent of a number of Python's, which has no element type of its own."""
        return any(each.role == "number" and port == f"{each.name}_tangent" for each in arguments)

    def _as_numbers(
        self, call: CachedModel, wrt: Sequence[str], arguments: Sequence[Argument], results: Any
    ) -> Any:
        """The results; gradients by Python's numbers, which have no element type, in that of the function's result."""
        numbers = {each.name for each in arguments if each.role == "number"} & set(wrt)
        if not numbers or self._mode == "jvp" or isinstance(self._function, MakesModels):
            return results
        found = list(cast("Sequence[Array]", results))
        for position, name in enumerate(wrt, call.value_count):
            if name in numbers:
                found[position] = found[position].astype(found[0].dtype)
        return tuple(found)

    @boundary
    def to_model(self, *types: Any) -> Model:
        """The model for inputs of these types, or of the types of example arrays; options are given as they are.

        >>> from onnxsmith import FLOAT, opset21 as op
        >>> grad(lambda x: op.ReduceSum(x * x, keepdims=0)).to_model(FLOAT["N"])
        Model(x: FLOAT['N']) -> reduce_sum: FLOAT, x_grad: FLOAT['N'], 6 nodes, opset 21
        """
        if self._mode == "vjp":
            raise CallError("the model of a vjp is made by a call", help="call it on arrays")
        count = len(self._wrt) if self._mode == "jvp" else 0
        own = types[: len(types) - count]
        bound = bind(self._function, own, {})
        self._look_outside()
        arguments = of_types(self._function, bound, self._chosen(bound), self._mode)
        extra = self._flat_extra(bound, types[len(own) :])
        inputs = [each.value for each in arguments if each.role != "option"]
        kinds = [
            each if isinstance(each, TensorType) else type_of_example(cast(Any, each))
            for each in (*inputs, *extra)
        ]
        return self._call_for(bound, arguments, kinds, len(extra), mixes_dtypes=False).model

    # -- arguments -------------------------------------------------------------------------------------

    def _extra(self, kwargs: dict[str, UserValue]) -> list[UserValue]:
        """The cotangents or tangents of a call."""
        word = _EXTRA.get(self._mode)
        if word is None:
            return []
        if word not in kwargs:
            raise CallError(f"{self._mode} needs {word}=", help=f"f(x, {word}=v)")
        given = kwargs.pop(word)
        if self._mode == "jvp" and self._is_single:
            return [given]  # it has the form of the argument
        if self._mode == "vjp":
            with taking_apart("the cotangent"):
                return cotangents_of(given)
        return list(cast("Sequence[UserValue]", given)) if isinstance(given, tuple | list) else [given]

    def _flat_extra(self, bound: Bound, given: Sequence[UserValue]) -> list[UserValue]:
        """Tangents one by one: that of a container has its form."""
        if self._mode != "jvp":
            return list(given)
        chosen = self._arguments(bound)
        forms = [bound.form(name) for name in chosen]
        if self._is_single and isinstance(forms[0], Slot) and isinstance(given[0], tuple | list):
            given = list(
                cast("Sequence[UserValue]", given[0])
            )  # tangents of all arguments, of which there is one
        if len(given) != len(forms) or not bound.has_containers:
            return list(given)
        found: list[UserValue] = []
        for name, form, each in zip(chosen, forms, given, strict=True):
            wanted = set(bound.leaves(name))
            if isinstance(form, Slot):
                found.append(each)
                continue
            parts_of_it = dict(self._matched(name, form, each))
            found += [parts_of_it[k] for k in parts_of_it if bound.names[k] in wanted]
        return found

    def _matched(self, name: str, form: Held, given: UserValue) -> Iterator[tuple[int, UserValue]]:
        """The parts of a tangent, each with the position of the argument that it belongs to."""
        if isinstance(form, Slot):
            yield form.position, given
            return
        inner, theirs = parts(form), parts(given)
        if inner is None:
            return
        if isinstance(given, dict) and theirs is not None:  # keys have no order
            found = dict(theirs)
            theirs = [(key, found.pop(key)) for key, _ in inner if key in found] + list(found.items())
        if theirs is None or [key for key, _ in inner] != [key for key, _ in theirs]:
            raise CallError(
                f"the tangent of '{name}' has another form than '{name}'", help="give it the same containers"
            )
        for (_, one), (_, other) in zip(inner, theirs, strict=True):
            yield from self._matched(name, one, cast(UserValue, other))

    def _chosen(self, bound: Bound) -> list[str]:
        """The arguments that the gradient is by, with the parts of containers one by one."""
        found: list[str] = []
        for name in self._arguments(bound):
            leaves = bound.leaves(name)
            if not leaves:
                raise CallError(
                    f"'{name}' of {self._shown} has neither arrays nor numbers in it, and a gradient is by these",
                    help="wrt= names another argument",
                )
            found += leaves
        return found

    def _arguments(self, bound: Bound) -> list[str]:
        """The arguments that `wrt` names, as they were given."""
        names = bound.given
        chosen: list[str] = []
        for each in self._wrt:
            if isinstance(each, int) and -len(names) <= each < len(names):
                chosen.append(names[each])
            elif isinstance(each, str) and each in names:
                chosen.append(each)
            else:
                raise AttributeValueError(
                    f"wrt is {each!r}, and the arguments are {', '.join(names) or 'none'}", culprit="wrt"
                )
        refuse_twice(chosen)
        return chosen

    # -- models ----------------------------------------------------------------------------------------

    def _call_for(
        self,
        bound: Bound,
        arguments: Sequence[Argument],
        kinds: Sequence[AnyValueType],
        extra: int,
        *,
        mixes_dtypes: bool,
        as_array: Callable[[Tensor], object] | None = None,
    ) -> CachedModel:
        """The model for these arguments, made or found."""
        key = (options_key(arguments), mixes_dtypes, as_array is None, *kinds)
        found = self._made.get(key)
        if found is None or (found.options is not None and found.options.changed() is not None):
            model, casts, form = self._model(
                bound,
                arguments,
                kinds[: len(kinds) - extra],
                mixes_dtypes=mixes_dtypes,
                as_array=as_array,
            )
            found = self._differentiated(model, self._inputs_of(model, bound, arguments), extra)
            found.casts, found.form = casts, form
            self._made.put(key, found)
            # What tracing itself has changed, such as a list that the function appends to, makes nothing old.
            options = [(each.name, each.value) for each in arguments if callable(each.value)]
            self._outside = _watched(self._function)
            found.options = _watched(self._function, options) if options else None
        return found

    def _inputs_of(self, model: Model, bound: Bound, arguments: Sequence[Argument]) -> list[str]:
        """The names of the chosen arguments as the model has them: one of numpy code names its inputs itself."""
        if not isinstance(self._function, MakesModels):
            return list(self._chosen(bound))
        given = [each.name for each in arguments if each.role != "option"]
        named = dict(zip(given, (each.name for each in model.inputs), strict=False))
        return [named.get(each, each) for each in self._chosen(bound)]

    def _model(
        self,
        bound: Bound,
        arguments: Sequence[Argument],
        kinds: Sequence[AnyValueType],
        *,
        mixes_dtypes: bool,
        as_array: Callable[[Tensor], object] | None,
    ) -> tuple[Model, Casts, Held]:
        """The model of the function, the types that it makes of numbers, and the form of its result."""
        function = self._function
        if isinstance(function, Model):
            return in_new_opset(function), {}, None
        if isinstance(function, ScriptDefinition):
            types = dict(zip(bound.names, kinds, strict=True))
            return in_new_opset(make_model(function, {"input_types": types})), {}, None
        if isinstance(function, MakesModels):
            model, result = numpys_model(function, bound, arguments, kinds)
            return in_new_opset(model), {}, taken_apart(result)[1]
        try:
            model, casts, form = traced_function(
                function, bound, arguments, kinds, mixes_dtypes=mixes_dtypes, as_array=as_array
            )
            return in_new_opset(model), casts, form
        except OnnxsmithError as error:
            # A function of numpy, or one of onnxsmith.numpy, has met a tensor.
            is_numpys = error.message.startswith(
                ("numpy's ", "a tensor computes as ONNX does, and this function as numpy")
            )
            if is_numpys or (as_array is not None and isinstance(error, TracedValueError)):
                error.help = f"{self._mode}(onnxsmith.numpy.jit({self._shown})) differentiates code for numpy"
            raise

    @property
    def _shown(self) -> str:
        return shown_name(self._function)

    def _differentiated(self, model: Model, wrt: Sequence[str], extra: int) -> CachedModel:
        outputs = [each.name for each in model.outputs]
        if self._mode in ("grad", "value_and_grad"):
            if len(outputs) != 1:
                raise LossError(
                    f"{self._mode} is of a function that gives one number, and this one gives {len(outputs)} results",
                    help="return the loss alone; vjp weights several results",
                )
            made = differentiated(model, outputs, wrt, fills=True, keeps_nested=self._keeps_nested)
            return CachedModel(made.model, 1)
        if self._mode == "vjp":
            if extra != len(outputs):
                raise CallError(
                    f"the function gives {len(outputs)} results, and {extra} cotangents were given"
                )
            named = [f"{each}_cotangent" for each in outputs]
            made = differentiated(
                model, outputs, wrt, fills=True, cotangents=named, keeps_nested=self._keeps_nested
            )
            return CachedModel(made.model, len(outputs))
        if extra != len(wrt):
            raise CallError(f"wrt names {len(wrt)} arguments, and {extra} tangents were given")
        return CachedModel(forward_model(model, outputs, wrt), len(outputs))

    def _result(self, call: CachedModel, bound: Bound, results: Any) -> Any:
        found = cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)
        values, gradients = found[: call.value_count], found[call.value_count :]
        if self._mode != "jvp" and bound.has_containers:
            gradients = self._in_form(bound, gradients)
        if self._mode == "grad":
            return gradients[0] if self._is_single else gradients
        value = put_together(call.form, values)
        if self._mode == "jvp":
            return value, put_together(call.form, gradients)
        return value, gradients[0] if self._is_single else gradients

    def _in_form(self, bound: Bound, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """Gradients in the form of the arguments that they are by; None for a part that is no number."""
        by_name = dict(zip(self._chosen(bound), gradients, strict=True))
        flat = [by_name.get(name) for name in bound.names]
        return tuple(unflatten(bound.form(name), flat) for name in self._arguments(bound))


def _unpickled(function: Callable[..., Any], wrt: Wrt, mode: _Mode, keeps_nested: bool) -> Gradient:
    return Gradient(function, wrt, mode, keeps_nested=keeps_nested)


def _array_maker(given: Sequence[UserValue]) -> Callable[[Tensor], object] | None:
    """Where numpy code calls a gradient, what makes its arrays of tensors; None where tensors are what is given."""
    if not any(map(holds_tensor, given)) and any(isinstance(each, Tensor) for each in given):
        return None
    return NUMPYS_NUMBER.get()


def _graph_target(graph: RecordingTarget) -> GraphTarget:
    assert isinstance(graph, GraphTarget)  # what records models
    return graph


def _watched(function: Callable[..., Any], options: Sequence[tuple[str, object]] = ()) -> Watch | None:
    """The objects that a function finds around it, as they are now; None where nothing can change."""
    while isinstance(function, Gradient):
        function = function.differentiated
    if isinstance(function, MakesModels):
        return function.watch()
    if isinstance(function, Model):
        return None  # made of what was around it when it was written
    code = function.__wrapped__ if isinstance(function, ScriptDefinition) else function
    return Outside(code, options, is_lenient=True)
