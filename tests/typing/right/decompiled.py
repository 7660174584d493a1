"""A module as `decompile` writes it, and what is done with one."""

from onnxsmith import FLOAT, Model, Opset, Weights, decompile, proto2python, rebuild, script
from onnxsmith import opset21 as op

unchecked = Opset("", 21, checked=False)

weights = Weights({"layer.weight": (FLOAT[4, 2], [[1.0, 2.0]] * 4), "bias": (FLOAT[2], [0.5, 1.5])})


@script(default_opset=op, exact=True, name="main graph")
def main_graph(x: FLOAT["N", 4]) -> FLOAT["N", 4]:
    product = x @ weights["layer.weight"]
    shifted = weights["bias"] + product
    scaled = shifted * 2.0
    checked = unchecked.Relu(scaled)
    return op.Relu(op.Gemm(checked, op.Transpose(weights["layer.weight"], perm=[1, 0]), transB=0))


if __name__ == "__main__":
    model: Model = rebuild(main_graph, ir_version=10, opset_imports={"": 21}, all_weights=weights)
    text: str = decompile(model, weights="inline", group=False)
    assert proto2python(model, use_operators=True) == text
