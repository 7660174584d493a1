"""Sessions that users hold: a model opened once on a device, whose state stays there between calls.

State is alternately in two sets of buffers: a run reads one and writes the other. One set would be wrong, because
ONNX Runtime may write an output before a node has read the input of the same memory for the last time.
"""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from onnxsmith.core.call_cache import CallCache, are_arrays
from onnxsmith.core.operands import is_static
from onnxsmith.diagnostics import described_type, did_you_mean, hide_own_frames
from onnxsmith.errors import (
    AttributeTypeError,
    CallError,
    DeviceError,
    ModelInputError,
    OnnxsmithError,
    SessionInUseError,
    SessionStateError,
    boundary,
)
from onnxsmith.graphs import model_inputs, trained_parameters
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_calls import form_of, gives_tensors, placed_form_of
from onnxsmith.graphs.run_values import Array
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.device_arrays import OrtArray, copied, device_of, ort_array
from onnxsmith.runtime.devices import CPU, check_there, read_device, settings_on
from onnxsmith.runtime.feeds import NATIVE, value_converter
from onnxsmith.runtime.model_session import open_model, run_error
from onnxsmith.runtime.onnxruntime_api import Binding, OrtValue
from onnxsmith.runtime.settings import Scope, Settings, current
from onnxsmith.runtime.tensor import EagerTensor, arrays_behind
from onnxsmith.schema.foreign_arrays import DeviceArray
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType

#: Results of at most so many elements are copied out of a buffer: asking ONNX Runtime for its results costs more.
_MOST_SMALL = 1024
#: Whether ONNX Runtime lays out the memory of a whole run at once.
_PATTERN = "enable_mem_pattern"
#: How many forms of a call are known.
_MOST_FORMS = 256
#: How the output that follows an input is named: what in the name of the input stands for what in its own.
_PAIRS = (("past_key_values", "present"), ("past", "present"), ("_in", "_out"))


@boundary
def to_device(model: ModelLike, device: str) -> Model:
    """The same model, whose calls compute on a device: `model.to_device("cuda")`. It shares the weights.

    Arrays of numpy go there and come back; tensors have to be there already, and the results stay.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, trace
    >>> model = trace(lambda x: x + 1.0, FLOAT["N"])
    >>> model.to_device("cpu")(np.float32([1, 2]))
    array([2., 3.], dtype=float32)
    """
    place = check_there(read_device(device))
    made = copy.copy(model_of(model, "to_device"))
    made._device = None if place == CPU else str(place)  # pyright: ignore[reportPrivateUsage]  # of a model that is made here
    return made


@boundary
def session(
    model: ModelLike,
    *,
    device: str | None = None,
    state: Mapping[str, Any] | None = None,
    pairs: Mapping[str, str] | None = None,
    reuse: bool = False,
) -> Session:
    """The model opened once, for many calls: inputs and outputs are bound, and `state` stays on the device.

    `state` has the first values of inputs that each run gives anew: the weights of a step of training, a cache of keys
    and values, a recurrent state. Calls take the other inputs and give the other outputs; `session.state` reads the
    state. The output that follows an input has its name with `_next`, with `present` for `past`, or with `_out` for
    `_in`; `pairs` names others. With `reuse` outputs of fixed size are written over by later calls.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, trace
    >>> total = trace(lambda x, sum: sum + x, FLOAT[2], FLOAT[2], output_names=["sum_next"])
    >>> session = total.session(state={"sum": np.zeros(2, np.float32)})
    >>> for _ in range(3):
    ...     session(np.float32([1, 2]))
    >>> session.state
    {'sum': array([3., 6.], dtype=float32)}
    """
    return Session(model, device=device, state=state, pairs=pairs, reuse=reuse)


