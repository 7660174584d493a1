"""What differs between two models, in plain words.

Both become plain Python values, with whatever ONNX spells in two ways spelled in one, and these are compared. Nothing
is run here.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import onnx
from onnx import AttributeProto, TensorProto, numpy_helper

#: Node metadata that says where in the Python source a node was made: no part of the model that is compared.
SOURCE_KEY = "onnxsmith.source"

_LONGEST = 100
_DEEPEST = 20_000


def differences(was: onnx.ModelProto, now: onnx.ModelProto) -> list[str]:
    """What `now` has otherwise than `was`; empty when they are the same model.

    Types noted for values inside a graph are no part of it: they follow from the rest.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEPEST))  # bodies within bodies within bodies
    try:
        found: list[str] = []
        _compare("model", _model(was), _model(now), found)
        return found
    finally:
        sys.setrecursionlimit(limit)


# ---- comparing plain values ----


def _compare(place: str, was: Any, now: Any, found: list[str]) -> None:
    if type(was) is not type(now):
        found.append(f"{place}: {_short(was)} became {_short(now)}")
    elif isinstance(was, dict):
        for key in was:
            if key not in now:
                found.append(f"{place}: {_label(key)} is missing")
            else:
                _compare(f"{place}, {_label(key)}", was[key], now[key], found)
        found.extend(f"{place}: {_label(key)} is new" for key in now if key not in was)
    elif isinstance(was, list):
        _compare_lists(place, was, now, found)
    elif was != now:
        found.append(f"{place}: {_short(was)} became {_short(now)}")


def _compare_lists(place: str, was: list[Any], now: list[Any], found: list[str]) -> None:
    if len(was) != len(now):
        found.append(f"{place}: {len(was)} became {len(now)}: {_titles(was)} became {_titles(now)}")
        return
    for index, (one, other) in enumerate(zip(was, now, strict=True)):
        title = one.get("op", one.get("name")) if isinstance(one, dict) else None
        _compare(f"{place} {index}" + (f" ({title})" if title else ""), one, other, found)


def _titles(items: Iterable[Any]) -> str:
    return _short([each.get("op", each.get("name")) if isinstance(each, dict) else each for each in items])


def _label(key: Any) -> str:
    return key if isinstance(key, str) else " ".join(map(repr, key)) if isinstance(key, tuple) else repr(key)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


# ---- plain values of protos ----


def _model(proto: onnx.ModelProto) -> dict[str, Any]:
    return {
        "IR version": proto.ir_version,
        "opset imports": _opsets(proto.opset_import),
        "producer": proto.producer_name,
        "producer version": proto.producer_version,
        "domain": proto.domain,
        "model version": proto.model_version,
        "doc string": proto.doc_string,
        "metadata": _metadata(proto.metadata_props),
        "functions": _keyed(
            "function",
            proto.functions,
            lambda each: (each.domain, each.name, each.overload),
            _function,
        ),
        "training": [each.SerializeToString(deterministic=True) for each in proto.training_info],
        "device configurations": [each.SerializeToString(deterministic=True) for each in proto.configuration],
        "graph": _graph(proto.graph),
    }


def _function(proto: onnx.FunctionProto) -> dict[str, Any]:
    return {
        "inputs": list(proto.input),
        "outputs": list(proto.output),
        "attributes without default": list(proto.attribute),
        "attributes with default": _keyed(
            "attribute", proto.attribute_proto, lambda each: each.name, _attribute
        ),
        "opset imports": _opsets(proto.opset_import),
        "doc string": proto.doc_string,
        "metadata": _metadata(proto.metadata_props),
        "node": [_node(each) for each in proto.node],
    }


def _graph(proto: onnx.GraphProto) -> dict[str, Any]:
    inputs, outputs = [[_value(each) for each in ports] for ports in (proto.input, proto.output)]
    _give_one_type(inputs + outputs)
    return {
        "name": proto.name,
        "doc string": proto.doc_string,
        "metadata": _metadata(proto.metadata_props),
        "input": inputs,
        "output": outputs,
        "initializers": _keyed("initializer", proto.initializer, lambda each: each.name, _tensor),
        "sparse initializers": _keyed(
            "sparse initializer", proto.sparse_initializer, lambda each: each.values.name, _sparse
        ),
        "quantization": sorted(
            each.SerializeToString(deterministic=True) for each in proto.quantization_annotation
        ),
        "node": [_node(each) for each in proto.node],
    }


