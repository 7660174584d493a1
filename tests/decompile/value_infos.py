"""The types that a model notes for the values inside it: which ones another model has lost."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from onnx import helper, shape_inference

from onnxsmith.graphs.rewriting.scopes import graphs_of_proto

#: A domain of which nobody has schemas.
STRANGE = "strange.operators"


def lost_types(was: onnx.ModelProto, now: onnx.ModelProto) -> list[str]:
    """Values of which `now` says less, or something else, than `was` does, with both types in words."""
    kept = dict(_noted(now))
    return [
        f"{place}: {_text(before)} became {_text(kept[place]) if place in kept else 'nothing'}"
        for place, before in _noted(was)
        if place not in kept or not _says_as_much(before, kept[place])
    ]


def with_inferred_types(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the types that onnx finds noted in it, as exporters and optimisers leave models.

    Two kinds stay as they are, because onnx finds wrong types for them. Of what follows from sparse weights it finds
    no element types, wrong ranks, and sparse tensors, which no operator makes. A value in a body that is called as one
    around it is taken for that one.
    """
    has_sparse = any(
        isinstance(each, onnx.GraphProto) and each.sparse_initializer for each in graphs_of_proto(model)
    )
    if has_sparse or _hides_names(model.graph, frozenset()):
        return model
    return shape_inference.infer_shapes(model, data_prop=True)


def _hides_names(graph: onnx.GraphProto, around: frozenset[str]) -> bool:
    """Whether a body has a value of a name that a graph around it has."""
    names = {each.name for each in (*graph.input, *graph.initializer)}
    names |= {name for node in graph.node for name in node.output if name}
    bodies = [each for node in graph.node for attribute in node.attribute for each in _graphs(attribute)]
    return not around.isdisjoint(names) or any(_hides_names(each, around | names) for each in bodies)


def _graphs(attribute: onnx.AttributeProto) -> list[onnx.GraphProto]:
    return [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]


def with_strange_operators(model: onnx.ModelProto, every: int = 1) -> onnx.ModelProto:
    """The model with operators that nobody knows in the place of some; what is noted of values stays."""
    strange = onnx.ModelProto()
    strange.CopyFrom(model)
    places = [node for node in strange.graph.node if not _has_graphs(node)]
    for node in places[::every]:
        node.domain = STRANGE
    strange.opset_import.append(helper.make_opsetid(STRANGE, 1))
    return strange


def _has_graphs(node: onnx.NodeProto) -> bool:
    return any(_graphs(each) for each in node.attribute)


def _noted(model: onnx.ModelProto) -> Iterator[tuple[str, onnx.TypeProto]]:
    """Each value that a node makes and that has a type noted, by graph and name."""
    yield from _noted_in(model.graph, "")
    for function in model.functions:
        place = f"{function.domain}.{function.name}.{function.overload}/"
        made = {name for node in function.node for name in node.output}
        for each in function.value_info:
            if (each.name in made or each.name in function.input) and each.type.WhichOneof("value"):
                yield place + each.name, each.type


def _noted_in(graph: onnx.GraphProto, place: str) -> Iterator[tuple[str, onnx.TypeProto]]:
    made = {name for node in graph.node for name in node.output if name}
    made -= {each.name for each in (*graph.input, *graph.output, *graph.initializer)}
    for each in graph.value_info:
        if each.name in made and each.type.WhichOneof("value"):
            yield place + each.name, each.type
    for node in graph.node:
        first = next((name for name in node.output if name), "")
        for attribute in node.attribute:
            for position, inner in enumerate(_graphs(attribute)):
                yield from _noted_in(inner, f"{place}{first}:{attribute.name}[{position}]/")


def _says_as_much(was: onnx.TypeProto, now: onnx.TypeProto) -> bool:
    kind = was.WhichOneof("value")
    if kind != now.WhichOneof("value") or was.denotation != now.denotation:
        return False
    if kind in ("sequence_type", "optional_type"):
        return _says_as_much(getattr(was, kind).elem_type, getattr(now, kind).elem_type)
    if kind != "tensor_type":
        return was == now
    one, other = was.tensor_type, now.tensor_type
    if one.elem_type not in (0, other.elem_type):
        return False
    if not one.HasField("shape"):
        return True
    if not other.HasField("shape") or len(one.shape.dim) != len(other.shape.dim):
        return False
    return all(map(_size_says_as_much, one.shape.dim, other.shape.dim))


def _size_says_as_much(was: onnx.TensorShapeProto.Dimension, now: onnx.TensorShapeProto.Dimension) -> bool:
    """A size is more than a name, and a name more than nothing."""
    if was.denotation != now.denotation:
        return False
    if was.WhichOneof("value") == "dim_value":
        return now.WhichOneof("value") == "dim_value" and was.dim_value == now.dim_value
    return not was.dim_param or now.WhichOneof("value") == "dim_value" or was.dim_param == now.dim_param


def _text(kind: onnx.TypeProto) -> str:
    return " ".join(str(kind).split())
