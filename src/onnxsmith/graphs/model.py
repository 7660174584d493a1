"""A finished model: look at it, run it, save it, load it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

import onnx

from onnxsmith.core.call_cache import CHOICE, are_arrays
from onnxsmith.core.target import ACTIVE, RecordingTarget
from onnxsmith.diagnostics import described_type, printable
from onnxsmith.errors import (
    InputTypeError,
    InvalidModelError,
    LiteralError,
    ModelInputError,
    NotRunnableError,
    OnnxsmithError,
    boundary,
)
from onnxsmith.graphs import (
    external_data,
    files,
    model_inputs,
    parcels,
    proto_writer,
    raw,
    record_files,
    size_conditions,
    soundness,
)
from onnxsmith.graphs.attribute_values import check_attribute_values
from onnxsmith.graphs.capabilities import OF_ESTIMATORS, with_capabilities
from onnxsmith.graphs.diagnosis import Explanations, explanations_of, no_explanations
from onnxsmith.graphs.embedding import call_model
from onnxsmith.graphs.existing_files import check_data_file, check_model_file
from onnxsmith.graphs.given_models import Unread, no_model, read_given
from onnxsmith.graphs.given_paths import path_of
from onnxsmith.graphs.handover import SessionModel, recorded_session_model, session_model
from onnxsmith.graphs.ir_maker import model_to_ir
from onnxsmith.graphs.isolation import check_options, check_outside_graphs, isolation
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.model_calls import ModelCalls, checking, form_of, gives_tensors, of_arrays, refusing
from onnxsmith.graphs.model_inputs import Port as Port
from onnxsmith.graphs.model_inputs import port_of
from onnxsmith.graphs.model_runtime import model_runtime
from onnxsmith.graphs.model_text import text_of
from onnxsmith.graphs.node_counts import node_count, operators_in
from onnxsmith.graphs.records import ModelRecord
from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.run_values import Run, RunValue
from onnxsmith.graphs.runtime_support import warn_of_runtime
from onnxsmith.graphs.size_conditions import carry
from onnxsmith.types.value_types import SequenceType, TensorType

#: Attributes of models that other modules of ours use, and completion does not show.
_FOR_OURSELVES = ("explanations", "handed_over", "is_proto_only", "native_runner", "place", "session_for")


@with_capabilities
class Model:
    """An ONNX model.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a, b: op.Relu(a @ b + 1.0), FLOAT["N", 4], FLOAT[4, 8])
    >>> model
    Model(a: FLOAT['N', 4], b: FLOAT[4, 8]) -> relu: FLOAT['N', 8], 3 nodes, opset 21
    >>> model(np.ones((2, 4), np.float32), np.ones((4, 8), np.float32)).shape
    (2, 8)
    """

    #: Whether only the proto says all of it: onnx-ir has no maps and no sparse tensors.
    is_proto_only: ClassVar[bool] = False

    #: The file that it was read from.
    place: Path | None = None

    def __dir__(self) -> list[str]:
        """The names that people use; those of estimators where the model has such an output."""
        told = "" if self.is_proto_only else self._held.metadata_props.get(model_inputs.COLUMNS_KEY, "")
        absent = [name for name in OF_ESTIMATORS if f'"{name}"' not in told]
        return sorted({*super().__dir__()}.difference(_FOR_OURSELVES, absent))

    #: The sizes that it is for, as far as its metadata says so.
    _conditions: tuple[size_conditions.SizeCondition, ...] = ()

    #: The device that it computes on, where it is for one: `to_device` sets it on a copy.
    _device: str | None = None

    #: What runs where optional inputs are given, by their names.
    _without_defaults: dict[frozenset[str], Model]

    #: Made by the first call.
    _made_calls: ModelCalls | None = None

    @boundary
    def __init__(self, model: ir.Model) -> None:
        if not isinstance(cast(object, model), ir.Model):
            raise InputTypeError(
                f"a Model is made of an onnx-ir model, not of {described_type(type(model))}",
                help="onnxsmith.load takes a path, bytes, an open file or a ModelProto",
                culprit=0,
            )
        self._hold(model)

    def _hold(self, model: ir.Model | ModelRecord) -> None:
        #: The graph as it was recorded, until somebody asks for onnx-ir: then that is the model.
        self._held: ir.Model | ModelRecord = model
        self._conditions = size_conditions.read(model.metadata_props)
        self._without_defaults = {}

    @property
    def _ir(self) -> ir.Model:
        held = self._held
        if isinstance(held, ModelRecord):
            # All threads get the one that was entered first.
            held = self._held = self.__dict__.setdefault("_made_ir", model_to_ir(held))
        return held

    @staticmethod
    @boundary
    def load(model: ModelLike) -> Model:
        """Read a model from a file. Weights in a file beside it are mapped into memory, not read.

        The file is a path, an open file or its bytes; a ModelProto and an onnx-ir model become a `Model` as well.

        >>> import pathlib, tempfile
        >>> from onnxsmith import FLOAT, Model, trace
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "model.onnx")
        ...     trace(lambda x: x + 1.0, FLOAT["N"]).save(file)
        ...     Model.load(file).inputs[0].name
        'x'
        """
        return model_of(model, "load")

    @staticmethod
    @boundary
    def from_proto(proto: onnx.ModelProto) -> Model:
        """The model of a ModelProto.

        >>> from onnxsmith import FLOAT, Model, trace
        >>> model = trace(lambda x: x + 1.0, FLOAT["N"])
        >>> Model.from_proto(model.proto).inputs[0].name
        'x'
        """
        return _made(proto, "the ModelProto", None)

    @boundary
    def save(
        self,
        path: str | os.PathLike[str],
        *,
        external_data: bool | str | None = None,
        overwrite: bool = False,
    ) -> None:
        """Write the model, whole or not at all, in the place of a model that is at `path`.

        `external_data` True, or a file name, puts the weights in a file beside it; past 1.9 GB that happens by itself.
        A file at `path` that holds no model, or one beside it that is not its data, stays unless `overwrite` is True.
        A RuntimeSupportWarning says where the installed ONNX Runtime gets the file wrong, or does not load it.

        >>> import pathlib, tempfile
        >>> from onnxsmith import FLOAT, trace
        >>> model = trace(lambda x: x + 1.0, FLOAT["N"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "model.onnx")
        ...     model.save(file)
        ...     file.exists()
        True
        """
        place = path_of(path)
        if not overwrite:
            check_model_file(place)
        self._warn_of_runtime()
        held = self._held
        if isinstance(held, ModelRecord) and record_files.save(held, place, external_data):
            return
        data = files.data_place(self._ir, place, external_data)
        if data is not None and not overwrite:
            check_data_file(data, place)
        files.save(self._ir, place, external_data)

    @property
    def ir(self) -> ir.Model:
        """The onnx-ir model behind it. After changing it, make a new Model of it.

        >>> from onnxsmith import FLOAT, trace
        >>> model = trace(lambda x: x + 1.0, FLOAT["N"])
        >>> [node.op_type for node in model.ir.graph]
        ['Add']
        """
        return self._ir

    @property
    def proto(self) -> onnx.ModelProto:
        """The model as a ModelProto, weights included: a copy.

        >>> from onnxsmith import FLOAT, trace
        >>> model = trace(lambda x: x + 1.0, FLOAT["N"])
        >>> model.proto.graph.node[0].op_type
        'Add'
        """
        held = self._held
        written = proto_writer.model_to_proto(held) if isinstance(held, ModelRecord) else None
        return files.to_proto(self._ir) if written is None else written

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Names and types of the inputs that must be given.

        >>> from onnxsmith import FLOAT, trace
        >>> model = trace(lambda x: x + 1.0, FLOAT["N"])
        >>> model.inputs
        (Port(name='x', type=FLOAT['N']),)
        """
        held = self._held
        if isinstance(held, ModelRecord):
            return tuple(map(port_of, held.graph.inputs))
        graph = held.graph
        return tuple(port_of(value) for value in graph.inputs if value.name not in graph.initializers)

    @property
    def optional_inputs(self) -> tuple[Port, ...]:
        """Names and types of the inputs that may be given: an initializer of the same name is their default.

        >>> from onnxsmith import FLOAT, trace
        >>> model = trace(lambda x: x + 1.0, FLOAT["N"])
        >>> model.optional_inputs
        ()
        """
        held = self._held
        if isinstance(held, ModelRecord):
            return ()  # what is recorded has weights, and no defaults
        graph = held.graph
        return tuple(port_of(value) for value in graph.inputs if value.name in graph.initializers)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Names and types of the outputs.

        >>> from onnxsmith import FLOAT, trace
        >>> model = trace(lambda x: x + 1.0, FLOAT["N"], output_names=["y"])
        >>> model.outputs
        (Port(name='y', type=FLOAT['N']),)
        """
        return tuple(map(port_of, self._held.graph.outputs))

    @property
    def opset_imports(self) -> Mapping[str, int]:
        """Domain and version of the opsets it uses.

        >>> from onnxsmith import FLOAT, trace
        >>> model = trace(lambda x: x + 1.0, FLOAT["N"], opset_version=21)
        >>> dict(model.opset_imports)
        {'': 21}
        """
        return dict(self._held.opset_imports)

    @boundary
    def check(self) -> None:
        """Raise InvalidModelError where the model breaks one of ONNX's rules.

        A RuntimeSupportWarning says where the installed ONNX Runtime gets a valid model wrong, or does not load it.

        >>> from onnxsmith import FLOAT, trace
        >>> model = trace(lambda x: x + 1.0, FLOAT["N"])
        >>> model.check()
        """
        soundness.check_opsets(self.proto)
        try:
            soundness.check_rules(self.proto)
        except Exception as error:  # the checker and inference raise unrelated classes
            raise soundness.broken_rule(error, self.proto, "the model") from None
        self._warn_of_runtime()

    def _warn_of_runtime(self) -> None:
        """Warn if the installed runtime, without this package, gets the model wrong or cannot load it."""
        warn_of_runtime(self.opset_imports.get("", 0), self._operators, self.handed_over)

    @property
    def _operators(self) -> set[tuple[str, str]]:
        held = self._held
        return operators_in(held if isinstance(held, ModelRecord) else self._ir)

    @boundary
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run it on arrays, by position or by name: one output comes back as it is, several as a tuple.

        By position come `inputs`, then `optional_inputs`; of these one that is left out, or None, has its default.
        Where a graph is being made, the model becomes a function of it, and this is a call of that function. The
        graph's model then holds the weights, which are not copied.
        """
        active = ACTIVE.get()
        graph = None if active is None else active.recording
        if graph is not None:
            model, values = self._bind(args, kwargs, graph)
            results = call_model(graph, model.ir, values)
            return results[0] if len(results) == 1 else results
        run, values = None, args
        if (calls := self._made_calls) is not None:
            if kwargs and len(args) + len(kwargs) == len(calls.names):
                values = (*args, *map(kwargs.get, calls.names[len(args) :]))
            if values is args and kwargs:  # names that are no inputs, or too few
                pass
            elif are_arrays(map(type, values)):
                run = calls.known.find((CHOICE.get(), *map(form_of, values)))
            elif (found := calls.find_tensors(values)) is not None:
                run, values = found
        if run is None:
            run, values = self._prepared(args, kwargs)
        outputs = run(values)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _prepared(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Run, Sequence[Any]]:
        """The session of a call and its inputs; remembered for calls of the same form."""
        model, feeds = self._bind(args, kwargs)
        try:
            run = model.session_for(feeds)
        except NotRunnableError as error:
            raise model.explanations.explain(error, feeds) from error.__cause__
        if any(gives_tensors(each) for each in (*args, *kwargs.values())):
            as_tensors = model_runtime().as_tensors
            if model is self:
                self._calls.learn_tensors(args, kwargs, feeds, lambda feeds: as_tensors(run(feeds)))
            return lambda feeds: as_tensors(run(feeds)), feeds
        if model is self:
            self._calls.learn(args, kwargs, feeds, run)
        return run, feeds

    def session_for(self, feeds: Sequence[Any]) -> Run:
        """The session for inputs: where they are, on the model's own device, or by the choice of this context.

        >>> import numpy as np
        >>> from onnxsmith import FLOAT, trace
        >>> x = np.float32([1.0, 2.0])
        >>> trace(lambda x: x + 1.0, FLOAT["N"]).session_for([x])([x])
        [array([2., 3.], dtype=float32)]
        """
        block = model_runtime().staying_with(feeds, self._device)
        if block is None:
            return self._session()
        with block:
            return self._session()

    @property
    def _calls(self) -> ModelCalls:
        # All threads get the one that was entered first.
        return self._made_calls or self.__dict__.setdefault(
            "_made_calls", ModelCalls(self.inputs, self.optional_inputs)
        )

    @boundary
    def run(
        self,
        /,
        *inputs: Any,
        isolated: bool = False,
        timeout: float | None = None,
        memory: int | str | None = None,
        **named: Any,
    ) -> Any:
        """Run it as a call does; `isolated` in a process of its own, for models that one does not trust.

        There it may crash, take longer than `timeout` seconds, or want more than `memory` (bytes, or "2 GB"): each is
        an error that says so, and this process goes on. Inputs may also be given as one mapping by name.

        >>> import numpy as np
        >>> from onnxsmith import FLOAT, trace
        >>> model = trace(lambda x: x + 1.0, FLOAT["N"])
        >>> model.run({"x": np.float32([1, 2])}, isolated=True, timeout=60)
        array([2., 3.], dtype=float32)
        """
        limits = isolation(isolated=isolated, timeout=timeout, memory=memory)
        if len(inputs) == 1 and not named and self._is_by_name(inputs[0]):
            model_inputs.refuse_keys(inputs[0], self._calls.ports, self._calls.optional)
            inputs, named = (), dict(inputs[0])
        check_options(named, self._calls.all_names)
        if limits is None:
            return self(*inputs, **named)
        check_outside_graphs()
        model, feeds = self._bind(inputs, named)
        with model.explanations.isolated_runs(
            model.handed_over(), [port.name for port in model.inputs], limits
        ) as run_each:
            (outputs,) = run_each([feeds])
        if isinstance(outputs, OnnxsmithError):
            raise outputs
        if any(gives_tensors(each) for each in (*inputs, *named.values())):
            outputs = model_runtime().as_tensors(outputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _is_by_name(self, given: object) -> bool:
        """True if this is a mapping of inputs by name, and not the value of an input that is itself a map."""
        if not isinstance(given, Mapping):
            return False
        ports = (*self._calls.ports, *self._calls.optional)
        takes_map = bool(ports) and not isinstance(ports[0].type, TensorType | SequenceType)
        return not takes_map or set(cast("Mapping[object, object]", given)) <= {port.name for port in ports}

    def runner(self) -> Callable[[Sequence[Any]], Any]:
        """A function of the inputs as a list of arrays, for calls that must cost little.

        >>> import numpy as np
        >>> from onnxsmith import FLOAT, trace
        >>> model = trace(lambda x: x + 1.0, FLOAT["N"])
        >>> run = model.runner()
        >>> run([np.float32([1.0, 2.0])])
        array([2., 3.], dtype=float32)
        """
        return of_arrays(self.native_runner(), self._calls.ports)

    @property
    def device(self) -> str:
        """The device that calls on arrays of numpy compute on; `to_device` gives a model on another.

        >>> from onnxsmith import FLOAT, trace
        >>> trace(lambda x: x + 1.0, FLOAT["N"]).device
        'cpu'
        """
        return self._device or "cpu"

    def native_runner(self) -> Run:
        """A function from arrays in the byte order of the machine, as a list, to the list of outputs.

        >>> import numpy as np
        >>> from onnxsmith import FLOAT, trace
        >>> trace(lambda x: x + 1.0, FLOAT["N"]).native_runner()([np.float32([1.0, 2.0])])
        [array([2., 3.], dtype=float32)]
        """
        try:
            run = self.session_for(())
        except NotRunnableError as error:
            return refusing(error, self.explanations.explain)
        return checking(run, self._conditions, self._calls.ports) if self._conditions else run

    def _session(self) -> Run:
        """The session of the runtime that this context chooses; NotRunnableError where nothing runs the model."""
        return self._calls.sessions.get_or_make(CHOICE.get(), self._make_session)

    def _make_session(self) -> Run:
        return model_runtime().load(self.handed_over(), *self.explanations)

    @property
    def explanations(self) -> Explanations:
        """How a runtime says what is wrong with the model, and where.

        >>> from onnxsmith import FLOAT, trace
        >>> trace(lambda x: x + 1.0, FLOAT["N"]).explanations.objection("", None) is None
        True
        """
        called = "the model" if self.place is None else printable(self.place.name)
        return explanations_of(lambda: self._ir, called)

    def handed_over(self) -> SessionModel:
        """The model as a runtime is given it.

        >>> from onnxsmith import FLOAT, trace
        >>> model = trace(lambda x: x + 1.0, FLOAT["N"])
        >>> model.handed_over().proto.graph.node[0].op_type
        'Add'
        """
        held = self._held
        recorded = recorded_session_model(held) if isinstance(held, ModelRecord) else None
        if recorded is not None:
            return recorded  # the values of its attributes were checked by the calls that it was made by
        check_attribute_values(self._ir)
        return session_model(self._ir)

    def _bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], graph: RecordingTarget | None = None
    ) -> tuple[Model, list[Any]]:
        """The model to run, and its inputs as arrays, in order; as values of a graph where one is being made.

        That is the model itself, unless optional inputs are given: then the one that must be given them.
        """
        calls = self._calls
        ports = calls.ports
        if args and hasattr(args[0], "columns"):
            model_inputs.refuse_frame(ports, args[0], self._held.metadata_props)
        is_plain = len(args) <= len(ports) and (not kwargs or kwargs.keys() <= set(calls.names))
        optional = () if is_plain else calls.optional
        given = model_inputs.by_name(ports, optional, args, kwargs)
        replaced = frozenset(each.name for each in optional if given.get(each.name) is not None)
        model = self if not replaced else self._requiring(replaced)
        order = [each.name for each in (*ports, *optional)]
        ports = model._calls.ports
        feeds: list[Any] = []
        for port in ports:
            value = given[port.name]
            try:
                feeds.append(
                    model_inputs.feed(port, value)
                    if graph is None
                    else model_inputs.argument(port, value, graph)
                )
            except (ModelInputError, InputTypeError, LiteralError) as error:
                position = order.index(port.name)
                error.culprit = ("attribute", port.name) if port.name in kwargs else ("input", position)
                raise
        if graph is None:
            model_inputs.check_sizes(ports, feeds, kwargs, order, self._conditions)
        elif self._conditions:
            shapes = [getattr(each.known.type, "shape", None) or () for each in feeds]
            carry(graph.shared, self._conditions, model_inputs.dimensions(ports, shapes))
        return model, feeds

    def _requiring(self, names: frozenset[str]) -> Model:
        """The same model without the defaults of some inputs; made once for each choice of them."""
        made = self._without_defaults.get(names)
        if made is None:
            made = self._make_requiring(names)
            made.place, made._device = self.place, self._device
            made = self._without_defaults.setdefault(names, made)  # all threads get the first
        return made

    def _make_requiring(self, names: frozenset[str]) -> Model:
        model = self._ir.clone()  # tensors are shared
        for name in names:
            model.graph.initializers.pop(name).const_value = None
        return Model(model)

    def __reduce__(self) -> tuple[Any, ...]:
        """The whole model with its weights, wherever they lie; sessions stay behind."""
        return _unpickled, (*parcels.pack(self._ir), self.place)

    def __copy__(self) -> Model:
        result = Model(self._ir)
        result.place = self.place
        return result

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        # Weights are never changed in place, so a copy can refer to them.
        return _unpickled(*parcels.pack(self._ir), self.place)

    @property
    def _node_count(self) -> int:
        return node_count(self._held)

    @property
    def _weight_bytes(self) -> int:
        return files.weight_bytes(self._ir)

    def __repr__(self) -> str:
        ports = self.inputs, self.optional_inputs, self.outputs
        return model_inputs.one_line(*ports, self._node_count, self.opset_imports)

    @boundary
    def text(self) -> str:
        """The whole model as ONNX text; of a large weight, the first elements. `print(model)` is one line.

        >>> from onnxsmith import FLOAT, trace
        >>> model = trace(lambda x: -x, FLOAT["N"], output_names=["y"], opset_version=21)
        >>> print(model)
        Model(x: FLOAT['N']) -> y: FLOAT['N'], 1 node, opset 21
        >>> model.text().splitlines()[-3:]
        ['traced (float[N] x) => (float[N] y) {', '   [neg] y = Neg (x)', '}']
        """
        held = self.proto if self.is_proto_only else self._ir
        with soundness.blaming(held):
            return text_of(held)


