"""A finished model: look at it, run it, save it, load it."""

from __future__ import annotations

import functools
import html
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import onnx
import onnx_ir as ir

from onnxsmith.core.target import ACTIVE, default_target
from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import InvalidModelError, ModelInputError, boundary
from onnxsmith.graphs import files, raw, size_conditions
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.embedding import call_model
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.origins import origin_of
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, Shape, TensorType, describe_shape

#: Models with more weights than this go to the runtime through a file.
_IN_MEMORY_BYTES = 1 << 24


class Port(NamedTuple):
    """An input or output of a model: its name and type."""

    name: str
    type: AnyValueType


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

    #: The sizes that it is for, as far as its metadata says so.
    _conditions: tuple[size_conditions.SizeCondition, ...] = ()

    def __init__(self, model: ir.Model) -> None:
        self._ir = model
        self._conditions = size_conditions.read(model.metadata_props)
        self._run: Callable[[Sequence[Any]], list[Any]] | None = None

    @staticmethod
    @boundary
    def load(path: str | os.PathLike[str]) -> Model:
        """Read a model from a file. Weights in a file beside it are mapped into memory, not read."""
        return _read(path)

    @staticmethod
    @boundary
    def from_proto(proto: onnx.ModelProto) -> Model:
        """The model of a ModelProto."""
        return _of_proto(proto, "the ModelProto")

    @boundary
    def save(self, path: str | os.PathLike[str], *, external_data: bool | str | None = None) -> None:
        """Write the model, whole or not at all.

        `external_data` True, or a file name, puts the weights in a file beside it; past 2 GB that happens by itself.
        """
        files.save(self._ir, path, external_data)

    @property
    def ir(self) -> ir.Model:
        """The onnx-ir model behind it. After changing it, make a new Model of it."""
        return self._ir

    @property
    def proto(self) -> onnx.ModelProto:
        """The model as a ModelProto, weights included: a copy."""
        return files.to_proto(self._ir)

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Names and types of the inputs that must be given."""
        graph = self._ir.graph
        return tuple(_port(value) for value in graph.inputs if value.name not in graph.initializers)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Names and types of the outputs."""
        return tuple(_port(value) for value in self._ir.graph.outputs)

    @property
    def opset_imports(self) -> Mapping[str, int]:
        """Domain and version of the opsets it uses."""
        return dict(self._ir.opset_imports)

    @boundary
    def check(self) -> None:
        """Raise InvalidModelError where the model breaks one of ONNX's rules."""
        try:
            cast(Any, onnx.checker).check_model(self.proto, full_check=True)
        except Exception as error:  # the checker and inference raise unrelated classes
            raise InvalidModelError(f"the model is not valid: {checker_words(error)}") from None

    @boundary
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run it on arrays, by position or by name: one output comes back as it is, several as a tuple.

        Where a graph is being made, the model becomes a function of it, and this is a call of that function.
        """
        active = ACTIVE.get()
        if isinstance(active, GraphTarget):
            given = self._in_order(args, kwargs)
            results = call_model(active, self.ir, [given[port.name] for port in self.inputs])
            return results[0] if len(results) == 1 else results
        feeds = self._bind(args, kwargs)
        if self._run is None:
            self._run = self._make_runner()
        outputs = self._run(feeds)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def runner(self) -> Callable[[Sequence[Any]], Any]:
        """A function of the inputs as a list of arrays, for calls that must cost little."""
        if self._run is None:
            self._run = self._make_runner()
        run = self._run
        if len(self.outputs) == 1:
            return lambda arrays: run(arrays)[0]
        return lambda arrays: tuple(run(arrays))

    def _make_runner(self) -> Callable[[Sequence[Any]], list[Any]]:
        model_runner: Callable[..., Callable[[Sequence[Any]], list[Any]]] = cast(
            Any, default_target()
        ).model_runner
        return self._loaded_by(
            functools.partial(model_runner, find_node=functools.partial(origin_of, self._ir))
        )

    def _loaded_by(
        self, make: Callable[[bytes | str], Callable[[Sequence[Any]], list[Any]]]
    ) -> Callable[[Sequence[Any]], list[Any]]:
        """What `make` gives for the model, serialized or as a file."""
        if files.weight_bytes(self._ir) <= _IN_MEMORY_BYTES:
            return make(files.serialize(self._ir))
        # Handed over as a file the weights are not copied on the way; it can go when the runtime has read it.
        with tempfile.TemporaryDirectory(prefix="onnxsmith-") as folder:
            path = os.path.join(folder, "model.onnx")
            files.save(self._ir, path, external_data=None)
            return make(path)

    def _in_order(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """What was given for each input."""
        ports = self.inputs
        names = [port.name for port in ports]
        if len(args) > len(ports):
            count = f"{len(ports)} input{'s' * (len(ports) != 1)}"
            raise ModelInputError(
                f"the model has {count}, and was given {len(args)}",
                help=_form(ports),
                culprit=("input", len(ports)),
            )
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                raise ModelInputError(
                    f"the model has no input '{name}'",
                    help=did_you_mean(name, names) or _form(ports),
                    culprit=("attribute", name),
                )
            if name in given:
                raise ModelInputError(f"input '{name}' was given twice", culprit=("attribute", name))
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise ModelInputError(f"input '{missing[0]}' is missing", help=_form(ports))
        return given

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The inputs as arrays, in order."""
        given = self._in_order(args, kwargs)
        feeds: list[Any] = []
        for position, port in enumerate(self.inputs):
            try:
                feeds.append(_feed(port, given[port.name]))
            except ModelInputError as error:
                error.culprit = ("attribute", port.name) if port.name in kwargs else ("input", position)
                raise
        if self._conditions:
            size_conditions.check(self._conditions, _sizes(self.inputs, feeds))
        return feeds

    @property
    def _node_count(self) -> int:
        return sum(1 for _ in self._ir.graph)

    @property
    def _weight_bytes(self) -> int:
        return files.weight_bytes(self._ir)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {kind!r}" for name, kind in self.inputs)
        outputs = ", ".join(f"{name}: {kind!r}" for name, kind in self.outputs)
        count = self._node_count
        nodes = "1 node" if count == 1 else f"{count} nodes"
        opsets = ", ".join(f"{domain or 'opset'} {version}" for domain, version in self.opset_imports.items())
        return f"Model({inputs}) -> {outputs}, {nodes}, {opsets}"

    def __str__(self) -> str:
        """The whole model as ONNX text."""
        return onnx.printer.to_text(self.proto)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{kind}</td><td><code>{html.escape(port.name)}</code></td>"
            f"<td><code>{html.escape(repr(port.type))}</code></td></tr>"
            for kind, ports in (("input", self.inputs), ("output", self.outputs))
            for port in ports
        )
        text = html.escape(str(self)) if self._weight_bytes < 100_000 else ""
        detail = f"<details><summary>ONNX text</summary><pre>{text}</pre></details>" if text else ""
        return f"<p>{html.escape(repr(self))}</p><table>{rows}</table>{detail}"


