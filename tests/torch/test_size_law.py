"""Sizes that stay dynamic, guards that are told, and the first draws of the law about both."""

from __future__ import annotations

import math
import typing
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing
from torch.nn import functional as F  # noqa: E402

import onnxsmith  # noqa: E402
from onnxsmith.errors import ModelInputError, NarrowedDimensionWarning  # noqa: E402
from onnxsmith.graphs.size_conditions import read  # noqa: E402
from tests.laws.named import Verdict  # noqa: E402
from tests.torch.size_law import JOINS, LAW, OTHERS, STEPS, judge  # noqa: E402
from tests.torch.size_uses import USES, Use, rows  # noqa: E402


def test_the_law_holds_for_its_first_draws():
    assert LAW.wrong(0, 4) == []


@pytest.mark.parametrize("name", ["len", "float", "math.log", "np.sqrt", "divmod", "round", "linspace"])
def test_uses_that_stay_dynamic(name):
    verdict, is_dynamic = judge(name, USES[name], 1)
    assert is_dynamic, verdict.text


STEPS_OF_ONE = {
    "size of squeezed": lambda x: x * x.squeeze().shape[0],
    "rank of squeezed": lambda x: x.squeeze() * x.squeeze().dim(),
    "pieces": lambda x: STEPS["mean of rows"](
        STEPS["tensor_split"](x, round(x.shape[0] / 3)), int(x.shape[0] / 2)
    ),
    "repeated pieces": lambda x: STEPS["tensor_split"](x, x.numel()).repeat(2, 1) + float(x.shape[0]),
}


@pytest.mark.parametrize("case", STEPS_OF_ONE)
def test_no_model_refuses_an_example_of_one(case):
    verdict, _ = judge(case, Use(STEPS_OF_ONE[case]), 1)
    assert verdict.kind != "wrong", verdict.text


def test_a_second_input_of_one_row_stays_one_where_torch_must_read_the_code():
    # A size as the key of a dict is read in strict mode alone, and two rows are broadcast with two.
    def function(x, y):
        two = x[:2] * {5: 2.0}.get(x.shape[0], 1.0)
        return torch.where(two > 0.123, two, y)

    verdict, _ = judge("a key", Use(function, lambda n: (rows(n), rows(1) + 1), ("n", "m")), 5)
    assert verdict.kind == "refused", verdict.text  # only sizes that are not the example's


def test_a_line_of_code_that_torch_reads_has_the_whole_path_of_its_file():
    def function(x):
        return x.sum() if len(x) > 2 else x.mean()

    use = Use(function)
    with pytest.warns(NarrowedDimensionWarning) as told:
        onnxsmith.torch.export(use.module(), use.arguments(5), dynamic_shapes=use.dynamic_shapes())
    assert f" at {__file__}:{function.__code__.co_firstlineno + 1}," in str(told[0].message)


def test_a_guard_about_two_sizes_leaves_both_dynamic():
    use = Use(JOINS["down and up"], lambda n: (rows(n), rows(n + 1)), ("n", "m"))
    verdict, is_dynamic = judge("down and up", use, 5)
    assert is_dynamic, verdict.text


def test_rounding_that_a_normalisation_magnifies_is_no_error():
    def function(x, y):
        return STEPS["batch norm"](STEPS["expand"](x, x.shape[0]), x.shape[0]) + y

    verdict, _ = judge("equal rows", Use(function, lambda n: (rows(n), rows(n) + 1), ("n", "n")), 5)
    assert verdict.kind != "wrong", verdict.text


