"""A hundred rewrite rules with roots of their own beside the slowest of them alone, and beside another rewriter.

A rule is looked for only where its root is, so a hundred cost little more than the one that has the most to do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.contest import Context
from benchmarks.rows import Row, ratio_at_most
from benchmarks.timing import time_in_turns

NAME = "rules"
DESCRIPTION = (
    "rewrite rules on a large model (--set nodes=10000, --set rules=100, --set matches=10); CPU time"
)

_DOMAIN = "bench"
#: A match is a root, an Add and a Relu; the rest of the model is Sub and Mul.
_NODES_PER_MATCH = 3
_ROUNDS = 5
_ALL, _NONE, _PEER = "all rules", "a rule without a match", "onnxscript"


def run(context: Context) -> list[Row]:
    """Rows beside the slowest single rule, beside a rule that finds nothing, and beside onnxscript's rewriter."""
    from onnxsmith import Model

    nodes, rules, matches = (
        int(context.number(name, default))
        for name, default in (("nodes", 10_000), ("rules", 100), ("matches", 10))
    )
    proto = make_model(nodes, rules, matches)
    model = Model.from_proto(proto)
    _ = model.ir
    made = [make_rule(k) for k in range(rules)]
    contestants: dict[str, Callable[[], object]] = {
        _ALL: lambda: _checked(model.rewrite(made), rules * matches),
        **{
            f"rule {k}": lambda k=k: _checked(model.rewrite(made[k]), matches)
            for k in range(0, rules, max(rules // 8, 1))
        },
        _NONE: lambda: _checked(model.rewrite(make_rule(rules)), 0),
    }
    seconds = time_in_turns(contestants, rounds=_ROUNDS, warm_up_calls=1)
    ours = seconds.pop(_ALL) * 1e3
    slowest = max(value for name, value in seconds.items() if name != _NONE) * 1e3
    name = f"{rules} rules, {rules * matches:,} matches, {nodes:,} nodes"
    rows = [
        Row(name, ours, "ms", "the slowest rule alone", slowest, ratio_at_most(3.0)),
        Row(name, ours, "ms", _NONE, seconds[_NONE] * 1e3, None, "copying the model, types"),
    ]
    peer = context.ask("onnxscript", lambda: _with_onnxscript(proto, rules, matches) * 1e3)
    rows.append(Row(name, ours, "ms", _PEER, peer, ratio_at_most(1.0)))
    return rows


def make_model(nodes: int, rules: int, matches: int) -> Any:
    """A chain of nodes in which each root stands as often as it should match, spread evenly."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    count = rules * matches
    filling = max(nodes - count * _NODES_PER_MATCH, 0)
    made: list[Any] = []
    current = "x"

    def add(domain: str, operator: str, *inputs: str) -> str:
        output = f"v{len(made)}"
        made.append(helper.make_node(operator, inputs, [output], name=f"n{len(made)}", domain=domain))
        return output

    for k in range(count):
        for each in range(filling * k // count, filling * (k + 1) // count):
            current = add("", "Sub" if each % 2 else "Mul", current, "two")
        current = add(_DOMAIN, f"Root{k % rules}", add("", "Relu", add("", "Add", current, "one")))
    constants = [
        numpy_helper.from_array(np.array(value, np.float32), name) for name, value in (("one", 1), ("two", 2))
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N"]) for name in ("x", current)]
    graph = helper.make_graph(made, "chain", ends[:1], ends[1:], constants)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid(_DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def make_rule(number: int) -> Any:
    """`Root(Relu(x + 1))` becomes `Abs(x)`."""
    from onnxsmith import Opset, Rule
    from onnxsmith import opset21 as op

    root = Opset(_DOMAIN, 1)[f"Root{number}"]
    return Rule(lambda x: root(op.Relu(x + 1.0)), lambda x: op.Abs(x), name=f"rule {number}")


def _checked(result: Any, changes: int) -> Any:
    assert len(result.report.edits) == changes
    return result


def _with_onnxscript(proto: Any, rules: int, matches: int) -> float:
    import onnx_ir as ir
    from onnxscript.rewriter import pattern

    def rule(number: int) -> Any:
        def target(op: Any, x: Any) -> Any:
            return getattr(op, f"Root{number}")(op.Relu(op.Add(x, 1.0)), _domain=_DOMAIN)

        return pattern.RewriteRule(target, lambda op, x: op.Abs(x))

    made = pattern.RewriteRuleSet([rule(k) for k in range(rules)])

    def rewrite() -> object:
        model = ir.serde.deserialize_model(proto)
        found = made.apply_to_model(model)
        assert found == rules * matches
        return model

    return time_in_turns({_PEER: rewrite}, rounds=1, warm_up_calls=0)[_PEER]