def _port(value: ir.Value) -> Port:
    return Port(value.name or "", type_from_ir(value.type, value.shape))


def _form(ports: Sequence[Port]) -> str:
    return "the model takes " + (", ".join(f"{each.name}: {each.type!r}" for each in ports) or "no inputs")


def _feed(port: Port, value: Any) -> Any:
    """What is given for an input as an array; refused where its type is certainly not the input's."""
    if isinstance(value, dict) and isinstance(port.type, TensorType):
        raise ModelInputError(
            f"input '{port.name}' is a tensor, and was given a dict",
            help="give inputs by name with model(**inputs)",
        )
    if value is None or isinstance(value, dict) or not isinstance(port.type, TensorType):
        return cast(Any, value)
    dtype, shape = port.type.dtype, port.type.shape
    takes_type = dtype is not None and not hasattr(value, "dtype") and dtype.is_native
    try:  # Python numbers and lists take the input's type
        array = np.asarray(value, dtype.numpy if dtype is not None and takes_type else None)
    except (TypeError, ValueError):
        raise ModelInputError(
            f"input '{port.name}' cannot be a {type(value).__name__}: it is {port.type!r}"
        ) from None
    given = DType.from_numpy(array.dtype)
    if dtype is not None and given is not dtype:
        raise ModelInputError(
            f"input '{port.name}' is {dtype.spelling}, and was given {array.dtype}",
            help=f"convert it with .astype({_numpy_name(dtype)})",
        )
    if shape is not None and not _fits(array.shape, shape):
        raise ModelInputError(
            f"input '{port.name}' has shape {describe_shape(shape)}, and was given {describe_shape(array.shape)}"
        )
    return array


