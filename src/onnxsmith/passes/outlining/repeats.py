"""Parts that repeat: equal layers of a model, found by what names say of them, and otherwise by their order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence

import onnx_ir as ir

from onnxsmith.graphs.rewriting.scopes import bodies_of, reached, roots_of
from onnxsmith.passes.outlining.cutting import OWN_DOMAIN, Naming, cut_out
from onnxsmith.passes.outlining.cycles import in_cycles
from onnxsmith.passes.outlining.part import Part, Scope
from onnxsmith.passes.outlining.scopes import all_scopes, class_of, function_name
from onnxsmith.passes.outlining.wiring import Segment, Wiring, is_in_order

#: A model that is nested deeper is left alone; no exporter makes one.
_DEEPEST = 50


def group_repeated(model: ir.Model) -> ir.Model:
    """A model that computes the same, with repeated segments of its graph as calls of local functions.

    The model itself is left as it is, and shares its weights with the new one. Each call has its own weights as inputs.
    Where nothing repeats, and where onnx-ir cannot copy a model (nodes that stand before what they use, a branch that
    gives a value from outside), the result is the model itself.
    """
    result = _copy(model) if _is_plain(model) else None
    if result is None:
        return model
    wiring = Wiring(result.graph)
    parts, scopes = repeated_parts(wiring)
    if not parts:
        return model
    cut_out(result, parts, Naming(repeated_name, scopes), wiring=wiring)
    return result


def repeated_parts(wiring: Wiring) -> tuple[list[Part], dict[ir.Node, Scope]]:
    """Segments of a graph that are isomorphic, two or more of each kind, and where its nodes stand by their names.

    Found by the modules that names and metadata tell of, and otherwise by the order of nodes.
    """
    scopes = all_scopes(wiring)
    groups = choose(wiring, _by_scope(wiring, scopes), [])
    # Where names tell of the repetitions, they also tell what else is none; the order of nodes speaks for the others.
    taken = {k for k, scope in enumerate(scopes) if scope} if groups else set[int]()
    groups += choose(wiring, by_runs(wiring, taken), groups)
    parts = [
        Part([wiring.nodes[k] for k in sorted(each.nodes)], each.scope) for group in groups for each in group
    ]
    return parts, dict(zip(wiring.nodes, scopes, strict=True))


def repeated_name(parts: Sequence[Part]) -> tuple[str, str]:
    """The name that a person would give the parts, by the class of their modules or by the modules' names."""
    if not all(each.scope for each in parts):
        return OWN_DOMAIN, "block"
    classes = {class_of(each.all_nodes(), each.scope) for each in parts}
    named = classes.pop() if len(classes) == 1 else None
    return OWN_DOMAIN, named or function_name([each.scope for each in parts])


def _by_scope(wiring: Wiring, scopes: Sequence[Scope]) -> list[Segment]:
    """A candidate for each module, whatever it is called: equal structure decides which are equal."""
    nodes: defaultdict[Scope, list[int]] = defaultdict(list)
    for k, scope in enumerate(scopes):
        for length in range(1, len(scope) + 1):
            nodes[scope[:length]].append(k)
    found: dict[tuple[int, ...], Scope] = {}
    for scope, members in nodes.items():
        if len(members) >= FEWEST_NODES:
            found.setdefault(tuple(members), scope)
    return [wiring.segment(members, scope) for members, scope in found.items()]


def _copy(model: ir.Model) -> ir.Model | None:
    """A copy that shares the weights; None where onnx-ir's own cannot be made."""
    try:
        return model.clone()
    except (RuntimeError, ValueError, KeyError):
        return None


def _is_plain(model: ir.Model) -> bool:
    """True if all nodes stand after what they use, and are not nested without end: that is what can be copied."""
    for root in roots_of(model):
        waiting = [(root, 0)]
        while waiting:
            graph, depth = waiting.pop()
            if depth > _DEEPEST or not is_in_order(graph):
                return False
            waiting += [(inner, depth + 1) for node in graph for inner in bodies_of(node)]
    return True