if TYPE_CHECKING:
    #: A model in any form: every function that takes a model takes these.
    ModelLike: TypeAlias = Model | ir.Model | Unread
else:
    ModelLike = object  # its parts are not loaded for it


def recorded_model(record: ModelRecord) -> Model:
    """A model of what was recorded; nothing of onnx-ir is made for it until somebody asks."""
    made = object.__new__(Model)
    made._hold(record)  # pyright: ignore[reportPrivateUsage]  # a second constructor, which users do not see
    return made


def model_of(given: ModelLike, verb: str, culprit: int = 0) -> Model:
    """The model that was given in any form. Raises CallError for what is none: the argument `culprit` of `verb`."""
    if isinstance(given, Model):
        return given
    read = read_given(given)
    if read is not None:
        model = _made(read.proto, read.called, None if read.place is None else read.place.parent)
        model.place = read.place
        return model
    if isinstance(given, ir.Model):
        return Model(given)
    raise no_model(given, verb, culprit)


def _made(proto: onnx.ModelProto, called: str, folder: Path | None) -> Model:
    """The model of a proto whose external data lies in `folder`."""
    with files.reading(called):
        if raw.is_beyond_onnx_ir(proto):
            soundness.check_proto(proto, called)
            external_data.embed(raw.tensors_of(proto), folder, called)
            return RawModel(proto)
        model = soundness.check_ir(files.from_proto(proto, called), called)
        return Model(files.stand_alone(model, called) if folder is None else files.attach(model, folder))


