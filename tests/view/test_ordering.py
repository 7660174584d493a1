"""Layers and order: laws that hold for every graph."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from onnxsmith.view.layering import Net, Wires, assign_layers
from onnxsmith.view.ordering import Arrangement, Effort, arrange, crossings_between


@st.composite
def graphs(draw: st.DrawFn, *, is_acyclic: bool) -> tuple[int, list[Net]]:
    count = draw(st.integers(1, 14))
    nets: list[Net] = []
    for source in range(count):
        first = source + 1 if is_acyclic else 0
        targets = draw(st.lists(st.integers(first, count - 1), max_size=4)) if first < count else []
        targets = [each for each in dict.fromkeys(targets) if each != source]
        if targets:
            nets.append(Net(len(nets), source, tuple(targets)))
    return count, nets


@given(graphs(is_acyclic=True), st.booleans())
def test_what_makes_stands_above_what_takes(graph: tuple[int, list[Net]], moves_all: bool) -> None:
    count, nets = graph
    layer = assign_layers(Wires(count, nets), range(count), (), (), moves_all=moves_all)
    assert all(layer[net.source] < layer[target] for net in nets for target in net.targets)
    assert set(layer) == set(range(max(layer) + 1))


@given(graphs(is_acyclic=False))
def test_every_item_stands_once_and_every_line_arrives(graph: tuple[int, list[Net]]) -> None:
    """In circles too, which boxes that take from each other make."""
    count, nets = graph
    made = arrange(count, nets, range(count))
    items = [item for layer in made.layers for item in layer]
    assert sorted(items) == list(range(len(items)))
    layer = {item: number for number, row in enumerate(made.layers) for item in row}
    for net in nets:
        reached = {net.source}
        pieces = [(a, b) for value, a, b in made.segments if value == net.value]
        assert all(abs(layer[a] - layer[b]) <= 1 for a, b in pieces)
        for _ in pieces:
            reached |= {b for a, b in pieces if a in reached}
        assert set(net.targets) <= reached


@given(graphs(is_acyclic=True))
def test_ports_stand_at_the_edges(graph: tuple[int, list[Net]]) -> None:
    count, nets = graph
    top, bottom = count, count + 1
    nets = [*nets, Net(90, top, (0,)), Net(91, count - 1, (bottom,))]
    layer = assign_layers(Wires(count + 2, nets), [*range(count), -1, 99], [top], [bottom])
    assert layer[top] == 0
    assert all(layer[item] < layer[bottom] for item in range(count + 1))


def test_the_same_graph_gives_the_same_picture() -> None:
    nets = [Net(k, k, tuple({(k * 7 + 3) % 40, (k * 11 + 5) % 40} - {k})) for k in range(40)]
    assert arrange(40, nets, range(40)).layers == arrange(40, nets, range(40)).layers


def test_lines_that_can_be_drawn_without_crossing_are() -> None:
    """Two chains that begin crossed."""
    nets = [Net(0, 0, (3,)), Net(1, 1, (2,)), Net(2, 3, (5,)), Net(3, 2, (4,))]
    made = arrange(6, nets, range(6))
    position = {item: k for row in made.layers for k, item in enumerate(row)}
    assert (position[0] < position[1]) == (position[3] < position[2]) == (position[5] < position[4])


def _crossings(count: int, nets: list[Net], effort: Effort) -> int:
    made = arrange(count, nets, range(count), effort=effort)
    position = {item: place for row in made.layers for place, item in enumerate(row)}
    layer = {item: number for number, row in enumerate(made.layers) for item in row}
    down: list[list[int]] = [[] for _ in position]
    for _, a, b in made.segments:
        if layer[a] != layer[b]:
            down[min(a, b, key=layer.__getitem__)].append(max(a, b, key=layer.__getitem__))
    places = [position[item] for item in range(len(position))]
    return sum(crossings_between(row, down, places) for row in made.layers[:-1])


@given(graphs(is_acyclic=True))
def test_more_effort_never_crosses_more(graph: tuple[int, list[Net]]) -> None:
    count, nets = graph
    assert _crossings(count, nets, Effort()) <= _crossings(count, nets, Effort(left=0))


def test_two_that_take_of_the_same_two_stand_at_different_heights() -> None:
    """Side by side their lines have to cross; where one has time, it stands lower."""
    chain = [Net(5, 5, (6,)), Net(6, 6, (7,)), Net(7, 7, (4,))]
    nets = [Net(0, 0, (2, 3)), Net(1, 1, (2, 3)), Net(2, 2, (4,)), *chain]
    assert _crossings(8, nets, Effort()) == 0


def test_values_that_live_to_the_end_do_not_square_the_work() -> None:
    """Each node's value is taken by the last one: lines beyond a budget are cut, and said to be."""
    count = 3000
    nets = [Net(k, k, (k + 1, count - 1)) for k in range(count - 2)]
    made = arrange(count, nets, range(count))
    assert len(made.segments) < 20 * count
    assert made.cuts
    assert all(target == count - 1 for _, _, target in made.cuts)


def test_an_empty_box_has_no_layers() -> None:
    assert arrange(0, [], []) == Arrangement(0, [], [], [])
