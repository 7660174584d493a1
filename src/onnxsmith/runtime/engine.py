"""The entry to eager execution: a runner for one way to call an operator, from whoever can run it.

Asks ONNX Runtime for a model of one node, as for any model, and then onnx's reference evaluator. Binding, literals and
types are checked before a call comes here. Says also which operators get more than one thread, and which need ranks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import onnx
from onnx import defs

from onnxsmith.core.call_cache import CallCache
from onnxsmith.errors import MissingDependencyError, MissingProviderError, OnnxsmithError, OperatorFailedError
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.rewriting.scopes import operators_of
from onnxsmith.runtime import onnxruntime_api, single_node
from onnxsmith.runtime.adapting import Refused, checks_at_once
from onnxsmith.runtime.device_arrays import bound_runner
from onnxsmith.runtime.facts.fact import CheckAtOnce, facts_of
from onnxsmith.runtime.failure import (
    NoReference,
    not_runnable,
    operator_failed,
    plain_reason,
    says_not_supported,
)
from onnxsmith.runtime.fallback_forms import in_definitions_for, open_as_it_can
from onnxsmith.runtime.feeds import Recover, Run, runner_over
from onnxsmith.runtime.kernels_in_python import Kernel, failed_kernel, kernel_of
from onnxsmith.runtime.opening import Opened, open_session
from onnxsmith.runtime.reference_trust import warned_of_call
from onnxsmith.runtime.settings import DEFAULT_CACHE_SIZE, Settings, chosen, current, usable_cores
from onnxsmith.runtime.single_node import Call, InputType
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.foreign_arrays import DeviceArray
from onnxsmith.types.dtypes import DType

#: Threads are per session, so a thousand sessions with many threads each would be a thousand pools. Only operators
#: that do much work per byte get more than one.
_PARALLEL = frozenset(
    """
    Attention CausalConvWithState Conv ConvInteger ConvTranspose DeformConv Einsum FlexAttention GRU Gemm If
    LSTM LinearAttention Loop MatMul MatMulInteger QLinearConv QLinearMatMul RNN Resize Scan
    """.split()  # noqa: SIM905  # a paragraph of names is read at a glance
)
_MOST_THREADS = 4

#: ONNX Runtime's Scan insists that its body's outputs have ranks; the others have a Scan in their function body, or
#: a function body that is only written out for known ranks.
_NEED_RANKS = frozenset({"Scan", "CausalConvWithState", "FlexAttention", "LinearAttention"})


def threads_for(op: OperatorDef) -> int:
    """How many threads a session of this operator gets."""
    return min(usable_cores(), _MOST_THREADS) if op.name in _PARALLEL else 1


def needs_ranks(call: Call) -> bool:
    """True if runtimes only take this call when they know how many dimensions each input has."""
    if call.op.name in _NEED_RANKS:
        return True
    if not call.attributes:
        return False
    if _counts_from_the_end(call):
        return True
    bodies = (each for each in call.attributes.values() if isinstance(each, onnx.GraphProto))
    return any(_uses(body.node, _NEED_RANKS) for body in bodies)


def _counts_from_the_end(call: Call) -> bool:
    """True if a reduction has axes as attributes that only a rank tells apart from others."""
    if call.op.domain or not call.op.name.startswith(("Reduce", "Arg")):
        return False
    axis, axes = call.attributes.get("axis", 0), call.attributes.get("axes", ())
    return axis < 0 or any(each < 0 for each in axes)


def _uses(nodes: Iterable[onnx.NodeProto], names: frozenset[str]) -> bool:
    return any(
        node.op_type in names or any(_uses(attribute.g.node, names) for attribute in node.attribute)
        for node in nodes
    )


Source: TypeAlias = Literal["onnxruntime", "reference", "kernel", "by ranks", "nothing"]

_TITLES: dict[Source, str] = {
    "onnxruntime": "ONNX Runtime",
    "reference": "the reference evaluator",
}
#: How many combinations of ranks are kept for one call of an operator that needs them.
_MOST_RANKS = 16


class Runner:
    """Runs one operator, called one way, on any shapes.

    `run` is the whole of it, and what a hot path calls; `source` says who runs it, or that ranks decide it. Inputs are
    one per input type (None in holes), then the captured values in the order they were named.
    """

    __slots__ = ("ranks", "run", "source")

    def __init__(self, run: Run, source: Source) -> None:
        self.run = run
        self.source: Source = source
        #: The ranks of inputs that inference had nothing against. Runtimes take some ranks that ONNX does not.
        self.ranks: set[tuple[int, ...]] = set()

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        return self.run(inputs)


def prepare(
    op: OperatorDef,
    input_types: Sequence[InputType],
    attributes: Mapping[str, Any],
    output_count: int,
    *,
    captured: Mapping[str, InputType] | None = None,
    opset_version: int | None = None,
    before_making: Callable[[], object] | None = None,
) -> Runner:
    """The runner for one way to call an operator, made once and kept.

    `input_types` has an element type per input, a type for what is no tensor, None for a hole. `opset_version` is
    that of the bodies among the attributes (of the standard domain, whatever the operator's), the newest one unless
    given, and does not matter without bodies. Does not fail: what nothing can run
    says so when it is run, and that verdict is kept, too. `before_making` is called where there is none yet; what it
    raises is raised, and nothing is kept.
    """
    settings = current()
    has_body = any(isinstance(each, onnx.GraphProto) for each in attributes.values())
    if op.name == "Constant" and "sparse_value" in attributes:
        attributes = {"value": single_node.dense_array(attributes["sparse_value"])}
    call = Call(
        op,
        tuple(input_types),
        attributes,
        output_count,
        captured or {},
        (opset_version or defs.onnx_opset_version()) if has_body else None,
    )

    def make() -> Runner:
        if before_making is not None:
            before_making()
        return build(call, settings)

    return runners().get_or_make(single_node.cache_key(call), make)


_default_runners: CallCache[Any] = CallCache(DEFAULT_CACHE_SIZE)


@functools.lru_cache(maxsize=16)
def _runners_under(settings: Settings) -> CallCache[Any]:
    return CallCache(settings.cache_size)


def runners() -> CallCache[Any]:
    """The runners kept under the settings of this context.

    A caller may keep what it made of a runner there, too, under a key of its own, to find it again sooner than
    `prepare` does.
    """
    settings = chosen.get()
    return _default_runners if settings is None else _runners_under(settings)


def clear_cache() -> None:
    """Forget all runners, under all settings, and free their memory.

    >>> from onnxsmith.runtime import clear_cache
    >>> clear_cache()
    """
    _default_runners.clear()
    _runners_under.cache_clear()


def build(call: Call, settings: Settings) -> Runner:
    """A new runner; `prepare` is the one that keeps them."""
    if call.ranks is None and needs_ranks(call):
        return Runner(_run_by_rank(call, settings), "by ranks")
    kernel = kernel_of(call.op.domain, call.op.name) if settings.kernels else None
    if kernel is not None:
        return Runner(_kernel_run(call, kernel), "kernel")
    is_reference = settings.runtime == "reference"
    sources: list[Source] = ["reference"] if is_reference else ["onnxruntime", "reference"]
    if settings.stays_on is not None:
        sources = ["onnxruntime"]  # the only one that computes on devices
    runner = _first_of(call, settings, sources, [])
    if runner.source != "onnxruntime" or not _reads_arrays(settings):
        return runner
    first = call.input_types[0] if call.input_types else None
    dtype = first if isinstance(first, DType) else None
    facts = facts_of((call.op.domain, call.op.name), onnxruntime_api.version())
    checks = checks_at_once(facts, dtype) if facts else ()
    return runner if not checks else Runner(_run_checked(call, settings, runner.run, checks), runner.source)


def _kernel_run(call: Call, kernel: Kernel) -> Run:
    """The Python function that somebody wrote for the operator."""

    def run(inputs: Sequence[Any]) -> list[Any]:
        try:
            return kernel.run(inputs, call.attributes, call.output_count)
        except OnnxsmithError:
            raise
        except Exception as error:
            raise failed_kernel(kernel, inputs, error) from error

    return run


def _reads_arrays(settings: Settings) -> bool:
    """True if the elements of a call's arrays can be read without a copy."""
    return settings.stays_on in (None, "cpu")


def _run_checked(call: Call, settings: Settings, run: Run, checks: Sequence[CheckAtOnce]) -> Run:
    """With the checks that cost less here than in the graph."""
    numbers = {name: value for name, value in call.attributes.items() if isinstance(value, int)}

    is_on_device = settings.stays_on is not None

    def checked(inputs: Sequence[Any]) -> list[Any]:
        arrays = inputs
        if is_on_device:
            arrays = [each.numpy() if isinstance(each, DeviceArray) else each for each in inputs]
        for check in checks:
            reason = check(numbers, arrays)
            if reason is not None:
                raise operator_failed(call, inputs, reason)
        return run(inputs)

    return checked


def _first_of(
    call: Call, settings: Settings, candidates: Sequence[Source], tried: list[tuple[str, str]]
) -> Runner:
    """The runner from the first source that has one; else one that says who was asked and why they cannot."""
    for position, source in enumerate(candidates):
        recover = functools.partial(_recover, call, settings, source, tuple(candidates[position + 1 :]))
        try:
            return Runner(_MAKERS[source](call, settings, recover), source)
        except _NotThere as error:
            tried.append((_TITLES[source], str(error)))
        except Refused as error:
            # The function body would end in the same kernels.
            rest: list[Source] = ["reference"] if "reference" in candidates[position + 1 :] else []
            return _first_of(call, settings, rest, [*tried, (_TITLES[source], str(error))])
        except MissingProviderError:
            raise
        except Exception as error:  # protos and evaluators throw what they like on absurd attributes
            tried.append((_TITLES[source], plain_reason(error)))
    reasons = tuple(tried)

    def refuse(inputs: Sequence[Any]) -> list[Any]:
        raise not_runnable(call, inputs, reasons)

    return Runner(refuse, "nothing")


def _run_by_rank(call: Call, settings: Settings) -> Run:
    """For what runtimes take only with known ranks: one runner for each combination of ranks that comes along."""
    by_rank: CallCache[Runner] = CallCache(_MOST_RANKS)

    def run(inputs: Sequence[Any]) -> list[Any]:
        ranks = tuple(getattr(each, "ndim", None) for each in inputs)
        return by_rank.get_or_make(ranks, lambda: build(replace(call, ranks=ranks), settings)).run(inputs)

    return run


class _NotThere(Exception):
    """This source cannot run the call; the text says why."""


def _onnxruntime_run(call: Call, settings: Settings, recover: Recover) -> Run:
    """As any model: as it is, or in the first other form that ONNX Runtime takes."""
    # In a late opset there are more operators to meet the runtime's mistakes with.
    operator = call.op.domain, call.op.name
    has_facts = bool(facts_of(operator, onnxruntime_api.version()))
    model = SessionModel(single_node.make_model(call, is_late=has_facts))
    threads = settings.intra_op_threads or threads_for(call.op)
    has_bodies = call.opset_version is not None

    def opened(form: SessionModel) -> Opened:
        is_one_node = form is model and not has_bodies
        operators = {operator} if is_one_node else operators_of(form.proto)
        return open_session(
            in_definitions_for(form, settings),
            settings,
            threads=threads,
            optimize=False,
            # What a call's own arrays are checked for says nothing of other nodes: those of bodies, or of a definition.
            is_checked=operators == {operator} and _reads_arrays(settings),
            operators=operators,
        )

    types = (*call.input_types, *call.captured.values())
    session = open_as_it_can(model, opened).session
    if settings.stays_on is not None:
        return bound_runner(session, call.feed_names, types, settings.stays_on, recover)
    return runner_over(session, call.feed_names, types, recover)


def _reference_run(call: Call, settings: Settings, recover: Recover) -> Run:
    from onnxsmith.runtime.reference import ReferenceSession  # heavy: where ONNX Runtime cannot run

    try:
        session = ReferenceSession(single_node.make_model(call))
    except NoReference as error:
        raise _NotThere(plain_reason(error)) from error
    names = call.feed_names

    def run(inputs: Sequence[Any]) -> list[Any]:
        try:
            return session.run(names, inputs)
        except Exception as error:
            return recover(error, inputs)

    return run if settings.runtime == "reference" else warned_of_call(call, run)


_MAKERS: dict[Source, Callable[[Call, Settings, Recover], Run]] = {
    "onnxruntime": _onnxruntime_run,
    "reference": _reference_run,
}


def _recover(
    call: Call,
    settings: Settings,
    source: Source,
    rest: Sequence[Source],
    error: Exception,
    inputs: Sequence[Any],
) -> list[Any]:
    """After a source failed on these inputs: ask the others if it only lacks something, else say what is wrong."""
    reason = plain_reason(error)
    if isinstance(error, ImportError):
        raise MissingDependencyError(f"{call.op.qualified_name} cannot run: {reason}") from error
    if not says_not_supported(error) or isinstance(error, MemoryError):
        raise operator_failed(call, inputs, reason) from error
    tried = [(_TITLES[source], reason)]
    while rest:
        source, *rest = rest
        runner = _first_of(call, settings, [source], tried)
        if runner.source == "nothing":
            continue
        try:
            return runner.run(inputs)
        except OperatorFailedError:
            raise
        except OnnxsmithError as later:
            cause = later.__cause__
            tried.append((_TITLES[source], later.message if cause is None else plain_reason(cause)))
    raise not_runnable(call, inputs, tried) from error
