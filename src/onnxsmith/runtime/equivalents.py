"""Earlier definitions of an operator that mean the same.

A new version of an operator often only allows more element types. A runtime that has not caught up with it still
has the earlier one, which gives the same result on the element types it knew. Which runtime lacks what is not known
here.
"""

from __future__ import annotations

import functools
from collections.abc import Set
from typing import Any

from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef


def earliest_same(op: OperatorDef, attribute_names: Set[str]) -> int:
    """The earliest version whose definition says the same as `op`, but for the element types it allows.

    On types that it does not allow, a runtime refuses it, so that nothing wrong comes of it.
    """
    since = op.since_version
    for version in reversed(
        [each for each in registry.versions(op.domain, op.name) if each < op.since_version]
    ):
        earlier = registry.find(op.domain, op.name, version)
        if earlier is None:
            break
        added = _ONLY_ADD.get((op.name, op.since_version, version))
        if not _says_the_same(op, earlier) and (added is None or added in attribute_names):
            break
        op, since = earlier, version
    return since


@functools.lru_cache(maxsize=1024)
def _says_the_same(later: OperatorDef, earlier: OperatorDef) -> bool:
    """True if two definitions differ in nothing but the element types they allow."""
    return _without_types(later) == _without_types(earlier)


def _without_types(op: OperatorDef) -> tuple[Any, ...]:
    return (
        " ".join(op.doc.split()),
        [(each.name, each.type_name, each.option, each.is_homogeneous) for each in op.inputs],
        [(each.name, each.type_name, each.option) for each in op.outputs],
        {name: (each.type, each.is_required, each.default) for name, each in op.attributes.items()},
    )


#: Definitions that only add an attribute whose default is the former meaning.
_ONLY_ADD: dict[tuple[str, int, int], str] = {
    ("Range", 27, 11): "stash_type",
    ("SpaceToDepth", 28, 13): "mode",
}