def _node(proto: onnx.NodeProto) -> dict[str, Any]:
    return {
        "op": (_domain(proto.domain), proto.op_type, proto.overload),
        "name": proto.name,
        "inputs": _without_trailing(proto.input),
        "outputs": _without_trailing(proto.output),
        "attributes": _keyed("attribute", proto.attribute, lambda each: each.name, _attribute),
        "doc string": proto.doc_string,
        "metadata": _metadata(proto.metadata_props),
        "devices": [each.SerializeToString(deterministic=True) for each in proto.device_configurations],
    }


def _attribute(proto: AttributeProto) -> dict[str, Any]:
    kind = proto.type or _kind_by_content(proto)
    plain: dict[str, Any] = {
        "kind": AttributeProto.AttributeType.Name(kind),
        "reference": proto.ref_attr_name,
        "doc string": proto.doc_string,
    }
    if not proto.ref_attr_name:
        plain["value"] = _attribute_value(proto, kind)
    return plain


def _attribute_value(proto: AttributeProto, kind: int) -> Any:
    readers: dict[int, Callable[[], Any]] = {
        AttributeProto.FLOAT: lambda: _bits(proto.f),
        AttributeProto.INT: lambda: proto.i,
        AttributeProto.STRING: lambda: proto.s,
        AttributeProto.TENSOR: lambda: _named_tensor(proto.t),
        AttributeProto.GRAPH: lambda: _graph(proto.g),
        AttributeProto.SPARSE_TENSOR: lambda: _sparse(proto.sparse_tensor),
        AttributeProto.TYPE_PROTO: lambda: _type(proto.tp),
        AttributeProto.FLOATS: lambda: [_bits(each) for each in proto.floats],
        AttributeProto.INTS: lambda: list(proto.ints),
        AttributeProto.STRINGS: lambda: list(proto.strings),
        AttributeProto.TENSORS: lambda: [_named_tensor(each) for each in proto.tensors],
        AttributeProto.GRAPHS: lambda: [_graph(each) for each in proto.graphs],
        AttributeProto.SPARSE_TENSORS: lambda: [_sparse(each) for each in proto.sparse_tensors],
        AttributeProto.TYPE_PROTOS: lambda: [_type(each) for each in proto.type_protos],
    }
    return readers.get(kind, lambda: None)()


