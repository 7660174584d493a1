"""Rules written for onnxscript's rewriter, as rules of ours: `RewriteRule`, `RewriteRuleSet`, `RewriteRuleClassBase`.

New code says `onnxsmith.Rule`, which is what these become. Options that a `Rule` has nothing for are refused.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NoReturn, TypeAlias

import onnx_ir as ir

from onnxsmith.context import setting
from onnxsmith.core.value import Value
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import RuleError, boundary
from onnxsmith.passes.rules import Match, MatchedTensor, Rule, either
from onnxsmith.passes.rules.match import value_of
from onnxsmith.passes.rules.parameters import RuleFunction, RuleParameter
from onnxsmith.passes.rules.rule import rule_of
from onnxsmith.rewriter.operators import (
    AttributeVariable,
    FoundAttribute,
    PatternOperators,
    ReplacementOperators,
    Results,
)
from onnxsmith.schema.registry import default_opset_version
from onnxsmith.source import Span, code_span

#: What a parameter of a pattern is at a match: a tensor, the content of an attribute, or nothing.
Found: TypeAlias = Value | float | str | Sequence[float] | Sequence[str] | None

#: Rules that the tagged alternatives of one pattern may become.
_MOST_RULES = 64


class MatchResult:
    """The answer of a condition that says why it fails; it is true unless `fail` was called.

    >>> from onnxsmith.rewriter.pattern import MatchResult
    >>> bool(MatchResult()), bool(MatchResult().fail("not a vector"))
    (True, False)
    """

    def __init__(self) -> None:
        self.reason = ""
        self._is_failed = False

    def __bool__(self) -> bool:
        return not self._is_failed

    def fail(
        self,
        reason: str = "",
        failure_source: ir.Node | ir.Value | Sequence[ir.Node | ir.Value] | None = None,
    ) -> MatchResult:
        """The same answer, which is no now."""
        self._is_failed, self.reason = True, reason
        return self


class MatchFailureError(Exception):
    """Raised by a condition or a replacement for a match that does not count.

    >>> from onnxsmith.rewriter.pattern import MatchFailureError
    >>> MatchFailureError("not a vector").reason
    'not a vector'
    """

    def __init__(self, reason: str = "", *failure_sources: object) -> None:
        super().__init__(reason)
        self.reason = reason


class _Choices:
    """One way through the tagged alternatives of a pattern, and the tags that it gives."""

    def __init__(self, chosen: Sequence[int] = ()) -> None:
        self._chosen = chosen
        self.sizes: list[int] = []
        self.tags: dict[str, object] = {}

    def restart(self) -> None:
        """Begin the pattern anew: it may be recorded several times."""
        self.sizes, self.tags = [], {}

    def choose(self, values: Sequence[Value], tag: str, tag_values: Sequence[object]) -> Value:
        """The alternative of this way."""
        position = len(self.sizes)
        index = self._chosen[position] if position < len(self._chosen) else 0
        self.sizes.append(len(values))
        self.tags[tag] = tag_values[index]
        return values[index]


_choices: ContextVar[_Choices | None] = ContextVar("onnxsmith_rewriter_choices", default=None)


@boundary
def OrValue(
    values: Sequence[Value],
    name: str | None = None,
    tag_var: str | None = None,
    tag_values: Sequence[object] | None = None,
) -> Value:
    """In a pattern: one of several values; the parameter `tag_var` of the replacement says which.

    >>> from onnxsmith.rewriter.pattern import OrValue, RewriteRule
    >>> def scaled(op, x, factor):
    ...     return op.Relu(OrValue([op.Mul(x, factor), op.Div(x, factor)], tag_var="which", tag_values=["*", "/"]))
    >>> def quick(op, x, factor, which):
    ...     return op.QuickScale(x, factor, kind=which, _domain="my.domain")
    >>> RewriteRule(scaled, quick)
    RewriteRule('scaled')
    """
    if name is not None:
        raise RuleError(
            "OrValue(…, name=…) is not taken: names of results are not passed to conditions and replacements"
        )
    if tag_values is not None and (tag_var is None or len(tag_values) != len(values)):
        raise RuleError("tag_values of OrValue needs tag_var, and a value for each alternative")
    current = _choices.get()
    if tag_var is None or current is None:
        return either(*values)
    return current.choose(values, tag_var, range(len(values)) if tag_values is None else tag_values)


_VISITORS = "leave it out: a function that is called once for a graph is called beside rewrite(model, rules)"


class RewriteRule:
    """A rule of functions whose first argument is `op`, as onnxscript's rewriter takes them.

    The condition gets onnx-ir's values by the names of the pattern's parameters, the replacement tensors of ours. The
    pattern is recorded when the rule is made, and again for the opsets of each model.

    >>> import onnxsmith
    >>> from onnxsmith import FLOAT, opset21, trace
    >>> from onnxsmith.rewriter import pattern, rewrite
    >>> rule = pattern.RewriteRule(lambda op, x: op.Relu(op.Relu(x)), lambda op, x: op.Relu(x), name="relu of relu")
    >>> model = trace(lambda x: opset21.Relu(opset21.Relu(x)), FLOAT["N"])
    >>> [node.op_type for node in rewrite(model, [rule]).nodes]
    ['Relu']
    """

    @boundary
    def __init__(
        self,
        target_pattern: Callable[..., Any],
        replacement_pattern: Callable[..., Any],
        condition_function: Callable[..., Any] | None = None,
        matcher: object = None,
        verbose: int = 0,
        name: str | None = None,
        remove_nodes: bool = True,
        graph_pre_visitor: Callable[[], None] | None = None,
        graph_post_visitor: Callable[[], None] | None = None,
        as_function: bool = False,
    ) -> None:
        refused = {
            "matcher": (
                matcher is not None,
                "leave it out: there is one way to match, which finds all matches",
            ),
            "remove_nodes=False": (
                not remove_nodes,
                "leave it out: a rule replaces the nodes that it matches",
            ),
            "graph_pre_visitor": (graph_pre_visitor is not None, _VISITORS),
            "graph_post_visitor": (graph_post_visitor is not None, _VISITORS),
            "as_function=True": (as_function, "leave it out: onnxsmith.outline makes functions of patterns"),
        }
        for what, (is_given, help_text) in refused.items():
            if is_given:
                raise RuleError(f"RewriteRule(…, {what}) is not taken", help=help_text)
        for what, given in (("pattern", target_pattern), ("replacement", replacement_pattern)):
            if not callable(given):
                raise RuleError(
                    f"the {what} of a rule is a function, not {described_type(type(given))}",
                    help="RewriteRule(pattern, replacement), two functions whose first parameter is op",
                )
        self._pattern = target_pattern
        self._replacement = replacement_pattern
        self._condition = condition_function
        self.name = name
        self.rules({"": default_opset_version()})

    def __repr__(self) -> str:
        return f"RewriteRule({self.name or _name(self._pattern)!r})"

    def rules(
        self,
        imports: Mapping[str, int],
        *,
        commute: bool = False,
        problems: list[Exception] | None = None,
    ) -> list[Rule]:
        """The rules of ours for a model with these opsets, one for each way through tagged alternatives.

        Errors of the condition go to `problems`: a condition that fails is no match to a `Rule`.
        """
        attributes: dict[str, AttributeVariable] = {}
        while True:
            choices = _Choices()
            try:
                first = self._rule(imports, commute, problems, attributes, choices)
                break
            except FoundAttribute as found:
                attributes[found.parameter] = found.attribute
        ways = list(
            itertools.islice(itertools.product(*(range(each) for each in choices.sizes)), 1, _MOST_RULES + 1)
        )
        if len(ways) >= _MOST_RULES:
            raise RuleError(f"the tagged alternatives of the pattern are more than {_MOST_RULES} patterns")
        others = [self._rule(imports, commute, problems, attributes, _Choices(each)) for each in ways]
        return [first, *others]

    def apply_to_model(self, model: ir.Model, *, verbose: int | None = None) -> int:
        """Refused: a model is not changed here. `rewrite` gives a new one."""
        return _refuse_in_place()

    def _rule(
        self,
        imports: Mapping[str, int],
        commute: bool,
        problems: list[Exception] | None,
        attributes: Mapping[str, AttributeVariable],
        choices: _Choices,
    ) -> Rule:
        parameters = _parameters(self._pattern, attributes)
        operators = PatternOperators(imports)

        def pattern(*values: Value) -> Results:
            choices.restart()
            operators.parameters = {
                id(value): each.name
                for each, value in zip(parameters, values, strict=True)
                if each.role == "tensor"
            }
            with setting(_choices, choices):
                return self._pattern(operators, *values)

        def replacement(**found: Found) -> Results | None:
            given = {name: _as_attribute(attributes, name, value) for name, value in found.items()}
            try:
                result = self._replacement(ReplacementOperators(imports), **given, **choices.tags)
            except MatchFailureError:
                return None
            return None if result is False or isinstance(result, MatchResult) else result

        def when(match: Match) -> bool:
            return self._holds(match, parameters, attributes, choices.tags, problems)

        named = tuple(
            [
                RuleParameter(each.name, each.role, attribute=each.attribute, is_positional=False)
                for each in parameters
            ]
        )
        rule = rule_of(
            RuleFunction(pattern, parameters, _name(self._pattern), _span(self._pattern), imports.get("")),
            RuleFunction(replacement, named, _name(self._replacement), _span(self._replacement)),
            None if self._condition is None else when,
            self.name,
            commute,
        )
        names = [*(each.name for each in parameters), *choices.tags]
        _check_parameters(self._replacement, names, "replacement")
        if self._condition is not None:
            _check_parameters(self._condition, names, "condition")
        return rule

    def _holds(
        self,
        match: Match,
        parameters: Sequence[RuleParameter],
        attributes: Mapping[str, AttributeVariable],
        tags: Mapping[str, object],
        problems: list[Exception] | None,
    ) -> bool:
        assert self._condition is not None  # else nobody asks
        given: dict[str, object] = dict(tags)
        lent: list[ir.Value] = []
        for each in parameters:
            if each.name not in match:  # it is in other alternatives
                given[each.name] = None
            elif isinstance(found := match[each.name], MatchedTensor):
                value = value_of(found)
                if found.is_constant and value.const_value is None:
                    value.const_value = ir.tensor(found.array, name=value.name)
                    lent.append(value)
                given[each.name] = value
            else:
                given[each.name] = _as_attribute(attributes, each.name, found)
        try:
            answer = self._condition(_Context(), **given)
        except MatchFailureError:
            raise
        except Exception as error:
            if problems is not None:
                problems.append(error)
            raise
        finally:
            for value in lent:
                value.const_value = None
        if isinstance(answer, MatchResult) and not answer:
            raise MatchFailureError(answer.reason)
        return bool(answer)


class RewriteRuleSet:
    """Rules that are applied together; with `commute`, inputs of `Add`, `Mul` and the like match in any order.

    >>> from onnxsmith.rewriter.pattern import RewriteRule, RewriteRuleSet
    >>> RewriteRuleSet([RewriteRule(lambda op, x: op.Relu(op.Relu(x)), lambda op, x: op.Relu(x), name="two")])
    RewriteRuleSet([RewriteRule('two')])
    """

    @boundary
    def __init__(self, rules: Sequence[RewriteRule], *, commute: bool = False) -> None:
        given = list(rules)
        if not given:
            raise RuleError("a RewriteRuleSet needs a rule, and the list is empty")
        for position, each in enumerate(given):
            if not isinstance(each, RewriteRule):  # pyright: ignore[reportUnnecessaryIsInstance]  # a user's value
                raise RuleError(
                    f"rule {position} of the set is {described_type(type(each))}, not a RewriteRule"
                )
        self.rules: list[RewriteRule] = given
        self.commute: bool = commute

    def __repr__(self) -> str:
        return f"RewriteRuleSet({self.rules!r})"

    def __iter__(self) -> Iterator[RewriteRule]:
        return iter(self.rules)

    def apply_to_model(self, model: ir.Model, *, verbose: int | None = None) -> int:
        """Refused: a model is not changed here. `rewrite` gives a new one."""
        return _refuse_in_place()


class RewriteRuleClassBase:
    """A rule as a class: `pattern`, `rewrite` and, if there is a condition, `check`.

    >>> from onnxsmith.rewriter.pattern import RewriteRuleClassBase
    >>> class TwoRelus(RewriteRuleClassBase):
    ...     def pattern(self, op, x):
    ...         return op.Relu(op.Relu(x))
    ...     def rewrite(self, op, x):
    ...         return op.Relu(x)
    >>> TwoRelus.rule()
    RewriteRule('TwoRelus')
    """

    def __init__(self, name: str | None = None, remove_nodes: bool = True, as_function: bool = False) -> None:
        self.name = name or type(self).__name__
        self.remove_nodes = remove_nodes
        self.as_function = as_function

    @classmethod
    @boundary
    def rule(cls, *args: Any, **kwargs: Any) -> RewriteRule:
        """The rule of an instance, which gets the arguments."""
        for name in ("setup", "cleanup"):
            if hasattr(cls, name):
                raise RuleError(
                    f"a method '{name}' of a rule's class is not called here", help="leave it out"
                )
        for name in ("pattern", "rewrite"):
            if not hasattr(cls, name):
                raise RuleError(f"{cls.__name__} needs a method '{name}'", help=f"def {name}(self, op, x): …")
        made = cls(*args, **kwargs)
        return RewriteRule(
            getattr(made, "pattern"),  # noqa: B009  # a class of the user's has it
            getattr(made, "rewrite"),  # noqa: B009  # the same
            getattr(made, "check", None),
            name=made.name,
            remove_nodes=made.remove_nodes,
            as_function=made.as_function,
        )


class _Context:
    """The first argument of a condition, which has nothing here."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RuleError(
            f"the context of a condition has no '{name}' here",
            help="a condition gets the values of the pattern's parameters, with their producers and uses",
        )


