"""The form in use of a model that is made for training: what its layers compute outside of training.

The exporter says it by functions that have one in use beside them; ONNX's own operators say it by their training mode.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import onnx_ir as ir

from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.function import IN_USE_OF, TRAINING_DOMAIN
from onnxsmith.graphs.ir_version import drop_unused_imports
from onnxsmith.graphs.model import Model
from onnxsmith.passes.cleanup.constants import drop_dead_nodes, drop_unused_functions
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.optimizing import inlined_call
from onnxsmith.passes.surgery.holding import finished, read
from onnxsmith.passes.values import int_attribute, is_read, redirect
from onnxsmith.passes.worklist import NamedRule, Worklist


def form_in_use(model: Model, keep: Collection[str] = ()) -> Model:
    """The model in use; a model that has no form for training is given back as it is.

    `keep` are initializers that stay where nothing reads them any more, besides the weights that the metadata names.
    """
    state = trained_parameters.read_state(model.ir.metadata_props)
    if not state and not any(_is_training(each) for each in _nodes(model.ir)):
        return model
    held = read(model).copy()
    changed = held.ir
    _leave_out_writes(changed, state)
    edit = Editor(changed)
    for node in list(_nodes(changed)):
        _use(edit, node)
    rules = {
        (domain, name): [NamedRule("form in use", inlined_call)]
        for domain, name, _ in changed.functions
        if name.startswith(IN_USE_OF)
    }
    Worklist(edit, rules).run(changed.graph.all_nodes())
    drop_dead_nodes(edit)
    drop_unused_functions(edit)
    kept = {*keep, *(trained_parameters.read(changed.metadata_props) or ())}
    for name, value in list(changed.graph.initializers.items()):
        if not is_read(value) and not value.is_graph_input() and name not in kept:
            del changed.graph.initializers[name]
    drop_unused_imports(changed)
    return finished(held)


def _nodes(model: ir.Model) -> Iterator[ir.Node]:
    yield from model.graph.all_nodes()
    for function in model.functions.values():
        yield from function.graph.all_nodes()


def _is_training(node: ir.Node) -> bool:
    """True if a node may compute something else in training; a look at its inputs says whether it does."""
    if node.domain:
        return node.domain == TRAINING_DOMAIN
    if node.op_type == "Dropout":
        return len(node.inputs) > 2
    return node.op_type == "BatchNormalization" and int_attribute(node, "training_mode", 0) == 1


def _leave_out_writes(model: ir.Model, state: Mapping[str, str | None]) -> None:
    """The model without the new values of its state."""
    written = {each for each in state.values() if each is not None}
    outputs = [each for each in model.graph.outputs if each.name not in written]
    if outputs:  # a module that gives nothing else is one that only counts
        model.graph.outputs[:] = outputs
    trained_parameters.note_state(model.metadata_props, {})


def _use(edit: Editor, node: ir.Node) -> None:
    """Make a node one that is in use."""
    if node.domain:
        in_use = (node.domain, f"{IN_USE_OF}{node.op_type}", node.overload)
        if in_use in edit.functions:
            node.op_type = in_use[1]
    elif node.op_type == "BatchNormalization" and int_attribute(node, "training_mode", 0) == 1:
        _use_statistics(edit, node)
    elif node.op_type == "Dropout":
        _leave_all(edit, node)


def _use_statistics(edit: Editor, node: ir.Node) -> None:
    """Batch normalisation by the running statistics, which stay as they are."""
    node.attributes["training_mode"] = ir.AttrInt64("training_mode", 0)
    for position, given in ((1, 3), (2, 4)):
        if len(node.outputs) > position:
            _replace(edit, node, node.outputs[position], node.inputs[given])
    node.resize_outputs(1)


def _leave_all(edit: Editor, node: ir.Node) -> None:
    """Dropout that leaves all as it is, where it is on.

    One whose first result nothing reads is no dropout: its mask is what random numbers are made of.
    """
    x, result = node.inputs[0], node.outputs[0]
    mask = node.outputs[1] if len(node.outputs) > 1 else None
    is_on = edit.array(node.inputs[2] if len(node.inputs) > 2 else None, 1)
    if x is None or is_on is None or not is_on.all():
        return
    # A form for ONNX Runtime, whose dropout does not say 0 where x is infinite: the mask chooses the result or 0.
    choices = [
        use.node
        for use in (() if mask is None else tuple(mask.uses()))
        if use.node.op_type == "Where" and not use.idx and use.node.inputs[1] is result
    ]
    is_chosen = any(is_read(each.outputs[0]) for each in choices)
    if not is_chosen and not (result.is_graph_output() or len(result.uses()) > len(choices)):
        return
    for each in choices:
        _replace(edit, each, each.outputs[0], x)
    if mask is not None and is_read(mask):
        _replace(edit, node, mask, _all_true(edit, node, x))
    _replace(edit, node, result, x)


def _replace(edit: Editor, node: ir.Node, old: ir.Value, new: ir.Value | None) -> None:
    """Let a value stand for a result of a node; an output of a graph stays one, by its name."""
    redirect(old, new)
    graph = node.graph
    if graph is None or not old.is_graph_output():
        return
    made = _placed(edit, node, ir.Node("", "Identity", [new], num_outputs=1))
    made.name, old.name = old.name, edit.fresh_name(old.name or "value")
    made.type, made.shape = old.type, old.shape
    for position, each in enumerate(graph.outputs):
        if each is old:
            graph.outputs[position] = made


def _all_true(edit: Editor, node: ir.Node, like: ir.Value) -> ir.Value:
    """True in the shape of a value."""
    shape = _placed(edit, node, ir.Node("", "Shape", [like], num_outputs=1))
    true = ir.AttrTensor("value", ir.tensor([True]))
    return _placed(edit, node, ir.Node("", "ConstantOfShape", [shape], [true], num_outputs=1))


def _placed(edit: Editor, before: ir.Node, made: ir.Node) -> ir.Value:
    made.outputs[0].name = edit.fresh_name(made.op_type.lower())
    graph = before.graph
    assert graph is not None  # it was found in one
    graph.insert_before(before, made)
    return made.outputs[0]
