"""Run a model with onnx's reference evaluator, with our corrections of its mistakes.

Slow and complete; what it cannot run, nothing here can.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.dissolving import without_functions
from onnxsmith.graphs.rewriting.scopes import all_nodes, nodes_of_model
from onnxsmith.graphs.rewriting.unfolding import MOST_NODES, is_past_measure
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.runtime import corrections
from onnxsmith.runtime.failure import NoReference
from onnxsmith.runtime.feeds import to_text
from onnxsmith.runtime.later_definitions import in_later_definitions
from onnxsmith.runtime.single_node import dense_array


class ReferenceSession:
    """A model loaded into the reference evaluator."""

    def __init__(self, model: onnx.ModelProto | bytes | str) -> None:
        if isinstance(model, onnx.ModelProto) and is_past_measure(model):
            raise NoReference(
                f"its functions call others so often that they make more than {MOST_NODES:,} nodes"
            )
        if isinstance(model, onnx.ModelProto) and any(map(has_endless_tree, nodes_of_model(model))):
            raise NoReference("a tree leads back to a node above: it has no end")
        if isinstance(model, onnx.ModelProto) and any(
            each.attribute or each.attribute_proto for each in model.functions
        ):
            # It fails at the run where an operator of a function takes an attribute of the function.
            model = without_functions(model) or model
        try:
            self._evaluator = _evaluator(model)
        except Exception as error:
            # In functions it knows no types, and so no operators whose definition depends on them, nor old definitions.
            told = without_functions(model) if isinstance(model, onnx.ModelProto) else None
            if told is None:
                raise NoReference(str(error) or type(error).__name__) from error
            try:
                self._evaluator = _evaluator(told)
            except Exception:  # what it said of the model as it is tells the user more
                raise NoReference(str(error) or type(error).__name__) from error
        self._run: Callable[..., Any] = self._evaluator.run

    @property
    def input_names(self) -> list[str]:
        """The inputs that have no default."""
        held: Collection[str] = self._evaluator.rt_inits_
        return [str(each) for each in self._evaluator.input_names if each not in held]

    @property
    def output_names(self) -> list[str]:
        return [str(each) for each in self._evaluator.output_names]

    def run(self, names: Sequence[str], inputs: Sequence[RunValue]) -> list[RunValue]:
        """Run on inputs in the order of `names`, in which an empty name is a hole."""
        feeds = {name: _readable(value) for name, value in zip(names, inputs, strict=True) if name}
        # numpy warns of overflow and division by zero; ONNX defines what they give.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return [_plain(each) for each in cast("list[RunValue]", self._run(None, feeds))]


def has_endless_tree(node: onnx.NodeProto) -> bool:
    """True if a path through the trees of an ensemble comes back to a node: the evaluator walks it for ever."""
    if node.domain != "ai.onnx.ml" or not node.op_type.startswith("TreeEnsemble"):
        return False
    held = {each.name: each for each in node.attribute}

    def numbers(name: str) -> list[int]:
        return list(held[name].ints) if name in held else []

    children: dict[tuple[int, int], list[tuple[int, int]]] = {}
    trees, own = numbers("nodes_treeids"), numbers("nodes_nodeids")
    sides = list(zip(numbers("nodes_truenodeids"), numbers("nodes_falsenodeids"), strict=False))
    if own:
        modes = list(held["nodes_modes"].strings) if "nodes_modes" in held else []
        for tree, place, mode, both in zip(trees, own, modes, sides, strict=False):
            children[tree, place] = [] if mode == b"LEAF" else [(tree, each) for each in both]
    else:  # the newer operator: children are positions among all nodes, or leaves
        leaves = zip(numbers("nodes_trueleafs"), numbers("nodes_falseleafs"), strict=False)
        for place, (both, ends) in enumerate(zip(sides, leaves, strict=False)):
            children[0, place] = [(0, each) for each, is_leaf in zip(both, ends, strict=True) if not is_leaf]
    return _has_cycle(children)


def _has_cycle(children: Mapping[tuple[int, int], Sequence[tuple[int, int]]]) -> bool:
    """True if a path comes back to its beginning; found by taking away what nothing leads to, again and again."""
    parents = Counter(each for every in children.values() for each in set(every) if each in children)
    waiting = [each for each in children if not parents[each]]
    removed = 0
    while waiting:
        removed += 1
        for each in set(children[waiting.pop()]):
            if each in children:
                parents[each] -= 1
                if not parents[each]:
                    waiting.append(each)
    return removed < len(children)


def _evaluator(model: onnx.ModelProto | bytes | str) -> Any:
    if isinstance(model, onnx.ModelProto):
        model = _with_dense_constants(model)
    later = in_later_definitions(model) if isinstance(model, onnx.ModelProto) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return corrections.evaluator()(model if later is None else later)


def _with_dense_constants(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with dense tensors in the place of sparse ones: operators of the evaluator do not take them."""
    if not any(_sparse_attributes(model)):
        return model
    copy = copied(model)
    for attribute in _sparse_attributes(copy):
        dense = numpy_helper.from_array(dense_array(attribute.sparse_tensor))
        attribute.CopyFrom(helper.make_attribute("value", dense))
    return copy


def _sparse_attributes(model: onnx.ModelProto) -> Iterator[onnx.AttributeProto]:
    for nodes in (model.graph.node, *(each.node for each in model.functions)):
        for node in all_nodes(nodes):
            if node.op_type == "Constant":
                yield from (each for each in node.attribute if each.HasField("sparse_tensor"))


def _readable(value: RunValue) -> RunValue:
    """The evaluator's operators read text from object arrays of str."""
    if isinstance(value, np.ndarray):
        array = value
        return to_text(array) if array.dtype.kind in "OUST" else array
    return value


def _plain(value: RunValue) -> RunValue:
    """Arrays as other runners give them: arrays, not numpy scalars; object arrays of str."""
    if isinstance(value, np.ndarray):
        array = value
        if array.dtype.kind == "O" and any(not isinstance(each, str) for each in array.reshape(-1).tolist()):
            # Operators that pad fill with 0, and the 0 of texts is the empty one.
            array = np.where(array == 0, "", array)
        return to_text(array) if array.dtype.kind in "UST" else array
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[RunValue]", value)]
    return np.asarray(cast("Any", value)) if isinstance(value, np.generic) else value
