"""Trees and forests."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.fact import rewrite

#: An attribute of the classifier, and what the regressor calls it.
_RENAMED = {
    "class_ids": "target_ids",
    "class_nodeids": "target_nodeids",
    "class_treeids": "target_treeids",
    "class_weights": "target_weights",
    "class_weights_as_tensor": "target_weights_as_tensor",
}
_LABELS = ("classlabels_int64s", "classlabels_strings")


@rewrite(
    "TreeEnsembleClassifier",
    "with two classes and weights for both, it takes the wrong weight, and gives 0 or 1 for a label",
    probe="g (float[N, M] x) => (int64[N] label, float[N, K] scores)"
    " { label, scores = ai.onnx.ml.TreeEnsembleClassifier <"
    " nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0],"
    ' nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values = [1.5, 0.0, 0.0],'
    " nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [2, 0, 0],"
    " class_treeids = [0, 0], class_nodeids = [1, 2], class_ids = [0, 1], class_weights = [1.0, 1.0],"
    " classlabels_int64s = [7, 9]> (x) }",
    given={"x": np.array([[1.0], [2.0]], np.float32)},
    right=[np.array([7, 9]), np.array([[1, 0], [0, 1]], np.float32)],
    domains={"ai.onnx.ml": 3},
    domain="ai.onnx.ml",
    is_ordinary=True,
)
def two_classes(site: Site) -> bool:
    labels = site.integers("classlabels_int64s") or site.texts("classlabels_strings")
    if len(labels) != 2 or set(site.integers("class_ids")) != {0, 1}:
        return False
    emit = site.emit
    attributes: list[onnx.AttributeProto] = []
    for each in site.attributes_without(*_LABELS):
        copy = copied(each)
        copy.name = _RENAMED.get(each.name, each.name)
        attributes.append(copy)
    scores = site.output(1) or emit.names.after(site.output(0))
    node = emit.node("TreeEnsembleRegressor", [site.input(0)], [scores], domain="ai.onnx.ml")
    node.attribute.extend(attributes)
    node.attribute.append(helper.make_attribute("n_targets", 2))
    if not site.output(0):
        return True
    # The transformations keep the order of two scores. Of equal ones the first wins.
    best = emit.op("ArgMax", scores, axis=1, keepdims=0)
    is_second = emit.op("Equal", best, emit.constant(1))
    texts = isinstance(labels[0], str)
    content = np.array(labels, object) if texts else np.array(labels, np.int64)
    first, second = (
        emit.op("Constant", value=numpy_helper.from_array(content[k : k + 1].reshape(()))) for k in (0, 1)
    )
    emit.where(is_second, second, first, into=site.output(0))
    return True