class Session:
    """A model opened for many calls; `model.session()` makes one.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, trace
    >>> session = trace(lambda x: x * 2.0, FLOAT["N"]).session()
    >>> session
    Session(x) -> mul, on cpu
    >>> session(np.float32([1, 2]))
    array([2., 4.], dtype=float32)
    """

    def __init__(
        self,
        model: ModelLike,
        *,
        device: str | None = None,
        state: Mapping[str, Any] | None = None,
        pairs: Mapping[str, str] | None = None,
        reuse: bool = False,
    ) -> None:
        model = model_of(model, "session")
        chosen = device or model._device or current().device  # pyright: ignore[reportPrivateUsage]  # as a call of the model does
        self._device = check_there(read_device(chosen))
        self._model = model
        self._reuse = reuse
        first = _checked_mapping("state", state)
        self._pairs = _paired(model, first, _checked_mapping("pairs", pairs))
        #: The inputs that calls give, and the outputs that they get.
        self._ports = tuple(each for each in model.inputs if each.name not in first)
        taken = set(self._pairs.values())
        self._outputs = [each.name for each in model.outputs if each.name not in taken]
        for port in (*model.inputs, *model.outputs):
            if not isinstance(port.type, TensorType) or port.type.dtype is DType.STRING:
                raise CallError(
                    f"a session binds tensors of numbers, and '{port.name}' is a {port.type.described}",
                    help="call the model itself, which takes and gives Python's lists",
                )
        settings = settings_on(self._device)
        with Scope(_without_pattern(settings) if first and self._device == CPU else settings):
            self._session = open_model(model.handed_over(), model.explanations)
        #: What the session takes: it may have dropped an input that nothing reads.
        self._taken = {meta.name for meta in self._session.inputs_meta}
        self._plan = [
            (position, each.name, value_converter(each.type))
            for position, each in enumerate(self._ports)
            if each.name in self._taken
        ]
        self._tensor_place = onnxruntime_api.device(*self._device)
        #: Where outputs go that are given as arrays of numpy; a buffer that is used again stays on its device.
        self._array_place = self._tensor_place if reuse else onnxruntime_api.device(*CPU)
        #: The forms of arguments that calls were accepted with.
        self._known: CallCache[bool] = CallCache(_MOST_FORMS)
        self._lock = threading.Lock()
        self._begin(first)

    # -- state ---------------------------------------------------------------------------------------------------

    def _begin(self, state: Mapping[str, Any]) -> None:
        """Take copies of values as the state, in buffers of ours."""
        ports = {each.name: each for each in (*self._model.inputs, *self._model.outputs)}
        values: dict[str, Any] = {}
        for name, value in state.items():
            try:
                values[name] = model_inputs.feed(ports[name], value)
            except ModelInputError as error:
                raise SessionStateError(error.message, help=error.help) from None
        # State whose size never changes alternates between two sets of buffers; of the rest each run makes new values.
        fixed = [name for name in values if _is_fixed(ports[name].type, ports[self._pairs[name]].type)]
        self._sets = [{name: copied(values[name], self._device).value for name in fixed} for _ in range(2)]
        self._moving = {
            name: copied(value, self._device).value for name, value in values.items() if name not in fixed
        }
        self._current = 0
        #: Buffers on the CPU of small results of fixed size, for each set of the state: results are copies of them.
        #: Results that other devices compute may be asked for there.
        small = self._outputs if self._device == CPU else ()
        self._small: list[dict[str, OrtValue]] = [
            {name: made for name in small if (made := _buffer(ports[name].type)) is not None}
            for _ in range(2)
        ]
        left = [name for name in self._outputs if name not in self._small[0]]
        #: Outputs that are bound once, and written over by later runs: with another size that would be an error.
        self._kept = [name for name in left if self._reuse and _is_fixed(ports[name].type, ports[name].type)]
        #: The outputs that each run makes anew.
        self._anew = [name for name in left if name not in self._kept]
        self._bindings = [self._bound(old, 1 - old) for old in range(2)]
        #: The outputs in the order of `get_outputs`, which is that of binding them.
        order = [*(self._pairs[name] for name in fixed), *self._small[0]]
        order += [*self._kept, *self._anew]
        order += [self._pairs[name] for name in self._moving]
        #: Of these, the ones that are read after a run: all but what lies in buffers of ours.
        held = {*self._small[0], *(self._pairs[name] for name in fixed)}
        self._read = [(place, name) for place, name in enumerate(order) if name not in held]

    def _bound(self, old: int, new: int) -> Binding:
        """A binding whose state is read from one set and written to another."""
        binding = onnxruntime_api.new_binding(self._session)
        for name, value in self._sets[old].items():
            if name in self._taken:
                binding.bind_ortvalue_input(name, value)
            binding.bind_ortvalue_output(self._pairs[name], self._sets[new][name])
        for name, buffer in self._small[old].items():
            binding.bind_ortvalue_output(name, buffer)
        for name in self._kept:
            binding.bind_output(name, self._array_place)
        return binding

    @property
    def state(self) -> dict[str, np.ndarray[Any, Any]]:
        """A copy of the state now, as arrays of numpy by the names of the inputs. Assign to it to go on from there."""
        now = {**self._sets[self._current], **self._moving}
        return {name: OrtArray(now[name], str(self._device)).numpy().copy() for name in self._pairs}

    @state.setter
    def state(self, state: Mapping[str, Any]) -> None:
        given = _checked_mapping("state", state)
        strange = next((each for each in given if each not in self._pairs), None)
        missing = next((each for each in self._pairs if each not in given), None)
        if strange is not None or missing is not None:
            raise SessionStateError(
                f"the state of the session has no '{strange}'"
                if strange is not None
                else f"'{missing}' is missing",
                help="the state has " + ", ".join(self._pairs),
            )
        self._take()
        try:
            self._begin(given)
        finally:
            self._lock.release()

    # -- calls ---------------------------------------------------------------------------------------------------

    def _take(self) -> None:
        """Take the session for one thread; `_lock` is to be released."""
        if not self._lock.acquire(blocking=False):
            raise SessionInUseError(
                "the session is running in another thread", help="each thread takes its own: model.session()"
            )

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """One run: the inputs that are no state, by position or name; one output comes as it is, several as a tuple.

        None where all outputs are state.
        """
        try:
            self._take()
            try:
                if not kwargs:
                    if are_arrays(map(type, args)):
                        if self._known.find(tuple(map(form_of, args))):
                            return self._run(args, wants_tensors=False)
                    elif (arrays := arrays_behind(args)) is not None and self._known.find(
                        tuple(map(placed_form_of, arrays))
                    ):
                        return self._run(arrays, wants_tensors=True)
                values, wants_tensors = self._arrays(args, kwargs)
                return self._run(values, wants_tensors=wants_tensors)
            finally:
                self._lock.release()
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise

    def _arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Sequence[Any], bool]:
        """The inputs of a call as arrays, in order, and whether tensors were given; refused where they do not fit."""
        given = model_inputs.by_name(self._ports, (), args, kwargs)
        feeds = [model_inputs.feed(port, given[port.name]) for port in self._ports]
        conditions = self._model._conditions  # pyright: ignore[reportPrivateUsage]  # as a call of the model does
        names = [each.name for each in self._ports]
        model_inputs.check_sizes(self._ports, feeds, kwargs, names, conditions)
        wants_tensors = any(map(gives_tensors, given.values()))
        found = device_of(feeds)
        if found not in (None, str(self._device)):
            raise DeviceError(
                f"the session is on the device {self._device}, and was given a tensor on {found}",
                help=f'x.to_device("{self._device}")',
            )
        if not kwargs:
            self._learn(args, feeds)
        return feeds, wants_tensors

    def _learn(self, args: tuple[Any, ...], feeds: Sequence[Any]) -> None:
        """Note the forms of the arguments of an accepted call, if they are inputs as they are."""
        if are_arrays(map(type, args)):
            if all(a is b for a, b in zip(args, feeds, strict=True)):
                self._known.put(tuple(map(form_of, args)), True)
        elif (arrays := arrays_behind(args)) is not None and all(
            form_of(a) == form_of(b) and a.dtype.isnative for a, b in zip(arrays, feeds, strict=True)
        ):
            self._known.put(tuple(map(placed_form_of, arrays)), True)

    def _run(self, values: Sequence[Any], *, wants_tensors: bool) -> Any:
        binding = self._bindings[self._current]
        small = self._small[self._current]
        place = self._tensor_place if wants_tensors else self._array_place
        made: list[OrtValue] = []  # a value does not hold its memory, and these live as long as the run
        try:
            for position, name, make in self._plan:
                value = values[position]
                made.append(ort_array(value).value if isinstance(value, DeviceArray) else make(value))
                binding.bind_ortvalue_input(name, made[-1])
            # In the order of `_begin`.
            for name in self._anew:
                binding.bind_output(name, place)
            for name, value in self._moving.items():
                if name in self._taken:
                    binding.bind_ortvalue_input(name, value)
                binding.bind_output(self._pairs[name], self._tensor_place)
            if self._device != CPU:
                binding.synchronize_inputs()
            self._session.run_with_iobinding(binding, onnxruntime_api.quiet_run_options())
        except Exception as error:
            names = [each.name for each in self._ports]
            raise run_error(names, values, error, self._model.explanations.find_node, None) from error
        self._current = 1 - self._current
        if len(small) == len(self._outputs) and not self._moving:
            kept = [self._copied(small[name], wants_tensors=wants_tensors) for name in self._outputs]
        else:
            values = onnxruntime_api.results_of(binding, [place for place, _ in self._read])
            results = {name: value for (_, name), value in zip(self._read, values, strict=True)}
            self._moving = {name: results[self._pairs[name]] for name in self._moving}
            kept = [
                self._copied(small[name], wants_tensors=wants_tensors)
                if name in small
                else self._result(results[name], wants_tensors=wants_tensors)
                for name in self._outputs
            ]
        return kept[0] if len(kept) == 1 else tuple(kept) or None

    def _result(self, value: OrtValue, *, wants_tensors: bool) -> Any:
        array = OrtArray(value, str(self._device if wants_tensors or self._reuse else CPU))
        if not wants_tensors:
            return array.numpy()
        return EagerTensor(array.numpy() if self._device == CPU else cast(Any, array))

    def _copied(self, buffer: OrtValue, *, wants_tensors: bool) -> Any:
        """A small result, copied out of its buffer on the CPU."""
        array = cast(Array, buffer.numpy()).copy()
        return EagerTensor(array) if wants_tensors else array

    @property
    def device(self) -> str:
        """The device that it computes on.

        >>> from onnxsmith import FLOAT, trace
        >>> trace(lambda x: x * 2.0, FLOAT["N"]).session().device
        'cpu'
        """
        return str(self._device)

    def __repr__(self) -> str:
        inputs = ", ".join(each.name for each in self._ports)
        state = f", state {', '.join(self._pairs)}" if self._pairs else ""
        return f"Session({inputs}) -> {', '.join(self._outputs) or 'nothing'}{state}, on {self._device}"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "a session holds memory of its device; send the model and session.state, and open one there"
        )


