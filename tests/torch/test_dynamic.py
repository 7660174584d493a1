"""Inputs and outputs of every kind, dynamic dimensions and their names, element types, and what a module writes."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing
from torch.utils import _pytree as pytree  # noqa: E402

import onnxsmith  # noqa: E402
from tests.torch.agreement import check  # noqa: E402


def test_dimensions_of_nested_inputs_have_the_users_names():
    class Nested(nn.Module):
        def forward(self, pair, extra):
            return torch.cat([pair[0], pair[1]], 1), extra["a"].sum(0)

    x, y, a = torch.randn(2, 3), torch.randn(2, 4), torch.randn(5, 2)
    shapes = {"pair": ({0: "batch", 1: "left"}, {0: "batch", 1: "right"}), "extra": {"a": {0: "rows"}}}
    other = ((torch.randn(3, 2), torch.randn(3, 6)), {"a": torch.randn(7, 2)})
    model = check(Nested(), (x, y), {"a": a}, others=[other], dynamic_shapes=shapes)
    assert [each.type.shape for each in model.inputs] == [("batch", "left"), ("batch", "right"), ("rows", 2)]
    assert model.outputs[0].type.shape[0] == "batch"


def test_dimensions_of_containers_among_any_number_of_arguments():
    class Gathered(nn.Module):
        def forward(self, *given):
            return torch.cat(given[0]["a"]) * given[0]["b"].shape[0]

    def inputs(count):
        return ({"a": [torch.randn(count, 2), torch.randn(3, 2)], "b": torch.randn(count)},)

    wish = {"a": [{0: "rows"}, None], "b": {0: "rows"}}
    model = check(Gathered(), *inputs(4), others=[inputs(6)], dynamic_shapes={"given": (wish,)})
    assert [each.type.shape for each in model.inputs] == [("rows", 2), (3, 2), ("rows",)]


def test_dimensions_that_are_computed_from_others():
    half = torch.export.Dim("half", min=2)

    class Folded(nn.Module):
        def forward(self, x):
            return x.reshape(-1, 2).sum(1), x.unfold(0, 2, 2)

    model = check(Folded(), torch.randn(8), others=[(torch.randn(12),)], dynamic_shapes={"x": {0: 2 * half}})
    assert model.outputs[0].type.shape == ("half",)


def test_floor_division_of_sizes():
    class Parts(nn.Module):
        def forward(self, x):
            first, second = x.chunk(2, 0)
            return first, second, x[: (1 - x.shape[0]) // 2], x.shape[0] // -2

    check(Parts(), torch.randn(6, 2), others=[(torch.randn(9, 2),)], dynamic_shapes={"x": {0: "n"}})


def test_numbers_and_none_go_in_and_out():
    class Mixed(nn.Module):
        def forward(self, x, nothing=None, count=3, flag=True):
            return x * count, None, count + 1, flag, 2.5, x.shape[0]

    model = onnxsmith.torch.export(Mixed(), (torch.ones(2), None, 4), {"flag": False})
    got = model(np.ones(2, np.float32))
    assert [np.asarray(each).tolist() for each in got] == [[4, 4], 5, False, 2.5, 2]


def test_numbers_that_are_inputs():
    class Counted(nn.Module):
        def forward(self, x, n):
            return x[:n] * n

    model = onnxsmith.torch.export(
        Counted(), (torch.arange(6.0), 4), dynamic_shapes={"x": None, "n": torch.export.Dim.DYNAMIC}
    )
    np.testing.assert_array_equal(model(np.arange(6, dtype=np.float32), np.array(3)), [0, 3, 6])


def test_key_value_caches():
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=20, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=32,
    )  # fmt: skip

    class Step(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = transformers.LlamaForCausalLM(config)

        def forward(self, words, keys, values):
            cache = transformers.DynamicCache()
            for layer, (key, value) in enumerate(zip(keys, values, strict=True)):
                cache.update(key, value, layer)
            result = self.inner(input_ids=words, past_key_values=cache)
            layers = result.past_key_values.layers
            return result.logits, [each.keys for each in layers], [each.values for each in layers]

    def arguments(batch, past):
        parts = [[torch.randn(batch, 2, past, 4) for _ in range(2)] for _ in range(2)]
        return (torch.randint(0, 20, (batch, 1)), *parts)

    cache = [{0: "batch", 2: "past"}] * 2
    model = check(
        Step(), *arguments(2, 5), others=[arguments(3, 7)], tolerance=1e-4,
        dynamic_shapes={"words": {0: "batch"}, "keys": cache, "values": cache},
    )  # fmt: skip
    assert [each.name for each in model.inputs][:3] == ["words", "keys_0", "keys_1"]


def test_caches_of_transformers_go_in_and_out():
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=20, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=32,
    )  # fmt: skip
    module = transformers.LlamaForCausalLM(config).eval()

    def arguments(batch, past):
        cache = transformers.DynamicCache(config=config)
        for layer in range(2):
            cache.update(*torch.randn(2, batch, 2, past, 4), layer)
        return {"input_ids": torch.randint(0, 20, (batch, 1)), "past_key_values": cache}

    cached = [[{0: "batch", 2: "past"}] * 2] * 2
    shapes = {"input_ids": {0: "batch"}, "past_key_values": cached}
    model = onnxsmith.torch.export(module, (), arguments(2, 5), dynamic_shapes=shapes, verify=True)
    given = arguments(3, 7)
    feeds = [*pytree.tree_leaves(given["input_ids"]), *pytree.tree_leaves(given["past_key_values"])]
    feeds = [each.numpy().copy() for each in feeds]
    with torch.no_grad():
        wanted = pytree.tree_leaves(module(**given))
    for mine, theirs in zip(model(*feeds), wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)
    assert model.outputs[1].name == "past_key_values_key_cache_0_out"


def test_the_names_of_a_cache_stay():
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(
        vocab_size=20, n_embd=16, n_layer=2, n_head=4, n_positions=64, bos_token_id=0, eos_token_id=0
    )
    module = transformers.GPT2LMHeadModel(config).eval()
    cache = transformers.DynamicCache(config=config)
    for layer in range(2):
        cache.update(*torch.randn(2, 1, 4, 5, 4), layer)
    shapes = {"input_ids": {0: "batch"}, "past_key_values": [[{0: "batch", 2: "past"}] * 2] * 2}
    given = {"input_ids": torch.ones(1, 1, dtype=torch.int64), "past_key_values": cache}
    model = onnxsmith.torch.export(module, (), given, dynamic_shapes=shapes, verify=True)
    assert {each.type.shape for each in model.inputs} == {("batch", 1), ("batch", 4, "past", 4)}
    assert model.outputs[1].type.shape == ("batch", 4, "past+1", 4)
    assert "batch=7, past=23" in {each.inputs for each in model.export_report.verification}


# -- what a module writes ------------------------------------------------------------------------------------


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count.add_(x)
        return x + self.count


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(2, 3))

    def forward(self, x):
        self.rows[0] = x
        return self.rows.sum(0)


class Column(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("columns", torch.zeros(3, 2))

    def forward(self, x):
        self.columns.T[1].copy_(x * 2)
        return x * 3  # nothing reads the buffer


@pytest.mark.parametrize(("module", "name"), [(Counter(), "count"), (Rows(), "rows"), (Column(), "columns")])
def test_what_a_module_writes_can_be_an_output(module, name):
    x = torch.arange(3.0)
    model = onnxsmith.torch.export(module, (x,), keep_mutations=True)
    assert [each.name for each in model.outputs] == ["output", f"{name}_after"]
    got, state = model(x.numpy())
    np.testing.assert_array_equal(got, module(x).numpy())
    np.testing.assert_array_equal(state, module.get_buffer(name).numpy())
    assert len(onnxsmith.torch.export(module, (x,)).outputs) == 1


# -- element types -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_wider_type_to_compute_in(dtype):
    module = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2)).eval().to(dtype)
    x = torch.randn(3, 4).to(dtype)
    model = onnxsmith.torch.export(module, (x,), fallback_dtype=torch.float32, verify=True)
    assert {str(each.dtype) for each in model.ir.graph.initializers.values()} <= {"FLOAT", "INT64"}
    casts = [each for each in model.ir.graph if each.op_type == "Cast"]
    assert len(casts) == 2  # at the input and at the output
    assert model.inputs[0].type.dtype.spelling == str(dtype).removeprefix("torch.")


def test_a_fallback_that_is_no_element_type_is_refused():
    with pytest.raises(onnxsmith.errors.ExportError, match="fallback_dtype"):
        onnxsmith.torch.export(nn.Linear(2, 2), (torch.ones(1, 2),), fallback_dtype="float32")


def test_a_module_with_quantised_decomposed_operators():
    importlib.import_module("torch.ao.quantization.fx._decomposed")  # registers the operators

    class Quantised(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", torch.randint(-9, 9, (3, 4), dtype=torch.int8))

        def forward(self, x):
            ops = torch.ops.quantized_decomposed
            x = ops.quantize_per_tensor(x, 0.05, 3, -128, 127, torch.int8)
            x = ops.dequantize_per_tensor(x, 0.05, 3, -128, 127, torch.int8)
            weight = ops.dequantize_per_tensor(self.weight, 0.1, 0, -128, 127, torch.int8)
            return torch.nn.functional.linear(x, weight)

    model = check(Quantised(), torch.randn(2, 4), tolerance=1e-4)
    kinds = [each.op_type for each in model.ir.graph]
    assert kinds.count("QuantizeLinear") == 1
    assert kinds.count("DequantizeLinear") == 2


def test_a_mask_of_what_is_left_out_keeps_one_row_and_one_token():
    """A mask that is drawn may leave nothing, of which torch's kernels differ: they give no number, or 0."""

    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

        def forward(self, x, mask):
            return self.attention(x, x, x, key_padding_mask=mask, need_weights=False)[0]

    def given(batch, length):
        return torch.randn(batch, length, 4), torch.arange(length)[None].expand(batch, length) > 3

    module = Masked().eval()
    sizes = {0: "batch", 1: "length"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", onnxsmith.errors.NarrowedDimensionWarning)
        model = onnxsmith.torch.export(module, given(2, 5), dynamic_shapes={"x": sizes, "mask": sizes})
    for x, mask in (given(1, 5), given(3, 1), given(1, 1)):
        np.testing.assert_allclose(model(x.numpy(), mask.numpy()), module(x, mask).detach(), atol=1e-5)
