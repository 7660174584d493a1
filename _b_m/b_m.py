from onnxsmith import BOOL, FLOAT, INT64, STRING, Opset, Weights, graph, rebuild, script
from onnxsmith import opset21 as op

custom = Opset("custom", 1)

weights = Weights("b_m.safetensors", {"value": (STRING[1], ["s"])})


@script(default_opset=op, exact=True, domain="local")
def f(a, alpha: float, beta: str = "text"):
    r = op.LeakyRelu(a, alpha=alpha)
    return r


@script(default_opset=op, exact=True, name="graph")
def graph_2(x: FLOAT["N", 2], b: BOOL) -> FLOAT["M", 2]:
    if b:
        chosen = x + [1.0, 2.0]
    else:
        chosen = x + [1.0, 2.0]

    @graph
    def body(i: INT64, cond_in: BOOL, state: FLOAT[...]) -> tuple[BOOL, FLOAT[...]]:
        cond_out = op.Identity(cond_in)
        next_2 = state * [1.0, 2.0]
        return cond_out, next_2

    looped = op.Loop(weights["count"], None, chosen, body=body)
    c = custom.Custom(looped, text="t", texts=["t", "u"])
    y = f(c, alpha=0.5)
    constant = op.Constant(value=weights["value"])
    return y


model = rebuild(
    graph_2,
    ir_version=10,
    opset_imports={"": 21, "local": 1, "custom": 1},
    model_metadata={"key": "value"},
    values={
        "chosen:then_branch": "inner",
        "chosen:else_branch": "inner",
        "next_2": "next",
        "constant": "",
    },
    nodes={
        "chosen:then_branch": "inner_node",
        "chosen:else_branch": "inner_node",
        "chosen": "choice",
        "looped": "loop",
    },
    literals={
        "chosen:then_branch[1]": "w",
        "chosen:else_branch[1]": "w",
        "next_2[1]": "w",
    },
    graphs={
        "chosen:then_branch": "branch",
        "chosen:else_branch": "branch",
        "looped:body": "body",
    },
    types={"chosen:then_branch": [FLOAT[...]], "chosen:else_branch": [FLOAT[...]]},
    tensors={"constant.value": "t"},
    functions=[(f, dict(opset_imports={"": 21}))],
)
