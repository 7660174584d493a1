"""`If` whose condition is known: the nodes of the branch that is taken, in its place."""

from __future__ import annotations

from onnxsmith.passes.copying import copied_in
from onnxsmith.passes.editor import Attempt, Outcome


def decided_branch(at: Attempt) -> Outcome:
    """`If` on a constant."""
    condition = at.array(0, 1)
    if condition is None or condition.size != 1:
        return None
    attribute = at.node.attributes.get("then_branch" if bool(condition.reshape(())) else "else_branch")
    if attribute is None or attribute.is_ref():
        return None
    return copied_in(at, attribute.as_graph(), {})


BRANCHES = {"If": [decided_branch]}
