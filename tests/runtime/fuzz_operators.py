"""Look for operator calls that take the process down: `python tests/runtime/fuzz_operators.py [--rounds N]`.

Takes ONNX's node cases, spoils their inputs and attributes, and runs them on the engine in child processes with
limited memory and time. Prints what crashed, hung, or asked for more memory than there is, as lines that reproduce it
(`--replay CASE SEED`). Not a test: what it found is in `test_guards.py`.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import resource
import select
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import onnx

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from onnxsmith.errors import OnnxsmithError
from onnxsmith.runtime.single_node import Call, make_node
from onnxsmith.schema import registry
from onnxsmith.types.dtypes import DType
from tests.backend import node_cases

MEMORY = 6 << 30
SECONDS = 8.0
INTEGERS = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    7,
    64,
    -100,
    1000,
    2**15,
    2**31 - 1,
    2**31,
    -(2**31),
    2**32,
    2**40,
    2**62,
    2**63 - 1,
    -(2**63),
]
FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-30,
    1e30,
    -1e30,
    float("nan"),
    float("inf"),
    float("-inf"),
    2.0**31,
    2.0**63,
]
STRINGS = ["", "x", "NOTSET", "\0", "ij,jk->ik", "....->", "[", "(a*)*b", "é" * 50]


def spoiled_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    kind = rng.randrange(6)
    if kind == 0:
        return array
    if kind == 1 and array.ndim:  # a dimension of nothing
        axis = rng.randrange(array.ndim)
        return array.take([], axis=axis) if array.dtype.kind not in "V" else array
    if kind == 2:  # another rank
        return rng.choice(
            [array.reshape(-1), array[None], array.reshape((1,) * rng.randrange(7) + array.shape)]
        )
    if kind == 3 and array.ndim:  # another length
        axis = rng.randrange(array.ndim)
        return np.repeat(array, rng.randrange(4), axis=axis)
    if array.size == 0:
        return array
    spoiled = array.copy()
    flat = spoiled.reshape(-1)
    for _ in range(1 + rng.randrange(max(1, min(flat.size, 4)))):
        place = rng.randrange(flat.size)
        if array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            flat[place] = min(max(rng.choice(INTEGERS), limits.min), limits.max)
        elif array.dtype.kind == "f":
            with np.errstate(all="ignore"):
                flat[place] = rng.choice(FLOATS)
        elif array.dtype.kind == "O":
            flat[place] = rng.choice(STRINGS)
    return spoiled


def spoiled_value(value: Any, rng: random.Random) -> Any:
    if isinstance(value, np.ndarray):
        return spoiled_array(value, rng)
    if isinstance(value, list):
        return rng.choice([value, [], [spoiled_value(each, rng) for each in value], value + value])
    return value


def spoiled_attribute(value: Any, rng: random.Random) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return rng.choice(INTEGERS)
    if isinstance(value, float):
        return rng.choice(FLOATS)
    if isinstance(value, str):
        return rng.choice([value, value, *STRINGS])
    if isinstance(value, tuple):
        kind = rng.randrange(4)
        if kind == 0:
            return ()
        if kind == 1:
            return (*value, *value)
        if kind == 2:
            return value[:-1]
        return tuple(spoiled_attribute(each, rng) if rng.random() < 0.5 else each for each in value)
    if isinstance(value, np.ndarray):
        return spoiled_array(value, rng)
    return value


def run_spoiled(case: Any, seed: int) -> str:
    """Run one case spoiled in one way; returns what came of it."""
    rng = random.Random(f"{case.name} {seed}")
    node = case.model.graph.node[0]
    opsets = {each.domain: each.version for each in case.model.opset_import}
    op = registry.find(node.domain, node.op_type, opsets.get(node.domain, 1))
    attributes = {each.name: node_cases.attribute_value(each) for each in node.attribute}
    bodies = {name: each for name, each in attributes.items() if isinstance(each, onnx.GraphProto)}
    for name, formal in op.attributes.items():
        if name not in bodies and rng.random() < 0.35:
            start = attributes.get(name, formal.default)
            if start is not None:
                attributes[name] = spoiled_attribute(start, rng)
    data = iter(case.data_sets[0][0])
    inputs = [node_cases.as_value(next(data)) if name else None for name in node.input]
    declared = {info.name: node_cases.value_type(info.type) for info in case.model.graph.input}
    types = [
        node_cases.actual_type(v, declared.get(n)) if n else None
        for n, v in zip(node.input, inputs, strict=True)
    ]
    inputs = [spoiled_value(each, rng) if rng.random() < 0.6 else each for each in inputs]
    if bodies and op.name == "Loop":
        return "skipped"  # an endless loop is the caller's own
    try:
        outputs = node_cases.on_engine(
            op, inputs, types, attributes, len(node.output), {}, {}, opsets.get("", 1)
        )
    except OnnxsmithError as error:
        text = str(error)
        return "memory" if "emory" in text or "bad_alloc" in text or "bad allocation" in text else "refused"
    for each in outputs:
        if isinstance(each, np.ndarray) and each.dtype.kind not in "OV":
            each.sum()  # touch it
    objection = disagreement(op, inputs, types, attributes, outputs)
    return "ran" if objection is None else f"NONSENSE {objection}"


def disagreement(op: Any, inputs: Any, types: Any, attributes: Any, outputs: Any) -> str | None:
    """What ONNX's own inference has against a result, by the shapes and values of the inputs."""
    if not all(each is None or isinstance(each, np.ndarray) for each in (*inputs, *outputs)):
        return None
    if not all(isinstance(each, DType) for each in types if each is not None):
        return None
    call = Call(op, tuple(types), attributes, len(outputs))
    node = make_node(call)
    protos, data = {}, {}
    for name, value, kind in zip(call.input_names, inputs, types, strict=True):
        if value is not None and name:
            protos[name] = onnx.helper.make_tensor_type_proto(int(kind), value.shape)
            if value.dtype.kind in "iufb" and value.size < 1000:
                data[name] = onnx.numpy_helper.from_array(value)
    schema = onnx.defs.get_schema(op.name, op.since_version, op.domain)
    try:
        inferred = onnx.shape_inference.infer_node_outputs(
            schema, node, protos, data, opset_imports=[onnx.helper.make_opsetid(op.domain, op.since_version)]
        )
    except Exception as error:
        return "inference says " + str(error)[:160].replace("\n", " ")
    for k, value in enumerate(outputs):
        proto = inferred.get(f"output_{k}")
        if proto is None or value is None or not proto.tensor_type.HasField("shape"):
            continue
        shape = [dim.dim_value if dim.HasField("dim_value") else None for dim in proto.tensor_type.shape.dim]
        if len(shape) != value.ndim or any(
            a is not None and a != b for a, b in zip(shape, value.shape, strict=True)
        ):
            return f"shape {value.shape}, inferred {shape}"
    return None


