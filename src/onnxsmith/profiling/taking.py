"""`model.profile()`: runs a model with ONNX Runtime's profile and finds the node of the model for every kernel."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx

from onnxsmith.diagnostics import clipped, described_type, printable
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    MissingDependencyError,
    ModelInputError,
    NotRunnableError,
    OnnxsmithError,
)
from onnxsmith.graphs.model import Model, ModelLike, bound, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.model_content import read
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.graphs.trial_inputs import trials
from onnxsmith.inspection import nodes_of
from onnxsmith.observing import ModelInputs
from onnxsmith.profiling.attributing import Attribution, Attributor
from onnxsmith.profiling.events import KernelEvent, RunEvents, read_runs
from onnxsmith.profiling.kernel import Kernel, ProfiledNode, described_nodes
from onnxsmith.profiling.profile import Circumstances, Profile
from onnxsmith.profiling.quantities import Times
from onnxsmith.profiling.tagging import tagged
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.failure import plain_reason
from onnxsmith.runtime.fallback_forms import threads_for
from onnxsmith.runtime.kernels_in_python import kernels_in
from onnxsmith.runtime.profiled import Recording, record
from onnxsmith.runtime.settings import Provider, using
from onnxsmith.source import Span

_MICROSECOND = 1e-6
#: A run that takes so many times as long while it is profiled says little of small kernels.
_DEAR = 2
_LONGEST_NAME = 80
_LOOPS = ("Loop", "Scan")
_NAMELESS = Attribution((), is_inserted=True)


@model_boundary
def profile(
    model: ModelLike,
    inputs: ModelInputs | None = None,
    *,
    runs: int = 10,
    warm_up: int = 3,
    providers: Provider | Sequence[Provider] | None = None,
    intra_op_threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Profile:
    """How long each kernel takes when the model runs, and which node and line of Python it runs for.

    ONNX Runtime runs the model `warm_up` times, then `runs` times with its profile, then as often without: a profile
    costs time itself. `inputs` are arrays by name or in order; without them some are made up, with small sizes where
    dimensions are open. `providers` and `intra_op_threads` are as in `onnxsmith.runtime.using`. `progress` is told
    after each run how many are done, and how many there will be.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a, b: op.Relu(a @ b + 1.0), FLOAT["N", 64], FLOAT[64, 64])
    >>> profile = model.profile([np.ones((64, 64), np.float32)] * 2, runs=3)
    >>> [kernel.operator for kernel in profile.kernels]
    ['MatMul', 'Add', 'Relu']
    >>> profile.kernels[0].nodes[0].address, profile.kernels[0].output_bytes
    ('0', 16384)
    """
    model = model_of(model, "profile")
    _check_count("runs", runs, 1)
    _check_count("warm_up", warm_up, 0)
    if not onnxruntime_api.is_available():
        raise MissingDependencyError(
            "a profile needs ONNX Runtime", help='install it: pip install "onnxsmith[ort]"'
        )
    with using(runtime="onnxruntime", providers=providers, intra_op_threads=intra_op_threads) as settings:
        given = _made_up(model) if inputs is None else _checked(inputs)
        run, feeds = bound(model, given)
        handed = run.handed_over()
        if settings.kernels and kernels_in(handed.proto):
            raise NotRunnableError(
                "the model has kernels in Python, and a profile is of ONNX Runtime's",
                help="using(kernels=False) profiles the bodies of functions",
            )
        told, tags = tagged(handed)
        every: list[RunEvents] = []
        try:
            recording = record(
                told,
                feeds,
                settings,
                runs=runs,
                warm_up=warm_up,
                take=lambda events: every.extend(read_runs(events)),
                progress=lambda done: None if progress is None else progress(done, warm_up + 2 * runs),
            )
        except OnnxsmithError:
            raise
        except Exception as error:  # ONNX Runtime's own classes, one for each reason
            by_name = dict(zip([port.name for port in run.inputs], feeds, strict=True))
            run.run(by_name)  # says why, where it can
            raise NotRunnableError(
                f"ONNX Runtime cannot run this model, and nothing else has a profile: {plain_reason(error)}"
            ) from error
    profiled = every[warm_up:]
    if not profiled:
        raise AttributeValueError(
            "a run on these inputs executes more kernels than ONNX Runtime keeps in a profile, a million",
            help="profile the model on smaller inputs, or with fewer iterations of its loops",
            culprit="inputs",
        )
    found = nodes_by_address(model)
    attributor = Attributor(recording.told, recording.optimized, tags)
    known = [
        replace(found[address], calls=tuple(found[each] for each in calls)) if calls else found[address]
        for address, calls in zip(tags.addresses, tags.calls, strict=True)
    ]
    kernels = _kernels(profiled, recording, attributor, known)
    plain = Times(recording.plain_seconds)
    whole = Times(tuple(each.duration * _MICROSECOND for each in profiled))
    circumstances = Circumstances(
        called=_called(model),
        runtime="ONNX Runtime " + ".".join(map(str, onnxruntime_api.version())),
        providers=tuple(name for name, _ in settings.providers) or ("CPUExecutionProvider",),
        threads=threads_for(settings),
        runs=len(profiled),
        warm_up=warm_up,
        inputs=tuple((port.name, _described(feed)) for port, feed in zip(run.inputs, feeds, strict=True)),
        are_made_up=inputs is None and bool(feeds),
        notes=(*_notes(len(profiled), runs, plain, whole), *_idle(kernels)),
    )
    return Profile(kernels, plain, whole, circumstances)


def _called(model: Model) -> str:
    name = read(model).ir.graph.name if model.place is None else model.place.name
    return printable(clipped(name, _LONGEST_NAME)) if name else "the model"


def _notes(kept: int, runs: int, plain: Times, whole: Times) -> Iterator[str]:
    if kept < runs:
        yield f"ONNX Runtime keeps a million events: {kept} of {runs} runs are in the profile"
    if whole.minimum > _DEAR * plain.minimum:
        yield "most of that is the cost of the profile, which makes small kernels look larger than they are"


def _idle(kernels: Sequence[Kernel]) -> Iterator[str]:
    """Loops that did nothing: their bodies are no part of the profile."""
    for kernel in kernels:
        if kernel.operator in _LOOPS and not kernel.has_bodies:
            yield (
                f"{described_nodes(kernel.nodes)} made no turn on these inputs: nothing is known of what is inside"
            )


def _kernels(
    runs: Sequence[RunEvents], recording: Recording, attributor: Attributor, known: Sequence[ProfiledNode]
) -> tuple[Kernel, ...]:
    """The kernels that ran, grouped by the node of the optimised graph."""
    found: dict[str, list[list[Occurrence]]] = {}
    for number, run in enumerate(runs):
        for each in occurrences(run.kernels, recording.optimized.graph):
            found.setdefault(each.address, [[] for _ in runs])[number].append(each)
    ran = sorted(found.values(), key=lambda per_run: min(each.event.start for run in per_run for each in run))
    return tuple(_kernel(per_run, attributor, known) for per_run in ran)


def _kernel(
    per_run: Sequence[Sequence[Occurrence]], attributor: Attributor, known: Sequence[ProfiledNode]
) -> Kernel:
    every: list[Occurrence] = [each for run in per_run for each in run]
    events: list[KernelEvent] = [each.event for each in every]
    node = every[0].node
    attribution = _NAMELESS if node is None else attributor.of(node)
    domain = "" if node is None else node.domain
    largest = max(events, key=lambda event: event.output_bytes)
    return Kernel(
        operator=f"{domain}::{events[0].operator}" if domain else events[0].operator,
        provider=events[0].provider,
        nodes=tuple(known[tag] for tag in attribution.tags),
        is_inserted=attribution.is_inserted,
        times=Times(tuple(sum(each.event.own for each in run) * _MICROSECOND for run in per_run)),
        calls=len(events) / len(per_run),
        output_bytes=largest.output_bytes,
        parameter_bytes=max(event.parameter_bytes for event in events),
        output_types=largest.output_types,
        depth=every[0].depth,
        has_bodies=any(event.executions for event in events),
    )


def _made_up(model: Model) -> Mapping[str, RunValue]:
    """Inputs that the model runs on; raises what it says of the last that were tried."""
    failed: OnnxsmithError | None = None
    for trial in trials(model.inputs):
        try:
            model.run(dict(trial.inputs))
            return trial.inputs
        except OnnxsmithError as error:
            failed = error
    said = "" if failed is None else f": {clipped(failed.message, 300)}"
    raise ModelInputError(
        f"no inputs could be made up that the model runs on{said}", help="give some: model.profile({...})"
    )


def _checked(inputs: object) -> ModelInputs:
    if isinstance(inputs, Mapping):
        return inputs  # pyright: ignore[reportUnknownVariableType]  # binding looks at what is in it
    if isinstance(inputs, Sequence) and not isinstance(inputs, str | bytes):
        return inputs  # pyright: ignore[reportUnknownVariableType]  # as above
    raise AttributeTypeError(
        f"inputs are arrays by name or in order, not {described_type(type(inputs))}",
        help='model.profile({"x": array}), or model.profile([array])',
        culprit="inputs",
    )


def _check_count(what: str, value: object, least: int) -> None:
    try:
        count = -1 if isinstance(value, bool) else operator.index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        count = None
    if count is None or isinstance(value, bool):
        raise AttributeTypeError(f"{what} is an int, not {described_type(type(value))}", culprit=what)
    if count < least:
        raise AttributeValueError(f"{what} is at least {least}, and {value} is not", culprit=what)


def _described(value: RunValue) -> str:
    if isinstance(value, np.ndarray | np.generic):
        return f"{value.dtype}{list(value.shape)}"
    return type(value).__name__


# -- matching --------------------------------------------------------------------------------------------------
# Matches kernel events to nodes of the graph that ONNX Runtime ran.
#
# A graph's kernels run in the order in which its nodes are written, so that they are paired by place; names decide
# where that fails. Nodes are known by their address in the optimised graph.


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A kernel that ran, and the node that it ran for."""

    event: KernelEvent
    #: Where the node stands in the optimised graph; the event's own name where none was found.
    address: str
    node: onnx.NodeProto | None
    depth: int


