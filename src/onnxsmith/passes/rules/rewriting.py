"""`rewrite`: rules applied to a model until none finds anything more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import onnx_ir as ir

from onnxsmith.context import collection_paused
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import RuleError
from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.ir_version import settle_ir_version
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.report import PassedModel, Report, with_report
from onnxsmith.graphs.rewriting.scopes import called_functions, graphs_of
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.edits import noted
from onnxsmith.passes.rules.applying import Application
from onnxsmith.passes.rules.replacement_imports import in_calling_order
from onnxsmith.passes.rules.rule import Rule
from onnxsmith.passes.surgery.holding import finished, read
from onnxsmith.passes.typing_values import DeclaredTypes
from onnxsmith.passes.values import is_read
from onnxsmith.passes.verifying import GivenInputs, check_inputs, verify_passes
from onnxsmith.passes.worklist import Worklist

#: Rounds over the whole model: a change may make room for a match whose root is far from it.
_MOST_ROUNDS = 20


@model_boundary
def rewrite(
    model: ModelLike, rules: Rule | Sequence[Rule], *, verify: bool | GivenInputs = False
) -> PassedModel:
    """The model with rules applied, wherever they match, until none matches any more.

    The given model stays as it is; the new one shares its weights, and its `report` says what became what. Graphs
    inside nodes and functions are rewritten as well. Where several rules match at a node, the first of them is taken.
    `verify` True runs both on inputs that are made up, or on those that it is given; VerificationError then names the
    rule, and its change, that made a difference.

    >>> from onnxsmith import FLOAT, Rule, opset21 as op, rewrite, trace
    >>> twice = Rule(lambda x: x + x, lambda x: x * 2.0, name="twice")
    >>> model = trace(lambda x: op.Relu(x + x), FLOAT["N"])
    >>> print(rewrite(model, [twice]).report.edits[0])
    twice: Add 'add' -> Mul 'mul_add'
    """
    model = model_of(model, "rewrite")
    given = checked_rules(rules)
    check_inputs(model, verify)
    result = _rewritten(model, given)
    verify_passes(
        model,
        result,
        verify,
        lambda changes: _rewritten(model, given, changes),
        "rewritten",
        "change the rule, or its condition; rewrite(model, rules) without verify gives the model as it is",
    )
    return result


def _rewritten(model: Model, rules: Sequence[Rule], budget: int | None = None) -> PassedModel:
    with collection_paused():
        held = read(model)
        given, held = held.ir, held.copy()
        changed = held.ir
        report = Report.of(changed)
        edit = Editor(changed)
        edit.budget = budget
        edit.pass_name = "rules"
        left = _Leftovers(edit)
        types = DeclaredTypes(changed)
        types.fill()
        report.notes += _apply(edit, rules)
        types.restore()
        left.remove()
        settle_ir_version(changed, given)
    report.close(changed, edit.log.finished())
    return with_report(finished(held), report, model)


def _apply(edit: Editor, rules: Sequence[Rule]) -> list[str]:
    application = Application(edit)
    work = Worklist(edit, application.table(rules))
    endless: list[str] = []
    for _ in range(_MOST_ROUNDS):
        if not work.run() or not work.is_complete or edit.is_spent:
            break
    else:
        endless = [f"stopped after {_MOST_ROUNDS} rounds: the rules may match still"]
    if not work.is_complete:
        endless = [
            f"stopped after {len(edit.log)} changes: what the rules make is matched again, without end"
        ]
    application.imported.drop_unreported()
    return [*application.notes(), *endless]


def checked_rules(rules: object) -> list[Rule]:
    """The rules as a list. Raises RuleError for what is none."""
    if isinstance(rules, Rule):
        return [rules]
    help_text = "rewrite(model, [Rule(pattern, replacement), …])"
    if not isinstance(rules, list | tuple):
        raise RuleError(
            f"rules are a Rule or a list of them, not {described_type(type(rules))}", help=help_text
        )
    given = cast("Sequence[object]", rules)
    if not given:
        raise RuleError("the list of rules is empty", help=help_text)
    for position, each in enumerate(given):
        if not isinstance(each, Rule):
            raise RuleError(f"rule {position} of the list is {described_type(type(each))}", help=help_text)
    return cast("list[Rule]", list(given))


class _Leftovers:
    """Things that only rewritten nodes needed: initializers, functions and domains that nothing uses any more."""

    def __init__(self, edit: Editor) -> None:
        self._edit = edit
        self._unread = {value for value in self._initializers() if not is_read(value)}
        self._uncalled = edit.model.functions.keys() - self._calls()
        self._domains = self._used_domains()

    def remove(self) -> None:
        """Leave it out."""
        model = self._edit.model
        for value in list(self._initializers()):
            graph = value.graph
            if graph is None or value.is_graph_input() or is_read(value):
                continue
            if value not in self._unread:
                del graph.initializers[value.name or ""]
        kept = self._calls() | self._uncalled
        for key in [each for each in model.functions if each not in kept]:
            function = model.functions.pop(key)
            if self._edit.budget is None:  # else the last record is to be that of a rule
                left_out = tuple([noted(node, (function.name,)) for node in function.graph])
                self._edit.log.add(Edit("rules", "function that nothing calls", left_out, ()))
        in_calling_order(model.functions)
        for domain in self._domains - self._used_domains():
            if domain:
                model.opset_imports.pop(domain, None)

    def _initializers(self) -> list[ir.Value]:
        graphs = [each for root in self._edit.roots() for each in graphs_of(root)]
        return [value for graph in graphs for value in graph.initializers.values()]

    def _calls(self) -> set[ir.OperatorIdentifier]:
        """The functions that the graph needs, by way of others as well."""
        model = self._edit.model
        return called_functions(model.graph.all_nodes(), model.functions)

    def _used_domains(self) -> set[str]:
        return {node.domain for root in self._edit.roots() for node in root.all_nodes()} | {
            key[0] for key in self._edit.model.functions
        }
