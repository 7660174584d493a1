"""A check inside a graph: an `If` that runs the nodes where conditions hold, and fails in words where one does not.

The other branch asks for a shape that its tensor cannot have; the name of the node that does so holds the reason, and
the runtime's message holds the name. Anybody can name a node like that: only names with a word that this process
drew are believed. In a model for a file there is no such word, and the name is read as any other.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import onnx

from onnxsmith.graphs.rewriting.branches import Way, at_run_only, choose
from onnxsmith.graphs.rewriting.copies import copied_nodes
from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.site import Site, element_type
from onnxsmith.graphs.rewriting.terms import Terms
from onnxsmith.runtime.facts.fact import Requirement
from onnxsmith.types.dtypes import DType

_TITLE = "check"
#: What tells the names of this process's checks from those that a model came with.
_OWN = f"{_TITLE}-{secrets.token_hex(8)}"
#: The opset that brought CastLike.
_CAST_LIKE = 15
#: What stands before the name of a node in the runtime's message. Bodies come inside out: the last one counts.
_BEFORE_NAME = "Name:'"
_NAME = re.compile(_OWN + r"\[(?P<node>[^\]]*)\] (?P<operator>\w+): (?P<reason>[^\n|]*)\|' Status Message")


class FailedCheck(NamedTuple):
    """A check that did not hold: the node it is about, and why."""

    node: str
    operator: str
    reason: str


def failed_check(message: str) -> FailedCheck | None:
    """The check of this process's own that a runtime's message is about, or None.

    >>> failed_check(f"Reshape node. Name:'{_OWN}[div_1] Div: division by zero|' Status Message: no")
    FailedCheck(node='div_1', operator='Div', reason='division by zero')
    >>> failed_check("Reshape node. Name:'check[div_1] Div: a stranger's words|' Status Message: no")
    """
    start = message.rfind(_BEFORE_NAME)
    place = -1 if start < 0 else message.find(f"{_OWN}[", start)
    found = None if place < 0 else _NAME.match(message, place)
    return None if found is None else FailedCheck(found["node"], found["operator"], found["reason"])


def is_check(node: onnx.NodeProto) -> bool:
    """True if this node is what fails where the condition of a check does not hold."""
    return node.op_type == "Reshape" and re.search(rf"{_TITLE}(-\w+)?\[[^\]]*\] \w+: ", node.name) is not None


def gate(
    site: Site, nodes: Sequence[onnx.NodeProto], requirements: Sequence[Requirement], *, is_kept: bool
) -> bool:
    """Emit `nodes`, which define the site's outputs, behind requirements; False where the outputs' types are unknown.

    A requirement that certainly does not hold leaves nothing of the nodes: even to load some is too much. `is_kept`
    says that the model is for a file.
    """
    title = _TITLE if is_kept else _OWN
    types: dict[str, onnx.TypeProto | str] = {}
    for position, name in enumerate(site.node.output):
        if not name:
            continue
        proto = site.output_type(position)
        if proto is not None and _element(proto) is not None:
            types[name] = proto
            continue
        # Nobody knows the type, after an operator of another domain; but an input is of the same.
        alike = site.input_like_output(position) if site.emit.version >= _CAST_LIKE else None
        if alike is None:
            return False
        types[name] = alike
    emit = site.emit
    certain = next((each for each in requirements if each.holds is False), None)
    if certain is not None:
        _fail(emit, site, title, certain.reason, types, {name: name for name in types})
        return True
    hidden = hide_fixed(site)
    if hidden:
        requirements = [
            Requirement(at_run_only(emit, str(each.holds), DType.BOOL), each.reason) for each in requirements
        ]
    holds = Terms(site).all([each.holds for each in requirements])
    assert isinstance(holds, str), "what is certain was left out before"

    def run(inner: Emitter, names: Mapping[str, str]) -> None:
        inner.nodes.extend(copied_nodes(nodes, {**names, **hidden}))

    choose(emit, holds, list(types), run, _failing(site, title, requirements, types))
    return True


def guard(site: Site, requirements: Sequence[Requirement]) -> bool:
    """Keep a node as it is, and put its first tensor behind requirements; False where no input's type is known.

    For a node whose definition takes its place: in a branch it would stay.
    """
    place = next((each for each, name in enumerate(site.node.input) if name and site.dtype(each)), None)
    proto = None if place is None else site.scope.type_of(site.input(place))
    if place is None or proto is None:
        return False
    emit, given = site.emit, site.input(place)
    guarded = emit.names.after(given)
    types: dict[str, onnx.TypeProto | str] = {guarded: proto}
    certain = next((each for each in requirements if each.holds is False), None)
    if certain is not None:
        _fail(emit, site, _OWN, certain.reason, types, {guarded: guarded})
    else:
        holds = Terms(site).all([each.holds for each in requirements])
        assert isinstance(holds, str), "what is certain was left out before"

        def hand_on(inner: Emitter, names: Mapping[str, str]) -> None:
            inner.op("Identity", given, into=names[guarded])

        choose(emit, holds, [guarded], hand_on, _failing(site, _OWN, requirements, types))
    site.same_node([guarded if each == place else name for each, name in enumerate(site.node.input)])
    return True


def hide_fixed(site: Site) -> Mapping[str, str]:
    """An input of a node that may end the process, and the same where no runtime works it out when a model is loaded.

    Nothing where it would not run the node then, because an input is known by a run only.
    """
    given = [(place, name) for place, name in enumerate(site.node.input) if name]
    if not all(site.scope.may_be_fixed(name) for _, name in given):
        return {}
    for place, name in given:
        dtype = site.dtype(place)
        if dtype is not None:
            return {name: at_run_only(site.emit, name, dtype)}
    return {}


def _failing(
    site: Site,
    title: str,
    requirements: Sequence[Requirement],
    types: Mapping[str, onnx.TypeProto | str],
) -> Way:
    """Fails for the first requirement that does not hold; one of them does not."""
    first, rest = requirements[0], requirements[1:]

    def fail(inner: Emitter, names: Mapping[str, str]) -> None:
        if not rest or not isinstance(first.holds, str):
            _fail(inner, site, title, first.reason, types, names)
            return
        later = {names[name]: proto for name, proto in types.items()}
        choose(
            inner,
            first.holds,
            list(later),
            _failing(site, title, rest, later),
            _failing(site, title, [first], later),
        )

    return fail


def _fail(
    emit: Emitter,
    site: Site,
    title: str,
    reason: str,
    types: Mapping[str, onnx.TypeProto | str],
    names: Mapping[str, str],
) -> None:
    # A quote, a line end or a NUL would end the name in the runtime's message.
    words = re.sub(r"[\x00-\x1f'|\]]", " ", reason)
    # A node without a name is told from others by what it makes.
    node = re.sub(r"[\x00-\x1f'|\]]", " ", site.node.name or next(filter(None, site.node.output), ""))
    # One element has no shape of two. Every provider looks at that on the host; an index that is not there, say, reads
    # zeros on CUDA. Not a constant: a runtime that works constants out, in branches that are not taken, too,
    # would fail at once.
    beyond = emit.op(
        "Reshape",
        emit.constant([0]),
        at_run_only(emit, emit.constant([2]), DType.INT64),
        named=f"{title}[{node}] {site.node.op_type}: {words}|",
    )
    for name, proto in types.items():
        if isinstance(proto, str):
            emit.op("CastLike", beyond, proto, into=names[name])
            continue
        dtype = _element(proto)
        assert dtype is not None, "asked before"
        if proto.HasField("sequence_type"):
            emit.op("SequenceConstruct", emit.cast(beyond, dtype), into=names[name])
        else:
            emit.cast(beyond, dtype, into=names[name])


def _element(proto: onnx.TypeProto) -> DType | None:
    return element_type(proto.sequence_type.elem_type if proto.HasField("sequence_type") else proto)
