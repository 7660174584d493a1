"""The law of *isomorphic*: functions are the same that have the same nodes in one order; names and places by choice."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import onnx_ir as ir

from onnxsmith.graphs.identity import Policy
from tests.graphs.identity_cases import pairs
from tests.laws.named import Law, Verdict


def _verdicts(seed: int) -> Iterator[Verdict]:
    for name, touched, *protos in pairs(seed):
        one, other = (ir.from_proto(each) for each in protos)
        wrong: list[str] = []
        for names, places, types in product((False, True), repeat=3):
            policy = Policy(names=names, places=places, types=types)
            counts = {"names": names, "places": places, "types": types, "content": True, "nothing": False}
            is_same = policy.function(one) == policy.function(other)
            if is_same is counts[touched]:
                wrong.append(f"names={names}, places={places}, types={types}: {is_same}")
        yield (
            Verdict("wrong", f"{name}: {wrong} of {protos[0]} and {protos[1]}") if wrong else Verdict("equal")
        )


LAW = Law(
    "functions have one key if no change but of names and places made the one of the other", 2000, _verdicts
)
