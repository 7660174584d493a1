"""Facts about runtimes, and the three ways to avoid a mistake inside a model.

*Rewrite*: other nodes that give what the operator should give. *Check*: conditions in the graph under which the
operator is right; where one does not hold, the model fails with the reason. *Refusal*: the engine cannot run the
model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, TypedDict, TypeVar, Unpack

from onnxsmith.graphs.rewriting.site import Array, Site
from onnxsmith.graphs.run_values import Array as RunArray
from onnxsmith.registry import Registry
from onnxsmith.types.dtypes import DType

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"


class Requirement(NamedTuple):
    """A condition of a check: the name of a BOOL scalar in the graph, or what is certain already; and what is wrong
    where it does not hold.
    """

    holds: str | bool
    reason: str


Rewriting: TypeAlias = Callable[[Site], bool]
Checking: TypeAlias = Callable[[Site], Iterable[Requirement]]
Refusing: TypeAlias = Callable[[Site], str | None]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Emits nodes that define the node's outputs and gives True, or False where the fact does not concern the node."""

    function: Rewriting


#: From a call's INT attributes and its inputs to what is wrong with it, or None.
CheckAtOnce: TypeAlias = Callable[[Mapping[str, int], Sequence[RunArray]], str | None]


@dataclass(frozen=True, slots=True)
class Check:
    """Emits nodes for conditions under which the operator is right.

    `at_once` is the same for a call on arrays, where that costs less: from attributes and inputs to what is wrong.
    """

    function: Checking
    at_once: CheckAtOnce | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Says why the engine cannot run the node; None when it can."""

    function: Refusing


Remedy: TypeAlias = Rewrite | Check | Refusal
F = TypeVar("F", bound=Callable[..., object])
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Probe:
    """A model in ONNX's text form without its header, and inputs, on which a bare session shows a fact.

    `right` is what it should give; None when it should refuse. The session shows the fact when it gives anything else,
    ends the process, or does not come back.
    """

    graph: str
    inputs: Mapping[str, Array] = field(default_factory=dict[str, Array])
    right: Sequence[Array] | None = None
    opset: int = 21
    domains: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def text(self) -> str:
        """The whole model."""
        imports = {"": self.opset, **self.domains}
        listed = ", ".join(f'"{domain}" : {version}' for domain, version in imports.items())
        return f"<ir_version: 10, opset_import: [{listed}]> {self.graph}"


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that an engine does wrong."""

    name: str
    operator: str
    reason: str
    remedy: Remedy
    probe: Probe | None = None
    domain: str = ""
    #: The versions of the operator's domain that it concerns.
    since: int = 1
    until: int | None = None
    #: The element types of the first input that it concerns; None for all.
    dtypes: frozenset[DType] | None = None
    #: Whose kernels show it.
    provider: str = CPU
    #: The first version of the engine that shows it, and the last; None while every later one is taken to.
    first: str = "1.20"
    last: str | None = None
    #: True if inputs as users have them show it, and not only those at an edge.
    is_ordinary: bool = False

    def holds_for(self, version: tuple[int, ...]) -> bool:
        """True if a version of the engine is in the range that the fact was seen in."""
        return _number(self.first) <= version and (self.last is None or version[:2] <= _number(self.last))

    def concerns(self, site: Site) -> bool:
        """True if opset and element type leave it open that a node meets this."""
        if site.version < self.since or (self.until is not None and site.version > self.until):
            return False
        return self.dtypes is None or self.takes(site.dtype(0))

    def takes(self, dtype: DType | None) -> bool:
        """True if it concerns an element type of the first input; one that nobody knows may be any."""
        return self.dtypes is None or dtype is None or dtype in self.dtypes


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


#: Facts by domain, operator and family, the module that has them: several may know something of one operator.
FACTS: Registry[tuple[str, str, str], tuple[Fact, ...]] = Registry("onnxsmith.runtime.facts", "FACTS")
#: Its facts come after those of others: the rewrite for text gives sizes, too.
_LAST = "collecting"