# -- runs ------------------------------------------------------------------------------------------------------
# Segments where names say nothing: the order of a graph's nodes repeats itself wherever its layers do.


#: How many distances between equal nodes are tried as the length of a layer.
_PERIODS = 12
#: How many of the layers found are looked for elsewhere.
_TEMPLATES = 8
#: A segment that gives more than this is a cut through the middle of something.
_MOST_OUTPUTS = 2
_BASE, _MODULUS = 1_000_003, (1 << 61) - 1


def by_runs(wiring: Wiring, taken: set[int]) -> list[Segment]:
    """Candidates from stretches of nodes that are the same some nodes later, and equal ones elsewhere."""
    labels = [-1 - k if k in taken else label for k, label in enumerate(wiring.labels)]
    crossings = _crossings(wiring)
    result: dict[tuple[int, int], Segment] = {}
    for period in _periods(labels):
        for start, length in _runs(labels, period):
            first, count = _best_cut(crossings, start, length, period)
            for place in range(first, first + count * period, period):
                if (place, period) not in result:
                    result[place, period] = wiring.segment(range(place, place + period))
    _add_others(wiring, labels, result)
    return [each for _, each in sorted(result.items()) if _is_whole(wiring, each)]


def _periods(labels: Sequence[int]) -> list[int]:
    """The distances at which equal nodes stand most often."""
    last: dict[int, int] = {}
    gaps: Counter[int] = Counter()
    for k, label in enumerate(labels):
        if label in last:
            gaps[k - last[label]] += 1
        last[label] = k
    ranked = sorted(gaps.items(), key=lambda each: (-each[0] * each[1], each[0]))
    return [gap for gap, count in ranked if gap >= FEWEST_NODES and count >= FEWEST_NODES][:_PERIODS]


def _runs(labels: Sequence[int], period: int) -> Iterator[tuple[int, int]]:
    """Where and how long all nodes are equal to those one period on; at least for two periods in a row."""
    start = 0
    for k in range(len(labels) - period + 1):
        if k < len(labels) - period and labels[k] == labels[k + period]:
            continue
        if k - start >= period:
            yield start, k - start + period
        start = k + 1


def _crossings(wiring: Wiring) -> list[int]:
    """How many values are made before each place and used at or after it."""
    changes = [0] * (len(wiring.nodes) + 1)
    for k, node in enumerate(wiring.nodes):
        for value in node.outputs:
            users = wiring.users.get(value)
            if users and users[-1] > k:
                changes[k + 1] += 1
                changes[users[-1] + 1] -= 1
    result: list[int] = []
    total = 0
    for each in changes:
        total += each
        result.append(total)
    return result


