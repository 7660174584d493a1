"""Counts the operations of a graph: through bodies, of which the largest counts, and through calls of functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from onnxsmith.costs.counts import Count
from onnxsmith.costs.flops import flops_of, has_formula, is_control_flow
from onnxsmith.costs.nodes import CostlyGraph, CostlyNode


class Counting:
    """Counts operations through bodies and calls; what a function takes is found once."""

    def __init__(self) -> None:
        self._functions: dict[str, dict[str, Count]] = {}
        #: Operations by operator.
        self.by_operator: dict[str, Count] = {}
        #: Nodes that are not counted, by operator.
        self.uncounted: Counter[str] = Counter()

    def graph(self, graph: CostlyGraph) -> Count:
        """Count the operations of one run of a graph."""
        self.by_operator = self._of(graph)
        return _total(self.by_operator.values())

    def _of(self, graph: CostlyGraph) -> dict[str, Count]:
        found: dict[str, Count] = {}
        for node in graph.nodes:
            _add(found, self._node(node))
        return found

    def _node(self, node: CostlyNode) -> dict[str, Count]:
        if is_control_flow(node):
            bodies = [self._of(each) for each in node.bodies]
            return max(bodies, key=lambda each: weight_of(_total(each.values()))) if bodies else {}
        function = node.function
        if function is not None:
            if function.name not in self._functions:
                self._functions[function.name] = {}  # a function that calls itself has no count
                self._functions[function.name] = self._of(function)
            return self._functions[function.name]
        flops = flops_of(node) if has_formula(node) else None
        if flops is None:
            self.uncounted[node.operator] += 1
            return {}
        return {node.operator: flops}


def _add(found: dict[str, Count], more: Mapping[str, Count]) -> None:
    for name, count in more.items():
        found[name] = found[name] + count if name in found else count


def _total(counts: Iterable[Count]) -> Count:
    result = Count()
    for each in counts:
        result += each
    return result


def weight_of(count: Count) -> int:
    """How large a count is among others: names stand for some size."""
    return sum(number * 16 ** len(factors) for factors, number in count.terms.items())
