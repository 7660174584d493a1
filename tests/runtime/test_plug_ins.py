"""Libraries that are loaded into ONNX Runtime: what loads, what is refused, and how a plug-in provider is chosen."""

from __future__ import annotations

import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, Opset, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    AttributeTypeError,
    LibraryError,
    MissingDependencyError,
    MissingProviderError,
    ModelWarning,
    NotRunnableError,
)
from onnxsmith.runtime import onnxruntime_api, plug_ins, register_custom_ops, register_provider, using

X = np.float32([1, -2])


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plug_ins, "_LOADED", plug_ins._Loaded())


@pytest.fixture
def devices(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A build whose plug-ins load without doing anything; the providers of the devices that it then sees."""
    seen = ["CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime_api, "device_providers", lambda: list(seen))
    monkeypatch.setattr(
        onnxruntime_api, "load_provider_library", lambda name, path: seen.append(Path(path).stem)
    )
    return seen


@pytest.mark.parametrize("register", [register_custom_ops, lambda path: register_provider("mine", path)])
def test_a_library_that_does_not_load(register: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.so").write_text("no library")
    for path, words in (("nowhere.so", "there is no file"), ("broken.so", "does not load: Failed to load")):
        with pytest.raises(LibraryError, match=words) as caught:
            register(tmp_path / path)
        assert caught.value.span is not None
        assert caught.value.span.file == __file__


def test_a_library_without_operators(tmp_path: Path) -> None:
    import onnxruntime.capi

    place = next(Path(onnxruntime.capi.__file__).parent.glob("*shared*"), None)
    if place is not None:  # a library, and none of operators
        with pytest.raises(LibraryError, match="RegisterCustomOps"):
            register_custom_ops(place)


def test_an_old_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime_api, "version", lambda: (1, 22))
    with pytest.raises(MissingDependencyError, match=r"needs ONNX Runtime 1\.23, and ONNX Runtime 1\.22"):
        register_provider("mine", "libmine.so")


@pytest.mark.usefixtures("devices")
def test_a_name_is_for_one_library() -> None:
    register_provider("mine", "MineExecutionProvider.so")
    with pytest.raises(
        LibraryError, match=r"registered as 'Mine' already, from '/.*MineExecutionProvider\.so'"
    ):
        register_provider("Mine", "another.so")
    for name in ("mine", "MINE", "MineExecutionProvider"):
        assert using(providers=(name, {"any": 1})).settings.providers == (
            ("MineExecutionProvider", (("any", "1"),)),
        )
    with pytest.raises(AttributeTypeError, match="has a name"):
        register_provider("", "x.so")


def test_a_library_without_a_device(devices: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime_api, "load_provider_library", lambda name, path: None)
    gone: list[str] = []
    monkeypatch.setattr(onnxruntime_api, "unload_provider_library", gone.append)
    with pytest.raises(LibraryError, match="finds no device here"):
        register_provider("mine", "libmine.so")
    assert gone == ["mine"]


def test_a_plug_in_is_chosen_by_its_devices_and_warned_of_once(
    devices: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    register_provider("mine", "MineExecutionProvider.so")
    told: list[tuple[str, bool]] = []

    def add(options: Any, name: str, settings: dict[str, str], *, is_plug_in: bool) -> None:
        told.append((name, is_plug_in))

    monkeypatch.setattr(onnxruntime_api, "_add_provider", add)
    with using(providers=["mine", "cpu"]):
        with pytest.warns(ModelWarning, match="nothing is known here of mistakes of MineExecutionProvider"):
            op.Relu(X)
        op.Abs(X)  # a warning would be an error
    assert told == [("MineExecutionProvider", True), ("CPUExecutionProvider", False)] * 2


def test_devices_are_those_of_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = [types.SimpleNamespace(ep_name=name) for name in ("Mine", "Other", "Mine")]
    monkeypatch.setattr(
        onnxruntime_api, "compiled", lambda: types.SimpleNamespace(get_ep_devices=lambda: devices)
    )
    told: list[Any] = []
    options: Any = types.SimpleNamespace(
        add_provider_for_devices=lambda *given: told.append(given),
        add_provider=lambda *given: told.append(given),
    )
    for name in ("Mine", "XnnpackExecutionProvider", "CPUExecutionProvider"):
        onnxruntime_api._add_provider(options, name, {"a": "b"}, is_plug_in=name == "Mine")
    assert told == [([devices[0], devices[2]], {"a": "b"}), ("XnnpackExecutionProvider", {"a": "b"})]


def test_a_provider_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime_api, "available_providers", lambda: ("CUDAExecutionProvider",))
    for run in (lambda: op.Relu(X), lambda: trace(lambda x: -x, FLOAT["N"])(X)):
        with using(providers="cuda"), pytest.raises(MissingProviderError, match="does not start here"):
            run()


def test_libraries_of_operators_go_to_models_that_may_need_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(onnxruntime_api, "try_operator_library", lambda path: None)
    told: list[tuple[str, ...]] = []
    make = onnxruntime_api.create_session

    def create(model: bytes, *, choices: onnxruntime_api.SessionChoices, **others: Any) -> Any:
        told.append(choices.libraries)
        return make(model, choices=replace(choices, libraries=()), **others)

    monkeypatch.setattr(onnxruntime_api, "create_session", create)
    frobnicate = Opset("plug.ins", 1).Frobnicate
    model = trace(lambda x: frobnicate(x), FLOAT["N"])
    for run in (lambda: frobnicate(X), lambda: model(X)):
        with pytest.raises(NotRunnableError, match="nothing installed can run"):
            run()
    assert not any(told)
    told.clear()
    place = str(tmp_path / "operators.so")
    register_custom_ops(place)
    register_custom_ops(place)  # once is enough
    for run in (lambda: frobnicate(X), lambda: model(X)):  # what could not run is tried again
        with pytest.raises(NotRunnableError):
            run()
    assert told[0] == told[-1] == (place,)
    told.clear()
    trace(lambda x: op.Relu(x), FLOAT["N"])(X)
    assert told == [()]