def occurrences(kernels: Sequence[KernelEvent], graph: onnx.GraphProto) -> Iterator[Occurrence]:
    """All kernels of a run with their nodes, those inside control flow behind the node that they ran for."""
    waiting: list[tuple[Sequence[KernelEvent], onnx.GraphProto | None, str, int]] = [(kernels, graph, "", 0)]
    while waiting:
        run, inside, prefix, depth = waiting.pop()
        nodes = () if inside is None else inside.node
        for event, place in zip(run, _places(run, nodes), strict=True):
            node = None if place is None else nodes[place]
            address = f"{prefix}{event.name}" if place is None else f"{prefix}{place}"
            yield Occurrence(event, address, node, depth)
            for execution in event.executions:
                name, body = _body(execution, node)
                waiting.append((execution, body, f"{address}.{name}.", depth + 1))


def _places(kernels: Sequence[KernelEvent], nodes: Sequence[onnx.NodeProto]) -> list[int | None]:
    """For each kernel the place of its node."""
    if len(kernels) == len(nodes) and all(_fits(*each) for each in zip(kernels, nodes, strict=True)):
        return list(range(len(nodes)))
    by_name = {node.name: place for place, node in enumerate(nodes) if node.name}
    found = [by_name.get(each.name) for each in kernels]
    # Nodes without a name, in order.
    taken = set(found)
    rest: dict[str, list[int]] = {}
    for place in reversed(range(len(nodes))):
        if place not in taken:
            rest.setdefault(nodes[place].op_type, []).append(place)
    return [
        rest[kernel.operator].pop() if place is None and rest.get(kernel.operator) else place
        for kernel, place in zip(kernels, found, strict=True)
    ]


