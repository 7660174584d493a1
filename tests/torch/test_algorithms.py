"""`functions="algorithms"`: what translations are made of are functions of the model; without it the graph is flat."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
import onnxsmith  # noqa: E402  # torch may be missing
from onnxsmith.errors import ExportError  # noqa: E402
from onnxsmith.grad.table import RULES  # noqa: E402
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


class Blocks(torch.nn.Module):
    """Modules that are algorithms inside, two of one class."""

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return torch.sort(self.linear(x), dim=1).values + torch.median(x, 1, keepdim=True).values

    def __init__(self):
        super().__init__()
        self.first, self.second = self.Block(), self.Block()

    def forward(self, x):
        return self.second(self.first(x)), torch.special.i0(x)


@pytest.mark.parametrize("dynamic", [False, True])
def test_with_modules(dynamic):
    shapes = ({0: "batch"},) if dynamic else None
    others = [(torch.randn(3, 4),)] if dynamic else []
    model = check(
        Blocks(),
        torch.randn(5, 4),
        others=others,
        dynamic_shapes=shapes,
        functions=("modules", "algorithms"),
        tolerance=1e-5,
    )
    names = {(domain, name.partition("__")[0]) for domain, name, _ in model.ir.functions}
    algorithms = {name for domain, name in names if domain == "onnxsmith.algorithms"}
    assert {"sort", "median", "i0"} <= algorithms
    assert {"Block", "Linear"} <= {name for domain, name in names if domain != "onnxsmith.algorithms"}
    (block,) = [each for each in model.ir.functions.values() if each.name == "Block"]
    assert {"sort", "median"} <= {node.op_type.partition("__")[0] for node in block}
    assert [node.op_type for node in model.ir.graph][:2] == ["Block", "Block"]


def test_one_of_them_in_a_list():
    model = check(Blocks(), torch.randn(5, 4), functions=["modules"], tolerance=1e-5)
    assert not any(domain == "onnxsmith.algorithms" for domain, _, _ in model.ir.functions)
    assert any(name == "Block" for _, name, _ in model.ir.functions)


def test_by_default_the_graph_is_flat():
    assert not onnxsmith.torch.export(Several().eval(), (torch.randn(5, 4),)).ir.functions


def test_in_training_those_with_gradients_of_their_own_keep_their_names():
    """Their gradients are found by name, whoever differentiates the model later; the others are inlined."""
    functions = onnxsmith.torch.export(Several().train(), (torch.randn(5, 4),)).ir.functions
    names = {(domain, name.partition("__")[0]) for domain, name, _ in functions}
    assert {"svd", "i0"} <= {name for _, name in names}
    assert names <= set(RULES)


def test_other_words_are_refused():
    for wrong in ("layers", ("modules", "layers"), 3, [["modules"]]):
        with pytest.raises(ExportError, match=r'functions="algorithms" each algorithm'):
            onnxsmith.torch.export(Several(), (torch.randn(5, 4),), functions=wrong)
