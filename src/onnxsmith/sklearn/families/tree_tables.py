"""Trees as tables, and the operator that finds the leaves of rows: `TreeEnsemble` of ai.onnx.ml 5.

The operator only finds leaves. What a tree gives is one number of the leaf, or a row of a table at the leaf's place.
`sum_in_order` adds what trees give one after the other, as scikit-learn does: so sums are equal to the last bit, and of
two nearly equal sums the same is the largest. The operator itself would add in an order that depends on how many rows
and threads there are. Knows no estimators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith import opset_ai_onnx_ml5 as ml
from onnxsmith.algorithms.operators import TensorOperator, op
from onnxsmith.numpy import Array, asarray, concatenate, take
from onnxsmith.sklearn.control_flow import control_flow
from onnxsmith.sklearn.string_operators import of_rank
from onnxsmith.sklearn.values import Inner, array_of

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: How many nodes of trees one operator gets: more would not stay in a processor's cache, where rows go through all
#: trees of an operator before the next row. (100 trees of 600 nodes, 10,000 rows: 99 ms in one, 75 ms in one each.)
_NODES_AT_ONCE = 512

#: Up to how many rows one operator for all trees is quicker than one for each. (300 trees of 15 nodes: one row in 0.02
#: ms instead of 0.25 ms; 10,000 rows in 75 ms instead of 50 ms.)
_FEW_ROWS = 32
#: How many trees there are at least, and nodes at the most, where a model has its trees for both.
_TREES_FOR_FEW_ROWS, _NODES_TWICE = 16, 32_768

_SUM, _NO_TRANSFORM = 1, 0
_LESS_OR_EQUAL = 0


@dataclass(frozen=True)
class TreeTable:
    """A tree: its first node is the root, and a node without children (-1) is a leaf.

    A row goes left where its feature is not above the threshold, or where it is NaN and the node says so.
    """

    left: Numbers
    right: Numbers
    feature: Numbers
    threshold: Numbers
    missing_left: Numbers

    @property
    def is_leaf(self) -> Numbers:
        """True for nodes that are leaves."""
        return self.left < 0


def table_of(tree: Inner, features: Numbers | None = None) -> TreeTable:
    """The table of one of scikit-learn's `Tree`s; `features` are the columns that it was given, if not all."""
    feature = tree.feature if features is None else np.asarray(features)[np.maximum(tree.feature, 0)]
    # Older versions have no missing values, and send them to the right as every comparison that fails.
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count, np.uint8))
    return TreeTable(tree.children_left, tree.children_right, feature, tree.threshold, missing)


def leaf_values(tables: Sequence[TreeTable], values: Sequence[Numbers], x: Array) -> Array:
    """The result of each tree for each row, of shape (trees, rows): the number that `values` has for the leaf."""
    parts = [
        find_leaves(x, ensemble_attributes(tables[start:stop], values[start:stop]))
        for start, stop in _groups(tables)
    ]
    return (parts[0] if len(parts) == 1 else concatenate(parts, axis=1)).T


def leaf_rows(tables: Sequence[TreeTable], values: Sequence[Numbers], x: Array) -> Array:
    """The result of each tree for each row, of shape (trees, rows, ...): the row that `values` has for the leaf."""
    starts = np.cumsum([0, *(len(each.left) for each in tables)])
    numbers = [
        np.arange(start, start + len(each.left), dtype=np.float64)
        for start, each in zip(starts[:-1], tables, strict=True)
    ]
    found = leaf_values(tables, numbers, x).astype(np.int64)
    return take(asarray(np.concatenate(values, axis=0)), found, axis=0)


def sum_of_leaves(
    tables: Sequence[TreeTable], values: Sequence[Numbers], x: Array, start: Array | None = None
) -> Array:
    """The sum of what the trees give for each row, from `start` and the first tree to the last.

    `Sum` adds its inputs one after the other. An operator for each tree is quicker for many rows than one with many
    outputs (300 trees of 15 nodes, 10,000 rows: a third of the time).
    """
    terms = [
        find_leaves(x, ensemble_attributes([table], [own])) for table, own in zip(tables, values, strict=True)
    ]
    if start is not None:
        terms.insert(0, start.reshape(-1, 1))
    summed = op.Sum(*(each.tensor for each in terms)) if len(terms) > 1 else terms[0].tensor
    return array_of(summed)[:, 0]


def sum_in_order(terms: Array, axis: int = 0) -> Array:
    """The sum over a dimension, from the first to the last term, each rounded as Python's `+=` would.

    `CumSum` goes one by one, where `ReduceSum` adds four at a time and those that are left afterwards.
    """
    summed = terms.tensor
    if terms.shape[axis] != 1:
        summed = op.CumSum(summed, np.array(axis, np.int64))
    return array_of(op.Gather(summed, np.array(-1, np.int64), axis=axis))


