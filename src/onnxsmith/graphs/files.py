"""Models on disk: written whole or not at all, read as data.

A write goes to a temporary file beside its place and is then renamed. Reading follows no path out of the model's
folder and runs nothing.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import stat
import warnings
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import onnx

from onnxsmith.diagnostics import clipped, described_cause, described_type, root_cause
from onnxsmith.errors import (
    InvalidModelError,
    ModelWarning,
    ModelWriteError,
    OnnxsmithError,
    UnreadableModelError,
)
from onnxsmith.graphs import byte_strings, external_data, raw
from onnxsmith.graphs.given_paths import path_of
from onnxsmith.graphs.holding import held
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.mapped_data import MappedFile, mapped_file
from onnxsmith.graphs.omitted_outputs import all_named, name_omitted
from onnxsmith.graphs.repeated_ports import agreeing
from onnxsmith.graphs.rewriting.scopes import all_graphs, graphs_of_proto, numeric_weights
from onnxsmith.graphs.stream import LARGE_BYTES, write_model
from onnxsmith.graphs.temporary_files import temporary_file
from onnxsmith.graphs.tensor_sizes import check_tensor
from onnxsmith.source import caller_span

#: Protobuf ends at 2 GiB; weights beyond this go to a file beside the model by themselves.
EXTERNAL_PAST_BYTES = 1_900_000_000
MOST_BYTES = 2**31 - 1
#: Tensors smaller than this stay in the model's own file.
_SMALL_BYTES = 1024
#: External tensors start at multiples of this, so that a runtime can map them.
_ALIGNMENT = 4096


def save(model: ir.Model, path: str | os.PathLike[str], external_data: bool | str | None) -> None:
    """Write a model; `external_data` True or a file name puts the weights beside it, None decides by size."""
    place = path_of(path)
    check_place(place)
    data_name = data_name_of([tensor for _, tensor in numeric_weights(model)], place, external_data)
    try:
        if data_name is None:
            with replacing(place) as temporary, held(model):
                _write_whole(model, temporary)
        else:
            with (
                held(model),
                replacing(place) as temporary,
                replacing(place.parent / data_name) as temporary_data,
                _externalized(model, temporary_data, data_name),
            ):
                temporary.write_bytes(serialize(model))
    except OSError as error:
        raise not_written(place, error) from None


def not_written(place: Path, error: OSError) -> ModelWriteError:
    """The error for what the system refuses while a model is written."""
    return ModelWriteError(f"cannot write {str(place)!r}: {error.strerror or error}")


def _write_whole(model: ir.Model, place: Path) -> None:
    """Write a model with its weights inside, without copying them."""
    size = weight_bytes(model)
    if size > MOST_BYTES:
        raise ModelWriteError(
            f"the model is too large for one file: its weights take {size:,} bytes, protobuf ends at {MOST_BYTES:,}",
            help="save it with external_data=True",
        )
    large: dict[str, ir.TensorProtocol] = {}
    originals: list[tuple[ir.Value, ir.TensorProtocol]] = []
    try:
        for value in model.graph.initializers.values():
            tensor = value.const_value
            if tensor is not None and tensor.dtype != ir.DataType.STRING and tensor.nbytes >= LARGE_BYTES:
                large[value.name or ""] = tensor
                originals.append((value, tensor))
                value.const_value = reference(tensor, value.name or "", "", 0, 0, place.parent)
        proto = to_proto(model)
    finally:
        for value, tensor in originals:
            value.const_value = tensor
    write_with_weights(proto, large, place)


def write_with_weights(proto: onnx.ModelProto, large: dict[str, ir.TensorProtocol], place: Path) -> None:
    """Write a proto whose initializers named in `large` are references: their data goes to the file from its memory."""
    for initializer in proto.graph.initializer:
        if initializer.name in large:
            initializer.ClearField("external_data")
            initializer.ClearField("data_location")
    with open(place, "wb") as file:
        write_model(proto, large, write_tensor, file)


def serialize(model: ir.Model) -> bytes:
    """The bytes of a model."""
    proto = to_proto(model)
    try:
        return proto.SerializeToString()
    except Exception as error:  # protobuf's own exceptions differ between its implementations
        raise ModelWriteError(
            f"the model is too large for one file: {error}", help="save it with external_data=True"
        ) from None


def to_proto(model: ir.Model) -> onnx.ModelProto:
    """The model as a proto that stands alone: weights that were loaded from a file beside it are inside."""
    with nothing_beside(model):
        return serialized(model)


@contextlib.contextmanager
def nothing_beside(model: ir.Model, *, nested_only: bool = False) -> Generator[None]:
    """Tensors that lie in a file are in the model, until the block ends; `nested_only` leaves its own initializers."""
    from onnxsmith.graphs.file_reference import Reference  # with onnx-ir, which is heavy

    with held(model):
        left = (
            {id(each.const_value) for each in model.graph.initializers.values()}
            if nested_only
            else set[int]()
        )
        external = [
            each
            for each in external_data.external_tensors(all_graphs(model))
            if not isinstance(each.tensor, Reference) and id(each.tensor) not in left
        ]
        for each in external:
            each.replace(loaded(each.tensor))
        try:
            yield
        finally:
            for each in external:
                each.replace(each.tensor)


def serialized(model: ir.Model) -> onnx.ModelProto:
    """The model as a proto, whatever its strings hold; raises InvalidModelError where it cannot be written."""
    try:
        with all_named(model):
            return ir.to_proto(model)
    except Exception as error:  # onnx-ir wraps whatever is wrong
        if not isinstance(root_cause(error), UnicodeEncodeError | AttributeError | TypeError):
            raise _not_writable(error) from None
    try:  # strings that are no text, which nearly no model has
        with byte_strings.hidden(model) as strings, all_named(model):
            proto = ir.to_proto(model)
    except Exception as error:
        raise _not_writable(error) from None
    byte_strings.show(proto, strings)
    return proto


def _not_writable(error: Exception) -> Exception:
    if isinstance(error, OnnxsmithError):
        return error
    return InvalidModelError(f"the model is not valid: {described_cause(error)}")


def loaded(tensor: ir.ExternalTensor) -> ir.Tensor[Any]:
    """A tensor that no longer refers to its file when it is serialized."""
    return ir.Tensor(tensor.numpy(), dtype=tensor.dtype, name=tensor.name, doc_string=tensor.doc_string)


def reference(
    tensor: ir.TensorProtocol, name: str, data_name: str, offset: int, length: int, folder: Path
) -> ir.ExternalTensor:
    """A tensor as a reference to its data in a file."""
    from onnxsmith.graphs.file_reference import Reference  # with onnx-ir, which is heavy

    shape: Any = tensor.shape
    return Reference(data_name, offset, length, tensor.dtype, shape=shape, name=name, base_dir=folder)


def check_place(place: Path) -> None:
    """Refuse a place where no file can be written: a folder, a device, one in a folder that there is not."""
    refuse_special(place)
    if os.path.isdir(place):
        raise ModelWriteError(
            f"cannot write {str(place)!r}: it is a folder", help="name a file in it, m.onnx"
        )
    if not os.path.isdir(place.parent):
        raise ModelWriteError(
            f"cannot write {str(place)!r}: there is no folder {str(place.parent)!r}",
            help=f"make it first: os.makedirs({str(place.parent)!r})",
        )


def data_place(model: ir.Model, place: Path, external_data: bool | str | None) -> Path | None:
    """The file beside a model that `save` puts its weights in, or None."""
    name = data_name_of([tensor for _, tensor in numeric_weights(model)], place, external_data)
    return None if name is None else place.parent / name


def data_name_of(
    weights: Sequence[ir.TensorProtocol], place: Path, external_data: bool | str | None
) -> str | None:
    """The name of the file that weights go to beside a model, or None where they go into its own."""
    if isinstance(external_data, str):
        path_of(external_data)
        if Path(external_data).name != external_data or external_data in ("", ".", ".."):
            raise ModelWriteError(
                f"external_data={external_data!r} is no plain file name; the data lies beside the model"
            )
        beside = place.parent / external_data
        # Names that differ in case only are one file on macOS and Windows.
        # Python up to 3.12 has errors for links that lead back to themselves where a path is resolved.
        if (
            os.path.realpath(beside) == os.path.realpath(place)
            or external_data.casefold() == place.name.casefold()
        ):
            raise ModelWriteError(
                f"external_data={external_data!r} is the model's own file, and one would replace the other",
                help="external_data=True names a file beside it",
            )
    elif not isinstance(cast(object, external_data), bool | None):
        raise ModelWriteError(
            f"external_data is True, False, None or the name of a file, not {described_type(type(external_data))}"
        )
    if external_data is False or all(tensor.nbytes < _SMALL_BYTES for tensor in weights):
        return None  # nothing would go into the file
    if isinstance(external_data, str):
        return external_data
    if external_data or sum(tensor.nbytes for tensor in weights) > EXTERNAL_PAST_BYTES:
        return place.name + ".data"
    return None


def weight_bytes(model: ir.Model) -> int:
    """How much memory the weights take."""
    return sum(tensor.nbytes for _, tensor in numeric_weights(model))


@contextlib.contextmanager
def replacing(place: Path, *, is_synced: bool = False) -> Generator[Path]:
    """A temporary file that takes the place of `place` when the block ends well, and vanishes when it does not.

    With `is_synced` it is on the disk before: after a loss of power there is the old file or the new one.
    """
    refuse_special(place)
    if os.path.islink(place):
        try:
            behind = place.resolve()  # the link stays, as it does for whoever opens it to write
        except (OSError, RuntimeError):  # Python up to 3.12 has errors for it; later ones give a link
            behind = place
        if os.path.islink(behind):
            raise ModelWriteError(f"{str(place)!r} is a link that leads back to itself")
        place = behind
    with temporary_file(place) as temporary:
        os.chmod(temporary, _mode_for(place))
        yield temporary
        if is_synced:
            _sync(temporary)
        os.replace(temporary, place)


def _sync(file: Path) -> None:
    """Wait until a file is on the disk."""
    handle = os.open(file, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def refuse_special(place: Path) -> None:
    """Refuse to write to a device, a pipe or a socket: a file would take its place, for everybody."""
    try:
        mode = place.stat().st_mode
    except OSError:  # there is nothing, or nothing that can be looked at
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ModelWriteError(
            f"{str(place)!r} is a device or a pipe, and a file would take its place",
            help="name a file; on the command line `-o -` writes to standard output",
        )


def _mode_for(place: Path) -> int:
    with contextlib.suppress(OSError):
        return place.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextlib.contextmanager
def _externalized(model: ir.Model, data_file: Path, data_name: str) -> Generator[None]:
    """Write the weights to a file and let the model refer to them while it is serialized.

    Each array goes to the file from its own memory; the model gets its arrays back whatever happens.
    """
    originals: list[tuple[ir.Value, ir.TensorProtocol]] = []
    try:
        with open(data_file, "wb") as file:
            written: dict[int, tuple[int, int]] = {}
            for value, tensor in numeric_weights(model):
                if tensor.nbytes < _SMALL_BYTES:
                    continue
                if id(tensor) not in written:
                    offset = -(-file.tell() // _ALIGNMENT) * _ALIGNMENT
                    file.write(b"\0" * (offset - file.tell()))
                    write_tensor(tensor, file)
                    written[id(tensor)] = (offset, file.tell() - offset)
                offset, length = written[id(tensor)]
                originals.append((value, tensor))
                value.const_value = reference(
                    tensor, value.name or "", data_name, offset, length, data_file.parent
                )
        yield
    finally:
        for value, tensor in originals:
            value.const_value = tensor


def write_tensor(tensor: ir.TensorProtocol, file: BinaryIO) -> None:
    """Straight from the array's memory where that is what the file holds; onnx-ir packs what is smaller than a byte."""
    if isinstance(tensor, ir.LazyTensor):
        tensor = tensor.raw()  # it is computed here, and gone when it is written
    is_plain = isinstance(tensor, ir.Tensor) and tensor.dtype.bitwidth >= 8
    if is_plain and tensor.numpy().flags.c_contiguous:
        content = cast(Any, tensor.numpy()).reshape(-1).view(np.uint8)
        file.write(content.data)
        return
    write = cast(Any, getattr(cast(object, tensor), "tofile", None))
    if write is not None:
        write(file)
    else:
        file.write(tensor.tobytes())