def _unpickled(content: bytes, weights: Sequence[parcels.PackedWeight], place: Path | None) -> Model:
    result = Model(parcels.unpack(content, weights))
    result.place = place
    return result


def _unpickled_raw(content: bytes, place: Path | None) -> Model:
    result = RawModel(onnx.ModelProto.FromString(content))
    result.place = place
    return result


def bound(model: Model, inputs: Mapping[str, Any] | Sequence[Any]) -> tuple[Model, list[RunValue]]:
    """The model to run on inputs, by name or in order, and the arrays for it; refuses what a call would refuse.

    That is the model itself, unless optional inputs are given.
    """
    if isinstance(inputs, Mapping):
        return model._bind((), dict(inputs))  # pyright: ignore[reportPrivateUsage]  # the same, for who runs it elsewhere
    return model._bind(tuple(inputs), {})  # pyright: ignore[reportPrivateUsage]  # as above


@boundary
def load(model: ModelLike) -> Model:
    """Read a model from a file: `onnxsmith.load("m.onnx")`.

    An open file, the bytes of one, a ModelProto and an onnx-ir model become a `Model` as well.

    >>> import pathlib, tempfile
    >>> import onnxsmith
    >>> from onnxsmith import FLOAT, trace
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "model.onnx")
    ...     trace(lambda x: x + 1.0, FLOAT["N"]).save(file)
    ...     onnxsmith.load(file).inputs[0].name
    'x'
    """
    return model_of(model, "load")


