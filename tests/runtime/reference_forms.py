"""Forms of operators with an independent oracle: what the reference evaluator must give on each.

A form is an operator in one of its versions, with one type variable on one element type. Its data is that of a node
case of ONNX, in the form's version and element type. The oracle is the case's own data, a function of numpy, or ONNX
Runtime on the same values in an element type that it has a kernel for: a wider one for arithmetic, numbers of places
for what only moves elements. A case that has one input type in many, or much data, speaks for its own form only.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import onnx
from onnx import numpy_helper

from onnxsmith import Model
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef, Parameter
from onnxsmith.types.dtypes import DType
from tests.backend.node_cases import all_cases, as_value, attribute_value
from tests.backend.own_cases import OWN_CASES
from tests.runtime.reference_samples import Node, Sample, old_samples, written_samples

Array = np.ndarray[Any, Any]
#: As many cases of an operator, of no more elements, are tried on every form; the others on their own.
MOST_CASES = 6
MOST_ELEMENTS = 4096
#: What comes out is elements that went in, or sizes.
MOVERS = frozenset(
    """
    CenterCropPad Compress Concat DepthToSpace Expand Flatten Gather GatherElements GatherND Identity Pad
    Reshape ReverseSequence Scatter ScatterElements ScatterND Shape Size Slice SpaceToDepth Split Squeeze
    TensorScatter Tile Transpose Trilu Unsqueeze Where
    """.split()  # noqa: SIM905  # a paragraph of names is read at a glance
)
#: Results are drawn, or read from a file: `random_draws` and the node cases have those.
LEFT_OUT = frozenset(
    [
        *("Bernoulli", "Dropout", "ImageDecoder", "Multinomial"),
        *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
    ]
)
FLOATS = (DType.DOUBLE, DType.FLOAT, DType.FLOAT16, DType.BFLOAT16)
SIGNED = (DType.INT64, DType.INT32, DType.INT16, DType.INT8)
UNSIGNED = (DType.UINT64, DType.UINT32, DType.UINT16, DType.UINT8)


@functools.cache
def samples() -> Mapping[tuple[str, str], Sequence[Sample]]:
    """The samples by domain and operator, those with the least data first."""
    found: dict[tuple[str, str], list[Sample]] = {}
    for name, case in sorted(all_cases().items(), key=lambda each: (_size(each[1]), each[0])):
        graph = case.model.graph
        inputs, expected = case.data_sets[0]
        if len(graph.node) != 1 or graph.node[0].op_type in LEFT_OUT:
            continue
        node = graph.node[0]
        domain = "" if node.domain == "ai.onnx" else node.domain
        version = next(
            each.version for each in case.model.opset_import if each.domain in (domain, domain or "ai.onnx")
        )
        op = registry.find(domain, node.op_type, version)
        given = {info.name: as_value(datum) for info, datum in zip(graph.input, inputs, strict=True)}
        wanted = [as_value(each) for each in expected]
        if op is None or not all(isinstance(each, np.ndarray) for each in (*given.values(), *wanted)):
            continue
        if any(each.type == onnx.AttributeProto.GRAPH for each in node.attribute):
            continue
        kept = found.setdefault((domain, op.name), [])
        attributes = {each.name: attribute_value(each) for each in node.attribute}
        values = tuple(given.get(each) if each else None for each in node.input)
        results = iter(wanted)
        kept.append(
            Sample(
                name,
                Node(op, attributes, values, len(node.output)),
                [next(results) if each else None for each in node.output],
            )
        )
    for sample in (*written_samples(), *old_samples(), *by_hand()):
        found.setdefault((sample.node.op.domain, sample.node.op.name), []).append(sample)
    return found


def by_hand() -> Iterator[Sample]:
    """The cases of versions that ONNX has none for."""
    for case in OWN_CASES:
        values = (*case.inputs, *case.expected)
        if case.name in LEFT_OUT or not all(isinstance(each, np.ndarray) for each in values):
            continue
        for version in case.versions:
            op = registry.find(case.domain, case.name, version)
            assert op is not None
            node = Node(op, case.attributes, tuple(case.inputs), len(case.expected))
            yield Sample(f"{case.name}-{version}", node, case.expected)


def _size(case: Any) -> int:
    return sum(each.size for each in map(as_value, case.data_sets[0][0]) if isinstance(each, np.ndarray))


def in_version(node: Node, version: int) -> Node | None:
    """The same call in another version of its operator; None where there is no way to say it."""
    if version == node.op.since_version:
        return node
    op = registry.find(node.op.domain, node.op.name, version)
    if op is None or op.since_version != version or op.is_deprecated:
        return None
    names = [f"x{k}" if each is not None else "" for k, each in enumerate(node.inputs)]
    proto = onnx.helper.make_node(
        node.op.name, names, [f"y{k}" for k in range(node.outputs)], domain=node.op.domain
    )
    for name, value in node.attributes.items():
        kind = onnx.AttributeProto.AttributeType.Value(node.op.attributes[name].type.name)
        made = numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
        proto.attribute.append(onnx.helper.make_attribute(name, made, attr_type=kind))
    # Inputs behind the first may be attributes in the other version.
    is_data = [k == 0 or each is None or each.dtype.kind in "fO" for k, each in enumerate(node.inputs)]
    ports = [
        onnx.helper.make_tensor_value_info(name, int(DType.from_numpy(each.dtype) or 0), each.shape)
        for name, each, is_port in zip(names, node.inputs, is_data, strict=True)
        if each is not None and is_port
    ]
    held = [
        numpy_helper.from_array(each, name)
        for name, each, is_port in zip(names, node.inputs, is_data, strict=True)
        if each is not None and not is_port
    ]
    results = [onnx.ValueInfoProto(name=each) for each in proto.output]
    graph = onnx.helper.make_graph([proto], "case", ports, results, held)
    imports = {"": 21, node.op.domain: node.op.since_version}
    model = onnx.helper.make_model(
        graph, ir_version=10, opset_imports=[onnx.helper.make_opsetid(*each) for each in imports.items()]
    )
    try:
        model = onnx.shape_inference.infer_shapes(model)
        told = Model.from_proto(model).convert_version({node.op.domain: version}).proto
    except Exception:  # the converter's refusals, and inference's
        # As it stands, if the definition takes it so; the oracle says whether it means the same.
        return Node(op, node.attributes, node.inputs, node.outputs) if _takes(op, node) else None
    others = [each for each in told.graph.node if each.op_type != "Constant"]
    if len(others) != 1 or others[0].op_type != node.op.name:
        return None
    values: dict[str, Any] = {name: each for name, each in zip(names, node.inputs, strict=True) if name}
    values |= {each.name: numpy_helper.to_array(each) for each in told.graph.initializer}
    for each in told.graph.node:
        if each.op_type == "Constant":
            values[each.output[0]] = np.asarray(attribute_value(each.attribute[0]))
    made = others[0]
    if not all(each in values for each in made.input if each):
        return None
    attributes = {each.name: attribute_value(each) for each in made.attribute}
    given = tuple(values[each] if each else None for each in made.input)
    return Node(op, attributes, given, len(made.output))


def _takes(op: OperatorDef, node: Node) -> bool:
    is_short = len(node.inputs) <= len(op.inputs) or op.inputs[-1].option == "variadic"
    same = (
        name in op.attributes and op.attributes[name].type is node.op.attributes[name].type
        for name in node.attributes
    )
    return is_short and all(same)


def variables(op: OperatorDef) -> Mapping[str, Sequence[DType]]:
    """The element types of each type variable of the inputs."""
    found: dict[str, list[DType]] = {}
    for each in op.inputs:
        types = [DType.from_onnx_name(t[7:-1]) for t in sorted(each.types) if t.startswith("tensor(")]
        found.setdefault(each.type_name, [t for t in types if t is not None])
    return found


def formal(op: OperatorDef, position: int) -> Parameter:
    return op.inputs[min(position, len(op.inputs) - 1)]


def cast(node: Node, variable: str, dtype: DType) -> Node | None:
    """The call with the inputs of a type variable in an element type; None where it has none of them."""
    is_cast = False
    made: list[Array | None] = []
    for position, each in enumerate(node.inputs):
        if each is None or formal(node.op, position).type_name != variable:
            made.append(each)
            continue
        is_cast = True
        made.append(values_in(each, dtype))
    return Node(node.op, node.attributes, tuple(made), node.outputs) if is_cast else None


def values_in(array: Array, dtype: DType) -> Array:
    """Small values that the element type holds exactly, near to the given ones."""
    kind = np.dtype(dtype.numpy)
    if DType.from_numpy(array.dtype) is dtype:
        return array
    if dtype is DType.STRING:
        texts = [str(each) for each in array.reshape(-1).tolist()]
        return np.array(texts, object).reshape(array.shape)
    if array.dtype.kind == "f" and dtype in FLOATS:
        with np.errstate(over="ignore"):
            exact = array.astype(kind)
        if np.array_equal(exact.astype(np.float64), array.astype(np.float64), equal_nan=True):
            return exact
    if array.dtype.kind in "iu" and dtype in (*SIGNED, *UNSIGNED):
        return np.clip(array, max(np.iinfo(kind).min, -(2**31)), min(np.iinfo(kind).max, 2**31)).astype(kind)
    if array.dtype.kind == "O":
        numbers = np.arange(array.size).reshape(array.shape) % 4
    else:
        numbers = array.real if array.dtype.kind == "c" else array.astype(np.float64)
    numbers = np.nan_to_num(numbers, nan=1.0, posinf=2.0, neginf=-2.0)
    if dtype is DType.BOOL:
        return numbers > 0
    if dtype in FLOATS or dtype.onnx_name.startswith("complex"):
        with np.errstate(over="ignore"):
            return numbers.astype(_BFLOAT16).astype(np.float64).astype(kind)  # what every one of them holds
    is_unsigned = dtype.onnx_name.startswith("uint") or dtype is DType.FLOAT8E8M0
    whole = np.clip(np.rint(numbers), 0 if is_unsigned else -2, 1 if dtype.onnx_name == "int2" else 3)
    if dtype is DType.FLOAT8E8M0:
        whole = np.exp2(whole)
    return whole.astype(np.float32).astype(kind) if kind.isbuiltin != 1 else whole.astype(kind)


_BFLOAT16 = DType.BFLOAT16.numpy


def carriers(dtype: DType) -> Sequence[DType]:
    """Element types that hold the same values, the likeliest kernels first."""
    if dtype is DType.STRING:
        return (DType.STRING,)
    if dtype in FLOATS:
        return (DType.FLOAT, DType.DOUBLE)
    if dtype in (*SIGNED, *UNSIGNED):
        return (DType.INT64, DType.INT32, DType.UINT8, DType.FLOAT, DType.DOUBLE)
    return (DType.FLOAT, DType.INT64)


def moved(node: Node, variable: str) -> list[Any] | None:
    """The results of a mover, by ONNX Runtime on the places of the elements."""
    for carrier in (np.int64, np.int32, np.float32, np.float64):
        found = _moved_as(node, variable, carrier)
        if found is not None:
            return found
    return None


def _moved_as(node: Node, variable: str, carrier: type) -> list[Any] | None:
    tables: list[Array] = []
    places: list[Array | None] = []
    count = 1  # the first is what padding is filled with
    for position, each in enumerate(node.inputs):
        if each is None or formal(node.op, position).type_name != variable:
            places.append(each)
            continue
        tables.append(each.reshape(-1))
        places.append(np.arange(count, count + each.size).reshape(each.shape).astype(carrier))
        count += each.size
    if not tables:
        return None
    blank = np.array([""], object) if tables[0].dtype.kind == "O" else np.zeros(1, tables[0].dtype)
    results = tried(Node(node.op, node.attributes, tuple(places), node.outputs), "onnxruntime")
    if results is None:
        return None
    table = np.concatenate([blank, *tables])
    outputs: list[Any] = []
    for position, each in enumerate(results):
        kind = node.op.outputs[min(position, len(node.op.outputs) - 1)]
        outputs.append(table[each.astype(np.int64)] if kind.type_name == variable else each)
    return outputs


def tried(node: Node, runtime: str) -> list[Any] | None:
    try:
        return node.run(runtime)
    except Exception:  # it cannot run on these values
        return None


def carried(node: Node, variable: str, dtype: DType) -> list[Any] | None:
    """The results by ONNX Runtime on the same values in another element type."""
    allowed = variables(node.op).get(variable, ())
    given = cast(node, variable, dtype)
    for carrier in carriers(dtype):
        other = cast(given, variable, carrier) if given is not None and carrier in allowed else None
        results = None if other is None else tried(other, "onnxruntime")
        if results is not None:
            return results
    return None


# -- oracles of numpy ---------------------------------------------------------------------------------------


def _shifted(node: Node) -> list[Any]:
    x, y = node.inputs
    return [x << y if node.attributes["direction"] == "LEFT" else x >> y]


def _remainder(node: Node) -> list[Any]:
    x, y = (each.astype(np.float64) if each.dtype.kind not in "iu" else each for each in node.inputs)
    return [np.fmod(x, y) if node.attributes.get("fmod") else np.mod(x, y)]


def _reinterpreted(node: Node) -> list[Any]:
    return [node.inputs[0].view(np.dtype(DType(node.attributes["to"]).numpy))]


def _erf(node: Node) -> list[Any]:
    return [np.trunc(np.vectorize(math.erf)(node.inputs[0].astype(np.float64)))]


def _not_empty(node: Node) -> list[Any]:
    return [np.stack(np.nonzero(node.inputs[0] != ""))]


def _converted(node: Node) -> list[Any]:
    x, like = node.inputs
    return [x.astype(np.float32).astype(like.dtype)]


def _product(node: Node) -> list[Any]:
    a, b, *rest = node.inputs
    options = node.attributes
    left, right = a.T if options.get("transA") else a, b.T if options.get("transB") else b
    result = options.get("alpha", 1.0) * (left.astype(np.float64) @ right.astype(np.float64))
    if rest and rest[0] is not None:
        result = result + options.get("beta", 1.0) * rest[0]
    return [np.trunc(result)]


def _powered(node: Node) -> list[Any]:
    x, y = (each.astype(np.float64) for each in node.inputs)
    return [np.power(x, y)]


def _tiled(node: Node) -> list[Any] | None:
    if len(node.inputs) != 3:  # as it was in version 1
        return None
    x, count, axis = node.inputs
    return [np.concatenate([x] * int(count.reshape(())), int(axis.reshape(())))]


def _dequantized(node: Node) -> list[Any] | None:
    x, scale, *zero = node.inputs
    if scale.size != 1:
        return None
    shift = zero[0].astype(np.float64) if zero and zero[0] is not None else 0.0
    return [(x.astype(np.float64) - shift) * scale.astype(np.float64)]


def _quantized(node: Node) -> list[Any] | None:
    x, scale, *zero = node.inputs
    if scale.size != 1 or (zero and (zero[0] is None or zero[0].dtype.kind not in "iu")):
        return None
    return [_saturated(x.astype(np.float64) / scale.astype(np.float64), zero[0] if zero else np.uint8(0))]


def _saturated(x: Array, zero: Any) -> Array:
    ends = np.iinfo(zero.dtype)
    return np.clip(np.rint(x) + zero.astype(np.float64), ends.min, ends.max).astype(zero.dtype)


def _quantized_product(node: Node) -> list[Any] | None:
    a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = node.inputs
    if zero.dtype.kind not in "iu" or a.dtype.kind not in "iu" or b.dtype.kind not in "iu":
        return None
    left, right = (
        (x.astype(np.float64) - z.astype(np.float64)) * s.astype(np.float64)
        for x, s, z in ((a, a_scale, a_zero), (b, b_scale, b_zero))
    )
    return [_saturated(left @ right / scale.astype(np.float64), zero)]


def _one_hot(node: Node) -> list[Any] | None:
    indices, depth, values = node.inputs
    count, axis = int(np.reshape(depth, -1)[0]), node.attributes.get("axis", -1)
    places = np.where(indices < 0, indices + count, indices).astype(np.int64)
    hot = np.expand_dims(places, axis % (indices.ndim + 1)) == np.arange(count).reshape(
        [-1 if k == axis % (indices.ndim + 1) else 1 for k in range(indices.ndim + 1)]
    )
    return [np.where(hot, values[1], values[0])]


#: What nothing that ONNX Runtime has a kernel for can stand for.
ORACLES: Mapping[str, Callable[[Node], list[Any] | None]] = {
    "BitShift": _shifted,
    "Tile": _tiled,
    "BitCast": _reinterpreted,
    "Mod": _remainder,
    "CastLike": _converted,
    "OneHot": _one_hot,
    "QuantizeLinear": _quantized,
    "DequantizeLinear": _dequantized,
    "QLinearMatMul": _quantized_product,
}
#: Where there is no other.
LAST_ORACLES: Mapping[str, Callable[[Node], list[Any] | None]] = {
    "Pow": _powered,
    "Erf": _erf,
    "NonZero": _not_empty,
    "Gemm": _product,
}


def oracle(sample: Sample, node: Node, variable: str, dtype: DType) -> list[Any] | None:
    """The right results of a form on a sample, whose call in the form's version is `node`; None if nobody knows."""
    given = cast(node, variable, dtype)
    assert given is not None
    is_plain = node.op.domain == "ai.onnx.ml"  # they take whole numbers for the same numbers
    is_same = all(
        x is y or _is_widened(x, y, is_plain=is_plain) for x, y in zip(given.inputs, node.inputs, strict=True)
    )
    if is_same and any(each is not None for each in sample.expected):
        return list(sample.expected)
    name = node.op.name
    if name in ORACLES and node.op.domain == "":
        found = ORACLES[name](given)
        if found is not None:
            return found
    if _is_mover(node) and variable in _moved_variables(node.op):
        found = moved(given, variable)
        if found is None and node is not sample.node:
            later = cast(sample.node, variable, dtype)
            found = None if later is None else moved(later, variable)
        return found
    if any(each is not None and not each.size for each in node.inputs):
        return None  # the least of nothing depends on the element type
    for base in (node, sample.node):
        if _positions(base, variable) == _positions(node, variable):
            found = carried(base, variable, dtype)
            if found is not None:
                return found
    if sample.name == f"{name}-{node.op.since_version}" and dtype in FLOATS:
        return list(sample.expected)  # its values are held by all of them
    return LAST_ORACLES[name](given) if name in LAST_ORACLES and node.op.domain == "" else None


