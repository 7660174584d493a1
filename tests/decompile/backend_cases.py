"""The models with data that the installed onnx carries: node cases, small models, old PyTorch exports, networks.

Finds and reads them; what is done with them is the tests' and the score's.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.backend.test.loader
from onnx import numpy_helper

from tests.backend.node_cases import all_cases as node_cases
from tests.backend.node_cases import as_value

#: The suites in files; the networks are in "real", their weights made up by nodes so that they are small.
FOLDER_SUITES = ("simple", "pytorch-operator", "pytorch-converted", "real")
SUITES = ("node", *FOLDER_SUITES)

_DATA = Path(onnx.backend.test.loader.DATA_DIR)


@dataclass(frozen=True)
class DataSet:
    """Inputs by name, and the outputs that are expected in the order of the graph's."""

    inputs: Mapping[str, Any]
    outputs: Sequence[Any]


@dataclass(frozen=True)
class Case:
    """A model with data; read from its files when asked for."""

    suite: str
    name: str
    rtol: float
    atol: float
    read_model: Callable[[], onnx.ModelProto]
    read_data: Callable[[onnx.ModelProto], list[DataSet]]

    @functools.cached_property
    def model(self) -> onnx.ModelProto:
        return self.read_model()

    @functools.cached_property
    def data(self) -> list[DataSet]:
        return self.read_data(self.model)

    def __str__(self) -> str:
        return f"{self.suite}/{self.name}"


@functools.cache
def all_cases() -> tuple[Case, ...]:
    """Every case, by suite and name."""
    return tuple(case for suite in SUITES for case in suite_cases(suite))


@functools.cache
def suite_cases(suite: str) -> tuple[Case, ...]:
    """The cases of one suite, by name."""
    if suite == "node":
        return tuple(_node_case(each) for _, each in sorted(node_cases().items()))
    return tuple(
        _folder_case(suite, folder) for folder in sorted((_DATA / suite).iterdir()) if folder.is_dir()
    )


def _named(model: onnx.ModelProto, inputs: Sequence[Any]) -> dict[str, Any]:
    """Inputs by name: the graph's own, those with an initializer left out when there are fewer data than inputs."""
    names = [each.name for each in model.graph.input]
    if len(inputs) < len(names):
        given = {each.name for each in model.graph.initializer}
        names = [name for name in names if name not in given]
    return dict(zip(names, inputs, strict=True))


def _node_case(case: Any) -> Case:
    def data(model: onnx.ModelProto) -> list[DataSet]:
        return [
            DataSet(_named(model, [as_value(each) for each in inputs]), [as_value(each) for each in outputs])
            for inputs, outputs in case.data_sets
        ]

    return Case("node", case.name, case.rtol, case.atol, lambda: case.model, data)


def _folder_case(suite: str, folder: Path) -> Case:
    settings = folder / "data.json"
    options = json.loads(settings.read_text()) if settings.exists() else {}
    rtol, atol = options.get("rtol", 1e-3), options.get("atol", 1e-7)
    if (folder / "model.onnx").exists():
        place = folder / "model.onnx"
        return Case(
            suite, folder.name, rtol, atol, lambda: onnx.load(place), lambda model: _stored(model, folder)
        )
    place = _DATA / "light" / Path(options["url"]).name
    return Case(
        suite, folder.name, rtol, atol, lambda: onnx.load(place), lambda model: _made_up(model, place)
    )


def _stored(model: onnx.ModelProto, folder: Path) -> list[DataSet]:
    found: list[DataSet] = []
    for data in sorted(folder.glob("test_data_set*")):
        inputs = _read_all(data, "input", list(model.graph.input))
        outputs = _read_all(data, "output", list(model.graph.output))
        found.append(DataSet(_named(model, inputs), outputs))
    return found


def _read_all(folder: Path, kind: str, infos: Sequence[onnx.ValueInfoProto]) -> list[Any]:
    places = sorted(folder.glob(f"{kind}_*.pb"), key=lambda place: int(re.sub(r"\D", "", place.stem)))
    return [_read(place, info.type) for place, info in zip(places, infos, strict=False)]


def _read(place: Path, type_: onnx.TypeProto) -> Any:
    content = place.read_bytes()
    match type_.WhichOneof("value"):
        case "sequence_type":
            return numpy_helper.to_list(onnx.SequenceProto.FromString(content))
        case "optional_type":
            return numpy_helper.to_optional(onnx.OptionalProto.FromString(content))
        case _:
            return numpy_helper.to_array(onnx.TensorProto.FromString(content))


def _made_up(model: onnx.ModelProto, place: Path) -> list[DataSet]:
    """The data of a network: inputs that rise evenly, as in onnx's own runner, and the outputs beside the model."""
    given = {each.name for each in model.graph.initializer}
    inputs: dict[str, Any] = {}
    for info in model.graph.input:
        if info.name not in given:
            shape = tuple(each.dim_value or 1 for each in info.type.tensor_type.shape.dim)
            size = int(np.prod(shape))
            inputs[info.name] = (np.arange(size).reshape(shape) / size).astype(np.float32)
    outputs = [
        _read(place.with_name(f"{place.stem}_output_{index}.pb"), info.type)
        for index, info in enumerate(model.graph.output)
    ]
    return [DataSet(inputs, outputs)]