class _Fields(TypedDict, total=False):
    """Fields of a fact that have defaults."""

    domain: str
    since: int
    until: int | None
    first: str
    last: str | None
    is_ordinary: bool


class Options(_Fields, total=False):
    """The same, with the fields of its probe: a graph, its inputs, the right results, the opset and other domains."""

    dtypes: Iterable[DType]
    probe: str
    given: Mapping[str, Array]
    right: Sequence[Array]
    opset: int
    domains: Mapping[str, int]


def rewrite(
    operators: str | Iterable[str], reason: str, **options: Unpack[Options]
) -> Callable[[Rewriting], Rewriting]:
    """A decorator: the function gives other nodes, for each of the operators. The probe is of the first one."""
    return functools.partial(_add, Rewrite, operators, reason, **options)


def check(
    operators: str | Iterable[str],
    reason: str,
    at_once: CheckAtOnce | None = None,
    **options: Unpack[Options],
) -> Callable[[Checking], Checking]:
    """A decorator: the function gives the conditions under which the operators are right."""
    return functools.partial(_add, functools.partial(Check, at_once=at_once), operators, reason, **options)


def refusal(
    operators: str | Iterable[str], reason: str, **options: Unpack[Options]
) -> Callable[[Refusing], Refusing]:
    """A decorator: the function says why the engine cannot run a node of the operators, or None where it can."""
    return functools.partial(_add, Refusal, operators, reason, **options)


def _add(
    remedy: Callable[[F], Remedy],
    operators: str | Iterable[str],
    reason: str,
    function: F,
    *,
    dtypes: Iterable[DType] | None = None,
    probe: str | None = None,
    given: Mapping[str, Array] = MappingProxyType({}),
    right: Sequence[Array] | None = None,
    opset: int = 21,
    domains: Mapping[str, int] = MappingProxyType({}),
    **fields: Unpack[_Fields],
) -> F:
    """Enter a function that is decorated, for each of the operators."""
    listed = (operators,) if isinstance(operators, str) else tuple(operators)
    concerned = None if dtypes is None else frozenset(dtypes)
    shown = None if probe is None else Probe(probe, given, right, opset, domains)
    plain = function.__name__.strip("_").replace("_", "-")
    for operator in listed:
        name = plain if len(listed) == 1 else f"{plain}-{operator.lower()}"
        made = Fact(name, operator, reason, remedy(function), shown, dtypes=concerned, **fields)
        key = (made.domain, operator, function.__module__.rpartition(".")[2])
        FACTS[key] = (*FACTS.loaded(key, ()), made)
        shown = None  # the probe is of the first one
    return function


class ByOperator(Mapping[tuple[str, str], V]):
    """A table by domain and operator, made of facts. Looking an operator up imports the families that know of it."""

    def __init__(self, find: Callable[[tuple[str, str]], V | None]) -> None:
        self._find = functools.cache(find)

    def __getitem__(self, operator: tuple[str, str]) -> V:
        found = self._find(operator)
        if found is None:
            raise KeyError(operator)
        return found

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return (each for each in _keys() if self._find(each) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@functools.cache
def _keys() -> Mapping[tuple[str, str], Sequence[tuple[str, str, str]]]:
    """The keys of the facts of each operator."""
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for key in sorted(FACTS, key=lambda each: each[2] == _LAST):
        found.setdefault(key[:2], []).append(key)
    return found


@functools.cache
def facts_of(operator: tuple[str, str], version: tuple[int, ...], provider: str = CPU) -> Sequence[Fact]:
    """The facts of an operator that a version of ONNX Runtime shows on a provider.

    Those of the CPU hold wherever one of its kernels may run: for what another provider has no kernel for, and that is
    decided when the session is made. CUDA's kernels show most faults at edges (sizes of 0, integers), too.
    """
    facts = [each for key in _keys().get(operator, ()) for each in FACTS[key]]
    return [each for each in facts if each.provider in (CPU, provider) and each.holds_for(version)]
