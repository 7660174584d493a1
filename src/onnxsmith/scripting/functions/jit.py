"""`jit`: a whole function as one session, made once per element types and ranks of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array
from onnxsmith.diagnostics import hide_frames_between, hide_own_frames
from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.model import Model
from onnxsmith.scripting.functions.eager_call import Input, check_names, input_argument
from onnxsmith.scripting.functions.export import make_model
from onnxsmith.types.annotations import ExampleValue, type_of_example
from onnxsmith.types.named_sizes import equal_sizes
from onnxsmith.types.value_types import AnyValueType, OptionalType, TensorType

if TYPE_CHECKING:
    from onnxsmith.scripting.functions.definition import ScriptDefinition

_LIMIT = 256
#: A model's session, of its inputs in order.
Run: TypeAlias = "Callable[[Sequence[UserValue]], UserValue]"


class Jit:
    """Runs a script as a model; `jit(f)` makes one."""

    def __init__(self, script: ScriptDefinition) -> None:
        self.script = script
        self._runs: dict[Hashable, Run] = {}
        self._input_names = [each.name for each in script.parameters.inputs]
        self._input_count = len(self._input_names)
        self._equal_sizes = equal_sizes(each.type for each in script.parameters.inputs)

    def __reduce__(self) -> tuple[type[Jit], tuple[ScriptDefinition]]:
        return Jit, (self.script,)  # the sessions are made anew

    def __call__(self, *args: UserValue, **kwargs: UserValue) -> UserValue:
        try:
            if not kwargs and len(args) == self._input_count:
                key: list[Hashable] = []
                for value in args:
                    if value.__class__ is not np.ndarray:
                        return self._general(args, kwargs)
                    array = cast(Array, value)
                    key.append(array.dtype)
                    key.append(array.ndim)
                run = self._runs.get(tuple(key))
                if run is not None:
                    arrays = cast("tuple[Array, ...]", args)
                    for first, axis, second, other_axis in self._equal_sizes:
                        if arrays[first].shape[axis] != arrays[second].shape[other_axis]:
                            check_names(self.script, dict(zip(self._input_names, args, strict=True)))
                    try:
                        return run(args)
                    except OnnxsmithError:
                        self._check(args)
                        raise
            return self._general(args, kwargs)
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise
        except Exception as error:  # inline, not a `boundary`: this call is made to cost little
            hide_frames_between(error)
            raise

    def _check(self, args: tuple[UserValue, ...]) -> None:
        """Refuse what the annotations refuse; sizes are no part of what is remembered, and show when a run fails."""
        for parameter, value in zip(self.script.parameters.inputs, args, strict=True):
            input_argument(self.script, parameter, value)

    def _general(self, args: tuple[UserValue, ...], kwargs: dict[str, UserValue]) -> UserValue:
        script = self.script
        bound = script.bind(args, kwargs)
        attributes = {each.name: bound[each.name] for each in script.parameters.attributes}
        arrays: list[Input] = []
        types: dict[str, AnyValueType] = {}
        for parameter in script.parameters.inputs:
            array = input_argument(script, parameter, bound[parameter.name])
            if array is None:
                continue
            arrays.append(array)
            types[parameter.name] = _open_type(parameter.type, array)
        check_names(script, dict(zip(types, arrays, strict=True)))
        attribute_key = repr(sorted(attributes.items()))
        key = (tuple((name, repr(kind)) for name, kind in types.items()), attribute_key)
        run = self._runs.get(key)
        if run is None:
            run = self._make(types, attributes)
            if len(self._runs) >= _LIMIT:
                self._runs.clear()
            self._runs[key] = run
            is_plain = not kwargs and len(args) == self._input_count == len(arrays)
            if is_plain and all(each.__class__ is np.ndarray for each in args):
                plain = cast("tuple[Array, ...]", args)
                self._runs[tuple(part for each in plain for part in (each.dtype, each.ndim))] = run
        return run(arrays)

    def _make(self, types: dict[str, AnyValueType], attributes: dict[str, UserValue]) -> Run:
        given = {name: value for name, value in attributes.items() if value is not None}
        model: Model = make_model(self.script, {"input_types": types, "attributes": given})
        return model.runner()


def _open_type(annotated: AnyValueType, array: Input) -> AnyValueType:
    """The type that inputs of this element type and rank share, with the dimensions that the annotation names."""
    actual = type_of_example(
        cast(ExampleValue, array)
    )  # a tensor of a graph says itself that it has no value here
    wanted = annotated.element if isinstance(annotated, OptionalType) else annotated
    if not isinstance(actual, TensorType) or actual.shape is None:
        return actual
    if isinstance(wanted, TensorType) and wanted.shape is not None and len(wanted.shape) == len(actual.shape):
        return TensorType(actual.dtype, wanted.shape)
    return TensorType(actual.dtype, (None,) * len(actual.shape))