def _is_widened(wide: Array | None, narrow: Array | None, *, is_plain: bool) -> bool:
    if wide is None or narrow is None:
        return False
    if (wide.dtype, narrow.dtype) != (np.float64, np.float32) and not (is_plain and wide.dtype.kind in "iu"):
        return False
    return np.array_equal(wide, narrow, equal_nan=True)


def _is_mover(node: Node) -> bool:
    if node.op.name in ("Resize", "Upsample"):
        return node.attributes.get(
            "mode", "nearest"
        ) == "nearest" and "coordinate_transformation_mode" not in (node.attributes)
    if node.attributes.get("value"):  # that padding is filled with, which is no place of an element
        return False
    return node.op.name in MOVERS and node.attributes.get("reduction", "none") == "none"


def _moved_variables(op: OperatorDef) -> set[str]:
    is_measured = op.name in ("Shape", "Size")
    return {op.inputs[0].type_name} if is_measured else {each.type_name for each in op.outputs}


def _positions(node: Node, variable: str) -> list[int]:
    return [
        k
        for k, each in enumerate(node.inputs)
        if each is not None and formal(node.op, k).type_name == variable
    ]


def agrees(given: Sequence[Any], right: Sequence[Any], dtype: DType) -> bool:
    """True if results are those of an oracle, which may have computed in less precision, or in fractions."""
    return all(_near(one, two, dtype) for one, two in zip(given, right, strict=True) if two is not None)


