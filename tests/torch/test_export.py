"""PyTorch modules as models: what comes out of ONNX Runtime is what the module computes."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import onnxsmith

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing


def _arrays(value: Any) -> list[np.ndarray]:
    leaves = torch.utils._pytree.tree_leaves(value)
    return [
        each.detach().numpy() if isinstance(each, torch.Tensor) else np.asarray(each)
        for each in leaves
        if each is not None
    ]


def check(
    module: nn.Module, *args: Any, others: Any = (), tolerance: float = 1e-5, **options: Any
) -> onnxsmith.Model:
    """Export, run on the example and on others, and compare with torch."""
    module.eval()
    model = onnxsmith.torch.export(module, args, **options)
    for given in (args, *others):
        with torch.no_grad():
            wanted = _arrays(
                module(
                    *torch.utils._pytree.tree_map(
                        lambda x: x.clone() if isinstance(x, torch.Tensor) else x, given
                    )
                )
            )
        got = model(*_arrays(given))
        got = got if isinstance(got, tuple) else (got,)
        assert len(got) == len(wanted)
        for mine, theirs in zip(got, wanted, strict=True):
            assert np.asarray(mine).shape == theirs.shape
            np.testing.assert_allclose(np.asarray(mine), theirs, rtol=tolerance, atol=tolerance)
    return model


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        return torch.softmax(self.second(torch.relu(self.first(x))), -1)


def test_mlp():
    model = check(Mlp(), torch.randn(2, 4))
    assert [each.op_type for each in model.ir.graph] == ["Gemm", "Relu", "Gemm", "Softmax"]
    assert [each.name for each in model.inputs] == ["x"]
    assert [each.name for each in model.outputs] == ["output"]


def test_dynamic_batch_has_the_users_name():
    for batch in (torch.export.Dim("batch"), "batch"):
        model = check(
            Mlp(), torch.randn(2, 4), others=[(torch.randn(7, 4),)], dynamic_shapes={"x": {0: batch}}
        )
        assert model.inputs[0].type.shape == ("batch", 4)
        assert model.outputs[0].type.shape == ("batch", 3)


def test_a_specialised_dimension_is_told():
    class Fixed(nn.Module):
        def forward(self, x):
            return x.reshape(2, -1) if x.shape[0] == 2 else x.reshape(1, -1)

    with pytest.warns(UserWarning, match="dimension 0 of input 'x' was asked to be dynamic"):
        onnxsmith.torch.export(
            Fixed(), (torch.randn(2, 4),), dynamic_shapes={"x": {0: torch.export.Dim.AUTO}}
        )


def test_cnn():
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, groups=4, bias=False), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.5),
        nn.Linear(8, 5),
    )  # fmt: skip
    check(module, torch.randn(2, 3, 16, 16), tolerance=1e-4)


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_transformer_encoder_layer(is_dynamic):
    module = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu")
    shapes = ({0: "batch", 1: "length"},) if is_dynamic else None
    others = [(torch.randn(3, 7, 16),)] if is_dynamic else []
    check(module, torch.randn(2, 5, 16), others=others, dynamic_shapes=shapes, tolerance=1e-4)


@dataclasses.dataclass
class Result:
    logits: Any
    hidden: Any


def test_nested_inputs_and_outputs():
    torch.export.register_dataclass(Result)

    class Nested(nn.Module):
        def forward(self, x, others, flag=None):
            return {
                "sum": x + others["a"],
                "both": (x, [others["b"] * 2]),
                "nothing": None,
                "count": x.shape[0] + 1,
            }

    model = check(Nested(), torch.randn(2, 3), {"a": torch.randn(3), "b": torch.randn(2)})
    assert [each.name for each in model.inputs] == ["x", "others_a", "others_b"]
    assert [each.name for each in model.outputs] == ["sum", "both_0", "both_1_0", "count"]

    class Data(nn.Module):
        def forward(self, x):
            return Result(logits=x * 2, hidden=x + 1)

    assert [each.name for each in check(Data(), torch.randn(2)).outputs] == ["logits", "hidden"]


def test_symbolic_numbers():
    class Sizes(nn.Module):
        def forward(self, x):
            n = x.shape[0]
            return x.view(n * 2, -1), n + 1, x.sum() / n, torch.arange(n), x[: n // 2], torch.zeros(n - 1, 2)

    check(Sizes(), torch.randn(4, 6), others=[(torch.randn(7, 6),)], dynamic_shapes={"x": {0: "n"}})


def test_sizes_that_the_data_decides():
    class Chosen(nn.Module):
        def forward(self, x):
            chosen = x[x > 0]
            return chosen * 2, torch.nonzero(x).shape[0]

    check(Chosen(), torch.tensor([1.0, -1.0, 2.0]), others=[(torch.tensor([-1.0, 1.0, -2.0]),)])


def test_tied_weights_are_one():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.head = nn.Embedding(10, 4), nn.Linear(4, 10, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, x):
            return self.head(self.embedding(x))

    module = Tied()
    model = check(module, torch.tensor([[1, 2, 3]]))
    large = [each for each in model.ir.graph.initializers.values() if each.shape == (10, 4)]
    assert len(large) == 1
    assert np.shares_memory(large[0].const_value.numpy(), module.embedding.weight.detach().numpy())


def test_buffers_that_are_written():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(3))

        def forward(self, x):
            self.count.add_(1)
            return x + self.count

    model = onnxsmith.torch.export(Counter(), (torch.ones(3),))
    np.testing.assert_array_equal(model(np.ones(3, np.float32)), [2, 2, 2])


def test_in_place_operators_rename():
    class InPlace(nn.Module):
        def forward(self, x):
            y = x * 2
            y.add_(1).mul_(y)
            y.clamp_(min=0.5)
            return y

    model = check(InPlace(), torch.randn(3))
    assert len(model.ir.graph) == 4


def test_views_that_are_written():
    class Views(nn.Module):
        def forward(self, x):
            y = x.clone()
            y[:, 0] = 0
            part = y[1:]
            part += 1
            return y

    check(Views(), torch.randn(3, 4))


def test_indexing():
    class Indexed(nn.Module):
        def forward(self, x, i):
            return (
                x[i],
                x[:, i, i],
                x[..., -1],
                x[:, None, 1:],
                x.gather(2, i[None, None].expand(3, 4, 2)),
                x[i, :, i],
            )

    check(Indexed(), torch.randn(3, 4, 5), torch.tensor([0, -1]) % 3)


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float16, torch.int32, torch.int64, torch.uint8, torch.bool]
)
def test_element_types(dtype):
    class Types(nn.Module):
        def forward(self, x, y):
            return (
                x + y,
                x * 2,
                x.float() / 3,
                torch.where(x > 0, x, y),
                x.sum(),
                torch.cat([x, y]),
                x == y,
                1.0 - y,
            )

    x, y = (torch.tensor([[0, 1, 1], [1, 0, 2]]).to(dtype), torch.tensor([[1, 1, 0], [2, 0, 3]]).to(dtype))
    if dtype == torch.bool:
        Types.forward = lambda self, x, y: (
            x + y,
            x * 2,
            torch.where(x, x, y),
            x.sum(),
            torch.cat([x, y]),
            x == y,
        )
    check(Types(), x, y, tolerance=1e-3)


def test_bfloat16_loads():
    check_model = onnxsmith.torch.export(Mlp().to(torch.bfloat16), (torch.randn(2, 4, dtype=torch.bfloat16),))
    assert check_model.inputs[0].type.dtype.spelling == "bfloat16"


def test_an_operator_without_translation_is_decomposed():
    class Rare(nn.Module):
        def forward(self, x):
            return torch.addr(x, x[0], x[1]), torch.nn.functional.smooth_l1_loss(x, x * 2)

    check(Rare(), torch.randn(3, 3))


def test_cond():
    class Branches(nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))

    check(Branches(), torch.ones(3), others=[(-torch.ones(3),)])


@torch.library.custom_op("onnxsmith_tests::double", mutates_args=())
def double(x: torch.Tensor, factor: float = 2.0) -> torch.Tensor:
    return x * factor


@torch.library.custom_op("onnxsmith_tests::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    return x / 2


for each in (double, halve):
    each.register_fake(lambda x, factor=2.0: torch.empty_like(x))


class _Untranslated(nn.Module):
    def forward(self, x):
        return halve(double(x, 3.0) + 1)


def test_untranslated_operators_are_told_at_once():
    with pytest.raises(onnxsmith.errors.UntranslatedOperatorError) as caught:
        onnxsmith.torch.export(_Untranslated(), (torch.randn(3),))
    text = str(caught.value.message)
    assert text.startswith("2 operators of the module have no translation to ONNX:")
    assert "onnxsmith_tests.double.default(float32[3], 3.0)" in text
    assert re.search(r"called at .*test_export.py:\d+ in forward", text)
    assert "onnxsmith_tests.halve.default(float32[3])" in text
    help = caught.value.help or ""
    assert "def double(x, factor=2.0):" in help
    assert "translations={torch.ops.onnxsmith_tests.double.default: double}" in help


def test_translations_can_be_given():
    translations = {
        double: lambda x, factor=2.0: x * factor,
        torch.ops.onnxsmith_tests.halve: lambda x: x / 2,
    }
    model = onnxsmith.torch.export(_Untranslated(), (torch.ones(3),), translations=translations)
    np.testing.assert_array_equal(model(np.ones(3, np.float32)), [2, 2, 2])


def test_nodes_say_where_they_come_from():
    model = onnxsmith.torch.export(Mlp(), (torch.randn(2, 4),))
    first = next(iter(model.ir.graph))
    assert first.name == "first/gemm"
    assert first.metadata_props["onnxsmith.fx_node"] == "linear"
    assert re.match(r".*test_export.py:\d+:", first.metadata_props["onnxsmith.source"])
    bare = onnxsmith.torch.export(Mlp(), (torch.randn(2, 4),), metadata=False)
    assert not any(each.metadata_props for each in bare.ir.graph)


def test_names_can_be_given():
    model = onnxsmith.torch.export(Mlp(), (torch.randn(2, 4),), input_names=["a"], output_names=["b"])
    assert (model.inputs[0].name, model.outputs[0].name) == ("a", "b")
    with pytest.raises(onnxsmith.errors.ExportError, match="input_names has 2 names for 1 inputs"):
        onnxsmith.torch.export(Mlp(), (torch.randn(2, 4),), input_names=["a", "b"])


@pytest.mark.parametrize("version", [18, 20, 21])
def test_opset_versions(version):
    module = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu")
    model = check(module, torch.randn(2, 5, 16), opset_version=version, tolerance=1e-4)
    assert model.opset_imports[""] == version


def test_the_import_is_cheap():
    code = "import sys, onnxsmith.torch; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_warning_without_a_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error", onnxsmith.errors.SpecialisedDimensionWarning)
        onnxsmith.torch.export(Mlp(), (torch.randn(2, 4),), dynamic_shapes={"x": {0: "batch"}})


def test_what_torch_cannot_trace_is_told_in_one_message(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import torch, onnxsmith\nonnxsmith.torch.export(torch.nn.Linear(4, 3), (torch.randn(2, 5),))\n",
        encoding="utf-8",
    )
    seen = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    assert seen.returncode == 1
    assert "ExportError: torch.export cannot trace the module" in seen.stderr
    assert "[C703]" in seen.stderr
    assert "program.py:2:1" in seen.stderr
    assert len(seen.stderr.splitlines()) < 12


def test_what_the_module_itself_raises_keeps_its_class():
    class Refusing(nn.Module):
        def forward(self, x):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        onnxsmith.torch.export(Refusing(), (torch.ones(2),))


class Derived(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def _cubes(x):
    return (x**3).sum()


DERIVATIVES = {
    "jacfwd": torch.func.jacfwd(lambda v: v.sin() * v.sum()),
    "jacrev": torch.func.jacrev(torch.sin),
    "hessian": torch.func.hessian(_cubes),
    "grad": torch.func.grad(_cubes),
    "grad of each": torch.func.vmap(torch.func.grad(lambda v: v**3)),
    "vjp": lambda x: torch.func.vjp(torch.sin, x)[1](x)[0],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("is_training", [False, True])
@pytest.mark.parametrize("case", DERIVATIVES)
def test_derivatives_of_torch_func_are_refused_at_their_line(case, is_training):
    with pytest.raises(
        onnxsmith.errors.ExportError, match=r"cannot trace this derivative of torch.func \[C703\]"
    ) as caught:
        onnxsmith.torch.export(Derived(DERIVATIVES[case]).train(is_training), (torch.ones(4),))
    assert "test_export.py:" in str(caught.value)
    assert "torch.autograd.functional.jacobian and hessian work" in str(caught.value)
    # Nothing of it stays entered: under `vmap` random numbers are an error, and forward derivatives do not nest.
    assert torch.randn(2).shape == (2,)
    assert torch.func.jvp(torch.sin, (torch.zeros(2),), (torch.ones(2),))[1].tolist() == [1, 1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", DERIVATIVES)
def test_derivatives_are_refused_at_their_line_with_strict(case):
    with pytest.raises(
        onnxsmith.errors.ExportError, match=r"cannot trace this derivative of torch.func \[C703\]"
    ) as caught:
        onnxsmith.torch.export(Derived(DERIVATIVES[case]).eval(), (torch.ones(4),), strict=True)
    assert "test_export.py:" in str(caught.value)
    with pytest.raises(onnxsmith.errors.ExportError) as caught:
        onnxsmith.torch.export(Derived(DERIVATIVES[case]).train(), (torch.ones(4),), strict=True)
    assert "test_export.py:" in str(caught.value)
    assert "constant" not in str(caught.value)
    with torch.autograd.graph.saved_tensors_hooks(
        torch.neg, torch.neg
    ):  # torch.func.grad refuses them inside
        assert torch.ones(2, requires_grad=True).sum().item() == 2


@pytest.mark.filterwarnings("ignore")
def test_derivatives_of_autograd_are_refused_with_strict():
    module = Derived(lambda x: torch.autograd.functional.jacobian(torch.sin, x)).eval()
    with pytest.raises(
        onnxsmith.errors.ExportError, match="cannot trace this derivative with strict=True"
    ) as caught:
        onnxsmith.torch.export(module, (torch.ones(4),), strict=True)
    assert "test_export.py:" in str(caught.value)
    assert "leave out strict=True" in str(caught.value)


@pytest.mark.filterwarnings("ignore")
def test_a_derivative_through_what_torch_does_not_record_is_refused():
    class Forces(nn.Module):
        def __init__(self):
            super().__init__()
            self.energy = nn.Linear(3, 1)

        def forward(self, x):
            with torch.enable_grad():
                leaf = x.detach().requires_grad_()
                return torch.autograd.grad(self.energy(leaf).sin().sum(), leaf)[0]

    with pytest.raises(onnxsmith.errors.ExportError, match="cannot trace a derivative here") as caught:
        onnxsmith.torch.export(Forces().eval(), (torch.ones(2, 3),))
    assert "model.gradient(" in str(caught.value)


class Curved(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(1.0, 4.0))

    def forward(self, x):
        return torch.autograd.functional.hessian(lambda v: ((v * self.weight) ** 3).sum(), x)


@pytest.mark.filterwarnings("ignore")
def test_second_derivatives_in_training():
    module = Curved().train()
    x = torch.tensor([1.0, 2.0, 3.0])
    model = onnxsmith.torch.export(module, (x,))
    np.testing.assert_allclose(model(x.numpy()), module(x).detach(), rtol=1e-5)


def _slope(x):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(_cubes(leaf), leaf)[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.autograd.functional.jacobian(torch.sin, x),
        lambda x: torch.autograd.functional.hessian(_cubes, x),
        lambda x: torch.func.jvp(torch.sin, (x,), (x,))[1],
        _slope,
    ],
    ids=["jacobian", "hessian", "jvp", "grad"],
)
def test_derivatives_that_work(function):
    module = Derived(function).eval()
    model = onnxsmith.torch.export(module, (torch.ones(4),))
    x = torch.randn(4)
    np.testing.assert_allclose(model(x.numpy()), module(x).detach(), rtol=1e-5, atol=1e-6)
