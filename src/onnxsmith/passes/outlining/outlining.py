"""`outline`: parts of a model as functions that it calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

import onnx_ir as ir

from onnxsmith.context import collection_paused
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import AttributeValueError
from onnxsmith.graphs.model import ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.report import PassedModel, Report, with_report
from onnxsmith.graphs.soundness import refuse_endless_calls
from onnxsmith.passes.edits import EditLog
from onnxsmith.passes.outlining.cutting import OWN_DOMAIN, Naming, cut_out
from onnxsmith.passes.outlining.part import Part, Scope
from onnxsmith.passes.outlining.repeats import repeated_name, repeated_parts
from onnxsmith.passes.outlining.scopes import all_scopes, function_name
from onnxsmith.passes.outlining.wiring import Wiring, constant_attribute, is_in_order
from onnxsmith.passes.surgery.holding import finished, read

#: What says which nodes belong together.
Criterion: TypeAlias = Literal["repeats", "scopes"] | Callable[[ir.Node], str | None]


@model_boundary
def outline(model: ModelLike, *, by: Criterion = "repeats") -> PassedModel:
    """The same model with parts of its graph as functions that it calls; parts that are equal share one.

    `by` says which nodes belong together. "repeats" finds what occurs more than once, the layers of a network say;
    "scopes" takes the modules that exporters write into names and metadata, and those inside them. A function takes
    each node of the main graph and returns the name of its part, or None. `"encoder/attention"` is a part inside a
    part. `"layer.0"` and `"layer.1"` share a function if they are equal. Weights and constants that differ between
    equal parts are arguments of each call. The given model stays as it is; the new one shares its weights, and its
    `report` lists the changes. `optimize` dissolves functions.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, outline, trace
    >>> weights = [np.full((4, 4), k, np.float32) for k in range(3)]
    >>> def network(x):
    ...     for w in weights:
    ...         x = op.LayerNormalization(x + op.Relu(x @ w), w[0])
    ...     return x
    >>> model = outline(trace(network, FLOAT["N", 4]))
    >>> print(model.report)
    12 nodes before, 7 after
           3 x call of block
           1 x function block
    >>> [node.op_type for node in model.ir.graph]
    ['block', 'block', 'block']
    """
    model = model_of(model, "outline")
    _check(by)
    given = read(model)
    refuse_endless_calls(given.ir)
    names = _asked(by, given.graph) if callable(by) else []
    with collection_paused():
        held = given.copy()
        report = Report.of(held.ir)
        log = EditLog()
        named = dict(zip(held.graph, names, strict=False))
        if not is_in_order(held.graph):
            held.graph.sort()
        wiring = Wiring(held.graph)
        if by == "repeats":
            parts, scopes = repeated_parts(wiring)
            naming = Naming(repeated_name, scopes)
        elif by == "scopes":
            scopes = dict(zip(wiring.nodes, all_scopes(wiring), strict=True))
            parts, naming = module_parts(scopes), Naming(repeated_name, scopes)
        else:
            parts = named_parts({node: name for node in wiring.nodes if (name := named[node])})
            naming = Naming(name_of_named)
        cut_out(held.ir, parts, naming, log, wiring)
    report.close(held.ir, log.finished())
    if not len(log):
        report.notes.append(_why_nothing(by, has_parts=bool(parts)))
    return with_report(finished(held), report, model)


def _check(by: object) -> None:
    if isinstance(by, type) or (not callable(by) and by not in ("repeats", "scopes")):
        raise AttributeValueError(
            f"by is 'repeats', 'scopes' or a function of a node, not {by!r}", culprit="by"
        )


def _asked(by: Callable[[ir.Node], object], graph: ir.Graph) -> list[str | None]:
    """The answer of the user's function for each node."""
    found: list[str | None] = []
    for node in graph:
        name = None if constant_attribute(node) is not None else by(node)
        if name is not None and not isinstance(name, str):
            raise AttributeValueError(
                f"by gave {described_type(type(name))} for the node {node.op_type} {node.name!r}",
                help="it gives the name of the part that a node is in, or None",
                culprit="by",
            )
        found.append(name)
    return found


def _why_nothing(by: Criterion, *, has_parts: bool) -> str:
    if has_parts:
        return "nothing is outlined: nothing outside the parts reads what they give"
    reason = "no part repeats" if by == "repeats" else "names tell of no modules"
    return f"nothing is outlined: {'no node has a part' if callable(by) else reason}"


# -- scope parts -----------------------------------------------------------------------------------------------
# Parts by name: nodes whose names say that they belong together, with the parts inside them.


#: A function for a module of fewer nodes says no more than the node.
_FEWEST_NODES = 2


def module_parts(scopes: Mapping[ir.Node, Scope]) -> list[Part]:
    """A part for each module; those that hold all nodes, one node, or only a list of modules are none."""
    roots, parts = _tree(scopes)
    whole = Part([], inner=roots)
    counts: dict[Part, int] = {}
    dissolved: set[Part] = set()
    for scope, part in (*reversed(parts.items()), ((), whole)):  # inner ones before those around them
        inner: list[Part] = []
        for each in part.inner:
            if each in dissolved:
                part.nodes += each.nodes
            inner += each.inner if each in dissolved else [each]
        part.inner = inner
        if len(inner) == 1 and not part.nodes and part is not whole:
            # The same under two names: the outer one is closer to what a person looks for.
            part.nodes, part.inner = inner[0].nodes, inner[0].inner
        part.fewest = _FEWEST_NODES
        counts[part] = len(part.nodes) + sum(counts[each] for each in part.inner)
        is_list = not part.nodes and all(each.scope[len(scope)].isdigit() for each in part.inner)
        if is_list or not _FEWEST_NODES <= counts[part] < len(scopes):
            dissolved.add(part)
    return whole.inner


def named_parts(names: Mapping[ir.Node, str]) -> list[Part]:
    """A part for each name; with slashes in it, it is inside others. Only parts whose names are alike share."""
    roots, parts = _tree({node: tuple(filter(None, name.split("/"))) for node, name in names.items()})
    for scope, part in parts.items():
        part.kind = _without_numbers(scope[-1])
    return roots


def name_of_named(parts: Sequence[Part]) -> tuple[str, str]:
    """Domain and name of a function for parts that were given names: the name, where it can be one."""
    last = {each.scope[-1] for each in parts}
    only = last.pop() if len(last) == 1 else _without_numbers(parts[0].scope[-1])
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", only):
        return OWN_DOMAIN, only
    return OWN_DOMAIN, function_name([tuple(re.split(r"[^A-Za-z0-9]+", each.scope[-1])) for each in parts])


def _without_numbers(name: str) -> str:
    return re.sub(r"[^A-Za-z]*[0-9]+", "", name) or name


def _tree(scopes: Mapping[ir.Node, Scope]) -> tuple[list[Part], dict[Scope, Part]]:
    """The outermost parts, and all by their scopes, outer ones first."""
    roots: list[Part] = []
    parts: dict[Scope, Part] = {}
    for node, scope in scopes.items():
        around: Part | None = None
        for length in range(1, len(scope) + 1):
            part = parts.get(scope[:length])
            if part is None:
                part = parts[scope[:length]] = Part([], scope[:length])
                (roots if around is None else around.inner).append(part)
            around = part
        if around is not None:
            around.nodes.append(node)
    return roots, parts
