"""`optimize`: which passes a model goes through, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import onnx_ir as ir

from onnxsmith.context import collection_paused
from onnxsmith.errors import (
    AttributeValueError,
    VersionConversionError,
)
from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.function import BACKWARD_OF, IN_USE_OF
from onnxsmith.graphs.ir_version import drop_unused_imports, settle_ir_version
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.notes import WEIGHT_KEY, notes_of
from onnxsmith.graphs.opsets import check_opset_version
from onnxsmith.graphs.report import PassedModel, Report, with_report
from onnxsmith.graphs.rewriting.unfolding import nodes_without_functions
from onnxsmith.graphs.soundness import refuse_endless_calls
from onnxsmith.passes.cleanup.branches import BRANCHES
from onnxsmith.passes.cleanup.constants import (
    drop_dead_nodes,
    drop_unread_initializers,
    drop_unused_functions,
    lift_constants,
    lift_initializers,
    share_constants,
)
from onnxsmith.passes.cleanup.folding import fold, kept_transposes
from onnxsmith.passes.cleanup.invariants import lift_invariants
from onnxsmith.passes.cleanup.layouts import LAYOUTS
from onnxsmith.passes.cleanup.loops import LOOPS
from onnxsmith.passes.cleanup.no_ops import NO_OPS
from onnxsmith.passes.cleanup.sequences import SEQUENCES
from onnxsmith.passes.cleanup.sizes import SIZES
from onnxsmith.passes.cleanup.subexpressions import share_nodes
from onnxsmith.passes.copying import copied_in
from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.edits import EditLog
from onnxsmith.passes.fusions.accumulating import ACCUMULATING
from onnxsmith.passes.fusions.activations import activations
from onnxsmith.passes.fusions.attention import ATTENTION
from onnxsmith.passes.fusions.microsoft import DOMAIN, fuse_for_runtime
from onnxsmith.passes.fusions.normalisation import normalisations
from onnxsmith.passes.fusions.products import products
from onnxsmith.passes.fusions.rotary import ROTARY
from onnxsmith.passes.fusions.squares import SQUARES
from onnxsmith.passes.fusions.weights import LAYERS
from onnxsmith.passes.fusions.windows import WINDOWS
from onnxsmith.passes.rules.applying import Application
from onnxsmith.passes.side_by_side.loops import SIDE_BY_SIDE
from onnxsmith.passes.surgery.holding import ModelContent, finished, read
from onnxsmith.passes.typing_values import DeclaredTypes
from onnxsmith.passes.unrolling import Unrolling
from onnxsmith.passes.values import fixed_shape
from onnxsmith.passes.verifying import GivenInputs, check_inputs, verify_passes
from onnxsmith.passes.versions.convert import converted
from onnxsmith.passes.worklist import NamedRule, Rules, Worklist, joined, rule_table
from onnxsmith.runtime.kernels_in_python import kernel_of
from onnxsmith.schema.registry import default_opset_version

#: Rounds of rules and common subexpressions; each finds what the other one has laid open.
_MOST_ROUNDS = 10

#: Operators that are parts of what a later opset has one operator for, and the opset that has it.
_LATER = (("Erf", 20), ("Tanh", 20), ("ReduceMean", 23), ("Softmax", 23), ("Cos", 23))

_CLEANUP = rule_table(NO_OPS, SIZES, LAYOUTS, SEQUENCES, BRANCHES, LOOPS, SIDE_BY_SIDE)
#: Fusions that are no rules of two functions; where modules become functions, weights stay in theirs.
_IN_MODULES = rule_table(ROTARY, ATTENTION)
_BY_HAND = rule_table(LAYERS, ROTARY, ATTENTION, ACCUMULATING, WINDOWS, SQUARES)
_FOLDING = (NamedRule("folded constant", fold),)


@model_boundary
def optimize(
    model: ModelLike,
    *,
    inline: bool = True,
    opset: int | Literal["runtime", "keep"] = "runtime",
    unroll: int = 0,
    domains: Sequence[str] = (),
    verify: bool | GivenInputs = False,
) -> PassedModel:
    """The same model with fewer nodes, which runs no slower.

    Removes nodes that it does not need, computes constants, and fuses several nodes into one where ONNX has one.
    The given model stays as it is; the new one shares its weights, and its `report` says what was done. `inline` False
    keeps the functions of the model. `opset` "keep" leaves the version of the standard opset, a number converts to it;
    by default it is raised to the newest that the installed ONNX Runtime loads, if later operators help.
    Loops of up to `unroll` turns are written out, one turn after the other, if the number of turns is known.
    `domains` are those besides ONNX's that fusions may use: ["com.microsoft"] for a model that ONNX Runtime alone runs.
    `verify` True runs both on inputs that are made up, or on those that it is given;
    VerificationError then names the change that made a difference.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, optimize, trace
    >>> model = trace(lambda x: op.Relu(op.Transpose(op.Transpose(x))) * np.float32([1, 1]), FLOAT["N", 2])
    >>> small = optimize(model)
    >>> small
    Model(x: FLOAT['N', 2]) -> mul: FLOAT['N', 2], 1 node, opset 21
    >>> print(small.report)
    4 nodes before, 1 after
    weights 8 bytes before, 0 after
           1 x transpose of transpose
           1 x times one
    """
    model = model_of(model, "optimize")
    _check_opset(opset)
    _check_unroll(unroll)
    _check_domains(domains)
    check_inputs(model, verify)
    wanted = _Wanted(inline, opset, unroll, bool(domains))
    result = _optimized(model, wanted)
    verify_passes(
        model,
        result,
        verify,
        lambda changes: _optimized(model, wanted, changes),
        "optimised",
        "that is a mistake of ours, please report it; optimize(model) without verify gives it as it is",
    )
    return result


def _check_opset(opset: object) -> None:
    is_version = isinstance(opset, int) and not isinstance(opset, bool)
    if not is_version and not (isinstance(opset, str) and opset in ("runtime", "keep")):
        raise AttributeValueError(f"opset is 'runtime', 'keep' or a version, not {opset!r}", culprit="opset")
    check_opset_version(opset if isinstance(opset, int) else None)


def _check_unroll(turns: object) -> None:
    if not isinstance(turns, int) or isinstance(turns, bool) or turns < 0:
        raise AttributeValueError(
            f"unroll is the most turns of a loop that is written out, not {turns!r}",
            help="unroll=8; 0 leaves loops as they are",
            culprit="unroll",
        )


def _check_domains(domains: object) -> None:
    if isinstance(domains, str) or not isinstance(domains, Iterable):
        raise AttributeValueError(
            f"domains is a list of names, not {domains!r}",
            help='domains=["com.microsoft"]',
            culprit="domains",
        )
    unknown = [each for each in cast("Iterable[object]", domains) if each != DOMAIN]
    if unknown:
        raise AttributeValueError(
            f"there are no fusions to operators of {unknown[0]!r}",
            help=f'there are some of "{DOMAIN}"',
            culprit="domains",
        )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The options that the caller of `optimize` has given."""

    inline: bool
    opset: int | Literal["runtime", "keep"]
    unroll: int
    for_runtime: bool


