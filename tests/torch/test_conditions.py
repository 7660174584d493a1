"""Where a module decides by a size, the model has one way only: that is told, written down, and kept to."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing
from torch.export import Dim  # noqa: E402

import onnxsmith  # noqa: E402
from onnxsmith import opset21 as op  # noqa: E402
from onnxsmith.errors import (  # noqa: E402
    ExportError,
    ModelInputError,
    NarrowedDimensionWarning,
    SpecialisedDimensionWarning,
    VerificationError,
)
from onnxsmith.graphs.size_conditions import SIZES_KEY, read  # noqa: E402


class Branching(nn.Module):
    def __init__(self, is_doubled):
        super().__init__()
        self.is_doubled = is_doubled

    def forward(self, x):
        return x * 2 if self.is_doubled(x) else x


def rows(count):
    return torch.arange(float(3 * count)).reshape(count, 3)


def told(module, example, shapes, **options):
    """The model, and what was told of its dimensions."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = onnxsmith.torch.export(module, example, dynamic_shapes=shapes, verify=True, **options)
    kinds = (NarrowedDimensionWarning, SpecialisedDimensionWarning)
    return model, [each for each in caught if issubclass(each.category, kinds)]


BRANCHES = {
    "more": (lambda x: x.shape[0] > 4, 2, "b <= 4"),
    "less": (lambda x: x.shape[0] > 4, 8, "b >= 5"),
    "computed": (lambda x: 2 * x.shape[0] + 1 > 9, 2, "b <= 4"),
    "even": (lambda x: x.shape[0] % 2 == 0, 2, "b % 2 == 0"),
    "other than": (lambda x: x.shape[0] == 3, 2, "b != 3"),
    "not one": (lambda x: x.shape[0] == 1, 2, "b != 1"),
    "from one": (lambda x: x.shape[0] > 4, 1, "b <= 4"),
}


@pytest.mark.parametrize("case", BRANCHES)
@pytest.mark.parametrize("dim", ["b", Dim("b")], ids=["name", "Dim"])
def test_a_law_models_are_right_or_refuse(case, dim):
    is_doubled, count, condition = BRANCHES[case]
    module = Branching(is_doubled)
    model, caught = told(module, (rows(count),), {"x": {0: dim}})
    assert [each.text for each in read(model.ir.metadata_props)] == [condition]
    (warning,) = caught
    assert warning.category is NarrowedDimensionWarning
    assert "test_conditions.py:" in str(warning.message)
    assert str(warning.message) in model.export_report.notes
    assert warning.filename == __file__
    for size in range(1, 12):
        try:
            got = model(rows(size).numpy())
        except ModelInputError:
            assert size != count
        else:
            np.testing.assert_array_equal(got, module(rows(size)).numpy())


def test_code_without_a_file_is_told_as_well():
    source = "class Typed(nn.Module):\n    def forward(self, x): return x * 2 if x.shape[0] % 2 == 0 else x"
    names = {"nn": nn}
    exec(source, names)
    model, (warning,) = told(names["Typed"](), (rows(2),), {"x": {0: "b"}})
    assert "b % 2 == 0" in str(warning.message)
    with pytest.raises(ModelInputError):
        model(rows(3).numpy())


def test_strict_exports_tell_as_well():
    _, caught = told(Branching(lambda x: x.shape[0] > 4), (rows(2),), {"x": {0: "b"}}, strict=True)
    assert "is 1 to 4 in the model" in str(caught[0].message)
    assert "test_conditions.py:" in str(caught[0].message)


def test_verification_goes_to_the_ends_of_a_range():
    module = nn.Linear(3, 3)
    model, caught = told(module, (rows(2),), {"input": {0: Dim("b", max=64)}})
    assert not caught
    assert {each.inputs for each in model.export_report.verification} == {"example", "b=1", "b=3", "b=64"}
    with pytest.raises(ModelInputError, match="b <= 64"):
        model(rows(65).numpy())


def test_relations_between_sizes():
    class Longer(nn.Module):
        def forward(self, x, y):
            return x.sum() if x.shape[0] > y.shape[0] else y.sum()

    model, caught = told(Longer(), (rows(3), rows(2)), {"x": {0: "n"}, "y": {0: "m"}})
    assert "the model is for n > m only" in str(caught[-1].message)
    with pytest.raises(ModelInputError, match="n > m, and was given m = 4, n = 3"):
        model(rows(3).numpy(), rows(4).numpy())


