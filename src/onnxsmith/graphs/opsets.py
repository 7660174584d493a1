"""Finds the opset version that a graph imports: the one that every operator in it agrees with.

A graph imports one version per domain. An operator that has not changed between two versions fits both, so two
modules' opsets mix as long as no operator used differs between them.

A finished model that a graph calls never decides the graph's opset where the user's code names one: its operators fit
it, or it is converted. Where nothing names an opset, the graph takes that of the first model it calls.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from onnxsmith.core.recording import OpsetChoice
from onnxsmith.errors import (
    AttributeValueError,
    ConvertedModelWarning,
    OpsetConflictError,
    VersionConversionError,
)
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.equivalent_versions import Use, range_of_meaning
from onnxsmith.source import Place, Span, caller_place, caller_span, span_at


def check_opset_version(version: int | None, parameter: str = "opset_version") -> None:
    """Refuse a version of the standard opset that is not there, as it was given for a parameter."""
    newest = registry.latest_version("")
    if isinstance(version, bool) or (version is not None and not 1 <= version <= newest):
        raise AttributeValueError(
            f"{parameter}={version} is not there: the installed onnx has versions 1 to {newest}",
            culprit=parameter,
        )


def newer_opset(imports: Iterable[tuple[str, int]]) -> str | None:
    """Words on the first opset that is newer than those of the installed onnx; None where it has all of them.

    Nobody knows what the operators of such an opset mean: to take them for those of the newest one is a guess.
    """
    for domain, version in imports:
        plain = "" if domain == "ai.onnx" else domain
        if registry.is_known_domain(plain) and version > registry.latest_version(plain):
            called = f"opset {version}" + (f" of {plain}" if plain else "")
            return f"it is of {called}, and the installed onnx has versions 1 to {registry.latest_version(plain)}"
    return None


#: The remedy for a model of such an opset.
OPSET_REMEDY = "install a newer onnx, or have the model written in an older opset"


class _Range(NamedTuple):
    """The versions of one domain that fit every operator used so far; `last` is None while there is no end."""

    first: int
    last: int | None
    first_set_by: tuple[OperatorDef, Place | None] | None = None
    last_set_by: tuple[OperatorDef, Place | None] | None = None
    named: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ModelOperators:
    """The operators that a called model brings along: the versions that it imports, and how it uses them."""

    name: str
    imports: Mapping[str, int]
    operators: Mapping[OperatorDef, Collection[Use]]
    #: Makes its functions again in other versions, by domain; None for a model that is not called.
    refit: Callable[[Mapping[str, int]], Mapping[ir.OperatorIdentifier, ir.Function]] | None = None

    def misfits(self, domain: str, version: int) -> Iterator[str]:
        """The operators that are others in a version of their domain, or not there, and since when."""
        for op, uses in self.operators.items():
            if op.domain == domain:
                first, end = range_of_meaning(op, uses)
                if version < first:
                    yield f"{op.qualified_name} (the model's came with opset {first})"
                elif end is not None and version >= end:
                    yield f"{op.qualified_name} (changed in opset {end})"


class OpsetVersions:
    """The versions that a graph and its subgraphs use, narrowed with every operator."""

    def __init__(self, default: int, *, is_fixed: bool = False, is_named: bool = True) -> None:
        self.default = default
        self._is_fixed = is_fixed
        #: Whether the user's code names the default, or it is only what there is when nobody names one.
        self._is_named = is_named
        self._ranges: dict[str, _Range] = {}
        self._seen: dict[tuple[OperatorDef, int | None], None] = {}
        #: The domains of the functions that are called, by version.
        self._function_domains: dict[str, int] = {}
        #: The models that are called, with the place of the first call.
        self._models: dict[ModelOperators, Span | None] = {}

    def copy(self) -> OpsetVersions:
        """The same state, to come back to."""
        result = OpsetVersions(self.default, is_fixed=self._is_fixed, is_named=self._is_named)
        result._ranges = dict(self._ranges)
        result._seen = dict(self._seen)
        result._function_domains = dict(self._function_domains)
        result._models = dict(self._models)
        return result

    @property
    def choice(self) -> OpsetChoice:
        """The choice that it started from."""
        return OpsetChoice(self.default, is_fixed=self._is_fixed, is_named=self._is_named)

    def use(self, op: OperatorDef, version: int | None, place: Place | None = None) -> None:
        """Take note of an operator; `version` is the one its module names, None when Python's syntax chose it.

        `place` is that of the call, where it is known.
        """
        key = (op, version)
        if key in self._seen:
            return
        first, end = registry.valid_range(op) if op.is_known else (op.since_version, op.since_version + 1)
        place = place or caller_place()
        known = self._ranges.get(op.domain, _Range(1, None))
        if (
            self._is_fixed
            and op.domain == ""
            and not (first <= self.default and (end is None or self.default < end))
        ):
            raise OpsetConflictError(
                f"{op.qualified_name}-{op.since_version} is not the {op.name} of opset {self.default}, "
                "which was asked for this model",
                help=f"use opset{self.default}.{op.name}, or another opset_version",
            ).locate(span_at(place))
        new_first = max(known.first, first)
        new_last = known.last if end is None else end - 1 if known.last is None else min(known.last, end - 1)
        if new_last is not None and new_first > new_last:
            error = self._conflict(op, known, first, end, place)
            error.named_version = version if op.domain == "" else None
            raise error
        if new_first != known.first:
            known = known._replace(first=new_first, first_set_by=(op, place))
        if new_last != known.last:
            known = known._replace(last=new_last, last_set_by=(op, place))
        if version is not None:
            known = known._replace(named=version if known.named is None else max(known.named, version))
        self._ranges[op.domain] = known
        self._seen[key] = None

    def include(self, called: OpsetVersions) -> None:
        """Take note of all that a function uses: in a model and its functions an operator has one definition."""
        for op, _ in called._seen:
            try:
                self.use(op, None)
            except OpsetConflictError as error:
                # The one of the two that is not what the graph started from.
                version = called.version("")
                error.named_version = self.version("") if version == self.default else version
                raise
        known = self._ranges.get("")
        if known is not None and known.named is None and "" in called._ranges:
            self._ranges[""] = known._replace(named=called.version(""))
        for domain, version in called._function_domains.items():
            self.use_domain(domain, version)
        for model in called._models:
            self.use_model(model)

    def use_model(self, model: ModelOperators) -> None:
        """Take note of a model that is called."""
        if model not in self._models:
            self._models[model] = caller_span()

    @property
    def _is_decided(self) -> bool:
        """True if something has named the version of the standard domain."""
        known = self._ranges.get("")
        return self._is_fixed or self._is_named or (known is not None and known.named is not None)

    def fitted_functions(self) -> dict[ir.OperatorIdentifier, ir.Function]:
        """The functions of called models whose operators do not fit the versions that the graph has in the end.

        They are made again, of the models as they are in those versions. Raises VersionConversionError where a model
        cannot be said in them.
        """
        result: dict[ir.OperatorIdentifier, ir.Function] = {}
        for model, span in self._models.items():
            versions = {domain: self.version(domain) for domain in model.imports}
            moved = [domain for domain, each in versions.items() if any(model.misfits(domain, each))]
            if not moved or model.refit is None:
                continue
            try:
                result.update(model.refit(versions))
            except VersionConversionError as error:
                imported, wanted = model.imports[moved[0]], versions[moved[0]]
                error.message = (
                    f"the model '{model.name}' is called in a graph of opset {wanted}: {error.message}"
                )
                error.help = _how_to_agree(moved[0], imported)
                raise error.locate(span) from None
            for domain in moved:
                _note_conversion(model, domain, versions[domain], span)
        return result

    def use_domain(self, domain: str, version: int) -> None:
        """Take note of a domain that functions live in."""
        self._function_domains.setdefault(domain, version)
        self._ranges.setdefault(domain, _Range(version, version, named=version))

    @staticmethod
    def _conflict(
        op: OperatorDef, known: _Range, first: int, end: int | None, place: Place | None
    ) -> OpsetConflictError:
        other = known.last_set_by if known.last is not None and first > known.last else known.first_set_by
        until = "on" if end is None else f"to {end - 1}"
        error = OpsetConflictError(
            f"{op.qualified_name}-{op.since_version} belongs to opset {first} {until}, "
            f"but this graph already needs {_described(known)}",
            help="use one opset version in a graph; a function of its own may use another",
        ).locate(span_at(place))
        if other is not None:
            cause = other[0]
            is_literal = cause.name == "Constant" and cause.domain == ""
            said = "a literal becomes a constant" if is_literal else f"{cause.qualified_name} is used"
            error.also(span_at(other[1]), f"{said} here, as of opset {cause.since_version}")
        return error

    def version(self, domain: str) -> int:
        """The version of a domain that fits all that was used so far."""
        known = self._ranges.get(domain)
        given = None
        if self._models:
            given = next((each.imports[domain] for each in self._models if domain in each.imports), None)
        if domain == "":
            default = self.default if given is None or self._is_decided else given
        else:
            default = 1 if given is None else given
        if known is None or (domain == "" and self._is_fixed):
            return default
        version = max(default if known.named is None else known.named, known.first)
        return version if known.last is None else min(version, known.last)

    def imports(self) -> dict[str, int]:
        """Domain and version of all that was used, the standard domain always and first."""
        given = [domain for each in self._models for domain in each.imports]
        return {"": self.version("")} | {
            domain: self.version(domain) for domain in dict.fromkeys((*self._ranges, *given)) if domain
        }


def _described(known: _Range) -> str:
    if known.last is None:
        return f"opset {known.first} or later"
    if known.first == known.last:
        return f"opset {known.first}"
    return f"an opset from {known.first} to {known.last}"


def _how_to_agree(domain: str, imported: int) -> str:
    if domain:
        return f"make the graph of operators of {domain} {imported}"
    return f"make the graph in opset {imported}: opset_version={imported}, with operators of opset{imported}"


def _note_conversion(model: ModelOperators, domain: str, version: int, span: Span | None) -> None:
    called = f" of {domain}" if domain else ""
    text = (
        f"the model '{model.name}' is of opset {model.imports[domain]}{called}, and was converted for a graph of opset "
        f"{version}"
    )
    warn_of_conversion(text, span)


def warn_of_conversion(text: str, span: Span | None) -> None:
    """Warn at a line of the user's that a model was converted."""
    if span is None or span.claimed_by:
        warnings.warn(ConvertedModelWarning(text), stacklevel=2)
    else:
        warnings.warn_explicit(ConvertedModelWarning(text), None, span.file, span.line)
