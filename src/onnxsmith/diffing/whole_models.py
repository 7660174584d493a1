"""`onnxsmith.diff(a, b)`: what differs between two models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.diffing.change import THINGS, Change, ChangedThing
from onnxsmith.diffing.difference import Difference
from onnxsmith.diffing.finding import Finder
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.model_content import read
from onnxsmith.inspection import nodes_of

_LONGEST_TEXT = 120
_PROPERTIES = ("ir_version", "producer_name", "producer_version", "domain", "model_version", "doc_string")


@model_boundary
def diff(model: ModelLike, other: ModelLike, *, names: bool = False) -> Difference:
    """Find the differences between two models: nodes, weights, inputs, outputs, functions, opsets, metadata.

    Nodes are paired by structure, by names and by the places in the source that they say, so that a node that moved is
    the same one. What nodes, functions, weights and values inside are called is a difference only with `names=True`;
    the names of inputs and outputs always count. Weights are compared by content, and their difference is measured.
    Metadata of nodes says nothing.

    >>> from onnxsmith import FLOAT, diff, opset21 as op, trace
    >>> before = trace(lambda a: op.Softmax(op.Relu(a) * 2.0, axis=0), FLOAT["N", 4])
    >>> after = trace(lambda a: op.Softmax(op.Tanh(a) * 3.0, axis=1), FLOAT["N", 4])
    >>> print(diff(before, after))  # doctest: +ELLIPSIS
    the first model -> the second model: 2 nodes changed, 1 weight changed
    <BLANKLINE>
    nodes
      ~    0  tanh = Tanh(a)   at ...
                operator: Relu -> Tanh
           1  mul = Mul(tanh, const)
      ~    2  softmax = Softmax(mul; axis=1)   at ...
                axis: 0 -> 1
    <BLANKLINE>
    weights
      ~ 'const' FLOAT[], used by node 1: 1 of 1 elements differ, by up to 1 where the largest is 2
    >>> bool(diff(before, before))
    False
    """
    model = model_of(model, "diff")
    other = model_of(other, "diff", 1)
    nodes = nodes_of(model), nodes_of(other)
    finder = Finder(*nodes, names=names)
    finder.find()
    changes = [*_model_changes(model, other), *finder.changes]
    order = {thing: number for number, thing in enumerate(THINGS)}
    changes.sort(key=lambda each: order[each.thing])
    return Difference(tuple(changes), finder.pairs, _called(model, other), nodes, (model, other))


def _called(model: Model, other: Model) -> tuple[str, str]:
    names = [
        default if each.place is None else printable(each.place.name)
        for each, default in ((model, "the first model"), (other, "the second model"))
    ]
    if names[0] == names[1]:  # two files of one name
        names = [printable(str(each.place)) for each in (model, other)]
    return names[0], names[1]


def _model_changes(model: Model, other: Model) -> Iterator[Change]:
    """Differences in the descriptions of the models."""
    one, two = read(model).ir, read(other).ir
    for name in _PROPERTIES:
        before, after = getattr(one, name), getattr(two, name)
        if before != after:
            label = name.replace("_", " ")
            yield Change("changed", "model", name, name, label, (f"{_shown(before)} -> {_shown(after)}",))
    yield from _entries("opset", _opsets(model), _opsets(other))
    yield from _entries("metadata", one.metadata_props, two.metadata_props)


def _opsets(model: Model) -> dict[str, str]:
    return {domain or "ai.onnx": str(version) for domain, version in model.opset_imports.items()}


def _entries(thing: ChangedThing, left: Mapping[str, str], right: Mapping[str, str]) -> Iterator[Change]:
    for key in dict.fromkeys((*left, *right)):
        one, two = left.get(key), right.get(key)
        label = printable(clipped(key, _LONGEST_TEXT))
        if one is None:
            yield Change("added", thing, None, key, f"{label} {_shown(two)}")
        elif two is None:
            yield Change("removed", thing, key, None, f"{label} {_shown(one)}")
        elif one != two:
            yield Change("changed", thing, key, key, label, (f"{_shown(one)} -> {_shown(two)}",))


def _shown(value: object) -> str:
    return "nothing" if value is None else printable(clipped(str(value), _LONGEST_TEXT)) or "nothing"
