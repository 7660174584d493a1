"""`first.then(second)` and `compose(...)`: several models as one, the results of each going into the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from onnxsmith.errors import CallError, DuplicateNameError, JoinError
from onnxsmith.graphs import size_conditions, trained_parameters
from onnxsmith.graphs.copying import call_by, with_graph
from onnxsmith.graphs.identity import IDENTICAL
from onnxsmith.graphs.ir_types import type_to_ir
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.names import Names
from onnxsmith.graphs.rewriting.scopes import roots_of
from onnxsmith.graphs.size_conditions import SIZES_KEY
from onnxsmith.graphs.trained_parameters import PARAMETERS_KEY, STATE_KEY
from onnxsmith.passes.surgery.dimensions import add_conditions, substitute
from onnxsmith.passes.surgery.holding import ModelContent, finished, read
from onnxsmith.passes.surgery.joint_opsets import in_one_opset
from onnxsmith.passes.surgery.joints import Joint, Joints, find_joints, joint_sizes
from onnxsmith.passes.surgery.naming import node_names, rename_nodes, rename_values, value_names
from onnxsmith.passes.surgery.part import replace_values
from onnxsmith.types.value_types import AnyValueType, TensorType


@model_boundary
def then(model: ModelLike, other: ModelLike, map: Joints | None = None) -> Model:
    """The model and another one as one: what this one gives, the other takes. The weights are shared.

    `map` says what goes where, from names of outputs of this model to names of inputs of the other one; an input of
    this model that is named there is shared by both. Without it, names that are equal are joined, and where there are
    none, outputs and inputs in their order, if there are as many. What is not joined is a port of the whole.
    Dimensions that meet are one; names inside that clash get a number. Of two opsets the newer one is taken: the model
    of the older one is converted, and a ConvertedModelWarning says so.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> first = trace(lambda a: op.Relu(a), FLOAT["N"])
    >>> second = trace(lambda b, c: op.Mul(b, c), FLOAT["M"], FLOAT["M"])
    >>> first.then(second, map={"relu": "b"})
    Model(a: FLOAT['N'], c: FLOAT['N']) -> mul: FLOAT['N'], 2 nodes, opset 21
    >>> first.then(second, map={"relu": ["b", "c"]})
    Model(a: FLOAT['N']) -> mul: FLOAT['N'], 2 nodes, opset 21
    """
    model = model_of(model, "then")
    other = model_of(other, "then")
    return finished(_joined(read(model), read(other), map))


@model_boundary
def compose(*models: ModelLike) -> Model:
    """Models that run one after the other as one: `compose(a, b, c)` is `a.then(b).then(c)`.

    >>> from onnxsmith import FLOAT, compose, opset21 as op, trace
    >>> model = trace(lambda a: op.Exp(op.Relu(a)), FLOAT["N"])
    >>> compose(*model.split("relu"))
    Model(a: FLOAT['N']) -> exp: FLOAT['N'], 2 nodes, opset 21
    """
    if not models:
        raise CallError("compose needs a model", help="compose(first, second)")
    first, *others = (model_of(each, "compose", position) for position, each in enumerate(models))
    held = read(first).copy()
    for position, each in enumerate(others, 2):
        try:
            held = _joined(held, read(each), None, is_own=True)  # what is made on the way is not copied again
        except JoinError as error:
            if len(models) > 2:
                error.message += (
                    f"; the second is argument {position} of compose, and the first is all before it"
                )
            raise
    return finished(held)


def _joined(
    first: ModelContent, second: ModelContent, given: Joints | None, *, is_own: bool = False
) -> ModelContent:
    """Two models as one; `is_own` says that the first may be changed for it."""
    find_joints(first, second, given)  # what cannot be joined is not converted
    left, right = in_one_opset(first, second)
    is_own = is_own or left is not first
    first, second = left, right
    joints = find_joints(first, second, given)
    sizes = joint_sizes(first, second, joints)
    one, other = first if is_own else first.copy(), second.copy()
    # The joints again, in the copies.
    joints = _in_copies(first, second, one, other, joints)
    shared = _shared_weights(one.graph, other.graph)
    _check_ports(one.graph, other.graph, joints, shared)
    substitute(one, sizes[0])
    substitute(other, sizes[1])
    for joint in joints:
        _tell_type(one, other, joint)
    results = [each.name or "" for each in other.graph.outputs]
    _rename_apart(one, other, joints)
    join_functions(one, other)
    _move(one.graph, other.graph, joints, shared, results)
    for domain, version in other.graph.opset_imports.items():
        one.graph.opset_imports.setdefault(domain, version)
    _join_metadata(one, other)
    return one


def _in_copies(
    first: ModelContent, second: ModelContent, one: ModelContent, other: ModelContent, joints: Sequence[Joint]
) -> list[Joint]:
    sources = dict(
        zip((*first.graph.inputs, *first.graph.outputs), (*one.graph.inputs, *one.graph.outputs), strict=True)
    )
    targets = dict(zip(second.graph.inputs, other.graph.inputs, strict=True))
    return [Joint(sources[each.source], targets[each.target]) for each in joints]


def _shared_weights(one: ir.Graph, other: ir.Graph) -> dict[ir.Value, ir.Value]:
    """Weights of the second model that are the first one's: of the same name, and the very same tensor."""
    inputs = {*one.inputs, *other.inputs}
    found: dict[ir.Value, ir.Value] = {}
    for name, theirs in other.initializers.items():
        ours = one.initializers.get(name)
        if (
            ours is not None
            and ours.const_value is theirs.const_value
            and (ours in inputs) == (theirs in inputs)
        ):
            found[theirs] = ours
    return found