def _optimized(model: Model, wanted: _Wanted, budget: int | None = None) -> PassedModel:
    with collection_paused():
        held = read(model)
        given = held.ir
        refuse_endless_calls(given)
        report = Report.of(given)
        log = EditLog()
        held = _in_opset(held, wanted.opset, report, log)
        changed = held.ir
        edit = Editor(changed, log=log)
        if _keep_parameters(changed):
            edit.keeps_weights, edit.folds_weights = True, False
        edit.budget = budget
        edit.settles_loops = True
        has_own_gradients = any(each.name.startswith(BACKWARD_OF) for each in changed.functions.values())
        if wanted.inline and not inline_functions(edit):
            report.notes.append("functions are kept: dissolved, they would be too many nodes")
        elif wanted.inline and has_own_gradients:
            report.notes.append("functions with gradients of their own are dissolved: take gradients before")
        types = DeclaredTypes(changed)
        types.forget_shapes()
        unrolling = Unrolling(wanted.unroll)
        for _ in range(_MOST_ROUNDS):
            types.fill()
            before = len(edit.log)
            clean_up(edit)
            if wanted.unroll and unrolling.run(edit):
                continue
            # What was folded may say shapes that were not known before.
            is_done = len(edit.log) == before or not types.is_open()
            if fuse(edit) or not is_done:
                continue
            if not (wanted.for_runtime and fuse_for_runtime(edit)) and not leave_loops(edit):
                break
        if not report.operators_before.get("Attention", 0) and _has_open_attention(changed):
            report.notes.append("Attention, which was not in it, takes no batch and no sequence of size 0")
        report.notes += kept_transposes(edit)
        types.restore()
        drop_unused_imports(changed)
        settle_ir_version(changed, given)
    if unrolling.is_exhausted:
        report.notes.append("not all loops of few turns are unrolled: that would be too many nodes")
    report.close(changed, edit.log.finished())
    if any(name.startswith(f"{DOMAIN}:") for name in report.operators_after.keys() - report.operators_before):
        report.notes.append(f"operators of {DOMAIN} are in it now: it runs on ONNX Runtime alone")
    return with_report(finished(held), report, model)