def child() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cases = node_cases.all_cases()
    print("ready", flush=True)
    for line in sys.stdin:
        name, seed = line.split()
        try:
            print("done", run_spoiled(cases[name], int(seed)), flush=True)
        except MemoryError:
            print("done memory", flush=True)
        except Exception as error:
            print("done", "EXCEPTION", type(error).__name__, str(error)[:200].replace("\n", " "), flush=True)


class Child:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, "--child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self.buffer = b""
        assert self.read(60) == "ready"

    def read(self, seconds: float) -> str | None:
        """A line, None after the time is over, the empty string when the process has ended."""
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                return ""
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def ask(self, name: str, seed: int) -> str:
        self.process.stdin.write(f"{name} {seed}\n".encode())
        answer = self.read(SECONDS)
        if answer is None:
            self.process.kill()
            self.process.wait()
            return "HANG"
        if answer == "":
            code = self.process.wait()
            noise = self.process.stderr.read()[-300:].decode(errors="replace").replace("\n", " ")
            return f"CRASH {signal.Signals(-code).name if code < 0 else code} {noise}"
        return answer.removeprefix("done ")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--replay", nargs=2)
    options = parser.parse_args()
    if options.child:
        return child()
    if options.replay:
        print(Child().ask(options.replay[0], int(options.replay[1])))
        return None
    part, parts = map(int, options.part.split("/"))
    names = [
        name
        for name, case in node_cases.all_cases().items()
        if len(case.model.graph.node) == 1 and options.only in name
    ]
    counts: collections.Counter[str] = collections.Counter()
    worker = Child()
    for name in names[part::parts]:
        for seed in range(options.first, options.first + options.rounds):
            answer = worker.ask(name, seed)
            counts[answer.split()[0]] += 1
            if answer.split()[0] not in ("ran", "refused", "skipped"):
                print(f"{name} {seed}: {answer}", flush=True)
            if answer.split()[0] in ("HANG", "CRASH"):
                worker = Child()
    print(dict(counts))
    return None


if __name__ == "__main__":
    main()
