"""Models on disk: whole or not at all, weights beside the model, nothing outside its folder."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import onnxsmith
from onnxsmith import FLOAT, Model, errors, opset21, trace
from onnxsmith import opset18 as op
from onnxsmith.graphs import files

WEIGHTS = np.arange(4096, dtype=np.float32).reshape(64, 64)
X = np.ones((2, 64), np.float32)


def make_model() -> Model:
    return trace(lambda x: op.Relu(x @ WEIGHTS), FLOAT["N", 64])


def test_a_model_comes_back_as_it_was(tmp_path: Path) -> None:
    model = make_model()
    model.save(tmp_path / "m.onnx")
    loaded = onnxsmith.load(tmp_path / "m.onnx")
    assert repr(loaded) == repr(model)
    np.testing.assert_array_equal(loaded(X), model(X))
    onnx.checker.check_model(str(tmp_path / "m.onnx"), full_check=True)


@pytest.mark.parametrize(("external_data", "name"), [(True, "m.onnx.data"), ("weights.bin", "weights.bin")])
def test_weights_beside_the_model(tmp_path: Path, external_data: bool | str, name: str) -> None:
    make_model().save(tmp_path / "m.onnx", external_data=external_data)
    assert (tmp_path / name).stat().st_size >= WEIGHTS.nbytes
    assert (tmp_path / "m.onnx").stat().st_size < 2000
    np.testing.assert_array_equal(onnxsmith.load(tmp_path / "m.onnx")(X), np.maximum(X @ WEIGHTS, 0))


def test_weights_past_the_limit_go_beside_the_model_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "EXTERNAL_PAST_BYTES", 1000)
    model = make_model()
    model.save(tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx.data").exists()
    np.testing.assert_array_equal(model(X), np.maximum(X @ WEIGHTS, 0))  # runs through a file, too


def test_a_streamed_model_is_the_one_that_protobuf_writes(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    weights = [generator.random((300, 300), dtype=np.float32) for _ in range(3)]
    small = np.arange(4, dtype=np.int64)

    def function(x: object) -> object:
        for weight in weights:
            x = op.Relu(x @ weight)
        return op.Gather(x, small)

    model = trace(function, FLOAT["N", 300])
    model.save(tmp_path / "m.onnx")
    written = onnx.load(tmp_path / "m.onnx")
    assert written == model.proto
    assert [each.name for each in written.graph.initializer] == list(model.ir.graph.initializers)
    onnx.checker.check_model(str(tmp_path / "m.onnx"), full_check=True)


def test_a_model_beyond_protobufs_limit_is_refused_in_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 1000)
    with pytest.raises(errors.ModelWriteError, match="too large for one file"):
        make_model().save(tmp_path / "m.onnx", external_data=False)


def test_small_and_packed_element_types_are_stored_as_onnx_stores_them(tmp_path: Path) -> None:
    packed = np.arange(4096).astype(np.int8).astype(onnxsmith.DType.INT4.numpy)
    model = trace(lambda x: opset21.DequantizeLinear(packed, x), FLOAT)
    model.save(tmp_path / "m.onnx", external_data=True)
    expected = numpy_helper.from_array(packed, "w").raw_data
    assert (tmp_path / "m.onnx.data").read_bytes()[: len(expected)] == expected
    np.testing.assert_array_equal(
        onnxsmith.load(tmp_path / "m.onnx")(np.float32(2)), packed.astype(np.float32) * 2
    )


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "m.onnx"
    make_model().save(place)
    before = place.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_model", fail)
    with pytest.raises(errors.ModelWriteError, match="No space left on device"):
        make_model().save(place)
    assert place.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["m.onnx"]


def test_the_arrays_of_a_model_survive_a_failed_external_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model()
    monkeypatch.setattr(files, "serialize", lambda _: (_ for _ in ()).throw(OSError(5, "Input/output error")))
    with pytest.raises(errors.ModelWriteError):
        model.save(tmp_path / "m.onnx", external_data=True)
    assert os.listdir(tmp_path) == []
    monkeypatch.undo()
    np.testing.assert_array_equal(model(X), np.maximum(X @ WEIGHTS, 0))


@pytest.mark.parametrize(
    ("path", "message"),
    [("missing/m.onnx", "there is no folder"), (".", "it is a folder")],
)
def test_places_that_cannot_be_written(tmp_path: Path, path: str, message: str) -> None:
    with pytest.raises(errors.ModelWriteError, match=message):
        make_model().save(tmp_path / path)


@pytest.mark.parametrize("name", ["../w.bin", "a/b.bin", "", ".."])
def test_external_data_has_a_plain_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(errors.ModelWriteError, match="no plain file name"):
        make_model().save(tmp_path / "m.onnx", external_data=name)


@pytest.mark.parametrize("name", ["m.onnx", "M.onnx", "link"])
def test_weights_do_not_replace_the_model(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to("m.onnx")
    make_model().save(tmp_path / "m.onnx")
    before = (tmp_path / "m.onnx").read_bytes()
    with pytest.raises(errors.ModelWriteError, match="the model's own file"):
        make_model().save(tmp_path / "m.onnx", external_data=name)
    assert (tmp_path / "m.onnx").read_bytes() == before


def test_external_data_is_a_name_or_says_yes_or_no(tmp_path: Path) -> None:
    with pytest.raises(errors.ModelWriteError, match="not an int"):
        make_model().save(tmp_path / "m.onnx", external_data=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x07", bytes(range(256)) * 10])
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    with pytest.raises(errors.UnreadableModelError):
        onnxsmith.load(tmp_path / "m.onnx")


def test_every_truncation_of_a_model_is_refused_or_read(tmp_path: Path) -> None:
    make_model().save(tmp_path / "m.onnx")
    whole = (tmp_path / "m.onnx").read_bytes()
    place = tmp_path / "cut.onnx"
    for length in range(0, len(whole), 97):
        place.write_bytes(whole[:length])
        try:
            onnxsmith.load(place)
        except errors.OnnxsmithError:
            continue


def external_model(folder: Path, location: str, **entries: str) -> Path:
    tensor = onnx.TensorProto(name="w", dims=[4], data_type=1, data_location=onnx.TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [helper.make_node("Identity", ["w"], ["y"])],
        "g",
        [],
        [helper.make_tensor_value_info("y", 1, [4])],
        [tensor],
    )
    (folder / "m.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    return folder / "m.onnx"


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "sub/../../secret"])
def test_external_data_stays_in_the_models_folder(tmp_path: Path, location: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"0" * 16)
    with pytest.raises(errors.ExternalDataError, match="outside the model's folder"):
        onnxsmith.load(external_model(folder, location))


def test_external_data_that_is_missing_or_too_short(tmp_path: Path) -> None:
    with pytest.raises(errors.ExternalDataError, match="missing"):
        onnxsmith.load(external_model(tmp_path, "w.bin"))
    (tmp_path / "w.bin").write_bytes(b"0" * 8)
    with pytest.raises(errors.ExternalDataError, match="does not fit"):
        onnxsmith.load(external_model(tmp_path, "w.bin"))
    (tmp_path / "w.bin").write_bytes(b"0" * 64)
    with pytest.raises(errors.ExternalDataError, match="does not fit"):
        onnxsmith.load(external_model(tmp_path, "w.bin", offset="60"))
    with pytest.raises(errors.ExternalDataError):
        onnxsmith.load(external_model(tmp_path, "w.bin", offset="0", length="4"))


@pytest.mark.parametrize("is_ir", [False, True], ids=["as recorded", "as onnx-ir"])
def test_large_weights_in_one_file(tmp_path: Path, is_ir: bool) -> None:
    """Weights that are written from their memory stay what they are, in the file and in the model."""
    large = np.random.default_rng(0).random((512, 300), dtype=np.float32)
    assert large.nbytes >= files.LARGE_BYTES
    model = trace(lambda x: op.Gather(x @ large, np.arange(4)), FLOAT["N", 512])
    wanted = model.proto
    if is_ir:
        (value,) = [each for each in model.ir.graph.initializers.values() if each.shape == large.shape]
    model.save(tmp_path / "m.onnx")
    assert onnx.load(tmp_path / "m.onnx") == wanted
    if is_ir:
        assert value.const_value is not None
        assert value.const_value.raw is large  # type: ignore[attr-defined]


class Unreadable:
    """Something that says it is a path, and gives no text."""

    def __fspath__(self) -> Any:
        return 3


#: Whatever takes the path of a file or folder that it writes, or reads.
TAKING: dict[str, Callable[[Any], object]] = {
    "load": onnxsmith.load,
    "save": lambda place: make_model().save(place, overwrite=True),
    "data": lambda name: make_model().save("m.onnx", external_data=name, overwrite=True),
    "show": lambda place: make_model().show(place),
    "module": lambda place: onnxsmith.decompile_to(make_model(), place, weights="inline"),
    "decompile": onnxsmith.decompile,
    "weights": lambda place: len(onnxsmith.Weights(place)),
    "reproduce": lambda place: onnxsmith.compare(
        trace(opset21.Relu, FLOAT[2]), trace(opset21.Abs, FLOAT[2]), {"x": -X[0, :2]}, reproduce=place
    ),
}
#: No file has such a path, or none can be written there.
WRONG: dict[str, Any] = {
    "long": "n" * 300,
    "loop": "loop",
    "zero": "a\0b",
    "surrogate": "\ud800",
    "number": 3,
    "unreadable": Unreadable(),
    "in a file": "file/x",
}


@pytest.mark.parametrize("taking", TAKING)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_path_that_no_file_has_is_refused(
    taking: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(errors.OnnxsmithError):
        TAKING[taking](WRONG[wrong])
    assert {each.name for each in tmp_path.iterdir()} <= {"loop", "file"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(errors.UnreadableModelError, match="it is a pipe or a device"):
        onnxsmith.load(tmp_path / "pipe")
