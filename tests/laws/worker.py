"""The process that takes a case along a road: reads cases and names of roads, writes what came of each.

Run as `python -m tests.laws.worker`. It may die or hang; `pool` starts another one then.
"""

from __future__ import annotations

import pickle
import resource
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from onnxsmith.errors import OnnxsmithError
from tests.laws.bare_session import MOST_BYTES
from tests.laws.case import Case
from tests.laws.contexts import Inexpressible
from tests.laws.messages import answer_stream, questions, send
from tests.laws.outcome import BARE, Outcome, difference
from tests.laws.roads import ROADS, WITNESSES, BareEnd, BareError, Road

MEMORY = 6 << 30


def take(case: Case, road: Road) -> Outcome:
    """What comes of a case on a road."""
    given = pickle.loads(pickle.dumps(case.inputs))  # a road that writes into them must not disturb the next
    try:
        values = tuple(map(_plain, road(replace(case, inputs=given))))
    except Inexpressible as reason:
        return Outcome("inexpressible", text=str(reason))
    except BareError as error:
        return Outcome("error", name=BARE, text=str(error))
    except BareEnd as end:
        return Outcome("died", name=str(end))
    except OnnxsmithError as error:
        return Outcome("error", name=f"{type(error).__name__} {error.code}", text=error.message)
    except Exception as error:  # what is not one of ours is a finding
        return Outcome("raw error", name=type(error).__name__, text=str(error))
    if sum(each.nbytes for each in values if isinstance(each, np.ndarray)) > MOST_BYTES:
        return Outcome("large", text="more than is compared")
    if difference(given, case.inputs) is not None:
        return Outcome("overwritten", values, text="the arrays that were given have other values afterwards")
    return Outcome("values", values)


def _plain(value: Any) -> Any:
    return getattr(value, "array", value)


def main() -> None:
    """Answer until there is nothing more to read."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    answer({**ROADS, **WITNESSES})


def answer(roads: Mapping[str, Road], after: Callable[[Outcome], object] | None = None) -> None:
    """Take cases along roads until there is nothing more to read; `after` is called before an outcome is sent."""
    answers = answer_stream()
    send(answers, "ready")
    for question in questions():
        assert isinstance(question, tuple)
        case, names = question
        for name in names:
            outcome = take(case, roads[name])
            if after is not None:
                after(outcome)
            send(answers, outcome)


if __name__ == "__main__":
    main()