def leaves_of_trees(tables: Sequence[TreeTable], values: Sequence[Numbers], x: Array) -> Array:
    """The result of each tree for each row, of shape (rows, trees), by one operator: the quickest for few rows."""
    return find_leaves(x, ensemble_attributes(tables, values))


def by_row_count(
    tables: Sequence[TreeTable], x: Array, few: Callable[[], Array], many: Callable[[], Array]
) -> Array:
    """The result of one of two functions that compute the same: the one for few rows, or the one for many.

    The model then holds its trees twice, so that large ones are made for many rows alone.
    """
    if len(tables) < _TREES_FOR_FEW_ROWS or sum(len(each.left) for each in tables) > _NODES_TWICE:
        return many()
    rows = op.Squeeze(op.Shape(x.tensor, start=0, end=1), [0])
    made = control_flow().If(
        rows < np.array(_FEW_ROWS, np.int64),
        then_branch=lambda: few().tensor,
        else_branch=lambda: many().tensor,
    )
    return array_of(of_rank(made, 2))


def _groups(tables: Sequence[TreeTable]) -> list[tuple[int, int]]:
    """The trees that go into one operator each, as slices."""
    found: list[tuple[int, int]] = []
    start = size = 0
    for place, each in enumerate(tables):
        if place > start and size + len(each.left) > _NODES_AT_ONCE:
            found.append((start, place))
            start, size = place, 0
        size += len(each.left)
    return [*found, (start, len(tables))]


def find_leaves(x: Array, attributes: dict[str, Any]) -> Array:
    """The result of the operator for rows, of shape (rows, targets)."""
    ensemble = cast(TensorOperator, ml.TreeEnsemble)
    return array_of(ensemble(x.tensor, **attributes))


def ensemble_attributes(tables: Sequence[TreeTable], values: Sequence[Numbers]) -> dict[str, Any]:
    """The attributes of an operator that has an output for each tree: the value of the leaf."""
    branches: list[_Branches] = []
    roots: list[int] = []
    branch_count = leaf_count = 0
    for table in tables:
        roots.append(branch_count)
        made = _branches(table, branch_count, leaf_count)
        branches.append(made)
        branch_count += len(made.feature)
        leaf_count += int(table.is_leaf.sum())
    leaves = [value[table.is_leaf] for table, value in zip(tables, values, strict=True)]

    def joined(name: str) -> Numbers:
        return np.concatenate([getattr(each, name) for each in branches])

    return {
        "aggregate_function": _SUM,
        "post_transform": _NO_TRANSFORM,
        "n_targets": len(tables),
        "tree_roots": roots,
        "nodes_featureids": joined("feature").tolist(),
        "nodes_splits": joined("threshold").astype(np.float64),
        "nodes_modes": np.full(branch_count, _LESS_OR_EQUAL, np.uint8),
        "nodes_truenodeids": joined("left").tolist(),
        "nodes_falsenodeids": joined("right").tolist(),
        "nodes_trueleafs": joined("is_left_leaf").tolist(),
        "nodes_falseleafs": joined("is_right_leaf").tolist(),
        "nodes_missing_value_tracks_true": joined("missing_left").tolist(),
        "leaf_targetids": [k for k, each in enumerate(leaves) for _ in range(len(each))],
        "leaf_weights": np.concatenate(leaves).astype(np.float64),
    }


@dataclass(frozen=True)
class _Branches:
    """The nodes of a tree that are no leaves, with the numbers that the operator gives to nodes and leaves."""

    feature: Numbers
    threshold: Numbers
    missing_left: Numbers
    left: Numbers
    right: Numbers
    is_left_leaf: Numbers
    is_right_leaf: Numbers


def _branches(table: TreeTable, first_branch: int, first_leaf: int) -> _Branches:
    is_leaf = table.is_leaf
    if is_leaf[0]:
        # A tree that is a leaf is a node whose two branches are that leaf, whatever it compares.
        one, leaf = np.ones(1, np.int64), np.full(1, first_leaf, np.int64)
        zero = np.zeros(1, np.int64)
        return _Branches(zero, np.zeros(1), zero, leaf, leaf, one, one)
    inner = ~is_leaf
    number = np.where(is_leaf, np.cumsum(is_leaf) - 1 + first_leaf, np.cumsum(inner) - 1 + first_branch)
    left, right = table.left[inner], table.right[inner]
    return _Branches(
        table.feature[inner].astype(np.int64),
        table.threshold[inner],
        table.missing_left[inner].astype(np.int64),
        number[left],
        number[right],
        is_leaf[left].astype(np.int64),
        is_leaf[right].astype(np.int64),
    )