def _left_outputs(one: ir.Graph, joints: Sequence[Joint]) -> list[ir.Value]:
    """The outputs of the first model that the second does not take."""
    taken = {each.source for each in joints}
    return [each for each in one.outputs if each not in taken]


def _left_inputs(
    other: ir.Graph, joints: Sequence[Joint], shared: dict[ir.Value, ir.Value]
) -> list[ir.Value]:
    """The inputs of the second model that the first does not give."""
    taken = {each.target for each in joints}
    return [each for each in other.inputs if each not in taken and each not in shared]


def _check_ports(
    one: ir.Graph, other: ir.Graph, joints: Sequence[Joint], shared: dict[ir.Value, ir.Value]
) -> None:
    """Refuse two inputs, or outputs, of one name."""
    source_of = {each.target: each.source for each in joints}
    bearers: dict[str, tuple[ir.Value, str]] = {}
    ports = [(each, "an input of the first model") for each in one.inputs]
    ports += [(each, "an output of the first model") for each in _left_outputs(one, joints)]
    ports += [(each, "an input of the second model") for each in _left_inputs(other, joints, shared)]
    ports += [(each, "an output of the second model") for each in other.outputs]
    for value, called in ports:
        name = value.name or ""
        bearer, before = bearers.setdefault(name, (value, called))
        passed = source_of.get(value)
        if bearer is value or (passed is bearer and passed is not None):
            continue
        is_input = (before, called) == ("an input of the first model", "an input of the second model")
        raise DuplicateNameError(
            f"'{name}' would be {before} and {called}",
            help=f"map={{{name!r}: {name!r}, …}} gives both models the same input; else rename one"
            if is_input
            else f"rename one: other.rename({{{name!r}: …}})",
        )


def _tell_type(one: ModelContent, other: ModelContent, joint: Joint) -> None:
    """Say of a value that is joined what the second model knows of it and the first does not."""
    ours, theirs = one.type_of(joint.source), other.type_of(joint.target)
    kind = _more(ours, theirs)
    if kind != ours:
        joint.source.type, joint.source.shape = type_to_ir(kind)


def _more(ours: AnyValueType, theirs: AnyValueType) -> AnyValueType:
    if not isinstance(ours, TensorType) or not isinstance(theirs, TensorType):
        return ours if not isinstance(ours, TensorType) else theirs
    shape = ours.shape
    if shape is None:
        shape = theirs.shape
    elif theirs.shape is not None:
        shape = tuple(
            b if a is None or isinstance(b, int) else a for a, b in zip(shape, theirs.shape, strict=True)
        )
    return TensorType(ours.dtype or theirs.dtype, shape)


def _rename_apart(one: ModelContent, other: ModelContent, joints: Sequence[Joint]) -> None:
    """Give names inside the models that clash others; inputs and outputs of the whole keep theirs."""
    ours, theirs = value_names(one.graph), value_names(other.graph)
    targets = {each.target for each in joints}
    kept_here = {each.name for each in (*one.graph.inputs, *_left_outputs(one.graph, joints))}
    kept_there = {each.name for each in (*other.graph.inputs, *other.graph.outputs) if each not in targets}
    # What is only handed on is the first model's value, or a copy of it where the name is another.
    handed_on = {each.target.name for each in joints if each.target.name != each.source.name}
    kept_there |= handed_on & {each.name for each in other.graph.outputs}
    kept_there -= kept_here
    names = Names()
    names.reserve(ours | theirs)
    new_here = {name: names.unique(name) for name in sorted(ours & kept_there) if name not in kept_here}
    final = {new_here.get(name, name) for name in ours}
    new_there = {name: names.unique(name) for name in sorted(theirs & final) if name not in kept_there}
    for held, new in ((one, new_here), (other, new_there)):
        rename_values(held.graph, new)
        trained_parameters.rename(held.ir.metadata_props, new)
        held.special = {new.get(name, name): kind for name, kind in held.special.items()}
    nodes = Names()
    nodes.reserve(node_names(one.graph) | node_names(other.graph))
    clashing = sorted(node_names(one.graph) & node_names(other.graph))
    rename_nodes(other.graph, {name: nodes.unique(name) for name in clashing})


