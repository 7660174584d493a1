"""`jit`: a whole function as one session, made once per element types and ranks of the inputs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array
from onnxsmith.diagnostics import described_type, shown_as
from onnxsmith.errors import AttributeTypeError, OnnxsmithError, boundary
from onnxsmith.graphs.identity import values_key
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.model_calls import gives_tensors
from onnxsmith.graphs.model_runtime import model_runtime
from onnxsmith.graphs.run_values import Run, RunValue
from onnxsmith.runtime.kernels_in_python import kernel_of
from onnxsmith.runtime.settings import current
from onnxsmith.schema.foreign_arrays import array_on_device
from onnxsmith.scripting.functions.eager_call import Input, attribute_argument, check_names, input_argument
from onnxsmith.scripting.functions.export import make_model
from onnxsmith.scripting.functions.specialised import ArraysCall, Specialised
from onnxsmith.scripting.functions.type_variables import with_typed_literals
from onnxsmith.scripting.staging.closures import has_symbolic
from onnxsmith.scripting.staging.outside import Outside
from onnxsmith.types.annotations import ExampleValue, equal_sizes, type_of_example
from onnxsmith.types.value_types import AnyValueType, OptionalType, SequenceType, TensorType

if TYPE_CHECKING:
    from onnxsmith.scripting.functions.definition import ScriptDefinition

#: Arrays of more bytes are compared by some of their elements: a call may not take longer for it.
_COMPARED_BYTES = 1 << 14


class _JitCall(NamedTuple):
    """The arguments of a call: inputs in order, their types by name, and attributes."""

    arrays: list[Input | None]
    types: dict[str, AnyValueType]
    attributes: dict[str, UserValue]


@shown_as("jitted script")
class Jit(Specialised[Model]):
    """Runs a script as a model; `jit(f)` makes one."""

    _form_of = operator.attrgetter("dtype", "ndim")

    def __init__(self, script: ScriptDefinition) -> None:
        super().__init__()
        self.script = script
        self._input_names = [each.name for each in script.parameters.inputs]
        self._equal_sizes = equal_sizes(each.type for each in script.parameters.inputs)

    def __reduce__(self) -> tuple[type[Jit], tuple[ScriptDefinition]]:
        return Jit, (self.script,)  # the sessions are made anew

    def _on_arrays(self, run: Run) -> ArraysCall:
        """A call on arrays alone, which have the element types and ranks of the annotations."""
        sizes = self._equal_sizes

        def call(args: tuple[Array, ...]) -> Any:
            for first, axis, second, other_axis in sizes:
                if args[first].shape[axis] != args[second].shape[other_axis]:
                    check_names(self.script, dict(zip(self._input_names, args, strict=True)))
            try:
                outputs = run(args)
            except OnnxsmithError:
                # Refuse what the annotations refuse; sizes are no part of the form, and show when a run fails.
                for parameter, value in zip(self.script.parameters.inputs, args, strict=True):
                    input_argument(self.script, parameter, value)
                raise
            return outputs[0] if len(outputs) == 1 else tuple(outputs)

        return call

    @boundary
    def profile(
        self,
        inputs: Sequence[UserValue] | Mapping[str, UserValue] | None = None,
        *,
        runs: int = 10,
        warm_up: int = 3,
        providers: Sequence[Any] | None = None,
        intra_op_threads: int | None = None,
    ) -> Any:
        """How long each kernel takes when the function runs as a model, and which line it runs for; as `Model.profile`.

        `inputs` are the arguments of a call, in order as a list or by name as a mapping, values of attributes among
        them. The model is made for their types. Without any, inputs are made up.
        """
        model: Any  # its `profile` is a capability, which checkers see in the stubs
        given: dict[str, Input | None] | None = None
        if inputs is None:
            model = make_model(self.script, {})
        else:
            args, kwargs = _arguments(inputs)
            call = self._read(args, kwargs)
            model, given = self._model(call), dict(zip(call.types, call.arrays, strict=True))
        return model.profile(
            given, runs=runs, warm_up=warm_up, providers=providers, intra_op_threads=intra_op_threads
        )

    def _read(self, args: tuple[UserValue, ...], kwargs: dict[str, UserValue]) -> _JitCall:
        """The arguments of a call, checked, with the types that a model for them takes."""
        script = self.script
        bound = with_typed_literals(script, script.bind(args, kwargs))
        attributes = {
            each.name: cast(UserValue, attribute_argument(script, each, bound[each.name]))
            for each in script.parameters.attributes
        }
        arrays: list[Input | None] = []
        types: dict[str, AnyValueType] = {}
        for parameter in script.parameters.inputs:
            array = input_argument(script, parameter, bound[parameter.name])
            if array is None:
                if isinstance(parameter.type, OptionalType) and not parameter.has_default:
                    # The model is asked whether it is there, so it takes the absent value as an input.
                    arrays.append(None)
                    types[parameter.name] = parameter.type
                continue
            arrays.append(array)
            types[parameter.name] = _open_type(parameter.type, array)
        check_names(script, dict(zip(types, arrays, strict=True)))
        return _JitCall(arrays, types, attributes)

    def _general(self, args: tuple[UserValue, ...], kwargs: dict[str, UserValue]) -> UserValue:
        if has_symbolic((*args, *kwargs.values())):  # where a graph is made, it is the script
            return cast("Callable[..., UserValue]", self.script)(*args, **kwargs)
        if kernel_of(self.script.domain, self.script.name) is not None and current().kernels:
            return cast("Callable[..., UserValue]", self.script)(*args, **kwargs)  # a call runs the kernel
        call = self._read(args, kwargs)
        key = (
            tuple((name, repr(kind)) for name, kind in call.types.items()),
            values_key(call.attributes),
        )
        model = self._made.get(key)
        if model is None:
            if self._outside is None:
                self._outside = _outside(self.script)
            model = self._model(call)
            self._made.put(key, model)
        if any(gives_tensors(each) for each in (*args, *kwargs.values())):
            outputs = model_runtime().as_tensors(
                model.session_for(call.arrays)(cast("list[RunValue]", call.arrays))
            )
            return cast(UserValue, outputs[0] if len(outputs) == 1 else tuple(outputs))
        run = model.native_runner()
        if not kwargs and len(args) == len(self._input_names) == len(call.arrays):
            self._learn(args, self._on_arrays(run))
        outputs = run(cast("list[RunValue]", call.arrays))
        return cast(UserValue, outputs[0] if len(outputs) == 1 else tuple(outputs))

    def _model(self, call: _JitCall) -> Model:
        given = {name: value for name, value in call.attributes.items() if value is not None}
        return make_model(self.script, {"input_types": call.types, "attributes": given})


def _outside(script: ScriptDefinition) -> Outside:
    """The objects that a script takes from around it now; data that nobody can compare counts as unchanging."""
    given = script.fixed_arguments.items()
    return Outside(script.function, list(given), is_lenient=True, most=_COMPARED_BYTES)


def _arguments(inputs: object) -> tuple[tuple[UserValue, ...], dict[str, UserValue]]:
    """Positional and named arguments of a call whose inputs are given in one."""
    if isinstance(inputs, Mapping):
        return (), dict(cast("Mapping[str, UserValue]", inputs))
    if isinstance(inputs, Sequence) and not isinstance(inputs, str | bytes):
        return tuple(cast("Sequence[UserValue]", inputs)), {}
    raise AttributeTypeError(
        f"inputs are arrays by name or in order, not {described_type(type(inputs))}",
        help='f.profile({"x": array}), or f.profile([array])',
        culprit=("attribute", "inputs"),
    )


def _open_type(annotated: AnyValueType, array: Input) -> AnyValueType:
    """The type that inputs of this element type and rank share, with the dimensions that the annotation names."""
    wanted = annotated.element if isinstance(annotated, OptionalType) else annotated
    if isinstance(wanted, SequenceType) and wanted.onnx_name:
        return wanted  # an empty list says nothing of its elements
    on_device = array_on_device(array)
    # A tensor of a graph says itself that it has no value here.
    actual = type_of_example(cast(ExampleValue, array)) if on_device is None else on_device.type
    if not isinstance(actual, TensorType) or actual.shape is None:
        return actual
    if isinstance(wanted, TensorType) and wanted.shape is not None and len(wanted.shape) == len(actual.shape):
        return TensorType(actual.dtype, wanted.shape)
    return TensorType(actual.dtype, (None,) * len(actual.shape))
