"""Sessions that users hold: a model opened once on a device, whose state stays there between calls.

State is alternately in two sets of buffers: a run reads one and writes the other. One set would be wrong, because
ONNX Runtime may write an output before a node has read the input of the same memory for the last time.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from onnxsmith.core.call_cache import CallCache, are_arrays
from onnxsmith.diagnostics import hide_own_frames
from onnxsmith.errors import (
    CallError,
    DeviceError,
    ModelInputError,
    OnnxsmithError,
    OperatorFailedError,
    SessionInUseError,
    SessionStateError,
    boundary,
)
from onnxsmith.graphs import model_inputs
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_calls import form_of, gives_tensors, placed_form_of
from onnxsmith.graphs.run_values import Array, Run, RunValue
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.device_arrays import OrtArray, copied, device_of, ort_array
from onnxsmith.runtime.devices import CPU, check_there, read_device, settings_on
from onnxsmith.runtime.failure import output_of_another_size
from onnxsmith.runtime.feeds import runner_over, value_converter
from onnxsmith.runtime.model_session import open_model, run_error
from onnxsmith.runtime.onnxruntime_api import Binding, OrtValue
from onnxsmith.runtime.session_buffers import ANY_FORM, Form, is_small, result_buffer, result_of
from onnxsmith.runtime.session_pairs import checked_mapping, is_fixed, paired, requiring
from onnxsmith.runtime.settings import Scope, Settings, current
from onnxsmith.runtime.tensor import EagerTensor, arrays_behind
from onnxsmith.schema.foreign_arrays import DeviceArray
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: Whether ONNX Runtime lays out the memory of a whole run at once.
_PATTERN = "enable_mem_pattern"
#: How many forms of a call are known.
_MOST_FORMS = 256


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
        first = checked_mapping("state", state)
        model = requiring(model, first)
        self._model = model
        self._reuse = reuse
        self._pairs = paired(model, first, checked_mapping("pairs", pairs))
        #: The inputs that calls give, and the outputs that they get.
        self._ports = tuple(each for each in model.inputs if each.name not in first)
        self._names = tuple(each.name for each in self._ports)
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
        # What every run asks for, found once: a call costs a few microseconds.
        self._tensor_device, self._array_device = str(self._device), str(self._device if reuse else CPU)
        self._waits = self._device != CPU
        self._options = onnxruntime_api.quiet_run_options()
        self._lock = threading.Lock()
        self._begin(first)
        #: Runs without state of arrays on the CPU, where handing them over costs less than binding them.
        self._plain: Run | None = None
        if self._device == CPU and not first and not reuse:
            self._plain = runner_over(
                self._session, self._names, [each.type for each in self._ports], self._refuse
            )

    def _refuse(self, error: Exception, values: Sequence[Any]) -> list[RunValue]:
        raise self._failed(values, error) from error

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
        #: Outputs that are inputs: ONNX Runtime gives the memory of the input itself, and fills no buffer.
        passed = {each.name for each in self._model.inputs} & {each.name for each in self._model.outputs}
        # State whose size never changes alternates between two sets of buffers; of the rest each run makes new values.
        fixed = [
            name
            for name, output in self._pairs.items()
            if output not in passed and is_fixed(ports[name].type, ports[output].type)
        ]
        self._sets = [{name: copied(values[name], self._device).value for name in fixed} for _ in range(2)]
        self._moving = {
            name: copied(value, self._device).value for name, value in values.items() if name not in fixed
        }
        self._current = 0
        #: Buffers on the CPU of small results of fixed size, for each set of the state: results are copies of them.
        #: Results that other devices compute may be asked for there.
        small = [name for name in self._outputs if name not in passed] if self._device == CPU else []
        self._small: list[dict[str, OrtValue]] = [
            {name: made for name in small if (made := result_buffer(ports[name].type)) is not None}
            for _ in range(2)
        ]
        self._views = [
            {name: cast(Array, each.numpy()) for name, each in those.items()} for those in self._small
        ]
        # A model may name an output twice; it is bound once.
        left = [name for name in dict.fromkeys(self._outputs) if name not in self._small[0]]
        #: Outputs that are bound once, and written over by later runs: with another size that would be an error.
        self._kept = [
            name
            for name in left
            if self._reuse and name not in passed and is_fixed(ports[name].type, ports[name].type)
        ]
        #: The outputs that each run makes anew.
        self._anew = [name for name in left if name not in self._kept]
        self._bindings = [self._bound(old, 1 - old) for old in range(2)]
        # The outputs in the order of `get_outputs`, which is that of binding them.
        order = [*(self._pairs[name] for name in fixed), *self._small[0]]
        order += [*self._kept, *self._anew]
        order += [self._pairs[name] for name in self._moving]
        places = {name: place for place, name in enumerate(order)}
        #: For each result: its place among the outputs, or None for one in a buffer of ours; is it an input.
        self._results = [
            (name, None if name in self._small[0] else places[name], name in passed) for name in self._outputs
        ]
        #: The same for state that is a new value after each run, by the names of the inputs.
        self._following = [
            (name, places[self._pairs[name]], self._pairs[name] in passed) for name in self._moving
        ]
        #: The forms of arguments that calls were accepted with, whose bindings are of these buffers.
        self._known: CallCache[Form] = CallCache(_MOST_FORMS)
        #: Whether the binding of a run is asked for results: else all are in buffers of ours.
        self._reads = bool(self._following) or any(place is not None for _, place, _ in self._results)

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

    def _arrays_now(self) -> dict[str, OrtArray]:
        now = {**self._sets[self._current], **self._moving}
        return {name: OrtArray(now[name], str(self._device)) for name in self._pairs}

    def _step_back(self) -> None:
        if self._moving:
            raise SessionStateError("of state whose size changes only the last is there")
        self._current = 1 - self._current

    @property
    @boundary
    def state(self) -> dict[str, np.ndarray[Any, Any]]:
        """A copy of the state now, as arrays of numpy by the names of the inputs. Assign to it to go on from there."""
        self._take()  # a run in another thread may write to the set that is read
        try:
            return {name: each.numpy().copy() for name, each in self._arrays_now().items()}
        finally:
            self._lock.release()

    @state.setter
    @boundary
    def state(self, state: Mapping[str, Any]) -> None:
        given = checked_mapping("state", state)
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
                values = args if not kwargs else self._in_order(args, kwargs)
                if values is not None:
                    if are_arrays(map(type, values)):
                        form = self._known.find(tuple(map(form_of, values)))
                        if form is not None:
                            return self._run(values, form, wants_tensors=False)
                    elif (arrays := arrays_behind(values)) is not None:
                        form = self._known.find(tuple(map(placed_form_of, arrays)))
                        if form is not None:
                            return self._run(arrays, form, wants_tensors=True)
                feeds, wants_tensors = self._arrays(args, kwargs)
                return self._run(feeds, ANY_FORM, wants_tensors=wants_tensors)
            finally:
                self._lock.release()
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise

    def _in_order(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
        """All arguments in the order of the inputs; None if they are not exactly these."""
        try:
            values = (*args, *(kwargs[name] for name in self._names[len(args) :]))
        except KeyError:
            return None
        return values if len(args) + len(kwargs) == len(values) else None

    def _arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Sequence[Any], bool]:
        """The inputs of a call as arrays, in order, and whether tensors were given; refused where they do not fit."""
        for each in self._model.optional_inputs:
            if each.name in kwargs:
                raise ModelInputError(
                    f"input '{each.name}' has a default, which a session keeps",
                    help="call the model itself, or give it to the session as state",
                    culprit=each.name,
                )
        given = model_inputs.by_name(self._ports, (), args, kwargs)
        for name in self._names:
            if given[name] is None and name in self._taken:
                raise ModelInputError(f"input '{name}' is missing: it was given None", culprit=name)
        feeds = [model_inputs.feed(port, given[port.name]) for port in self._ports]
        conditions = self._model._conditions  # pyright: ignore[reportPrivateUsage]  # as a call of the model does
        model_inputs.check_sizes(self._ports, feeds, kwargs, self._names, conditions)
        wants_tensors = any(map(gives_tensors, given.values()))
        found = device_of(feeds)
        if found not in (None, str(self._device)):
            raise DeviceError(
                f"the session is on the device {self._device}, and was given a tensor on {found}",
                help=f'x.to_device("{self._device}")',
            )
        values = self._in_order(args, kwargs)
        if values is not None:
            self._learn(values, feeds)
        return feeds, wants_tensors

    def _learn(self, args: tuple[Any, ...], feeds: Sequence[Any]) -> None:
        """Note the forms of the arguments of an accepted call, if they are inputs as they are."""
        if are_arrays(map(type, args)):
            if all(a is b for a, b in zip(args, feeds, strict=True)):
                self._known.put(tuple(map(form_of, args)), self._form(feeds))
        elif (arrays := arrays_behind(args)) is not None and all(
            form_of(a) == form_of(b) and a.dtype.isnative for a, b in zip(arrays, feeds, strict=True)
        ):
            self._known.put(tuple(map(placed_form_of, arrays)), self._form(feeds))

    def _form(self, feeds: Sequence[Any]) -> Form:
        """How inputs of this form get into the session: small ones into buffers, where all results lie in some."""
        given = [(position, name, feeds[position]) for position, name, _ in self._plan]
        if self._reads or self._plain is not None or not all(is_small(each) for _, _, each in given):
            return ANY_FORM
        bindings, buffers = [self._bound(old, 1 - old) for old in range(2)], list[tuple[int, Array]]()
        for position, name, array in given:
            dtype = DType.from_numpy(array.dtype)
            assert dtype is not None, "tensors have element types of ONNX"
            value = onnxruntime_api.empty_value(array.shape, dtype)
            for each in bindings:
                each.bind_ortvalue_input(name, value)
            buffers.append((position, cast(Array, value.numpy())))
        return Form(bindings, buffers)

    def _run(self, values: Sequence[Any], form: Form, *, wants_tensors: bool) -> Any:
        if self._plain is None or (wants_tensors and any(isinstance(each, DeviceArray) for each in values)):
            return self._run_bound(values, form, wants_tensors=wants_tensors)
        outputs: list[Any] = self._plain(values)
        if wants_tensors:
            outputs = [EagerTensor(each) for each in outputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _run_bound(self, values: Sequence[Any], form: Form, *, wants_tensors: bool) -> Any:
        binding = (form.bindings or self._bindings)[self._current]
        views = self._views[self._current]
        place = self._tensor_place if wants_tensors else self._array_place
        made: list[OrtValue] = []  # a value does not hold its memory, and these live as long as the run
        try:
            for position, buffer in form.buffers:
                np.copyto(buffer, values[position])
            for position, name, make in self._plan if form.bindings is None else ():
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
            if self._waits:
                binding.synchronize_inputs()
            self._session.run_with_iobinding(binding, self._options)
        except Exception as error:
            raise self._failed(values, error) from error
        self._current = 1 - self._current
        found = binding.get_outputs() if self._reads else ()
        if self._following:
            self._moving = {
                name: self._own(found[position], self._tensor_device) if is_input else found[position]
                for name, position, is_input in self._following
            }
        there = self._tensor_device if wants_tensors else self._array_device
        results: list[Any] = []
        for name, position, is_input in self._results:
            if position is None:
                array = views[name].copy()
                results.append(EagerTensor(array) if wants_tensors else array)
            else:
                value = self._own(found[position], there) if is_input else found[position]
                results.append(result_of(value, there, wants_tensors=wants_tensors))
        return results[0] if len(results) == 1 else tuple(results) or None

    def _own(self, value: OrtValue, device: str) -> OrtValue:
        """A copy of a value that is an input: the memory may be the caller's."""
        return copied(OrtArray(value, device), read_device(device)).value

    def _failed(self, values: Sequence[Any], error: Exception) -> OnnxsmithError:
        """The error of a run that ended with `error`."""
        name = output_of_another_size(error)
        if name is not None:
            declared = next(each.type for each in self._model.outputs if each.name == name)
            return OperatorFailedError(
                f"the output '{name}' is declared as {declared!r}, and has another size in this run",
                help="a session makes room for what is declared: declare the size that changes by a name, "
                "or call the model itself",
            )
        return run_error(self._names, values, error, self._model.explanations.find_node, None)

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


# -- for training --------------------------------------------------------------------------------------------------


def arrays_on_device(session: Session) -> dict[str, OrtArray]:
    """The state of a session as it lies on the device, not copied: the next call but one writes over it."""
    return session._arrays_now()  # pyright: ignore[reportPrivateUsage]  # of this module


def step_back(session: Session) -> None:
    """Take the state of before the last call of a session again, where its size never changes."""
    session._step_back()  # pyright: ignore[reportPrivateUsage]  # of this module
