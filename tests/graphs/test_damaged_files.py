"""The law of damaged files: cut off or with bits turned over, a model gives an error of ours, or works."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from tests.decompile.hostile import base

#: So many files of each family; in seconds, no run of all may take longer.
COUNT = 60
PATIENCE = 300


def plain() -> onnx.ModelProto:
    weights = np.arange(8, dtype=np.float32).reshape(2, 4)
    return trace(lambda x: op.Softmax(op.Relu(x @ weights + 1.0), axis=-1), FLOAT["N", 2]).proto


def sparse() -> onnx.ModelProto:
    proto = plain()
    added = proto.graph.sparse_initializer.add(dims=[4])
    added.values.CopyFrom(onnx.numpy_helper.from_array(np.float32([1, 2]), "s"))
    added.indices.CopyFrom(onnx.numpy_helper.from_array(np.int64([0, 3]), ""))
    return proto


def known() -> onnx.ModelProto:
    """The hostile tests' model without the operator that no runtime has, so that it runs."""
    proto = base()
    proto.graph.node[3].input[0] = "looped"
    del proto.graph.node[2]
    return proto


def damaged(content: bytes, generator: random.Random) -> bytes:
    """The same file after an accident."""
    result = bytearray(content)
    kind = generator.randrange(4)
    if kind == 0:
        return bytes(result[: generator.randrange(1, len(result))])
    for _ in range(1 if kind < 3 else 4):
        position = generator.randrange(len(result))
        result[position] ^= 1 << generator.randrange(8) if kind == 1 else generator.randrange(1, 256)
    return bytes(result)


def by_hand() -> Iterator[onnx.ModelProto]:
    """What was found once."""
    for field in ("name", "op_type", "domain"):
        proto = plain()
        setattr(proto.graph.node[0], field, "@@@@")
        yield proto
    proto = plain()
    proto.graph.initializer[0].data_type = 0
    yield proto
    proto = plain()
    proto.graph.initializer[0].raw_data = b"123"
    yield proto
    proto = plain()
    proto.graph.initializer[0].dims[:] = [-1, 4]
    yield proto
    proto = plain()
    proto.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL
    proto.graph.initializer[0].external_data.add(key="location", value="a\0b")
    yield proto
    proto = plain()
    proto.graph.input[0].type.tensor_type.elem_type = 99
    yield proto


def test_damaged_files(tmp_path: Path) -> None:
    generator = random.Random(20_000)
    for family in (plain, sparse, known):
        content = family().SerializeToString()
        for number in range(COUNT):
            (tmp_path / f"{family.__name__}{number:03}.onnx").write_bytes(damaged(content, generator))
    for number, proto in enumerate(by_hand()):
        # Text that is not UTF-8 cannot be put into a proto, only into its bytes.
        content = proto.SerializeToString().replace(b"@@@@", b"\xff\xfe\xff\xfe")
        (tmp_path / f"hand{number}.onnx").write_bytes(content)
    words = [sys.executable, "-m", "tests.graphs.damaged_files", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(words, env=environment, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-3000:]
    assert json.loads(done.stdout) == []