def test_squeezing_an_open_dimension():
    class Squeezed(nn.Module):
        def forward(self, x):
            return x.squeeze(0)

    model, (warning,) = told(Squeezed(), (rows(2),), {"x": {0: "b"}})
    assert "b != 1" in str(warning.message)
    with pytest.raises(ModelInputError, match="b != 1"):
        model(rows(1).numpy())
    _, (warning,) = told(Squeezed(), (rows(1),), {"x": {0: "b"}})
    assert warning.category is SpecialisedDimensionWarning
    _, caught = told(Squeezed(), (rows(2),), {"x": {0: Dim("b", min=2)}})
    assert not caught


def test_what_torch_asks_for_itself_is_not_told():
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    shapes = {"src": {0: Dim("batch"), 1: Dim("time")}}
    model, caught = told(layer, (torch.randn(2, 3, 4),), shapes)
    assert not caught
    assert SIZES_KEY not in model.ir.metadata_props


def test_what_torch_decides_alone_is_noted_and_not_kept_to():
    class Apart(nn.Module):
        def forward(self, x):
            return torch.cdist(x, x)

    model, caught = told(Apart(), (rows(4),), {"x": {0: "b"}})
    assert not caught
    assert "is 1 to 25: the model was found to be right for b = 26, b = 31" in model.export_report.notes[0]
    np.testing.assert_allclose(model(rows(30).numpy()), Apart()(rows(30)), rtol=1e-3, atol=1e-2)


# -- an example of one --------------------------------------------------------------------------------------


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.MultiheadAttention(4, 2, batch_first=True)
        self.conv = nn.Conv1d(4, 4, 3, padding=1)

    def forward(self, x):
        x = self.inner(x, x, x)[0]
        return self.conv(x.permute(0, 2, 1)).permute(2, 0, 1).reshape(x.shape[1], -1)


@pytest.mark.parametrize("form", [{0: "b"}, {0: Dim("b")}, {0: Dim("b", min=1, max=64)}, {0: Dim.DYNAMIC}])
def test_a_batch_of_one_stays_open(form):
    module = Attention().eval() if form != {0: Dim.DYNAMIC} else nn.Linear(4, 2)
    name = "x" if isinstance(module, Attention) else "input"
    model, caught = told(module, (torch.randn(1, 5, 4),), {name: form})
    assert not caught
    x = torch.randn(3, 5, 4)
    with torch.no_grad():
        np.testing.assert_allclose(model(x.numpy()), module(x), rtol=1e-4, atol=1e-5)


def test_a_batch_of_one_that_is_broadcast_stays_dynamic():
    class Added(nn.Module):
        def forward(self, x, y):
            return x + y

    model, caught = told(Added(), (rows(1), rows(4)), {"x": {0: "b"}, "y": {0: "c"}})
    assert not caught
    assert [each.type.shape for each in model.inputs] == [("b", 3), ("c", 3)]
    for sizes in ((1, 4), (4, 4), (7, 7), (1, 1)):
        x, y = map(rows, sizes)
        np.testing.assert_array_equal(model(x.numpy(), y.numpy()), (x + y).numpy())


def test_a_batch_of_one_that_the_module_needs():
    class Chosen(nn.Module):
        def forward(self, x, y):
            return x * 2 + y if x.shape[0] == 1 else y

    model, (warning,) = told(Chosen(), (rows(1), rows(4)), {"x": {0: "b"}, "y": {0: "c"}})
    assert warning.category is SpecialisedDimensionWarning
    assert model.inputs[0].type.shape == (1, 3)
    assert model.inputs[1].type.shape == ("c", 3)


# -- names ----------------------------------------------------------------------------------------------------


def test_two_names_of_one_size_are_told():
    class Added(nn.Module):
        def forward(self, x, y):
            return x + y

    model, (warning,) = told(Added(), (rows(2), rows(2)), {"x": {0: "left"}, "y": {0: "right"}})
    assert "'right' (dimension 0 of input 'y') is one size with 'left'" in str(warning.message)
    assert [each.type.shape[0] for each in model.inputs] == ["left", "left"]


