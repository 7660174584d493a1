"""`Rule`: a pattern and what takes its place, both written as Python functions. It is made and checked here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from onnxsmith.core.value import Value
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import RuleError, boundary
from onnxsmith.passes.rules.annotations import contradiction
from onnxsmith.passes.rules.match import Match
from onnxsmith.passes.rules.parameters import RuleFunction, read_function, read_replacement
from onnxsmith.passes.rules.pattern import Pattern
from onnxsmith.passes.rules.recording import record_patterns, recorded
from onnxsmith.source import Span
from onnxsmith.types.value_types import AnyValueType

#: A function of tensors.
TensorFunction: TypeAlias = Callable[..., object]
#: Says whether a match counts.
Condition: TypeAlias = Callable[[Match], object]


@dataclass(frozen=True, slots=True)
class Alternative:
    """One pattern of a rule."""

    function: RuleFunction
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class ReadRule:
    """A rule as it is applied."""

    name: str
    alternatives: tuple[Alternative, ...]
    replacement: RuleFunction
    when: Condition | None
    is_commutative: bool


class Rule:
    """A rewrite rule: two functions with the same parameters, pattern and replacement.

    Both are ordinary functions of tensors. The pattern is recorded once, and found wherever a model has its operators.
    The replacement is called for each match, with tensors of the types that were found, and with the Python values of
    captured parameters. A list of patterns is a rule with alternatives.

    `when` is called with a `Match` and says whether it counts. `commutative` False takes the inputs of `Add`, `Mul` and
    the like in the order of the pattern only. `name` is what reports call it.

    >>> from onnxsmith import FLOAT, Rule, opset21 as op, rewrite, trace
    >>> fewer = Rule(lambda x: op.Relu(op.Relu(x)), lambda x: op.Relu(x), name="relu of relu")
    >>> model = trace(lambda x: op.Relu(op.Relu(op.Relu(x))), FLOAT["N"])
    >>> print(rewrite(model, fewer).report)
    3 nodes before, 1 after
           2 x relu of relu
    """

    __slots__ = ("_read",)

    @boundary
    def __init__(
        self,
        pattern: TensorFunction | Sequence[TensorFunction],
        replacement: TensorFunction,
        when: Condition | None = None,
        name: str | None = None,
        commutative: bool = True,
    ) -> None:
        self._read = _read(pattern, replacement, when, name, commutative)

    @property
    def name(self) -> str:
        """Its name in reports.

        >>> from onnxsmith import Rule
        >>> def twice(x):
        ...     return x + x
        >>> def times_two(x):
        ...     return x * 2.0
        >>> Rule(twice, times_two).name
        'twice'
        """
        return self._read.name

    def __repr__(self) -> str:
        roots = dict.fromkeys(each.pattern.root.op_type for each in self._read.alternatives)
        return f"Rule({self.name!r}: {', '.join(roots)})"


def read_rule(rule: Rule) -> ReadRule:
    """The form in which a rule was read, for the code that applies it."""
    return rule._read  # pyright: ignore[reportPrivateUsage]  # users have no use for it


def rule_of(
    pattern: RuleFunction,
    replacement: RuleFunction,
    when: Condition | None,
    name: str | None,
    commutative: bool,
) -> Rule:
    """A rule of functions whose parameters are read already, for code that has rules of another form."""
    rule = Rule.__new__(Rule)
    rule._read = _assembled([pattern], replacement, when, name, commutative)  # pyright: ignore[reportPrivateUsage]  # as __init__ does
    return rule


def _read(
    pattern: object, replacement: object, when: Condition | None, name: str | None, commutative: bool
) -> ReadRule:
    functions = list(cast("Sequence[object]", pattern)) if isinstance(pattern, list | tuple) else [pattern]
    if not functions:
        raise RuleError("a rule needs a pattern, and the list of patterns is empty")
    if when is not None and not callable(when):
        raise RuleError(
            f"the condition of a rule is a function of a match, not {described_type(type(when))}",
            help='when=lambda match: match["x"].rank == 2',
        )
    written = [read_function(each, "the pattern") for each in functions]
    return _assembled(written, read_replacement(replacement, written), when, name, commutative)


def _assembled(
    written: Sequence[RuleFunction],
    own: RuleFunction,
    when: Condition | None,
    name: str | None,
    commutative: bool,
) -> ReadRule:
    alternatives: list[Alternative] = []
    for function in written:
        patterns = record_patterns(function)
        _check_used(function, patterns)
        for each in patterns:
            _check_parameters(function, own, each)
        alternatives += [Alternative(function, each) for each in patterns]
    for each in alternatives:
        _check_outputs(each, own)
    called = written[0].name or own.name or f"{alternatives[0].pattern.root.op_type} rule"
    return ReadRule(
        called.strip("_").replace("_", " ") if name is None else name,
        tuple(alternatives),
        own,
        when,
        bool(commutative),
    )


def _check_used(function: RuleFunction, patterns: Sequence[Pattern]) -> None:
    """Refuse a parameter that nothing in the pattern decides."""
    used = frozenset[str]().union(*(each.sometimes_bound for each in patterns))
    for each in function.parameters:
        if each.name not in used:
            raise RuleError(
                f"'{each.name}' is not used in the pattern, so nothing says what it is",
                help="leave it out, or use it",
            ).locate(function.span)


def _check_parameters(function: RuleFunction, replacement: RuleFunction, pattern: Pattern) -> None:
    """Refuse a replacement whose parameters are not those of the pattern."""

    def unlike(message: str, help: str) -> RuleError:
        return _unlike(message, help, replacement, function.span)

    own = {each.name: each for each in replacement.parameters}
    for each in function.parameters:
        if each.name not in own:
            raise unlike(
                f"the pattern has the parameter '{each.name}', and the replacement has not",
                "give both the same parameters, also those that the replacement does not use",
            )
        other = own[each.name]
        kinds = {each.role, other.role}
        if each.role != other.role and kinds != {"tensor", "constant"}:
            raise unlike(
                f"'{each.name}' is {_ROLES[each.role]} in the pattern and {_ROLES[other.role]} in the replacement",
                "give both the same parameters",
            )
        if each.role == "tensor" and other.role == "constant":
            raise unlike(
                f"'{each.name}' is a Constant in the replacement, and any tensor in the pattern",
                f"write {each.name}: Constant in the pattern, too",
            )
    for name, each in own.items():
        if each.role != "rest" and name not in pattern.always_bound and not each.has_default:
            is_there = function.parameter(name) is not None
            raise unlike(
                f"the replacement has the parameter '{name}', which "
                + ("only some alternatives of the pattern have" if is_there else "the pattern has not"),
                f"give it a value for that case: {name}=None"
                if is_there
                else "give both the same parameters",
            )


def _unlike(message: str, help: str, replacement: RuleFunction, pattern: Span | None) -> RuleError:
    return RuleError(message, help=help).locate(replacement.span).also(pattern, "the pattern")


_ROLES = {
    "tensor": "a tensor",
    "constant": "a constant",
    "rest": "the rest of the inputs",
    "captured": "captured",
}


def _check_outputs(alternative: Alternative, replacement: RuleFunction) -> None:
    """Refuse a replacement that gives something else than its pattern, where that can be known beforehand."""
    if any(each.role in ("constant", "captured") for each in replacement.parameters):
        return  # there is no array and no value yet to call it with
    kinds = {each.name: each.type for each in alternative.function.parameters}
    own = {each.name: kinds.get(each.name, each.type) for each in replacement.parameters}
    given = _tried(replacement, own)
    if given is None:
        return
    pattern = alternative.pattern
    if len(given) != len(pattern.outputs):
        raise _unlike(
            f"the replacement returns {_count(len(given))}, and its pattern {_count(len(pattern.outputs))}",
            "return as many, in the same order",
            replacement,
            pattern.span,
        )
    for position, (wanted, each) in enumerate(zip(pattern.output_types, given, strict=True)):
        problem = contradiction(wanted, each.known.type)
        if problem is not None:
            which = "result" if len(given) == 1 else f"result {position}"
            raise (
                RuleError(
                    f"{which} of the replacement {problem} as the pattern's",
                    help="cast it: op.CastLike(result, x)",
                )
                .locate(replacement.span)
                .also(pattern.span, "the pattern")
            )


def _tried(replacement: RuleFunction, kinds: dict[str, AnyValueType]) -> list[Value] | None:
    """The results of a replacement where only the types of the pattern are known; None where it needs to know more."""
    try:
        return recorded(replacement, kinds)[1]
    except (
        Exception
    ):  # the user's own code, without the values that it is for: a match will show what is wrong
        return None


def _count(number: int) -> str:
    return "one tensor" if number == 1 else f"{number} tensors"
