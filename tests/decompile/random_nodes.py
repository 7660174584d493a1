"""Random nodes of every sort that a decompiler treats in its own way.

Each function appends one node, or a few, to a scope; the types of what comes out are right, so that models are valid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import onnx
from hypothesis import strategies as st
from onnx import AttributeProto, GraphProto, TensorProto, helper

from tests.decompile.odd_names import maybe_texts, names
from tests.decompile.random_scopes import FLOATS, Kind, Scope
from tests.decompile.random_tensors import attribute, sparse_tensor

_NUMBERS = (TensorProto.FLOAT, TensorProto.INT64)
_BOOL = TensorProto.BOOL
_INT64 = TensorProto.INT64
_DEEPEST = 3

#: Names that attributes of functions and custom operators may have.
ATTRIBUTE_NAMES = (
    "alpha",
    "axis",
    "class",
    "lambda",
    "op",
    "self",
    "outputs",
    "to",
    "name",
    "_x",
    "a_b",
    "print",
)


def binary(scope: Scope) -> None:
    dtype = scope.setting.choose(_NUMBERS)
    op = scope.setting.choose(("Add", "Sub", "Mul", "Div", "Pow"))
    scope.add(op, [scope.tensor(dtype), scope.tensor(dtype)], [Kind("tensor", dtype)])


def comparison(scope: Scope) -> None:
    inputs = [scope.tensor(TensorProto.FLOAT), scope.tensor(TensorProto.FLOAT)]
    scope.add(scope.setting.choose(("Less", "Greater", "Equal")), inputs, [Kind("tensor", _BOOL)])


def logic(scope: Scope) -> None:
    inputs = [scope.tensor(_BOOL), scope.tensor(_BOOL)]
    scope.add(scope.setting.choose(("And", "Or", "Xor")), inputs, [Kind("tensor", _BOOL)])


def unary(scope: Scope) -> None:
    op = scope.setting.choose(("Relu", "Neg", "Abs", "Identity", "Sigmoid", "LeakyRelu", "Not", "Transpose"))
    name = scope.tensor(_BOOL if op == "Not" else TensorProto.FLOAT)
    attributes = {}
    if op == "LeakyRelu" and AttributeProto.FLOAT in scope.attributes.values():
        wanted = sorted(key for key, kind in scope.attributes.items() if kind == AttributeProto.FLOAT)
        _, node = scope.add(op, [name], [FLOATS]), scope.nodes[-1]
        node.attribute.add(
            name="alpha", type=AttributeProto.FLOAT, ref_attr_name=scope.setting.choose(wanted)
        )
        return
    if op == "LeakyRelu" and scope.setting.chance(2):
        attributes["alpha"] = scope.setting.draw(st.floats(0, 1, width=32))
    kind = scope.kind_of(name)
    scope.add(op, [name], [replace(kind, shape=None) if op == "Transpose" else kind], **attributes)


def cast(scope: Scope) -> None:
    dtype = scope.setting.choose((TensorProto.FLOAT, _INT64, TensorProto.DOUBLE, _BOOL, TensorProto.FLOAT16))
    scope.add("Cast", [scope.tensor(TensorProto.FLOAT)], [Kind("tensor", dtype)], to=dtype)


def constant(scope: Scope) -> None:
    setting = scope.setting
    if setting.opset < 12 or setting.chance(2):
        scope.weight()
        return
    content: dict[str, object]
    match setting.choose(
        ("value_float", "value_int", "value_string", "value_floats", "value_ints", "sparse_value")
    ):
        case "value_float":
            content, kind = {"value_float": setting.draw(st.floats(width=32))}, Kind("tensor", 1, ())
        case "value_int":
            content, kind = {"value_int": setting.draw(st.integers(-9, 9))}, Kind("tensor", _INT64, ())
        case "value_string":
            content, kind = (
                {"value_string": setting.draw(maybe_texts)},
                Kind("tensor", TensorProto.STRING, ()),
            )
        case "value_floats":
            numbers = setting.draw(st.lists(st.floats(width=32), min_size=1, max_size=3))
            content, kind = {"value_floats": numbers}, Kind("tensor", 1, (len(numbers),))
        case "value_ints":
            numbers = setting.draw(st.lists(st.integers(-9, 9), min_size=1, max_size=3))
            content, kind = {"value_ints": numbers}, Kind("tensor", _INT64, (len(numbers),))
        case _:
            sparse = sparse_tensor(setting.draw, "")
            content, kind = {"sparse_value": sparse}, Kind("tensor", 1, tuple(sparse.dims))
    scope.add("Constant", [], [kind], **content)


def without_input(scope: Scope) -> None:
    """Clip with no lower bound, or with none at all."""
    x = scope.tensor(TensorProto.FLOAT)
    if scope.setting.opset < 11:
        scope.add("Clip", [x], [scope.kind_of(x)], max=1.5)
        return
    bound = scope.fixed(TensorProto.FLOAT, [1.0], [])
    scope.add("Clip", scope.setting.choose(([x, "", bound], [x, bound], [x])), [scope.kind_of(x)])


def without_output(scope: Scope) -> None:
    """Unique, with some of its four outputs."""
    if scope.setting.opset < 11:
        return
    x = scope.tensor(TensorProto.FLOAT)
    kinds: list[Kind | None] = [Kind("tensor", 1, (None,)), *[Kind("tensor", _INT64, (None,))] * 3]
    for index in range(1, 4):
        if scope.setting.chance(2):
            kinds[index] = None
    while kinds[-1] is None:
        kinds.pop()
    scope.add("Unique", [x], kinds, sorted=scope.setting.choose((0, 1)))


def indexing(scope: Scope) -> None:
    if scope.setting.opset < 10:
        return
    x = scope.tensor(TensorProto.FLOAT, is_ranked=True)
    if scope.setting.chance(2):
        index = scope.fixed(_INT64, [0], [])
        scope.add("Gather", [x, index], [FLOATS], axis=0)
        return
    starts, ends, axes = (scope.fixed(_INT64, [value], [1]) for value in (0, 2**31, 0))
    inputs = [x, starts, ends, axes]
    if scope.setting.chance(2):
        inputs.append(scope.fixed(_INT64, [-1], [1]))
    scope.add("Slice", inputs, [FLOATS])


def joining(scope: Scope) -> None:
    x = scope.tensor(TensorProto.FLOAT, is_ranked=True)
    scope.add("Concat", [x] * scope.setting.choose((1, 2, 3)), [FLOATS], axis=0)


def sequences(scope: Scope) -> None:
    if scope.setting.opset < 11:
        return
    kind = Kind("sequence", TensorProto.FLOAT)
    found = scope.find(lambda each: each == kind)
    if found is None or scope.setting.chance(2):
        if scope.setting.chance(2):
            scope.add("SequenceEmpty", [], [kind])
        else:
            scope.add("SequenceConstruct", [scope.tensor(TensorProto.FLOAT) for _ in range(2)], [kind])
        return
    if scope.setting.chance(2):
        scope.add("SequenceInsert", [found, scope.tensor(TensorProto.FLOAT)], [kind])
    else:
        scope.add("SequenceAt", [found, scope.fixed(_INT64, [0], [])], [FLOATS])


def optionals(scope: Scope) -> None:
    if scope.setting.opset < 18:
        return
    kind = Kind("optional", TensorProto.FLOAT)
    found = scope.find(lambda each: each == kind)
    if found is None:
        scope.add("Optional", [scope.tensor(TensorProto.FLOAT)], [kind])
    elif scope.setting.chance(2):
        scope.add("OptionalGetElement", [found], [FLOATS])
    else:
        scope.add("OptionalHasElement", [found], [Kind("tensor", _BOOL, ())])


def custom(scope: Scope) -> None:
    """An operator that nobody has a schema for."""
    setting = scope.setting
    inputs = [scope.tensor(TensorProto.FLOAT) for _ in range(setting.draw(st.integers(0, 3)))]
    if len(inputs) > 1 and setting.chance(3):
        inputs[0] = ""
    domain = setting.choose(("my.domain", "com.example-ops", "com.microsoft", 'a"b', "class"))
    setting.domains.add(domain)
    op = setting.choose(("Swish", "my_op", "lambda", "Op.With.Dots", "2D", "Ünï", "Add"))
    kinds = setting.choose(([FLOATS], [FLOATS, FLOATS], [None, FLOATS]))
    scope.add(op, inputs, kinds, domain=domain)
    attributes = setting.draw(st.lists(st.sampled_from(ATTRIBUTE_NAMES), unique=True, max_size=3))
    scope.nodes[-1].attribute.extend(attribute(setting.draw, name) for name in attributes)
    if scope.depth < _DEEPEST and setting.chance(6):
        scope.nodes[-1].attribute.append(helper.make_attribute("body", body(scope, [FLOATS], [FLOATS])))


def function_call(scope: Scope) -> None:
    setting = scope.setting
    if not setting.functions:
        return
    function = setting.choose(setting.functions)
    inputs = [scope.tensor(TensorProto.FLOAT) for _ in function.input]
    scope.add(function.name, inputs, [FLOATS] * len(function.output), domain=function.domain)
    node = scope.nodes[-1]
    node.overload = function.overload
    setting.domains.add(function.domain)
    needed = [(name, None) for name in function.attribute]
    for name, default in [*needed, *((each.name, each) for each in function.attribute_proto)]:
        if default is None:
            node.attribute.append(helper.make_attribute(name, setting.draw(st.floats(width=32))))
        elif setting.chance(2):
            node.attribute.append(default)


def conditional(scope: Scope) -> None:
    setting = scope.setting
    condition = scope.tensor(_BOOL)
    kinds = [setting.choose((FLOATS, Kind("tensor", _INT64))) for _ in range(setting.choose((1, 1, 2)))]
    then, other = body(scope, [], kinds), body(scope, [], kinds)
    scope.add("If", [condition], kinds, then_branch=then, else_branch=other)


def loop(scope: Scope) -> None:
    setting = scope.setting
    carried = [FLOATS] * setting.choose((0, 1, 2) if setting.opset >= 11 else (1, 2))
    scanned = [FLOATS] * setting.choose((0, 1) if carried else (1, 2))
    count = setting.choose(("", "weight"))
    condition = setting.choose(("", "weight")) if count else "weight"
    inputs = [
        scope.fixed(_INT64, [3], []) if count else "",
        scope.tensor(_BOOL) if condition else "",
        *(scope.tensor(TensorProto.FLOAT) for _ in carried),
    ]
    inside = [Kind("tensor", _INT64, ()), Kind("tensor", _BOOL, ()), *carried]
    graph = body(scope, inside, [Kind("tensor", _BOOL), *carried, *scanned])
    scope.add("Loop", inputs, [*carried, *scanned], body=graph)


def scan(scope: Scope) -> None:
    setting = scope.setting
    if setting.opset < 9:
        return
    states = [FLOATS] * setting.choose((0, 1))
    inputs = [
        *(scope.tensor(TensorProto.FLOAT) for _ in states),
        scope.tensor(TensorProto.FLOAT, is_ranked=True),
    ]
    graph = body(scope, [*states, FLOATS], [*states, FLOATS])
    options = {} if setting.chance(2) else {"scan_input_directions": [1]}
    scope.add("Scan", inputs, [*states, FLOATS], body=graph, num_scan_inputs=1, **options)


def body(scope: Scope, inputs: list[Kind], outputs: list[Kind]) -> GraphProto:
    """A graph that is an attribute."""
    inner = scope.inner()
    setting = scope.setting
    infos = [_info(inner.fresh(kind), kind) for kind in inputs]
    fill(inner, setting.choose((0, 1, 2)))
    results = [_info(result(inner, kind), kind) for kind in outputs]
    return helper.make_graph(
        inner.nodes,
        setting.draw(names),
        infos,
        results,
        inner.initializers,
        doc_string=setting.draw(maybe_texts) if setting.chance(6) else "",
    )


def result(scope: Scope, kind: Kind) -> str:
    """A value of this scope to be an output of its graph, once."""
    taken = scope.tensor(kind.dtype)
    if taken in scope.types and any(taken in node.output for node in scope.nodes) and scope.setting.chance(2):
        return taken
    return scope.add("Identity", [taken], [kind])[0]


def _info(name: str, kind: Kind) -> onnx.ValueInfoProto:
    return onnx.ValueInfoProto(name=name, type=kind.proto)


_SIMPLE: tuple[Callable[[Scope], None], ...] = (
    *(binary, binary, comparison, logic, unary, unary, cast, constant, without_input, without_output),
    *(indexing, joining, sequences, optionals, custom, function_call),
)
_NESTED: tuple[Callable[[Scope], None], ...] = (conditional, loop, scan)


def fill(scope: Scope, count: int) -> None:
    """Append nodes of `count` random sorts."""
    for _ in range(count):
        sorts = (*_SIMPLE, *_NESTED * 4) if scope.depth < _DEEPEST else _SIMPLE
        scope.setting.choose(sorts)(scope)
