"""scikit-learn's `Tree` as plain arrays and back. Its code in C trusts the arrays, so that they are checked first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.sklearn.library import of_sklearn
from onnxsmith.sklearn.values import Inner

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: Names of a tree's arrays -> the fields of scikit-learn's nodes, and the kinds of elements that they may have.
_FIELDS = {
    "left": ("left_child", "iu"),
    "right": ("right_child", "iu"),
    "feature": ("feature", "iu"),
    "threshold": ("threshold", "f"),
    "impurity": ("impurity", "f"),
    "samples": ("n_node_samples", "iu"),
    "weighted_samples": ("weighted_n_node_samples", "f"),
    "missing_left": ("missing_go_to_left", "iub"),
}
_LEAF = -1
#: scikit-learn's mark of a leaf's feature.
_NO_FEATURE = -2
#: As deep as scikit-learn's own trees get at the most.
_LARGEST_SIZE = 2**31 - 1


class DamagedTree(ValueError):
    """The arrays of a tree are damaged; the text says how."""


def arrays_of(tree: Inner) -> dict[str, Any]:
    """The arrays of a tree, narrow where that loses nothing."""
    nodes: Numbers = cast(Any, tree).__getstate__()["nodes"]
    found = {name: nodes[field] for name, (field, _) in _FIELDS.items() if field in (nodes.dtype.names or ())}
    for name in ("left", "right", "feature", "samples"):
        found[name] = found[name].astype(np.int32)
    return {
        "features": int(tree.n_features),
        "classes": [int(each) for each in tree.n_classes],
        "outputs": int(tree.n_outputs),
        "values": np.asarray(tree.value, np.float64),
        **found,
    }


def tree_of(given: Mapping[str, Any]) -> Inner:
    """The tree of its arrays; raises `DamagedTree` for one that scikit-learn's code must not see."""
    features, outputs = _size(given, "features"), _size(given, "outputs")
    classes = given.get("classes")
    if not isinstance(classes, list) or len(cast("list[UserValue]", classes)) != outputs:
        raise DamagedTree("its classes are not one number for each output")
    counts = [_whole(each, "a number of classes") for each in cast("list[UserValue]", classes)]
    columns = {name: _column(given, name, kinds) for name, (_, kinds) in _FIELDS.items()}
    size = len(columns["left"])
    if not 0 < size <= _LARGEST_SIZE or any(len(each) != size for each in columns.values()):
        raise DamagedTree("its arrays have different lengths, or none")
    values = given.get("values")
    if not isinstance(values, np.ndarray) or cast(Numbers, values).dtype != np.float64:
        raise DamagedTree("its values are no array of double precision")
    shape, expected = cast(Numbers, values).shape, (size, outputs, max(counts))
    if shape != expected:
        raise DamagedTree(f"its values have the shape {shape}, not {expected}")
    depth = _depth(columns["left"], columns["right"])
    is_leaf = columns["left"] == _LEAF
    inner = columns["feature"][~is_leaf]
    if inner.size and not (0 <= inner.min() and inner.max() < features):
        raise DamagedTree(f"a node asks for a feature that is not there: there are {features}")
    columns["feature"] = np.where(is_leaf, _NO_FEATURE, columns["feature"])
    nodes: Any = np.zeros(size, of_sklearn("tree._tree", "NODE_DTYPE"))
    for name, (field, _) in _FIELDS.items():
        if field in (nodes.dtype.names or ()):
            nodes[field] = columns[name]
    made = of_sklearn("tree._tree", "Tree")(features, np.array(counts, np.intp), outputs)
    made.__setstate__(
        {
            "max_depth": depth,
            "node_count": size,
            "nodes": nodes,
            "values": np.ascontiguousarray(cast(Numbers, values)),
        }
    )
    return made


def _depth(left: Numbers, right: Numbers) -> int:
    """How deep a tree is; raises where it is none: a child comes after its parent, and has no other."""
    size = len(left)
    is_leaf = left == _LEAF
    if not np.array_equal(is_leaf, right == _LEAF):
        raise DamagedTree("a node has one child only")
    inner = np.flatnonzero(~is_leaf)
    children = np.concatenate([left[inner], right[inner]]).astype(np.int64)
    if children.size and (children.min() < 1 or children.max() >= size):
        raise DamagedTree(f"a node has a child that is not there: there are {size} nodes")
    if np.any(children <= np.concatenate([inner, inner])):
        raise DamagedTree("a child comes before its parent, as in a circle")
    if len(np.unique(children)) != len(children) or len(children) != size - 1:
        raise DamagedTree("a node has two parents, or none")
    depths = np.zeros(size, np.int64)
    for node in inner:
        depths[left[node]] = depths[right[node]] = depths[node] + 1
    return int(depths.max())


def _column(given: Mapping[str, Any], name: str, kinds: str) -> Numbers:
    found = given.get(name)
    if not isinstance(found, np.ndarray):
        raise DamagedTree(f"it has no array {name!r}")
    column = cast(Numbers, found)
    if column.ndim != 1 or column.dtype.kind not in kinds:
        raise DamagedTree(f"its array {name!r} is of {column.dtype} and {column.ndim} dimensions")
    return column


def _size(given: Mapping[str, Any], name: str) -> int:
    return _whole(given.get(name), f"its number of {name}")


def _whole(value: UserValue, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= _LARGEST_SIZE:
        raise DamagedTree(f"{what} is {value!r}")
    return value
