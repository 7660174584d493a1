"""Where in the user's module a node comes from, and that this can be left out."""

from __future__ import annotations

import re

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402  # torch may be missing

import onnxsmith  # noqa: E402


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def test_names_have_the_path_of_the_module():
    model = onnxsmith.torch.export(Outer(), (torch.randn(2, 4),))
    names = [each.name for each in model.ir.graph]
    assert names[0].startswith("layers.0/")
    assert names[2].startswith("layers.1/")
    assert len(set(names)) == len(names)


def test_nodes_have_their_line_and_the_node_of_torchs_graph():
    model = onnxsmith.torch.export(Outer(), (torch.randn(2, 4),))
    for node in model.ir.graph:
        assert re.match(r".*test_metadata.py:\d+:", node.metadata_props["onnxsmith.source"])
        assert node.metadata_props["onnxsmith.fx_node"]


def test_fused_nodes_keep_theirs():
    class Normalised(nn.Module):
        def __init__(self):
            super().__init__()
            self.convolution, self.norm = nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3)

        def forward(self, x):
            return self.norm(self.convolution(x))

    model = onnxsmith.torch.export(Normalised().eval(), (torch.randn(1, 2, 4, 4),))
    (node,) = model.ir.graph
    assert node.op_type == "Conv"
    assert "onnxsmith.source" in node.metadata_props


def test_metadata_can_be_left_out():
    model = onnxsmith.torch.export(Outer(), (torch.randn(2, 4),), metadata=False)
    assert not any(each.metadata_props for each in model.ir.graph)
