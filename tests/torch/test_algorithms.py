"""`functions="algorithms"`: what translations are made of are functions of the model; without it the graph is flat."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
import onnxsmith  # noqa: E402  # torch may be missing
from onnxsmith.errors import ExportError  # noqa: E402
from tests.torch.agreement import check  # noqa: E402


class Several(torch.nn.Module):
    """A few operators that are algorithms, some of them twice."""

    def forward(self, x):
        values, places = torch.sort(x, dim=1, stable=True)
        return values, places, torch.median(x, 1).values, torch.linalg.svdvals(x), torch.special.i0(x)


def test_algorithms_are_functions():
    x = torch.randn(5, 4)
    model = check(Several(), x, functions="algorithms")
    names = {name.partition("__")[0] for domain, name, _ in model.ir.functions}
    assert {"sort", "median", "svd", "i0"} <= names
    assert {domain for domain, _, _ in model.ir.functions} == {"onnxsmith.algorithms"}
    (node,) = [each for each in model.ir.graph if each.op_type.startswith("median")]
    assert node.metadata_props["onnxsmith.fx_node"] == "median"


def test_with_open_dimensions():
    shapes = ({0: "batch", 1: "length"},)
    check(
        Several(),
        torch.randn(5, 4),
        others=[(torch.randn(3, 7),)],
        dynamic_shapes=shapes,
        functions="algorithms",
        tolerance=1e-4,
    )


def test_by_default_the_graph_is_flat():
    assert not onnxsmith.torch.export(Several(), (torch.randn(5, 4),)).ir.functions


def test_other_words_are_refused():
    with pytest.raises(ExportError, match=r'functions="algorithms" each algorithm'):
        onnxsmith.torch.export(Several(), (torch.randn(5, 4),), functions="layers")