def _without_pattern(settings: Settings) -> Settings:
    """The same without the memory pattern, unless the user has chosen it.

    The first run has no pattern, and the arena keeps its memory beside that of the pattern: a step of training takes
    twice the memory by it, and is not faster.
    """
    if any(name == _PATTERN for name, _ in settings.session_options):
        return settings
    return replace(settings, session_options=tuple(sorted((*settings.session_options, (_PATTERN, "0")))))


def _checked_mapping(name: str, value: object) -> dict[str, Any]:
    if value is None:
        return {}
    strange = type(value) if not isinstance(value, Mapping) else None
    if isinstance(value, Mapping):
        keys = (type(each) for each in cast("Mapping[object, object]", value) if not isinstance(each, str))
        strange = next(keys, None)
    if strange is not None:
        where = "from " if isinstance(value, Mapping) else ""
        raise AttributeTypeError(
            f"{name} is a mapping from names of inputs, not {where}{described_type(strange)}",
            help='state={"h": array}' if name == "state" else 'pairs={"h": "h_after"}',
            culprit=("attribute", name),
        )
    return dict(cast("Mapping[str, Any]", value))


def _paired(model: Model, state: Mapping[str, Any], pairs: Mapping[str, str]) -> dict[str, str]:
    """The output that follows each input of the state."""
    inputs = [each.name for each in model.inputs]
    outputs = [each.name for each in model.outputs]
    metadata: Mapping[str, str] = cast(Any, model).metadata  # a capability, which checkers see in the stubs
    noted = trained_parameters.read_state(metadata)
    for name in (*state, *pairs):
        if name not in inputs:
            raise SessionStateError(
                f"the model has no input '{name}' that could be state",
                help=did_you_mean(name, inputs) or "its inputs are " + ", ".join(inputs),
            )
    for name in pairs:
        if name not in state:
            raise SessionStateError(
                f"'{name}' has a pair and no first value", help=f'state={{"{name}": array}}'
            )
    found: dict[str, str] = {}
    for name in state:
        named = [f"{name}_next", *(name.replace(old, new) for old, new in _PAIRS if old in name)]
        candidates = [pairs[name]] if name in pairs else [*filter(None, [noted.get(name)]), *named]
        output = next((each for each in candidates if each in outputs), None)
        if output is None:
            raise SessionStateError(
                f"no output of the model follows the state '{name}': there is no {' or '.join(map(repr, candidates))}",
                help=f'its outputs are {", ".join(outputs)}: pairs={{"{name}": …}} says which one it is',
            )
        if output in found.values():
            other = next(each for each in found if found[each] == output)
            raise SessionStateError(f"the output '{output}' follows both '{other}' and '{name}'")
        _check_pair(model, name, output)
        found[name] = output
    return found