class RawModel(Model):
    """A model with maps or sparse weights, which onnx-ir has no place for: kept as its proto, whole."""

    is_proto_only = True

    def __init__(self, proto: onnx.ModelProto) -> None:
        self._proto = proto
        self._without_defaults = {}

    @boundary
    def save(
        self,
        path: str | os.PathLike[str],
        *,
        external_data: bool | str | None = None,
        overwrite: bool = False,
    ) -> None:
        if not overwrite:
            check_model_file(path_of(path))
        files.save_bytes(self._proto.SerializeToString(), path)

    @property
    def ir(self) -> ir.Model:
        raise InvalidModelError(
            "the model has maps or sparse weights, which onnx-ir has no place for",
            help="model.proto has all of it",
        )

    @property
    def proto(self) -> onnx.ModelProto:
        return copied(self._proto)

    @property
    def inputs(self) -> tuple[Port, ...]:
        return self._ports(with_default=False)

    @property
    def optional_inputs(self) -> tuple[Port, ...]:
        return self._ports(with_default=True)

    def _ports(self, *, with_default: bool) -> tuple[Port, ...]:
        held, given = raw.initializer_names(self._proto), self._proto.graph.input
        ports = (each for each in given if (each.name in held) is with_default)
        return tuple(Port(each.name, raw.read_type(each.type)) for each in ports)

    def _make_requiring(self, names: frozenset[str]) -> Model:
        return RawModel(raw.without_initializers(self._proto, names))

    @property
    def outputs(self) -> tuple[Port, ...]:
        return tuple(Port(each.name, raw.read_type(each.type)) for each in self._proto.graph.output)

    @property
    def opset_imports(self) -> Mapping[str, int]:
        return {each.domain: each.version for each in self._proto.opset_import}

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled_raw, (self._proto.SerializeToString(), self.place)

    def __copy__(self) -> Model:
        return _unpickled_raw(self._proto.SerializeToString(), self.place)

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self.__copy__()

    @property
    def _node_count(self) -> int:
        return node_count(self._proto)

    @property
    def _operators(self) -> set[tuple[str, str]]:
        return operators_in(self._proto)

    @property
    def _weight_bytes(self) -> int:
        return self._proto.ByteSize()

    def handed_over(self) -> SessionModel:
        return SessionModel(self._proto)

    @property
    def explanations(self) -> Explanations:
        return no_explanations()  # they go by onnx-ir's graphs