def save_bytes(content: bytes, path: str | os.PathLike[str]) -> None:
    """Write a serialized model."""
    place = path_of(path)
    check_place(place)
    try:
        with replacing(place) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise not_written(place, error) from None


def read(path: str | os.PathLike[str]) -> tuple[onnx.ModelProto, Path]:
    """Read a model's file, without what lies beside it."""
    place = path_of(path)
    try:
        mode = os.stat(place).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # to open a pipe waits for whoever writes to it
            raise UnreadableModelError(
                f"cannot read {str(place)!r}: it is a pipe or a device, and a model's file is read more than once",
                help="write it to a file; on the command line `-` reads standard input",
            )
        with open(place, "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return parse(b"", f"{str(place)!r}"), place
            # Mapped, so that the file and what is made of it are not both in memory.
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content, memoryview(content) as view:
                return parse(view, f"{str(place)!r}"), place
    except OSError as error:
        raise UnreadableModelError(f"cannot read {str(place)!r}: {error.strerror or error}") from None


def attach(model: ir.Model, folder: Path) -> ir.Model:
    """Say where a model's external data lies, and check that it does; it is mapped, and read when it is first used."""
    from onnxsmith.graphs.mapped_tensor import MappedTensor  # with onnx-ir, which is heavy

    external_data.attach(external_data.external_tensors(all_graphs(model)), folder)
    mapped: dict[str, MappedFile] = {}
    for each in external_data.external_tensors(all_graphs(model)):
        path = str(each.tensor.path)
        if path not in mapped:
            mapped[path] = mapped_file(path)
        each.replace(MappedTensor(each.tensor, mapped[path]))
    return model


def stand_alone(model: ir.Model, called: str) -> ir.Model:
    """A model that came without a folder; refused when its weights lie in files."""
    refuse_external(all_graphs(model), called)
    return model


def refuse_external(graphs: Iterable[ir.Graph], called: str) -> None:
    """Refuse graphs whose weights lie in files, where nobody says in which folder."""
    external = external_data.external_tensors(graphs)
    external_data.refuse(
        ((each.tensor.name, str(cast(Any, each.tensor).location)) for each in external), called
    )


def parse(content: bytes | memoryview, called: str) -> onnx.ModelProto:
    """The model in these bytes; `called` names them in the error."""
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(cast(bytes, content))
    except Exception:  # protobuf's own exceptions differ between its implementations
        raise UnreadableModelError(
            f"{called} is not an ONNX model, or only part of one", help="get the file again, whole"
        ) from None
    if not content:
        raise UnreadableModelError(f"{called} is empty", help="get the file again, whole")
    if not proto.HasField("graph") or proto.ir_version < 1:
        raise UnreadableModelError(
            f"{called} holds no ONNX model: it has no graph", help="get the file again, whole"
        )
    return proto


def from_proto(proto: onnx.ModelProto, called: str) -> ir.Model:
    """A model from its proto; what onnx-ir cannot hold is an error of ours, or told where it is not of the graph."""
    if proto.training_info:
        _warn(
            f"{called} has training information, which is left out: "
            "onnxsmith.grad.expand_training(onnx.load(path)) makes a model of it"
        )
    with reading(called), agreeing(proto):
        _refuse_one_name_for_two(proto, called)
        for tensor in raw.tensors_of(proto):
            external_data.check_entries(tensor)
            check_tensor(tensor, called)
        model = byte_strings.read(name_omitted(proto))
        for given in proto.functions:
            function = model.functions.get((given.domain, given.name, given.overload))
            if function is not None:
                type_inputs(function, given)
        return model


def _refuse_one_name_for_two(proto: onnx.ModelProto, called: str) -> None:
    """Refuse a model in which a name may mean either of two functions or weights: onnx-ir would keep the last one."""
    functions: set[tuple[str, str, str]] = set()
    for each in proto.functions:
        key = (each.domain, each.name, each.overload)
        if key in functions:
            raise _two_of_one_name(called, "functions", f"{each.domain}::{each.name}")
        functions.add(key)
    for graph in graphs_of_proto(proto):
        weights: dict[str, onnx.TensorProto] = {}
        for each in graph.initializer if isinstance(graph, onnx.GraphProto) else ():
            if weights.setdefault(each.name, each) is not each and weights[each.name] != each:
                raise _two_of_one_name(called, "weights", each.name)


def _two_of_one_name(called: str, what: str, name: str) -> UnreadableModelError:
    return UnreadableModelError(
        f"{called} is not a valid ONNX model: two {what} are called {clipped(repr(name), 100)}",
        help="rename one of them where the model was written",
    )


def _warn(text: str) -> None:
    span = caller_span()
    if span is None:
        warnings.warn(ModelWarning(text), stacklevel=3)
    else:  # at the user's own line
        warnings.warn_explicit(ModelWarning(text), None, span.file, span.line)


def type_inputs(function: ir.Function, proto: onnx.FunctionProto) -> None:
    """Give the inputs of a function the types that are noted for them; onnx-ir writes these, and does not read them."""
    noted = {info.name: info for info in proto.value_info}
    for value in function.inputs:
        if value.name in noted:
            ir.serde.deserialize_value_info_proto(noted[value.name], value)


@contextlib.contextmanager
def reading(called: str) -> Generator[None]:
    """Whatever a stranger's file makes onnx and onnx-ir raise is an error of ours."""
    try:
        yield
    except OnnxsmithError:
        raise
    except Exception as error:
        if isinstance(root_cause(error), RecursionError):
            raise UnreadableModelError(f"{called} nests graphs too deeply to be read") from None
        raise UnreadableModelError(
            f"{called} is not a valid ONNX model: {described_cause(error)}", help="get the file again, whole"
        ) from None