PIECES = {
    "split": (lambda x: torch.stack([each.mean(0) for each in x.split(2)]).sum(0), ["n >= 3", "n <= 4"]),
    "chunk": (lambda x: torch.cat([each.sum(0, keepdim=True) for each in x.chunk(2)]), ["n >= 2"]),
    "tensor_split": (lambda x: torch.stack([each.sum(0) for each in x.tensor_split(3)]), []),
    "sections of a size": (
        lambda x: torch.cat([each.sum(0, keepdim=True) for each in x.tensor_split(x.shape[0] // 2)]),
        ["n >= 4", "n <= 5"],
    ),
}


@pytest.mark.parametrize("case", PIECES)
def test_the_number_of_pieces_is_a_guard(case):
    function, conditions = PIECES[case]
    use = Use(function)
    module = use.module()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = onnxsmith.torch.export(module, (rows(4),), dynamic_shapes=use.dynamic_shapes())
    assert [each.text for each in read(model.ir.metadata_props)] == conditions
    told = [str(each.message) for each in caught if each.category is NarrowedDimensionWarning]
    assert len(told) == bool(conditions)
    assert all("test_size_law.py:" in each for each in told)
    for size in (1, 2, 3, 4, 5, 6):
        try:
            got = model(rows(size).numpy())
        except ModelInputError:
            assert conditions
        else:
            np.testing.assert_allclose(got, module(rows(size)).detach().numpy(), rtol=1e-5, atol=1e-6)


class Decoder(nn.Module):
    """Attention as libraries write it: causal where there is more than one token."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(16, 8)

    def forward(self, tokens):
        x = self.table(tokens)[:, None]
        is_causal = x.shape[2] > 1
        return F.scaled_dot_product_attention(x, x, x, is_causal=bool(is_causal))


@pytest.mark.parametrize("length", [1, 6])
def test_a_decoder_takes_one_token(length, recwarn):
    module = Decoder().eval()
    example = torch.arange(2 * length).reshape(2, length)
    shapes = {"tokens": {0: "batch", 1: "time"}}
    model = onnxsmith.torch.export(module, (example,), dynamic_shapes=shapes)
    assert not [str(each.message) for each in recwarn if "dynamic" in str(each.message)]
    assert model.inputs[0].type.shape == ("batch", "time")
    assert any(
        "test_size_law.py:" in each and "right for time = 1" in each for each in model.export_report.notes
    )
    for count in (1, 2, 5):
        tokens = torch.arange(3 * count).reshape(3, count) % 16
        with torch.no_grad():
            np.testing.assert_allclose(model(tokens.numpy()), module(tokens), rtol=1e-4, atol=1e-5)


class ByBatch(nn.Module):
    """Asks whether there is one row or token, as the masks of transformers do, and computes the same."""

    def forward(self, x):
        rows = x if x.shape[0] == 1 else x + 0
        return F.scaled_dot_product_attention(rows, rows, rows, is_causal=x.shape[1] > 1)


@pytest.mark.parametrize("shape", [(1, 5, 4), (1, 1, 4), (2, 1, 4)])
def test_an_example_of_1_that_the_module_asks_about_stays_dynamic(shape):
    module = ByBatch().eval()
    model = onnxsmith.torch.export(module, (torch.randn(shape),), dynamic_shapes=({0: "n", 1: "t"},))
    for other in ((1, 1, 4), (3, 1, 4), (1, 6, 4), (2, 7, 4)):
        x = torch.randn(other)
        np.testing.assert_allclose(model(x.numpy()), module(x), rtol=1e-4, atol=1e-5)


class Masked(nn.Module):
    """Asks for one token, where a mask of the same sizes is given beside the tokens."""

    def forward(self, x, mask):
        is_causal = x.shape[1] > 1 and mask is None
        weights = mask[:, None, :].expand(-1, x.shape[1], -1)
        return F.scaled_dot_product_attention(x, x, x, weights, is_causal=is_causal)


@pytest.mark.parametrize("shape", [(2, 5), (1, 5), (2, 1), (1, 1)])
def test_dimensions_of_one_name_are_tried_together(shape):
    module = Masked().eval()
    shapes = {"x": {0: "n", 1: "t"}, "mask": {0: "n", 1: "t"}}
    example = (torch.randn(*shape, 4), torch.zeros(shape))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = onnxsmith.torch.export(module, example, dynamic_shapes=shapes)
    assert not model._conditions
    for other in ((1, 1), (3, 1), (1, 6), (2, 7)):
        x, mask = torch.randn(*other, 4), torch.randn(other)
        np.testing.assert_allclose(model(x.numpy(), mask.numpy()), module(x, mask), rtol=1e-4, atol=1e-5)


def test_a_decision_that_matters_for_one_size_is_kept():
    class Deciding(nn.Module):
        def forward(self, x):
            return x.cumsum(0) if x.shape[0] > 1 else x * 2

    with pytest.warns(NarrowedDimensionWarning, match="2 or more"):
        model = onnxsmith.torch.export(Deciding(), (rows(4),), dynamic_shapes={"x": {0: "n"}})
    with pytest.raises(ModelInputError, match="n >= 2"):
        model(rows(1).numpy())


@pytest.mark.parametrize("example", [1, 4])
def test_squeezing_all_that_is_1(example):
    class Squeezed(nn.Module):
        def forward(self, x):
            return torch.relu(x.squeeze()) + x.sum(0)

    model = onnxsmith.torch.export(Squeezed(), (rows(example),), dynamic_shapes={"x": {0: "n"}})
    for size in (1, 2, 4):
        np.testing.assert_array_equal(model(rows(size).numpy()), Squeezed()(rows(size)))


class Pair(typing.NamedTuple):
    a: typing.Any
    b: typing.Any


@pytest.mark.parametrize(
    "form", [Pair({0: "n"}, {0: "n"}), ({0: "n"}, {0: "n"}), {"a": {0: "n"}, "b": {0: "n"}}]
)
def test_named_tuples_in_dynamic_shapes(form):
    class Adding(nn.Module):
        def forward(self, pair):
            return pair.a + pair.b

    model = onnxsmith.torch.export(Adding(), (Pair(rows(2), rows(2)),), dynamic_shapes={"pair": form})
    assert [each.type.shape for each in model.inputs] == [("n", 3), ("n", 3)]


def test_a_float_of_the_data_is_read_from_the_code(capfd):
    class Scaled(nn.Module):
        def forward(self, x):
            return x * float(x.max())

    model = onnxsmith.torch.export(Scaled(), (rows(2),), dynamic_shapes={"x": {0: "n"}})
    np.testing.assert_allclose(model(rows(5).numpy()), Scaled()(rows(5)), rtol=1e-5)
    captured = capfd.readouterr()
    assert not captured.err + captured.out


def test_names_of_math_are_put_back():
    before = (math.sqrt, math.log, torch.linspace, F.one_hot)
    onnxsmith.torch.export(nn.ReLU(), (rows(2),), dynamic_shapes={"input": {0: "n"}})
    assert (math.sqrt, math.log, torch.linspace, F.one_hot) == before
    assert not hasattr(torch.SymInt, "__divmod__")


#: Modules for whose example of one row a model was made that refused it.
OF_ONE_ROW = {
    "decides by one row": lambda x, y: x * (2 if x.shape[0] == 1 else 3) + y,
    "is right by chance": lambda x, y: (
        torch.where(y > 0.123, torch.zeros(1, 3), y) * (x.shape[0] // 2) * (2 if x.shape[0] % 2 == 0 else 3)
    ),
    "broadcasts behind an end": lambda x, y: (
        torch.where(torch.cat([x, torch.zeros(1, 3)]) > 0, 1.0, y) * (2 if x.shape[0] > 3 else 3)
    ),
}


@pytest.mark.parametrize("case", OF_ONE_ROW)
def test_a_model_takes_its_example_of_one_row(case):
    for names in (("n", "n"), ("n", "m")):
        use = Use(OF_ONE_ROW[case], lambda n: (rows(n), rows(n) + 1), names)
        verdict, _ = judge(case, use, 1)
        assert verdict.kind != "wrong", verdict.text


def test_a_size_that_is_looked_up_is_not_dynamic():
    use = Use(lambda x: torch.cat([x, x[:1]]).amax() * {5: 2.0, 1: 4.0}.get(x.shape[0] + 1, 1.0))
    verdict, _ = judge("looked up", use, 5)
    assert verdict.kind == "refused", verdict.text


def test_a_size_that_is_looked_up_is_not_dynamic_beside_one_that_is_broadcast():
    """torch fixes both in an example of one row, so that the program does not say that the module looks one up."""

    def looked_up(x, y):
        x = torch.cat([x, torch.zeros(1, 3)])
        return x * {5: 2.0, 1: 4.0}.get(x.shape[0], 1.0) + y

    use = Use(looked_up, lambda n: (rows(n), rows(1) + 1), ("n", "m"))
    verdict, _ = judge("looked up", use, 1)
    assert verdict.kind == "refused", verdict.text


def test_kernels_of_torch_are_put_back():
    """Exports do not depend on those before, and leave torch as it was."""
    use = Use(lambda x: torch.cat([each * k for k, each in enumerate(x.tensor_split(3))]))

    def size_in_torch():
        dims = ({0: torch.export.Dim.AUTO},)  # of the one argument
        program = torch.export.export(use.module(), use.arguments(5), dynamic_shapes=(dims,))
        return str(program.graph.find_nodes(op="output")[0].args[0][0].meta["val"].shape[0])

    before = size_in_torch()
    assert judge("pieces", use, 5) == (Verdict("equal"), True)
    assert size_in_torch() == before


def test_no_rows_of_which_the_module_makes_too_few_pieces_are_refused():
    use = Use(lambda x: torch.add(*[each[:1] for each in torch.cat([x, torch.zeros(1, 3)]).chunk(2)]))
    verdict, _ = judge("pieces", use, 5)
    assert verdict.kind != "wrong", verdict.text


def test_remainders_of_sizes_below_0():
    use = Use(lambda x: F.avg_pool1d(x.T[None], 2, 1)[0].T.amax(0) * ((x.shape[0] - 1) % 2))
    verdict, _ = judge("remainder", use, 5)
    assert verdict.kind != "wrong", verdict.text


def _chosen(function):
    """A module that reads a number for elements above 3 alone, which no example has."""
    return lambda x, *others: torch.where(x > 3, x * function(x), x) + sum(others)


HIDDEN = {
    "a decision": (Use(_chosen(lambda x: 2 if x.shape[0] == 1 else 3)), 5),
    "a decision, of one row": (Use(_chosen(lambda x: 2 if x.shape[0] == 1 else 3)), 1),
    "a decision by a range": (Use(_chosen(lambda x: 2 if x.shape[0] > 1 else 3)), 5),
    "a limit": (Use(lambda x: x.clamp(max=3) if x.shape[0] < 2 else x), 5),
    "a mask": (Use(lambda x: x + (x > 3) * (2 if x.shape[0] == 1 else 3)), 5),
    "in place": (Use(lambda x: (x * 1).masked_fill_(x > 3, 2 if x.shape[0] == 1 else 3)), 5),
    "a size that a broadcast fixes": (
        Use(lambda x, y: torch.where(x > 3, x * x.size(0), y), *OTHERS["five"]),
        5,
    ),
    "another name": (
        Use(_chosen(lambda x: 2 if x.shape[0] == 1 else 3), *OTHERS["as many by another name"]),
        1,
    ),
}


@pytest.mark.parametrize("case", HIDDEN)
def test_a_number_of_rare_elements_is_no_constant(case):
    use, example = HIDDEN[case]
    verdict, _ = judge(case, use, example)
    assert verdict.kind == "refused", verdict.text


def test_a_size_that_a_broadcast_fixes_is_dynamic_where_the_calls_are_the_same():
    use = Use(lambda x, y: torch.where(x > 3, x * 2, y), *OTHERS["five"])
    verdict, is_dynamic = judge("the same", use, 5)
    assert is_dynamic, verdict.text