def _sizes(ports: Sequence[Port], feeds: Sequence[Any]) -> dict[str, int]:
    """The sizes of named dimensions, where they first stand."""
    found: dict[str, int] = {}
    for port, feed in zip(ports, feeds, strict=True):
        shape = port.type.shape if isinstance(port.type, TensorType) else None
        for wanted, size in zip(shape or (), getattr(feed, "shape", ()), strict=False):
            if isinstance(wanted, str):
                found.setdefault(wanted, size)
    return found


def _numpy_name(dtype: DType) -> str:
    return f"np.{dtype.spelling}" if dtype.is_native else f"ml_dtypes.{dtype.spelling}"


def _fits(given: tuple[int, ...], wanted: Shape) -> bool:
    return len(given) == len(wanted) and all(
        not isinstance(b, int) or a == b for a, b in zip(given, wanted, strict=True)
    )


def checker_words(error: Exception) -> str:
    """What onnx's checker said, in one line."""
    text = str(error).replace("==> Context:", ";").replace("name:  OpType:", "").replace("Name:  OpType:", "")
    return " ".join(text.split()).replace(" ;", ";")


def _read(path: str | os.PathLike[str]) -> Model:
    proto, place = files.read(path)
    if raw.is_beyond_onnx_ir(proto):
        model: Model = _RawModel(proto)
    else:
        model = Model(files.attach(files.from_proto(proto, repr(str(place))), place.parent))
    model.place = place
    return model


def _of_proto(proto: onnx.ModelProto, called: str) -> Model:
    return _RawModel(proto) if raw.is_beyond_onnx_ir(proto) else Model(files.from_proto(proto, called))


@boundary
def load(path: str | os.PathLike[str]) -> Model:
    """Read a model from a file: `onnxsmith.load("m.onnx")`."""
    return _read(path)


class _RawModel(Model):
    """A model with maps or sparse weights, which onnx-ir has no place for: kept as its proto, whole."""

    is_proto_only = True

    def __init__(self, proto: onnx.ModelProto) -> None:
        self._proto = proto
        self._run = None

    @boundary
    def save(self, path: str | os.PathLike[str], *, external_data: bool | str | None = None) -> None:
        files.save_bytes(self._proto.SerializeToString(), path)

    @property
    def ir(self) -> ir.Model:
        raise InvalidModelError(
            "the model has maps or sparse weights, which onnx-ir has no place for",
            help="model.proto has all of it",
        )

    @property
    def proto(self) -> onnx.ModelProto:
        copy = onnx.ModelProto()
        copy.CopyFrom(self._proto)
        return copy

    @property
    def inputs(self) -> tuple[Port, ...]:
        graph = self._proto.graph
        given = {each.name for each in graph.initializer} | {
            each.values.name for each in graph.sparse_initializer
        }
        return tuple(
            Port(each.name, raw.read_type(each.type)) for each in graph.input if each.name not in given
        )

    @property
    def outputs(self) -> tuple[Port, ...]:
        return tuple(Port(each.name, raw.read_type(each.type)) for each in self._proto.graph.output)

    @property
    def opset_imports(self) -> Mapping[str, int]:
        return {each.domain: each.version for each in self._proto.opset_import}

    @property
    def _node_count(self) -> int:
        return len(self._proto.graph.node)

    @property
    def _weight_bytes(self) -> int:
        return self._proto.ByteSize()

    def _make_runner(self) -> Callable[[Sequence[Any]], list[Any]]:
        return cast(Any, default_target()).model_runner(self._proto.SerializeToString())
