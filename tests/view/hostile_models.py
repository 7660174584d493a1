"""Models whose every text tries to become something else on a page, and whose functions have no end."""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper, parser

#: Each of these would set `window.hacked` where it is taken for markup or code.
TEXTS = [
    "</script><script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "<svg onload=window.hacked=1>",
    "${window.hacked=1}",
    "`+(window.hacked=1)+`",
    "\\u003cscript>window.hacked=1\\u003c/script>",
    "@DATA@ @SCRIPT@ @TITLE@ @POLICY@",
    "__proto__",
    "constructor",
    "\u202egnp.exe\u2066",
    "line\u2028separator\u2029",
    "]]><!--",
    "x" * 1_000_000,
]


def hostile_model() -> onnx.ModelProto:
    """A chain of nodes whose names, documentation, metadata and attributes are hostile."""
    nodes: list[onnx.NodeProto] = []
    previous = "x"
    for number, text in enumerate(TEXTS):
        output = f"{text}{number}"
        node = helper.make_node("Relu", [previous], [output], name=f"/{text}/scope/{text}", doc_string=text)
        entry = node.metadata_props.add()
        entry.key, entry.value = text, text
        stack = node.metadata_props.add()
        stack.key, stack.value = "pkg.torch.onnx.stack_trace", f'File "{text}", line 3, in {text}'
        source = node.metadata_props.add()
        source.key, source.value = "onnxsmith.source", f"/etc/passwd:{number + 1}:1-{number + 1}:5"
        nodes.append(node)
        nodes.append(helper.make_node("Odd", [output], [f"odd{number}"], domain=text[:50], text=text))
        previous = output
    graph = helper.make_graph(
        nodes,
        TEXTS[0],
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [TEXTS[1], 2])],
        [helper.make_tensor_value_info(previous, TensorProto.FLOAT, None)],
        doc_string=TEXTS[0],
    )
    opsets = [helper.make_opsetid("", 21), *(helper.make_opsetid(text[:50], 1) for text in TEXTS)]
    model = helper.make_model(
        graph, opset_imports=opsets, ir_version=10, producer_name=TEXTS[0], doc_string=TEXTS[0]
    )
    helper.set_model_props(model, {text[:100]: text for text in TEXTS})
    return model


def endless_model(functions: int) -> onnx.ModelProto:
    """A model with functions of which each calls the next one, and the last one the first."""
    texts = [
        f'<opset_import: ["": 18, "f": 1], domain: "f"> F{k} (x) => (y) {{ y = f.F{(k + 1) % functions}(x) }}'
        for k in range(functions)
    ]
    model = parser.parse_model(
        '<ir_version: 9, opset_import: ["": 18, "f": 1]> g (float[4] x) => (float[4] y) { y = f.F0(x) }'
    )
    model.functions.extend(parser.parse_function(each) for each in texts)
    return model


def nested_model(functions: int) -> onnx.ModelProto:
    """The same with an end: the last function calls none."""
    model = endless_model(functions)
    last = model.functions[-1].node[0]
    last.op_type, last.domain = "Relu", ""
    return model