def _move(
    one: ir.Graph,
    other: ir.Graph,
    joints: Sequence[Joint],
    shared: dict[ir.Value, ir.Value],
    results: Sequence[str],
) -> None:
    """Put the second graph behind the first; `results` are the names that its outputs shall have."""
    new = {**shared, **{each.target: each.source for each in joints}}
    wanted = list(zip(other.outputs, results, strict=True))
    outputs = _left_outputs(one, joints)
    inputs = _left_inputs(other, joints, shared)
    initializers = [each for each in other.initializers.values() if each not in new]
    nodes = list(other)
    other.outputs.clear()
    other.inputs.clear()
    other.initializers.clear()
    replace_values(other, new)
    other.remove(nodes)
    one.inputs.extend(inputs)
    for value in initializers:
        one.initializers.add(value)
    one.extend(nodes)
    for value, name in wanted:
        outputs.append(_named_output(one, new[value], name) if value in new else value)
    one.outputs.clear()
    one.outputs.extend(outputs)


def _named_output(graph: ir.Graph, value: ir.Value, name: str) -> ir.Value:
    """A value that the second model only hands on, under the name that it has there."""
    if value.name == name:
        return value
    node = ir.Node("", "Identity", [value], num_outputs=1)
    made = node.outputs[0]
    made.name, made.type, made.shape = name, value.type, value.shape
    graph.append(node)
    return made


def _join_metadata(one: ModelContent, other: ModelContent) -> None:
    """Joins the metadata of the two models; where they differ, that of the first stays."""
    ours, theirs = one.ir, other.ir
    ours.ir_version = max(ours.ir_version, theirs.ir_version)
    add_conditions(one, size_conditions.read(theirs.metadata_props))
    trained_parameters.join(ours.metadata_props, theirs.metadata_props)
    for key, text in theirs.metadata_props.items():
        if key not in (SIZES_KEY, PARAMETERS_KEY, STATE_KEY):
            ours.metadata_props.setdefault(key, text)
    for key, text in theirs.graph.metadata_props.items():
        ours.graph.metadata_props.setdefault(key, text)
    ours.doc_string = ours.doc_string or theirs.doc_string
    one.special = {**other.special, **one.special}


# -- joint functions -------------------------------------------------------------------------------------------
# The functions of two models that become one: equal ones are one, others get names of their own.


def join_functions(first: ModelContent, second: ModelContent) -> None:
    """Give the first model the functions of the second; in place, in both."""
    ours, theirs = first.ir.functions, second.ir.functions
    if not theirs and not ours:
        return
    for here, there in ((first, second), (second, first)):
        # An operator of one model must not become a function of the other.
        clashing = [each for each in _operators(here) if each in there.ir.functions]
        _rename(there, {each: _free(each, first, second) for each in clashing})
    other = {
        each: theirs[each] for each in theirs if each in ours and not _are_equal(ours[each], theirs[each])
    }
    _rename(second, {each: _free(each, first, second) for each in other})
    for identifier, function in theirs.items():
        ours.setdefault(identifier, function)


def _operators(held: ModelContent) -> set[ir.OperatorIdentifier]:
    """The operators that a model uses and does not define."""
    parts = roots_of(held.ir)
    used = {node.op_identifier() for part in parts for node in part.all_nodes()}
    return used - held.ir.functions.keys()


def _free(identifier: ir.OperatorIdentifier, *models: ModelContent) -> ir.OperatorIdentifier:
    domain, name, overload = identifier
    taken = {each for model in models for each in (*model.ir.functions, *_operators(model))}
    number = 1
    while (domain, f"{name}_{number}", overload) in taken:
        number += 1
    return domain, f"{name}_{number}", overload


def _are_equal(one: ir.Function, other: ir.Function) -> bool:
    return one is other or (
        one.opset_imports == other.opset_imports and IDENTICAL.function(one) == IDENTICAL.function(other)
    )


def _rename(held: ModelContent, new: Mapping[ir.OperatorIdentifier, ir.OperatorIdentifier]) -> None:
    if not new:
        return
    functions = held.ir.functions
    for old, identifier in new.items():
        function = functions.pop(old)
        functions[identifier] = with_graph(function, function.graph, identifier)
    for graph in roots_of(held.ir):
        call_by(new, graph.all_nodes())
