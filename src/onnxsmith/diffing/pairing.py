"""Pairs the nodes of two graphs by structure, names and places in the source.

What is certain comes first: nodes computed in the same way from the same. Then what is left is paired by names, by
what it is used for, by the pairs around it, and at last by the order of the files. Each step is linear; the last looks
only at what lies between pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

import onnx_ir as ir

from onnxsmith.diffing.signatures import Signatures
from onnxsmith.graphs.origins import SOURCE_KEY

#: Gaps with more nodes than this are compared by operator, without looking for the best order.
_LONGEST_GAP = 2000


class Pairing:
    """The pairs of nodes of two graphs."""

    def __init__(
        self,
        left: Sequence[ir.Node],
        right: Sequence[ir.Node],
        results: Iterable[tuple[ir.Value, ir.Value]],
        one: Signatures,
        other: Signatures,
    ) -> None:
        self._left, self._right = left, right
        #: What the graphs give in the same place.
        self._results = list(results)
        self._places = {node: place for nodes in (left, right) for place, node in enumerate(nodes)}
        #: Of a node of the first graph, the one of the second.
        self.pairs: dict[ir.Node, ir.Node] = {}
        #: The other way round.
        self.back: dict[ir.Node, ir.Node] = {}
        # Two nodes may compute the same: what they are used for tells them apart, or their names do.
        self._by(*(_all_of(each.strong.get, each.below.get) for each in (one, other)))
        self._by(*(_all_of(each.strong.get, _called) for each in (one, other)))
        self._by(one.strong.get, other.strong.get)
        self._by(*(_all_of(each.weak.get, each.below.get) for each in (one, other)))
        for key in (_named, _giving, _written):
            self._by(key, key)
        self._by(one.below.get, other.below.get)
        self._by(one.weak.get, other.weak.get)
        self._spread(same_operator=True)
        self._align()
        self._spread(same_operator=True)
        self._by(_called, _called)  # another operator under the same name
        self._spread(same_operator=False)

    def _by(self, one: _Key, other: _Key) -> None:
        """Pair the nodes of one key, where both graphs have as many; in the order of the files."""
        groups: dict[Hashable, tuple[list[ir.Node], list[ir.Node]]] = {}
        for side, (nodes, key, taken) in enumerate(
            ((self._left, one, self.pairs), (self._right, other, self.back))
        ):
            for node in nodes:
                if node not in taken and (found := key(node)) is not None:
                    groups.setdefault(found, ([], []))[side].append(node)
        for mine, theirs in groups.values():
            if len(mine) == len(theirs):
                for pair in zip(mine, theirs, strict=True):
                    self._pair(*pair)

    def _pair(self, left: ir.Node, right: ir.Node) -> None:
        self.pairs[left] = right
        self.back[right] = left

    def _spread(self, *, same_operator: bool) -> None:
        """Pair what stands in the same place beside a pair: what an input comes from, what takes an output."""
        pairs = list(self.pairs.items())
        waiting = [*(self._beside(*each) for each in pairs), self._makers(self._results)]
        while waiting:
            for left, right in waiting.pop():
                is_free = left in self._places and right in self._places
                if not is_free or left in self.pairs or right in self.back:
                    continue
                if same_operator and _operator(left) != _operator(right):
                    continue
                self._pair(left, right)
                waiting.append(self._beside(left, right))

    def _makers(
        self, values: Iterable[tuple[ir.Value | None, ir.Value | None]]
    ) -> Iterator[tuple[ir.Node, ir.Node]]:
        for one, other in values:
            made_by = [None if each is None else each.producer() for each in (one, other)]
            if made_by[0] is not None and made_by[1] is not None:
                yield made_by[0], made_by[1]

    def _beside(self, left: ir.Node, right: ir.Node) -> Iterator[tuple[ir.Node, ir.Node]]:
        yield from self._makers(zip(left.inputs, right.inputs, strict=False))
        for one, other in zip(left.outputs, right.outputs, strict=False):
            mine = [use for use in one.uses() if use[0] not in self.pairs]
            theirs = [use for use in other.uses() if use[0] not in self.back]
            if len(mine) == len(theirs) == 1 and mine[0][1] == theirs[0][1]:
                yield mine[0][0], theirs[0][0]

    def _align(self) -> None:
        """Pair equal operators between pairs, as far as their order agrees."""
        for mine, theirs in self._gaps():
            if max(len(mine), len(theirs)) > _LONGEST_GAP:
                continue
            texts = [[_operator(node) for node in nodes] for nodes in (mine, theirs)]
            for block in SequenceMatcher(None, *texts, autojunk=False).get_matching_blocks():
                for step in range(block.size):
                    self._pair(mine[block.a + step], theirs[block.b + step])

    def _gaps(self) -> Iterator[tuple[list[ir.Node], list[ir.Node]]]:
        """The unpaired nodes between two pairs that follow each other in both graphs."""
        start = 0
        mine: list[ir.Node] = []
        for node in (*self._left, None):
            if node is not None and node not in self.pairs:
                mine.append(node)
                continue
            end = len(self._right) if node is None else self._places[self.pairs[node]]
            if end >= start:
                theirs = [each for each in self._right[start:end] if each not in self.back]
                if mine and theirs:
                    yield mine, theirs
                start, mine = end, []


_Key: TypeAlias = Callable[[ir.Node], Hashable]


def _all_of(*keys: _Key) -> _Key:
    return lambda node: tuple(key(node) for key in keys)


def _operator(node: ir.Node) -> tuple[str, str]:
    return node.domain, node.op_type


def _named(node: ir.Node) -> Hashable:
    return (node.name, _operator(node)) if node.name else None


def _giving(node: ir.Node) -> Hashable:
    names = tuple(each.name for each in node.outputs)
    return (names, _operator(node)) if any(names) else None


def _called(node: ir.Node) -> Hashable:
    return node.name or next((each.name for each in node.outputs if each.name), None)


def _written(node: ir.Node) -> Hashable:
    said = node.metadata_props.get(SOURCE_KEY)
    return None if said is None else (str(said), _operator(node))


def unpaired(nodes: Iterable[ir.Node], taken: dict[ir.Node, ir.Node]) -> list[ir.Node]:
    """The nodes that have no pair."""
    return [node for node in nodes if node not in taken]
