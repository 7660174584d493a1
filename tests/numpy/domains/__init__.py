"""Small domains of the parameters of every function that `onnxsmith.numpy` and numpy share.

A function takes all combinations of the values of its parameters. A parameter that is not named in the entry of its
function has the values that `samples.BY_NAME` gives its name, and its default alone where there are none.
"""

from __future__ import annotations

from typing import Any

from tests.numpy.domains import algebra, choosing, computing, making, moving, reducing
from tests.numpy.domains.choosing import WRITING as WRITING

#: Function -> parameter -> values.
DOMAINS: dict[str, dict[str, Any]] = {
    name: domain
    for family in (reducing, moving, choosing, computing, algebra, making)
    for name, domain in family.DOMAINS.items()
}