@pytest.mark.parametrize("dim", ["b", Dim("b"), Dim("b", max=9)])
def test_a_named_dimension_that_is_fixed_is_a_warning(dim):
    model, (warning,) = told(Branching(lambda x: x.shape[0] == 3), (rows(3),), {"x": {0: dim}})
    assert warning.category is SpecialisedDimensionWarning
    assert model.inputs[0].type.shape == (3, 3)


def test_torchs_own_demands_are_refused_in_short():
    with pytest.raises(ExportError, match="torch cannot keep the dimensions open") as caught:
        onnxsmith.torch.export(
            Branching(lambda x: x.shape[0] == 3), (rows(3),), dynamic_shapes={"x": {0: Dim.DYNAMIC}}
        )
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_model_that_fails_at_an_end_of_the_range():
    wrong = {torch.ops.aten.relu.default: lambda x: op.Relu(x.reshape((-1, 6))).reshape((-1, 3))}
    with pytest.raises(VerificationError, match=r"the model fails where the module does not \(b=3\)"):
        onnxsmith.torch.export(
            nn.ReLU(), (rows(2),), dynamic_shapes={"input": {0: "b"}}, translations=wrong, verify=True
        )


def test_what_is_true_of_sizes_with_one_name_is_not_told(recwarn):
    class Ordered(nn.Module):
        def forward(self, x, y):
            return x.sum() + y.sum() if x.shape[0] >= y.shape[0] else x.sum()

    shapes = {"x": {0: "a"}, "y": {0: "a"}}
    model = onnxsmith.torch.export(Ordered(), (torch.ones(3), torch.ones(3)), dynamic_shapes=shapes)
    assert not [str(each.message) for each in recwarn if "only" in str(each.message)]
    assert "onnxsmith.sizes" not in model.ir.metadata_props
    with pytest.raises(ModelInputError, match="dimension 'a' is 2 in 'x' and 3 in 'y'"):
        model(np.ones(2, np.float32), np.ones(3, np.float32))


def test_one_decision_is_told_once():
    class Deciding(nn.Module):
        def forward(self, x):
            return x + 1 if x.shape[0] > 1 else x * 2

    with pytest.warns(NarrowedDimensionWarning, match="and is 1 in the model: the module decides") as told:
        model = onnxsmith.torch.export(Deciding(), (torch.ones(1, 3),), dynamic_shapes={"x": {0: "n"}})
    assert len(told) == 1
    assert [each.text for each in read(model.ir.metadata_props)] == ["n <= 1"]


def test_a_size_of_1_that_the_module_fixes_is_told_with_its_line():
    class Deciding(nn.Module):
        def forward(self, x):
            return x * 2 if x.shape[0] == 1 else x + 1

    with pytest.warns(
        SpecialisedDimensionWarning, match=r"decides by sizes at .*test_conditions\.py:\d+, and"
    ) as told:
        onnxsmith.torch.export(Deciding(), (torch.ones(1, 3),), dynamic_shapes={"x": {0: "n"}})
    assert len(told) == 1


FIXED = {
    "attention": lambda x: nn.functional.scaled_dot_product_attention(
        x[None, None], x[None, None], x[None, None], scale=1 / (x.shape[0] + 1)
    ),
    "logit": lambda x: torch.logit(x.sigmoid(), 1 / (x.shape[0] + 2)),
}


@pytest.mark.parametrize("case", FIXED)
def test_a_number_computed_from_a_size_that_torch_fixes_is_told(case):
    class Module(nn.Module):
        def forward(self, x):
            return FIXED[case](x)

    model, caught = told(Module(), (rows(4),), {"x": {0: "b"}})
    assert [each.text for each in read(model.ir.metadata_props)] == ["b == 4"]
    (warning,) = caught
    assert "test_conditions.py:" in str(warning.message)
    np.testing.assert_allclose(model(rows(4).numpy()), Module()(rows(4)).numpy(), rtol=1e-5)
    with pytest.raises(ModelInputError):
        model(rows(5).numpy())


class SizeOfSqueezed(nn.Module):
    def forward(self, x):
        return x * x.squeeze().size(0)