def _check_pair(model: Model, name: str, output: str) -> None:
    types = {each.name: each.type for each in (*model.outputs, *model.inputs)}
    old, new = types[name], next(each.type for each in model.outputs if each.name == output)
    if not isinstance(old, TensorType) or not isinstance(new, TensorType):
        return
    is_other = None not in (old.dtype, new.dtype) and old.dtype is not new.dtype
    if is_other or (old.shape is not None and new.shape is not None and len(old.shape) != len(new.shape)):
        raise SessionStateError(
            f"the state '{name}' is {old!r}, and the output '{output}' that follows it is {new!r}",
            help="what a run gives has to be what the next one takes",
        )


def _buffer(kind: AnyValueType) -> OrtValue | None:
    """A buffer for a small result of fixed size, on the CPU; None for other results."""
    if not isinstance(kind, TensorType) or kind.dtype is None or kind.shape is None:
        return None
    if kind.dtype not in NATIVE or not is_static(kind.shape) or math.prod(kind.shape) > _MOST_SMALL:
        return None
    return onnxruntime_api.empty_value(kind.shape, kind.dtype)


def _is_fixed(old: AnyValueType, new: AnyValueType) -> bool:
    """True if state and what follows it have one size in every run."""
    if not isinstance(old, TensorType) or not isinstance(new, TensorType) or old.shape is None:
        return False
    return old.shape == new.shape and all(isinstance(each, int) for each in old.shape)