def _best_cut(crossings: Sequence[int], start: int, length: int, period: int) -> tuple[int, int]:
    """Where the first repetition begins and how many follow: where fewest values cross from one to the next."""

    def cost(phase: int) -> tuple[int, int, int]:
        count = (length - phase) // period
        first = start + phase
        crossing = max(crossings[place] for place in range(first, first + count * period + 1, period))
        return (crossing, -count, phase)

    phases = [phase for phase in range(period) if (length - phase) // period > 1]
    _, count, phase = min(cost(phase) for phase in phases)
    return start + phase, -count


def _add_others(wiring: Wiring, labels: Sequence[int], result: dict[tuple[int, int], Segment]) -> None:
    """Look for the layers that save most where they do not follow one another."""
    classes: defaultdict[tuple[int, object], list[int]] = defaultdict(list)
    for (place, period), segment in result.items():
        classes[period, segment.key].append(place)
    ranked = sorted(classes.items(), key=lambda each: -saving(len(each[1]), each[0][0]))
    for (period, key), places in ranked[:_TEMPLATES]:
        covered = bytearray(len(labels))
        for place in places:
            covered[place : place + period] = b"1" * period
        wanted = list(labels[places[0] : places[0] + period])
        tries = 4 * len(labels) // period  # so that the cost stays linear when most of them only look alike
        for place in _windows(labels, wanted):
            if (
                covered[place]
                or covered[place + period - 1]
                or list(labels[place : place + period]) != wanted
            ):
                continue
            segment = wiring.segment(range(place, place + period))
            if segment.key == key:
                result[place, period] = segment
                covered[place : place + period] = b"1" * period
            tries -= 1
            if not tries:
                break


def _windows(labels: Sequence[int], wanted: Sequence[int]) -> Iterator[int]:
    """The places where labels very likely are the wanted ones, by a rolling hash."""
    size = len(wanted)
    if size > len(labels):
        return
    target = here = 0
    for k in range(size):
        target = (target * _BASE + wanted[k]) % _MODULUS
        here = (here * _BASE + labels[k]) % _MODULUS
    high = pow(_BASE, size - 1, _MODULUS)
    for place in range(len(labels) - size + 1):
        if here == target:
            yield place
        if place + size < len(labels):
            here = ((here - labels[place] * high) * _BASE + labels[place + size]) % _MODULUS


def _is_whole(wiring: Wiring, segment: Segment) -> bool:
    """True if a segment is connected and gives little: anything else is no part that a person would name."""
    own = set(segment.nodes)
    outputs = sum(
        wiring.is_used_outside(value, own) for k in segment.nodes for value in wiring.nodes[k].outputs
    )
    if not 0 < outputs <= _MOST_OUTPUTS:
        return False
    links: defaultdict[int, list[int]] = defaultdict(list)
    for k in segment.nodes:
        for source in map(wiring.source, wiring.uses[k]):
            if source is not None and source in own:
                links[k].append(source)
                links[source].append(k)
    return len(reached([segment.nodes[0]], links.__getitem__)) == len(own)


# -- choosing segments -----------------------------------------------------------------------------------

#: A function of fewer nodes is not easier to read than the nodes.
FEWEST_NODES = 3
#: Each round drops what would close a cycle and tries again with the rest.
_ROUNDS = 8


def choose(
    wiring: Wiring, candidates: Sequence[Segment], fixed: Sequence[list[Segment]]
) -> list[list[Segment]]:
    """Groups of isomorphic segments that can all become calls at once, besides those that are fixed already."""
    refused: set[tuple[int, ...]] = set()
    for _ in range(_ROUNDS):
        groups = _disjoint(wiring, [each for each in candidates if each.nodes not in refused], fixed)
        segments = [each.nodes for group in (*groups, *fixed) for each in group]
        cyclic = {segments[number] for number in in_cycles(wiring, segments)}
        bad = {each.nodes for group in groups for each in group if each.nodes in cyclic}
        if not bad:
            return groups
        refused |= bad
    return []


def saving(count: int, size: int) -> int:
    """How many nodes are fewer to read."""
    return (count - 1) * size - count


def _disjoint(
    wiring: Wiring, candidates: Sequence[Segment], fixed: Sequence[list[Segment]]
) -> list[list[Segment]]:
    classes: defaultdict[Hashable, list[Segment]] = defaultdict(list)
    for each in candidates:
        if len(each.nodes) >= FEWEST_NODES:
            classes[each.key].append(each)
    ranked = sorted(classes.values(), key=lambda each: -saving(len(each), len(each[0].nodes)))
    taken = {k for group in fixed for each in group for k in each.nodes}
    groups: list[list[Segment]] = []
    for members in ranked:
        if len(members) < 2:
            continue
        free: list[Segment] = []
        here: set[int] = set()
        for each in members:
            if taken.isdisjoint(each.nodes) and here.isdisjoint(each.nodes):
                free.append(each)
                here.update(each.nodes)
        is_worth_it = len(free) > 1 and saving(len(free), len(free[0].nodes)) > 0
        if is_worth_it and any(wiring.gives_something(each.nodes) for each in free):
            groups.append(free)
            taken |= here
    return groups