def _keyed(
    title: str, protos: Iterable[Any], key: Callable[[Any], Any], read: Callable[[Any], Any]
) -> dict[Any, Any]:
    """By key, so that order is no difference; a second one of the same key is kept under a longer one."""
    plain: dict[Any, Any] = {}
    for each in protos:
        name: tuple[Any, ...] = (key(each),)
        while f"{title} {_label(name)}" in plain:
            name = (*name, "again")
        plain[f"{title} {_label(name)}"] = read(each)
    return plain


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _opsets(protos: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {repr(_domain(each.domain)): each.version for each in protos}


def _metadata(protos: Iterable[onnx.StringStringEntryProto]) -> dict[str, str]:
    return {repr(each.key): each.value for each in protos if each.key != SOURCE_KEY}


def _without_trailing(names: Sequence[str]) -> list[str]:
    kept = list(names)
    while kept and not kept[-1]:
        kept.pop()
    return kept


def _bits(number: float) -> str:
    """A float as text that tells every bit pattern apart."""
    return f"{number!r} ({struct.pack('>f', number).hex()})"


def _kind_by_content(proto: AttributeProto) -> int:
    """The kind of an attribute of IR version 1 or 2, which does not say it."""
    fields = {
        "f": AttributeProto.FLOAT,
        "i": AttributeProto.INT,
        "s": AttributeProto.STRING,
        "t": AttributeProto.TENSOR,
        "g": AttributeProto.GRAPH,
        "floats": AttributeProto.FLOATS,
        "ints": AttributeProto.INTS,
        "strings": AttributeProto.STRINGS,
        "tensors": AttributeProto.TENSORS,
        "graphs": AttributeProto.GRAPHS,
    }
    present = {field.name for field, _ in proto.ListFields()}
    return next((kind for field, kind in fields.items() if field in present), AttributeProto.UNDEFINED)


def _value(proto: onnx.ValueInfoProto) -> dict[str, Any]:
    return {
        "name": proto.name,
        "type": _type(proto.type),
        "doc string": proto.doc_string,
        "metadata": _metadata(proto.metadata_props),
    }


def _give_one_type(ports: Sequence[dict[str, Any]]) -> None:
    """A value that is listed twice is one value: of its type all is said that either port says."""
    said: dict[str, Any] = {}
    for each in ports:
        if each["name"] in said:
            each["type"] = _together(said[each["name"]], each["type"])
        said[each["name"]] = each["type"]
    for each in ports:
        each["type"] = said[each["name"]]


def _together(one: Any, other: Any) -> Any:
    match one, other:
        case ("tensor", element, shape), ("tensor", known, sizes) if (
            None in (element, known) or element == known
        ):
            if shape is not None and sizes is not None and len(shape) == len(sizes):
                # Numbers say more than names, and names more than nothing.
                pairs = zip(shape, sizes, strict=True)
                sizes = tuple(
                    max(b, a, key=lambda each: (isinstance(each, int), each is not None)) for a, b in pairs
                )
            return ("tensor", known or element, shape if sizes is None else sizes)
        case _:
            return one if other == ("nothing",) else other


def _type(proto: onnx.TypeProto) -> Any:
    """A type as nested tuples, `None` where it says nothing."""
    kind = proto.WhichOneof("value")
    match kind:
        case "tensor_type" | "sparse_tensor_type":
            inner = getattr(proto, kind)
            element = _element(inner.elem_type) if inner.elem_type else None
            shape = tuple(map(_dimension, inner.shape.dim)) if inner.HasField("shape") else None
            plain: Any = (kind.removesuffix("_type"), element, shape)
        case "sequence_type" | "optional_type":
            plain = (kind.removesuffix("_type"), _type(getattr(proto, kind).elem_type))
        case "map_type":
            key = _element(proto.map_type.key_type)
            plain = ("map", key, _type(proto.map_type.value_type))
        case None:
            plain = ("nothing",)
        case _:
            plain = (kind, getattr(proto, kind).SerializeToString(deterministic=True))
    return (*plain, "means", proto.denotation) if proto.denotation else plain


def _dimension(proto: onnx.TensorShapeProto.Dimension) -> Any:
    plain = proto.dim_value if proto.WhichOneof("value") == "dim_value" else proto.dim_param or None
    return (plain, "means", proto.denotation) if proto.denotation else plain


def _element(code: int) -> str:
    return TensorProto.DataType.Name(code) if code in TensorProto.DataType.values() else f"type {code}"


def _tensor(proto: TensorProto) -> dict[str, Any]:
    return {
        "element type": _element(proto.data_type),
        "shape": tuple(proto.dims),
        "content": _content(proto),
        "doc string": proto.doc_string,
        "metadata": _metadata(proto.metadata_props),
    }


def _named_tensor(proto: TensorProto) -> dict[str, Any]:
    return {"name": proto.name, **_tensor(proto)}


def _content(proto: TensorProto) -> Any:
    """The elements, however they are stored; what lies in another file by where it lies."""
    if proto.data_location == TensorProto.EXTERNAL:
        return ("in another file", *sorted((each.key, each.value) for each in proto.external_data))
    if proto.data_type == TensorProto.STRING:
        return tuple(proto.string_data)
    if proto.HasField("raw_data"):
        return proto.raw_data
    try:
        return numpy_helper.from_array(numpy_helper.to_array(proto)).raw_data
    except Exception:  # what is malformed is compared as it is stored
        copy = TensorProto()
        copy.CopyFrom(proto)
        for field in ("name", "doc_string", "metadata_props"):
            copy.ClearField(field)
        return copy.SerializeToString(deterministic=True)


def _sparse(proto: onnx.SparseTensorProto) -> dict[str, Any]:
    return {
        "name": proto.values.name,
        "values": _tensor(proto.values),
        "indices": _tensor(proto.indices),
        "shape": tuple(proto.dims),
    }