def _near(one: Any, two: Any, dtype: DType) -> bool:
    a, b = np.asarray(one), np.asarray(two)
    if a.shape != b.shape:
        return False
    if a.dtype.kind in "OUS" or b.dtype.kind in "OUS":
        return a.tolist() == b.tolist() and all(isinstance(each, str) for each in a.reshape(-1).tolist())
    if a.dtype.kind == "c" or b.dtype.kind == "c":
        return bool(np.allclose(a, b, rtol=1e-6, atol=1e-6, equal_nan=True))
    if a.dtype.kind == "b":
        return bool(np.array_equal(a, b.astype(np.float64) != 0))
    if a.dtype.kind in "iu":
        right = b if b.dtype.kind in "iu" else np.trunc(np.nan_to_num(b.astype(np.float64))).astype(np.int64)
        return bool(np.array_equal(a, right.astype(a.dtype)))
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(a.dtype).astype(np.float64)
    share = max(_SHARES.get(each, 2e-4) for each in (dtype.onnx_name, a.dtype.name, b.dtype.name))
    most = float(np.abs(y[np.isfinite(y)]).max(initial=0.0))
    return bool(np.allclose(x, y, rtol=share, atol=share * max(most, 1e-3), equal_nan=True))


#: How near results are, by the narrowest element type that took part.
_SHARES = {"float16": 1e-2, "bfloat16": 8e-2}


