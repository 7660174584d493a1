"""Spoil a case: extreme values, empty dimensions, other ranks, types, attributes, opset versions; all from a seed.

What comes out is mostly wrong, and that is the point: every road must say so in the same words, or give the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import onnx

from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType
from tests.backend.node_cases import attribute_value
from tests.laws.case import Case, Value, with_inputs

INTEGERS = (0, 1, -1, 2, -2, 3, 7, 64, -100, 1000, 2**15, 2**31 - 1, 2**31, -(2**31), 2**32, 2**40, 2**62)
LIMITS = (2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 1e-30, 1e9, 1e30, -1e30, np.nan, np.inf, -np.inf, 2.0**31, 2.0**63)
STRINGS = ("", "x", "NOTSET", "\0", "ij,jk->ik", "....->", "[", "(a*)*b", "é" * 50)
#: Python and numpy cannot count further, and neither do people.
_MOST_ELEMENTS = 1 << 16


def is_spoilable(case: Case) -> bool:
    """Whether a case has one node whose end does not hang on a number of trips."""
    nodes = case.graph.node
    return len(nodes) == 1 and nodes[0].op_type not in ("Loop", "ImageDecoder")


def spoiled(case: Case, rng: random.Random, name: str) -> Case:
    """The case, changed in one to three ways."""
    made = replace(case, name=name, expected=None)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        made = rng.choice(_WAYS)(made, rng)
    return made


def _with_values(case: Case, inputs: list[Value]) -> Case:
    return with_inputs(case, case.graph, tuple(inputs), case.name)


def _definition(case: Case) -> OperatorDef | None:
    node = case.graph.node[0]
    return registry.find(node.domain, node.op_type, case.version(node.domain))


def _spoil_an_input(change: Callable[[np.ndarray, random.Random], np.ndarray]) -> Callable[..., Case]:
    def way(case: Case, rng: random.Random) -> Case:
        inputs = list(case.inputs)
        places = [k for k, each in enumerate(inputs) if isinstance(each, np.ndarray)]
        if not places:
            lists = [k for k, each in enumerate(inputs) if isinstance(each, list)]
            for k in lists:
                inputs[k] = rng.choice([inputs[k] * 2, inputs[k][:1], inputs[k][::-1]])
            return _with_values(case, inputs)
        place = rng.choice(places)
        inputs[place] = change(inputs[place], rng)
        return _with_values(case, inputs)

    return way


def _extremes(array: np.ndarray, rng: random.Random) -> np.ndarray:
    changed = array.copy()
    flat = changed.reshape(-1)
    if flat.size == 0:
        return changed
    everywhere = rng.random() < 0.2
    value = _extreme(array.dtype, rng)
    for _ in range(1 + rng.randrange(min(flat.size, 4))):
        with np.errstate(all="ignore"):
            if value is not None:
                flat[slice(None) if everywhere else rng.randrange(flat.size)] = value
        value = _extreme(array.dtype, rng)
    return changed


def _extreme(dtype: np.dtype, rng: random.Random) -> object:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        chosen = rng.choice((*INTEGERS, *LIMITS, limits.min, limits.max, limits.min, -1))
        return min(max(chosen, limits.min), limits.max)
    if dtype.kind == "f" or "float" in dtype.name:
        return rng.choice(FLOATS)
    if dtype.kind == "O":
        return rng.choice(STRINGS)
    return bool(rng.randrange(2)) if dtype.kind == "b" else None


def _empty_dimension(array: np.ndarray, rng: random.Random) -> np.ndarray:
    if array.ndim == 0:
        return array
    index: list[slice] = [slice(None)] * array.ndim
    index[rng.randrange(array.ndim)] = slice(0)
    return array[tuple(index)].copy()


def _other_rank(array: np.ndarray, rng: random.Random) -> np.ndarray:
    ways = [
        array.reshape(-1),
        array[None],
        array[..., None],
        array.reshape((1,) * rng.randrange(7) + array.shape),
    ]
    if array.ndim and len(array):
        ways.append(array[0])
    return np.asarray(rng.choice(ways)).copy()


def _other_length(array: np.ndarray, rng: random.Random) -> np.ndarray:
    if array.ndim == 0 or array.size > _MOST_ELEMENTS:
        return array
    axis = rng.randrange(array.ndim)
    if rng.random() < 0.3 and array.ndim > 1:
        return np.swapaxes(array, axis, axis - 1).copy()
    return np.repeat(array, rng.choice((2, 3)), axis=axis) if rng.random() < 0.5 else _shortened(array, axis)


def _shortened(array: np.ndarray, axis: int) -> np.ndarray:
    index: list[slice] = [slice(None)] * array.ndim
    index[axis] = slice(array.shape[axis] - 1 if array.shape[axis] else 0)
    return array[tuple(index)].copy()


def _attribute(case: Case, rng: random.Random) -> Case:
    """Another value of an attribute, one that is given or one that has a default."""
    graph = case.graph
    node, op = graph.node[0], _definition(case)
    if op is None or not op.attributes:
        return case
    given = {each.name: attribute_value(each) for each in node.attribute}
    name = rng.choice(sorted(op.attributes))
    start = given.get(name, op.attributes[name].default)
    if start is None or isinstance(start, onnx.GraphProto):
        return case
    value = _spoiled_attribute(start, rng)
    kept = [each for each in node.attribute if each.name != name]
    kind = onnx.AttributeProto.AttributeType.Value(op.attributes[name].type.name)
    try:
        made = onnx.helper.make_attribute(name, _as_proto(value), attr_type=kind)
    except (TypeError, ValueError):
        return case
    del node.attribute[:]
    node.attribute.extend([*kept, made])
    return with_inputs(case, graph, case.inputs, case.name)


def _as_proto(value: Value) -> object:
    return onnx.numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value


def _spoiled_attribute(value: Value, rng: random.Random) -> Value:
    if isinstance(value, int):
        return rng.choice((*INTEGERS, *LIMITS, value + 1, value - 1, -value, rng.randrange(24)))
    if isinstance(value, float):
        return rng.choice(FLOATS)
    if isinstance(value, str):
        return rng.choice(STRINGS)
    if isinstance(value, np.ndarray):
        return rng.choice((_extremes, _empty_dimension, _other_rank, _other_length))(value, rng)
    if isinstance(value, tuple):
        ways = [(), (*value, *value), value[:-1], value[::-1]]
        ways += [tuple(_spoiled_attribute(each, rng) if rng.random() < 0.5 else each for each in value)] * 3
        return rng.choice(ways)
    return value


def _drop_attribute(case: Case, rng: random.Random) -> Case:
    graph = case.graph
    node = graph.node[0]
    places = [k for k, each in enumerate(node.attribute) if each.type != onnx.AttributeProto.GRAPH]
    if not places:
        return case
    del node.attribute[rng.choice(places)]
    return with_inputs(case, graph, case.inputs, case.name)


def _drop_input(case: Case, rng: random.Random) -> Case:
    """Without one of the inputs; a hole is left where others follow."""
    graph = case.graph
    node = graph.node[0]
    places = [k for k, name in enumerate(node.input) if name]
    if len(places) < 2:
        return case
    place = rng.choice(places[1:])
    dropped = node.input[place]
    names = ["" if k == place else name for k, name in enumerate(node.input)]
    while names and not names[-1]:
        names.pop()
    del node.input[:]
    node.input.extend(names)
    if dropped in names:
        return case
    position = next(k for k, info in enumerate(graph.input) if info.name == dropped)
    del graph.input[position]
    inputs = case.inputs[:position] + case.inputs[position + 1 :]
    return with_inputs(case, graph, inputs, case.name)


def _other_dtype(case: Case, rng: random.Random) -> Case:
    """Another element type that the operator allows, for all inputs of one type variable."""
    node, op = case.graph.node[0], _definition(case)
    if op is None:
        return case
    by_name = {info.name: k for k, info in enumerate(case.graph.input)}
    variables: dict[str, list[int]] = {}
    allowed: dict[str, list[str]] = {}
    for place, name in enumerate(node.input):
        parameter = op.inputs[min(place, len(op.inputs) - 1)]
        if name and isinstance(case.inputs[by_name[name]], np.ndarray):
            variables.setdefault(parameter.type_name, []).append(by_name[name])
            allowed[parameter.type_name] = sorted(
                each for each in parameter.types if each.startswith("tensor(")
            )
    choices = [name for name, types in allowed.items() if len(types) > 1]
    if not choices:
        return case
    variable = rng.choice(sorted(choices))
    dtype = DType.from_onnx_name(rng.choice(allowed[variable])[len("tensor(") : -1])
    if dtype is None:
        return case
    inputs = list(case.inputs)
    for place in variables[variable]:
        try:
            with np.errstate(all="ignore"):
                inputs[place] = _cast(inputs[place], dtype)
        except (TypeError, ValueError):
            return case
    return _with_values(case, inputs)


def _cast(array: np.ndarray, dtype: DType) -> np.ndarray:
    if dtype is DType.STRING:
        return np.array([str(each) for each in array.reshape(-1)], object).reshape(array.shape)
    if array.dtype.kind == "c" and dtype.kind != "complex":
        array = np.real(array)
    return array.astype(dtype.numpy)


def _other_version(case: Case, rng: random.Random) -> Case:
    """The same node at another version of its operator."""
    node = case.graph.node[0]
    versions = registry.versions(node.domain, node.op_type)
    if len(versions) < 2:
        return case
    version = rng.choice(versions)
    opsets = tuple((domain, version if domain == node.domain else each) for domain, each in case.opsets)
    return with_inputs(replace(case, opsets=opsets), case.graph, case.inputs, case.name)


_WAYS: tuple[Callable[[Case, random.Random], Case], ...] = (
    *[_spoil_an_input(_extremes)] * 4,
    *[_spoil_an_input(_empty_dimension)] * 2,
    *[_spoil_an_input(_other_rank)] * 2,
    *[_spoil_an_input(_other_length)] * 2,
    *[_attribute] * 4,
    _drop_attribute,
    _drop_input,
    *[_other_dtype] * 2,
    _other_version,
)