def _keep_parameters(model: ir.Model) -> bool:
    """Mark the weights and the state that the metadata names; returns whether there are some.

    They stay what they are, by name: training goes on from the model, and two that are equal now will differ.
    """
    metadata = model.metadata_props
    names = [*(trained_parameters.read(metadata) or ()), *trained_parameters.read_state(metadata)]
    held = [model.graph.initializers[each] for each in names if each in model.graph.initializers]
    for value in held:
        notes_of(value)[WEIGHT_KEY] = value.name
    return bool(held)


def _has_open_attention(model: ir.Model) -> bool:
    """True if there is an `Attention` on sizes that may be 0, which ONNX Runtime refuses."""
    return any(
        fixed_shape(value) is None
        for node in model.graph.all_nodes()
        if node.op_type == "Attention" and not node.domain
        for value in node.inputs[:2]
    )


def _in_opset(
    held: ModelContent, opset: int | Literal["runtime", "keep"], report: Report, log: EditLog
) -> ModelContent:
    """A copy of the model, in the version of the standard opset that it is to have."""
    now = held.ir.opset_imports.get("", held.ir.opset_imports.get("ai.onnx", 0))
    version = now
    if isinstance(opset, int):
        version = opset
    elif opset == "runtime" and any(
        now < since for operator, since in _LATER if report.operators_before[operator]
    ):
        version = max(now, default_opset_version())
    if version == now or not now:
        return held.copy()
    try:
        return ModelContent(converted(held.ir, {"": version}, log), dict(held.special))
    except VersionConversionError as error:
        if isinstance(opset, int):
            raise
        report.notes.append(f"opset {now} is kept: {error.message}")
        return held.copy()


def polish(model: ir.Model, *, keeps_modules: bool = False, folds_weights: bool = True) -> None:
    """Optimise a model that was just made, in place. Its values have types, and its weights keep their names.

    `keeps_modules` leaves apart what belongs to different modules: these are going to be functions. Without
    `folds_weights`, what is computed of weights is computed by the model: they are going to be trained.
    """
    with collection_paused():
        edit = Editor(model, keeps_weights=True)
        edit.folds_weights = folds_weights
        for _ in range(_MOST_ROUNDS):
            clean_up(edit, shares_nodes=not keeps_modules)
            if not fuse(edit, _IN_MODULES if keeps_modules else _BY_HAND) and not leave_loops(edit):
                break


