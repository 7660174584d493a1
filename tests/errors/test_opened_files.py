"""The law of disclosure: nothing in a model names a file that is opened, and no text of it reaches a terminal raw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from tests.decompile.hostile import PLACES, base

#: Keys under which one program or another says where a node comes from.
KEYS = (
    "onnxsmith.source",
    "onnxsmith.node",
    "source",
    "namespace",
    "stack_trace",
    "pkg.torch.onnx.stack_trace",
    "pkg.torch.onnx.name_scopes",
)
#: No terminal may see these: they set its title, and turn the text around.
RAW = ("\x1b]0;pwned", "\x9bpwned", "\u202epwned", "\rpwned")

Model = onnx.ModelProto


def failing() -> Model:
    """A model whose nodes, in the graph, a branch and a function, fail on shapes that do not fit."""
    return trace(lambda x, y: op.Add(x, y), FLOAT["N"], FLOAT["M"]).proto


def with_metadata(key: str, value: str) -> Model:
    model = failing()
    del model.graph.node[0].metadata_props[:]
    model.graph.node[0].metadata_props.add(key=key, value=value)
    model.graph.metadata_props.add(key=key, value=value)
    model.metadata_props.add(key=key, value=value)
    model.graph.input[0].metadata_props.add(key=key, value=value)
    return model


def external(location: str) -> TensorProto:
    tensor = TensorProto(name="w", dims=[4], data_type=1, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    return tensor


def with_data(place: str, location: str) -> Model:
    """A model that keeps a tensor in a file: in one of the places where a tensor can stand."""
    tensor = external(location)
    sparse = onnx.SparseTensorProto(dims=[4])
    sparse.values.CopyFrom(tensor)
    sparse.indices.CopyFrom(helper.make_tensor("", TensorProto.INT64, [4], [0, 1, 2, 3]))
    constant = helper.make_node("Constant", [], ["c"], value=tensor)
    node = {
        "initializer": helper.make_node("Identity", ["w"], ["y"]),
        "attribute": helper.make_node("Constant", [], ["y"], value=tensor),
        "list": helper.make_node("Custom", [], ["y"], domain="custom", several=[tensor]),
        "sparse initializer": helper.make_node("Identity", ["w"], ["y"]),
        "sparse attribute": helper.make_node("Constant", [], ["y"], sparse_value=sparse),
        "branch": helper.make_node(
            "If",
            ["b"],
            ["y"],
            then_branch=helper.make_graph([constant], "t", [], [helper.make_tensor_value_info("c", 1, [4])]),
            else_branch=helper.make_graph([constant], "e", [], [helper.make_tensor_value_info("c", 1, [4])]),
        ),
    }[place]
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("b", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", 1, [4])],
        [tensor] if place == "initializer" else [],
    )
    if place == "sparse initializer":
        graph.sparse_initializer.append(sparse)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("custom", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


DATA_PLACES = ("initializer", "attribute", "list", "sparse initializer", "sparse attribute", "branch")


def models(secret: Path) -> Iterator[Callable[[], Model]]:
    """Models that name the secret file wherever a model can say anything."""
    spellings = [f"{secret}:1:1-1:23", f"{secret.name}:1:1-1:23", str(secret), f"../{secret.name}:1:1"]
    for text in (*spellings, *(f"{each}.py:1:1" for each in RAW)):
        yield lambda text=text: with_metadata("onnxsmith.source", text)
    for key in KEYS:
        yield lambda key=key: with_metadata(key, f'File "{secret}", line 1, in f')
    for put in PLACES.values():

        def at_place(put: Callable[[Model, str], object] = put) -> Model:
            model = base()
            put(model, f"{secret}:1:1{RAW[0]}{RAW[2]}{RAW[3]}")
            return model

        yield at_place
    for place in DATA_PLACES:
        for text in (str(secret), f"../{secret.name}", f"link{RAW[0]}", "link", "hard_link"):
            yield lambda place=place, text=text: with_data(place, text)


def test_no_file_that_a_model_names_is_opened(tmp_path: Path) -> None:
    secret = tmp_path / "sentinel.py"
    secret.write_text("password = 'swordfish'\n")
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "link").symlink_to(secret)
    os.link(secret, folder / "hard_link")
    for number, make in enumerate(models(secret)):
        (folder / f"{number:03}.onnx").write_bytes(make().SerializeToString())
    words = [sys.executable, "-m", "tests.errors.opened_files", str(folder), secret.name]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path]), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, timeout=600, check=False)
    said = done.stderr.decode(errors="replace")
    assert done.returncode == 0, said[-3000:]
    assert json.loads(done.stdout) == []
    assert "swordfish" not in said
    assert [each for each in RAW if each in said] == []