class RankOfSqueezed(nn.Module):
    def forward(self, x):
        squeezed = x.squeeze()
        return squeezed * squeezed.dim()


@pytest.mark.parametrize("kind", [SizeOfSqueezed, RankOfSqueezed])
def test_no_model_refuses_its_example(kind, tmp_path):
    module = kind()
    model, (warning,) = told(module, (rows(1),), {"x": {0: "b"}})
    assert warning.category is SpecialisedDimensionWarning
    assert "give an example with two rows" in str(warning.message)
    assert model.inputs[0].type.shape == (1, 3)
    wanted = module(rows(1)).numpy()
    np.testing.assert_array_equal(model(rows(1).numpy()), wanted)
    model.save(tmp_path / "model.onnx")
    session = pytest.importorskip("onnxruntime").InferenceSession(tmp_path / "model.onnx")
    np.testing.assert_array_equal(session.run(None, {"x": rows(1).numpy()})[0], wanted)


def test_a_squeeze_that_cannot_be_tried_is_kept_to():
    class Drawing(nn.Module):
        def forward(self, x):
            return torch.rand(3) + x * x.squeeze().size(0)

    model, (warning,) = told(Drawing(), (rows(2),), {"x": {0: "b"}})
    assert "b != 1" in str(warning.message)
    with pytest.raises(ModelInputError, match="b != 1"):
        model(rows(1).numpy())
    model, (warning,) = told(Drawing(), (rows(1),), {"x": {0: "b"}})
    assert warning.category is SpecialisedDimensionWarning
    model(rows(1).numpy())


def test_a_squeeze_that_is_refused_beside_another_one_is_kept_to():
    model, (warning,) = told(SizeOfSqueezed(), (torch.rand(4, 1),), {"x": {0: "a", 1: "b"}})
    assert "a != 1" in str(warning.message)
    x = torch.rand(4, 3)
    np.testing.assert_array_equal(model(x.numpy()), SizeOfSqueezed()(x))
    with pytest.raises(ModelInputError, match="a != 1"):
        model(torch.rand(1, 3).numpy())


@pytest.mark.parametrize("example", [1, 2])
def test_a_rank_that_depends_on_a_size_is_not_declared(example):
    class Squeezed(nn.Module):
        def forward(self, x):
            return x.squeeze(), x.sum(1)

    model, caught = told(Squeezed(), (rows(example),), {"x": {0: "b"}})
    assert not caught
    assert [each.type.shape for each in model.outputs] == [None, ("b",)]
    decided, rank = model.export_report.notes
    assert "only" not in decided
    assert decided.endswith("by whether b != 1: the model was found to be right for b = 1 as well")
    assert "the rank of output 'output_0' depends on a size, and is another one for b = 1" in rank
    for size in (1, 2, 5):
        for mine, theirs in zip(model(rows(size).numpy()), Squeezed()(rows(size)), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(("axis", "text"), [(0, "with two rows"), (1, "with 2 in dimension 1")])
def test_a_fixed_dimension_says_which_example_to_give(axis, text):
    class Squeezed(nn.Module):
        def forward(self, x):
            return x.squeeze(axis) * 2

    _, (warning,) = told(Squeezed(), (torch.ones(1, 1, 3),), {"x": {axis: "b"}})
    assert warning.category is SpecialisedDimensionWarning
    assert f"give an example {text} if the module takes it" in str(warning.message)


def test_a_dimension_that_is_computed_from_another_is_told():
    class Fitting(nn.Module):
        def forward(self, x, y):
            return torch.where(torch.cat([x, x])[1:] > 4, 1.0, y)

    shapes = {"x": {0: "n"}, "y": {0: "m"}}
    _, (warning,) = told(Fitting(), (rows(3), rows(5)), shapes)
    assert warning.category is NarrowedDimensionWarning
    assert "'m' (dimension 0 of input 'y') is computed from other sizes" in str(warning.message)
    # One row is broadcast as well, so it is no such size.
    model, _ = told(Fitting(), (rows(1), rows(1)), shapes)
    for count in (1, 2, 3):
        try:
            got = model(rows(count).numpy(), rows(1).numpy())
        except ModelInputError:
            assert count > 1
            continue
        np.testing.assert_array_equal(got, Fitting()(rows(count), rows(1)))
