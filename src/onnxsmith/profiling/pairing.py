"""Pairs the kernels of two profiles: those of the same lines, nodes, operators or calls.

Two models that compute the same may have other nodes for it, and a runtime fuses them in other ways. So kernels of both
are put together as soon as they have one line or node in common, and a node that the other model does not have any more
with what reads it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from pathlib import PurePath

from onnxsmith.profiling.kernel import Kernel, ProfiledNode
from onnxsmith.profiling.rows import ProfileGrouping

#: What ONNX Runtime puts before the name of an operator that does the work of the next one, too.
_FUSED = "Fused"
_NOTHING: Hashable = "nothing is known of it"


def paired(
    before: Sequence[Kernel], after: Sequence[Kernel], by: ProfileGrouping
) -> list[tuple[list[Kernel], list[Kernel]]]:
    """Groups of kernels of both profiles; one of the two is empty where only the other has such kernels."""
    is_one_model = _places(before) == _places(after)
    groups = _Groups()
    every = [(kernel, list(_marks(kernel, by, is_one_model))) for kernel in (*before, *after)]
    for _, marks in every:
        for mark in marks[1:]:
            groups.join(marks[0], mark)
    if by == "node" and not is_one_model:
        _join_readers(before, after, groups)
    found: dict[Hashable, tuple[list[Kernel], list[Kernel]]] = {}
    for number, (kernel, marks) in enumerate(every):
        found.setdefault(groups.of(marks[0]), ([], []))[number >= len(before)].append(kernel)
    return list(found.values())


def _join_readers(before: Sequence[Kernel], after: Sequence[Kernel], groups: _Groups) -> None:
    """Put kernels that only one profile has together with the first that reads what they give."""
    sides: dict[Hashable, set[int]] = {}
    for side, kernels in enumerate((before, after)):
        for kernel in kernels:
            sides.setdefault(groups.of(_node_mark(kernel)), set()).add(side)
    for kernels in (before, after):
        readers: dict[Hashable, Kernel] = {}
        for kernel in reversed(kernels):  # what reads a result runs later
            own = groups.of(_node_mark(kernel))
            reading = (readers.get((_function(node), each)) for node in kernel.nodes for each in node.outputs)
            reader = next((each for each in reading if each is not None and each is not kernel), None)
            if reader is not None and len(sides[own]) == 1:
                other = groups.of(_node_mark(reader))
                groups.join(other, own)
                sides[other] = sides[other] | sides[own]
            for node in kernel.nodes:
                readers.update(((_function(node), each), kernel) for each in node.inputs)


def _node_mark(kernel: Kernel) -> Hashable:
    return next(_marks(kernel, "node", is_one_model=False))


def plain_operator(operator: str) -> str:
    """An operator as models call it: `FusedConv` and the `Conv` of another layout are a `Conv`.

    >>> plain_operator("com.microsoft.nchwc::Conv"), plain_operator("com.microsoft::FusedMatMul")
    ('Conv', 'MatMul')
    """
    return operator.rpartition("::")[2].removeprefix(_FUSED)


def _places(kernels: Sequence[Kernel]) -> set[tuple[str, str, str]]:
    return {(node.address, node.operator, node.name) for each in kernels for node in each.nodes}


def _marks(kernel: Kernel, by: ProfileGrouping, is_one_model: bool) -> Iterator[Hashable]:
    """Keys of a kernel that are the same in another profile of the same model."""
    if by == "operator":
        yield plain_operator(kernel.operator)
    elif by == "call":
        yield tuple(each.address if is_one_model else str(each) for each in kernel.calls_around)
    elif by == "line" and kernel.lines:
        # One of the models may come from a file, which does not say where its folder lies.
        yield from ((PurePath(each.file).name, each.number) for each in kernel.lines)
    elif by == "node" and kernel.nodes:
        for node in kernel.nodes:
            yield from [node.address] if is_one_model else _names(node)
    else:
        yield _NOTHING


def _names(node: ProfiledNode) -> Iterator[Hashable]:
    """The names of a node; in functions, with the name of the function."""
    function = _function(node)
    names = [("name", node.name)] if node.name else []
    names += (("value", each) for each in node.outputs)
    yield from ((function, *each) for each in names or [("address", node.address)])


def _function(node: ProfiledNode) -> str:
    """The function that a node stands in, in whose bodies values are known, too; none is an empty text."""
    return node.address.rpartition("/")[0]


class _Groups:
    """Marks that belong together, directly or by way of others."""

    def __init__(self) -> None:
        self._parents: dict[Hashable, Hashable] = {}

    def of(self, mark: Hashable) -> Hashable:
        """One mark that stands for all of the group."""
        path: list[Hashable] = []
        while (parent := self._parents.get(mark, mark)) != mark:
            path.append(mark)
            mark = parent
        for each in path:
            self._parents[each] = mark
        return mark

    def join(self, one: Hashable, other: Hashable) -> None:
        """Put two groups together."""
        self._parents[self.of(other)] = self.of(one)