# -- the forms ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evidence:
    """What was found of one form on one sample."""

    domain: str
    operator: str
    version: int
    variable: str
    dtype: DType
    sample: str
    kind: Literal["equal", "wrong", "refused", "no oracle"]

    @property
    def form(self) -> tuple[str, str, int, str, DType]:
        return self.domain, self.operator, self.version, self.variable, self.dtype


def forms(domain: str, operator: str) -> Iterator[tuple[Sample, Node, str, DType]]:
    """All forms of an operator, each on a few samples, and the form that each of the other samples has."""
    found = samples().get((domain, operator), ())
    for version in registry.versions(domain, operator):
        op = registry.find(domain, operator, version)
        if op is None or op.is_deprecated or op.since_version != version:
            continue
        told = 0
        for sample in found:
            is_own = sample.node.op.since_version == version
            is_few = told < MOST_CASES and sample.size <= MOST_ELEMENTS
            if version > sample.node.op.since_version or not (is_own or is_few):
                continue
            node = in_version(sample.node, version)
            if node is None:
                continue
            told += is_few
            pairs = _all_pairs(op) if is_few else _own_pairs(node)
            yield from ((sample, node, variable, dtype) for variable, dtype in pairs)


def _all_pairs(op: OperatorDef) -> Sequence[tuple[str, DType]]:
    return [(variable, dtype) for variable, dtypes in variables(op).items() for dtype in dtypes]


def _own_pairs(node: Node) -> Sequence[tuple[str, DType]]:
    """The element type of each type variable that the inputs have, once."""
    pairs = {
        (formal(node.op, position).type_name, DType.from_numpy(each.dtype))
        for position, each in enumerate(node.inputs)
        if each is not None
    }
    return sorted((variable, dtype) for variable, dtype in pairs if dtype is not None)


def evidence(domain: str, operator: str) -> Iterator[Evidence]:
    """What is found of all forms of an operator."""
    for sample, node, variable, dtype in forms(domain, operator):
        kind = _judged(sample, node, variable, dtype)
        if kind is not None:
            yield Evidence(domain, operator, node.op.since_version, variable, dtype, sample.name, kind)


def _judged(sample: Sample, node: Node, variable: str, dtype: DType) -> Any:
    given = cast(node, variable, dtype)
    if given is None:
        return None
    results = tried(given, "reference")
    if results is None:
        return "refused"  # in words
    right = oracle(sample, node, variable, dtype)
    if right is None:
        return "no oracle"
    return "equal" if agrees(results, right, dtype) else "wrong"