def _parameters(
    function: Callable[..., Any], attributes: Mapping[str, AttributeVariable]
) -> tuple[RuleParameter, ...]:
    """The parameters of a pattern, all behind `op` by position."""
    own = list(inspect.signature(function).parameters.values())[1:]
    for each in own:
        if each.kind not in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD):
            raise RuleError(
                f"the pattern takes '{each}': its parameters are tensors and attributes, by position",
                help="def pattern(op, x, y): …",
            ).locate(_span(function))
    return tuple(
        [
            RuleParameter(each.name, "captured", attribute=attributes[each.name].kind)
            if each.name in attributes
            else RuleParameter(each.name, "tensor")
            for each in own
        ]
    )


def _check_parameters(function: Callable[..., Any], names: Sequence[str], what: str) -> None:
    """Refuse a function that cannot be called with a value for each name of the pattern."""
    try:
        inspect.signature(function).bind(None, **dict.fromkeys(names))
    except TypeError as error:
        raise RuleError(
            f"the {what} is called with {', '.join(names) or 'nothing'} by name, and does not take that: {error}",
            help=f"def {what}({'context' if what == 'condition' else 'op'}, {', '.join(names)}): … "
            "or **_ for those that it does not use",
        ).locate(_span(function)) from None


def _as_attribute(attributes: Mapping[str, AttributeVariable], name: str, value: Found) -> Found | ir.Attr:
    if name not in attributes or value is None or isinstance(value, Value):
        return value
    return attributes[name].of(value)


def _name(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "")
    return "" if name == "<lambda>" else name


def _span(function: Callable[..., Any]) -> Span | None:
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return None if code is None or not _name(function) else code_span(code)


@boundary
def _refuse_in_place() -> int:
    raise RuleError(
        "a model is not changed in place here",
        help="model = onnxsmith.rewriter.rewrite(model, [rule])",
    )


__all__ = [
    "MatchFailureError",
    "MatchResult",
    "OrValue",
    "RewriteRule",
    "RewriteRuleClassBase",
    "RewriteRuleSet",
]


def __dir__() -> list[str]:
    return list(__all__)