def tidy(model: ir.Model) -> None:
    """Leave out what a model that was just made does not need, in place. Nothing is fused; weights keep their names."""
    with collection_paused():
        clean_up(Editor(model, keeps_weights=True))


def fuse(edit: Editor, by_hand: Rules = _BY_HAND) -> int:
    """Let several nodes be one, where ONNX has that one; returns how often."""
    edit.pass_name = "fusion"
    rules = Application(edit, is_forgiving=True).table([*activations(), *normalisations(), *products()])
    return Worklist(edit, joined(by_hand, rules)).run()


def leave_loops(edit: Editor) -> int:
    """Compute once, before a loop, what each turn computes again; returns how many nodes that are.

    Fusions come first: they look at nodes of one graph.
    """
    edit.pass_name = "loops"
    return lift_invariants(edit)


def clean_up(edit: Editor, *, shares_nodes: bool = True) -> None:
    """Leave out what is not needed, until nothing more is found."""
    edit.pass_name = "clean-up"
    lift_constants(edit)
    lift_initializers(edit)
    share_constants(edit)
    for _ in range(_MOST_ROUNDS):
        Worklist(edit, _CLEANUP, _FOLDING).run()
        if not shares_nodes or not share_nodes(edit):
            break
    drop_dead_nodes(edit)
    drop_unused_functions(edit)
    drop_unread_initializers(edit)


# -- inlining --------------------------------------------------------------------------------------------------
# Calls of functions replaced by the nodes of their bodies, as far as that makes no monster of a small model.


#: Nodes that inlining may make of any model; of a large one, so many times its nodes.
_MOST_NODES = 200_000
_MOST_GROWTH = 20


def inline_functions(edit: Editor) -> bool:
    """Dissolve the functions of a model; whether all calls in its graph are gone.

    Functions that call functions twice can unfold without end: a model that would grow beyond measure is left as it is.
    A function that imports another version of an opset stays, too, and so does one that has a kernel in Python, and one
    that computes something else in use than in training.
    """
    functions = edit.model.functions
    if not functions:
        return True
    now = sum(1 for _ in edit.nodes())
    unfolded = nodes_without_functions(edit.model, max(_MOST_NODES, _MOST_GROWTH * now))
    if unfolded is None:
        return False
    own = edit.model.opset_imports
    rules: dict[tuple[str, str], list[NamedRule]] = {}
    for (domain, name, overload), function in functions.items():
        if (domain, f"{IN_USE_OF}{name}", overload) in functions:
            continue  # dissolved, it would be what it is in training, for good
        rules.setdefault((function.domain, function.name), [NamedRule("inlined function", inlined_call)])
        if all(own.get(domain, version) == version for domain, version in function.opset_imports.items()):
            for domain, version in function.opset_imports.items():
                own.setdefault(domain, version)
    Worklist(edit, rules).run(edit.model.graph.all_nodes())
    left = {each for node in edit.model.graph.all_nodes() if (each := node.op_identifier()) in functions}
    return all(kernel_of(domain, name) is not None for domain, name, _ in left)


def inlined_call(at: Attempt) -> Outcome:
    """A call of a function: its body."""
    function = at.edit.model.functions.get(at.node.op_identifier())
    if function is None or len(at.node.inputs) > len(function.inputs):
        return None
    if kernel_of(function.domain, function.name) is not None:
        return None  # it would be lost
    imports = at.edit.model.opset_imports
    if any(imports.get(domain) != version for domain, version in function.opset_imports.items()):
        return None
    given = dict[ir.Value, ir.Value | None](dict.fromkeys(function.inputs))
    given.update(zip(function.inputs, at.node.inputs, strict=False))
    attributes = {name: each for name, each in function.attributes.items() if each.value is not None}
    attributes.update(at.node.attributes)
    results = copied_in(at, function.graph, given, attributes)
    if results is None:
        return None
    return results[: len(at.node.outputs)]
