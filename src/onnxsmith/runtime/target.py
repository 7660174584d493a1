"""The eager target: each operator call runs at once, on arrays.

numpy in gives numpy out; where a tensor of ours goes in, tensors of ours come out. Who runs an operator is the
engine's business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, NoReturn, cast

import numpy as np
import onnx

from onnxsmith.core.bodies import is_function
from onnxsmith.core.call import has_open_outputs
from onnxsmith.core.operator import MISS, Operators
from onnxsmith.core.operator_protocols import AnyOperator
from onnxsmith.core.stored import Stored
from onnxsmith.core.target import ACTIVE, OperatorCall, register_default
from onnxsmith.core.value import Value
from onnxsmith.errors import OnnxsmithError, OperatorFailedError
from onnxsmith.errors.kinds import of_its_kind
from onnxsmith.graphs.run_values import session_value
from onnxsmith.runtime import control
from onnxsmith.runtime.device_arrays import OrtArray, device_of, ort_array
from onnxsmith.runtime.devices import staying_on
from onnxsmith.runtime.engine import Runner, prepare, runners
from onnxsmith.runtime.single_node import Call, InputType, make_model
from onnxsmith.runtime.tensor import EagerTensor, adopted, as_tensor
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.elementwise_operators import ELEMENTWISE
from onnxsmith.schema.foreign_arrays import DeviceArray, UnreadableArray, is_foreign, read_foreign
from onnxsmith.schema.inference import infer
from onnxsmith.schema.inference.call import LARGEST_CONTENT
from onnxsmith.schema.inference.known import Known
from onnxsmith.schema.registry import default_opset_version
from onnxsmith.types.annotations import type_of_example
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import SequenceType, TensorType

_ARRAY = np.ndarray
#: Arrays of numpy, and those on devices.
_ARRAYS = (_ARRAY, OrtArray)
_LITERALS = (int, float, bool)
_UNFIT = (_ARRAY, EagerTensor)
#: The type of an empty list, as far as it is known by itself.
_EMPTY_SEQUENCE = SequenceType(TensorType(None, None))


class EagerTarget:
    """Runs what it is given. `wraps` makes every result a tensor of ours, as in a script that runs eagerly."""

    needs_inference: ClassVar[bool] = False
    is_exact: bool = False
    mixes_dtypes: bool = False
    recording: None = None

    def __init__(self, *, wraps: bool = False) -> None:
        self.wraps = wraps
        self._operators: Operators | None = None
        # The attributes and the runner of the call that was made last, which `learn` is told of next.
        self._latest: tuple[Mapping[str, Any], Runner | None] = ({}, None)

    @property
    def operators(self) -> Operators:
        if self._operators is None:
            self._operators = Operators(default_opset_version())
        return self._operators

    def constant(self, array: np.ndarray[Any, Any]) -> Any:
        return array

    def stored(self, value: Stored) -> Any:
        return self.constant(np.asarray(value))

    def sequence(self, elements: Sequence[Any]) -> Any:
        return list(elements)

    def emit(self, call: OperatorCall) -> tuple[Any, ...]:
        wraps = self.wraps or any(isinstance(each, EagerTensor) for each in call.inputs)
        if call.attributes and any(map(is_function, call.attributes.values())):
            results = _run_bodies(call)
            return results if wraps else tuple([session_value(each) for each in results])
        arrays = [  # inline: most are arrays as they should be
            each if each.__class__ is _ARRAY and each.dtype.isnative else session_value(each)
            for each in call.inputs
        ]
        form = _Form(call.op, call.version, call.attributes, call.output_count)
        if wraps and (device := device_of(arrays)) is not None:
            with staying_on(device):
                results = self._run(form, arrays)
        else:
            results = self._run(form, arrays)
        return tuple([as_tensor(each) for each in results]) if wraps else tuple(results)

    def _run(self, form: _Form, arrays: list[Any]) -> list[Any]:
        runner = form.runner(arrays)
        self._latest = (form.attributes, runner)
        try:
            return runner.run(arrays)
        except OnnxsmithError as error:
            form.raise_for(arrays, error)

    def learn(
        self, operator: AnyOperator, args: tuple[Any, ...], kwargs: dict[str, Any], call: OperatorCall
    ) -> None:
        if has_open_outputs(call.op):
            return  # the variables that a call is assigned to are no part of its form
        if operator.recall is None:
            operator.recall = recall_for(operator)
        form: list[Any] = [operator]
        for value in args:
            kind = cast(Any, type(value))
            if kind is _ARRAY or kind is EagerTensor:
                array: np.ndarray[Any, Any] = value if kind is _ARRAY else value.array
                if not array.dtype.isnative:
                    return  # has to be converted at every call
                form += (array.dtype, array.ndim)
                if array.__class__ is not _ARRAY:
                    form.append(array.device)
            elif kind in _LITERALS and value:
                form.append((kind, value))
            else:
                return
        if len(call.inputs) != len(args):
            return
        try:
            if kwargs:
                form.append(_freeze(kwargs))
            hash(key := tuple(form))
        except TypeError:
            return
        form_of_call = _Form(call.op, operator.version, call.attributes, call.output_count)
        made_with, runner = self._latest
        if runner is None or made_with is not call.attributes:  # another thread was in between
            runner = form_of_call.runner([session_value(each) for each in call.inputs])
        runners().put(key, _make_plan(form_of_call, runner, args, call.inputs))


def _run_bodies(call: OperatorCall) -> tuple[Any, ...]:
    """The outputs of control flow whose bodies are functions, as tensors."""
    token = ACTIVE.set(_INSIDE_BODIES)
    try:
        return control.run(call.op, [as_tensor(each) for each in call.inputs], call.attributes)
    finally:
        ACTIVE.reset(token)


class _Form(NamedTuple):
    """One way to call an operator, whatever the inputs."""

    op: OperatorDef
    version: int | None
    attributes: Mapping[str, Any]
    output_count: int

    def runner(self, arrays: Sequence[Any]) -> Runner:
        """Who runs it on inputs of these types; inference is asked first, once for each combination of ranks.

        The reference evaluator overlooks much that ONNX does not allow, so that inference looks at each of its calls.
        """
        ranks = tuple([each.ndim if isinstance(each, _ARRAYS) else -1 for each in arrays])
        types = _input_types(arrays)
        runner = prepare(
            self.op,
            types,
            self.attributes,
            self.output_count,
            # Bodies are written in the standard domain; another domain's version says nothing about them.
            opset_version=self.version if self.op.domain == "" else None,
            before_making=lambda: self.infer(arrays, types, largest_rank=1),
        )
        if ranks not in runner.ranks:
            if runner.ranks:  # else it was just made
                self.infer(arrays, types, largest_rank=1)
            runner.ranks.add(ranks)
        if runner.source not in ("reference", "by ranks"):
            return runner

        def run(inputs: Sequence[Any]) -> list[Any]:
            self.infer(inputs)
            return runner.run(inputs)

        return Runner(run, runner.source)

    def infer(
        self,
        arrays: Sequence[Any],
        types: Sequence[InputType] | None = None,
        *,
        largest_rank: int | None = None,
    ) -> None:
        """Raise what a graph would raise for a call that cannot work on these very inputs.

        A first call must stay cheap: it leaves out the contents above `largest_rank`, which say little about shapes,
        and all contents of elementwise operators, which say nothing about them.
        """
        if any(isinstance(each, onnx.GraphProto) for each in self.attributes.values()):
            if largest_rank is None:
                self._infer_bodies(arrays)
        elif self.op.is_known:
            kinds = _input_types(arrays) if types is None else types
            if largest_rank is not None and not self.op.domain and self.op.name in ELEMENTWISE:
                largest_rank = -1
            known = [_known(each, kind, largest_rank) for each, kind in zip(arrays, kinds, strict=True)]
            infer(self.op, self.version or self.op.since_version, known, self.attributes, self.output_count)

    def raise_for(self, arrays: Sequence[Any], error: OnnxsmithError) -> NoReturn:
        """Raise the one error of a mistake after a run has failed: that of inference, if it sees the mistake, too."""
        self.infer(arrays)
        if isinstance(error, OperatorFailedError):
            raise of_its_kind(error) from error.__cause__
        raise error

    def _infer_bodies(self, arrays: Sequence[Any]) -> None:
        """The same for a call with graphs, which are gone through as those of a model are."""
        import onnx_ir as ir  # heavy: on first use

        from onnxsmith.graphs.diagnosis import objection  # loads onnx-ir

        version = self.version if self.op.domain == "" else None
        types = tuple(_input_types(arrays))
        call = Call(self.op, types, self.attributes, self.output_count, {}, version)
        found = objection(ir.from_proto(make_model(call)), "", [each for each in arrays if each is not None])
        if found is not None:
            raise found


def _input_types(arrays: Sequence[Any]) -> list[InputType]:
    types: list[InputType] = [
        DType.from_numpy(cast("np.ndarray[Any, Any]", each).dtype)
        if isinstance(each, _ARRAYS)
        else _type_of_other(each)
        for each in arrays
    ]
    # An empty list does not say what it is a sequence of; a tensor beside it does.
    if any(each is _EMPTY_SEQUENCE for each in types):
        beside = next((each for each in types if isinstance(each, DType)), DType.FLOAT)
        known = SequenceType(TensorType(beside, None))
        types = [known if each is _EMPTY_SEQUENCE else each for each in types]
    return types


def _known(value: Any, kind: InputType, largest_rank: int | None) -> Known | None:
    """The facts of an input that rules look at: its type, and its content if it is small and not on a device."""
    if isinstance(value, _ARRAYS):
        is_on_device = isinstance(value, OrtArray)
        array = cast("np.ndarray[Any, Any]", value)
        dtype = kind if isinstance(kind, DType) else None
        is_small = (
            not is_on_device
            and array.size <= LARGEST_CONTENT
            and (largest_rank is None or array.ndim <= largest_rank)
        )
        return Known(TensorType(dtype, array.shape), array if is_small else None)
    return None if kind is None or isinstance(kind, DType) else Known(kind)


def recall_for(operator: AnyOperator) -> Callable[[tuple[Any, ...], dict[str, Any], object], Any]:
    """The memory of one operator's calls: the form of a call (types, ranks, literals, attributes) leads to its plan.

    Binding, promotion and checks depend on nothing but that form, so a call of a known form goes straight to
    the runner. Plans live in the engine's own bounded cache.
    """

    def recall(args: tuple[Any, ...], kwargs: dict[str, Any], active: object) -> Any:
        form: list[Any] = [operator]
        arrays: list[Any] = []
        wraps = False
        if active is not None:
            if active.__class__ is not EagerTarget:  # somebody else's, which is to see the call
                return MISS
            wraps = cast(EagerTarget, active).wraps
        for value in args:
            kind = cast(Any, type(value))
            if kind is _ARRAY:
                form.append(value.dtype)
                form.append(value.ndim)
                arrays.append(value)
            elif kind is EagerTensor:
                wraps = True
                array = value.array
                form.append(array.dtype)
                form.append(array.ndim)
                if array.__class__ is not _ARRAY:
                    form.append(array.device)
                arrays.append(array)
            elif kind in _LITERALS and value:  # 0.0 and -0.0 are equal keys but not equal values
                form.append((kind, value))
                arrays.append(value)
            elif is_foreign(value):
                wraps = True
                try:
                    found = read_foreign(value)
                except UnreadableArray:
                    return MISS  # whoever binds the call says which input it is
                array: Any = ort_array(found) if isinstance(found, DeviceArray) else found
                form.append(array.dtype)
                form.append(array.ndim)
                if array.__class__ is not _ARRAY:
                    form.append(array.device)
                arrays.append(array)
            else:
                return MISS
        try:
            if kwargs:
                form.append(_freeze(kwargs))
            plan = runners().get(tuple(form))
        except TypeError:  # an attribute that has no hash: an array, a function
            return MISS
        return MISS if plan is None else plan(arrays, wraps)

    return recall


def _freeze(kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Attributes as a key; raises TypeError for those that cannot be one."""
    frozen: list[Any] = []
    for name, value in kwargs.items():
        kind = cast(Any, type(value))
        if kind is list:
            value = tuple(value)
        if (kind is float and value == 0.0) or kind in _UNFIT or isinstance(value, Value):
            raise TypeError
        frozen.append((name, kind, value))
        if value.__class__ is tuple and not all(type(each) is int for each in value):
            frozen.append(repr(value))  # tells 1 from 1.0 and 0.0 from -0.0, which are equal as keys
    return tuple(frozen)


def _make_plan(
    form: _Form, runner: Runner, args: Sequence[Any], lifted: Sequence[Any]
) -> Callable[[list[Any], bool], Any]:
    run = runner.run
    constants = [(k, session_value(lifted[k])) for k, value in enumerate(args) if type(value) in _LITERALS]

    def plan(arrays: list[Any], wraps: bool) -> Any:
        for position, array in constants:
            arrays[position] = array
        try:
            results = run(arrays)
        except OnnxsmithError as error:
            form.raise_for(arrays, error)
        if len(results) == 1:
            result: Any = results[0]
            if wraps:
                return EagerTensor(result) if result.__class__ in _ARRAYS else as_tensor(result)
            return result
        return tuple([as_tensor(each) for each in results]) if wraps else tuple(results)

    return plan


def _type_of_other(value: Any) -> InputType:
    """The type of an input that is no array."""
    if value is None:
        return None
    if isinstance(value, list) and not value:
        return _EMPTY_SEQUENCE
    return type_of_example(cast(Any, value))


_INSIDE_BODIES = EagerTarget(wraps=True)

register_default(EagerTarget, adopted)