def _fits(kernel: KernelEvent, node: onnx.NodeProto) -> bool:
    return kernel.operator == node.op_type and (not node.name or kernel.name == node.name)


def _body(kernels: Sequence[KernelEvent], node: onnx.NodeProto | None) -> tuple[str, onnx.GraphProto | None]:
    """The body of a node that has run, by the kernels that it has, with its name."""
    bodies = list(_bodies(node.attribute)) if node is not None else []
    best = max(bodies, key=lambda each: _likeness(kernels, each[1].node), default=None)
    return ("body", None) if best is None else best


def _bodies(attributes: Iterable[onnx.AttributeProto]) -> Iterator[tuple[str, onnx.GraphProto]]:
    for attribute in attributes:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.name, attribute.g
        for number, graph in enumerate(attribute.graphs):
            yield f"{attribute.name}[{number}]", graph


def _likeness(kernels: Sequence[KernelEvent], nodes: Sequence[onnx.NodeProto]) -> tuple[int, int]:
    same = sum(_fits(*each) for each in zip(kernels, nodes, strict=False))
    return same, -abs(len(kernels) - len(nodes))


# -- places ----------------------------------------------------------------------------------------------------
# The nodes of a model by address, with what a profile says of each.


def nodes_by_address(model: Model) -> dict[str, ProfiledNode]:
    """Every node of a model."""
    return {
        each.address: ProfiledNode(
            each.address,
            each.operator,
            each.name,
            tuple(place for place in each.sources if isinstance(place, Span)),
            inputs=tuple(value.name for value in each.ir.inputs if value is not None and value.name),
            outputs=tuple(value.name for value in each.ir.outputs if value.name),
        )
        for each in nodes_of(model)
    }
