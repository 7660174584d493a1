"""The law of fallbacks: on every form that the table of the reference evaluator has, it gives what an oracle gives.

And a form that falls back without being in the table warns. An enumeration: all operators, versions and element types.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator

from onnxsmith.errors import FallbackWarning
from onnxsmith.runtime import clear_cache, engine
from onnxsmith.runtime.reference_trust import is_right
from onnxsmith.types.dtypes import DType
from tests.laws.named import Law, Verdict
from tests.runtime.reference_forms import agrees, cast, formal, forms, oracle, samples, tried
from tests.runtime.reference_samples import Node, Sample


def judged(sample: Sample, node: Node, variable: str, dtype: DType) -> Verdict | None:
    """The verdict on one form; None where a sample does not have the form."""
    given = cast(node, variable, dtype)
    if given is None:
        return None
    op = given.op
    what = f"{op.qualified_name}-{op.since_version} with {variable} {dtype.spelling}, on {sample.name}"
    kinds = kinds_of(given)
    if not is_right(op, kinds):
        clear_cache()  # a runner that is kept has warned before
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                runner = engine.prepare(op, kinds, given.attributes, given.outputs)
                runner(list(given.inputs))
            except Exception:  # a call that is refused in words
                return Verdict("refused", what)
        if runner.source == "reference" and not any(issubclass(e.category, FallbackWarning) for e in told):
            return Verdict("wrong", f"{what}: it falls back without a word")
        return Verdict("refused", what) if runner.source == "reference" else Verdict("equal")
    results = tried(given, "reference")
    right = None if results is None else oracle(sample, node, variable, dtype)
    if results is None or right is None:
        return Verdict("refused", what)
    return (
        Verdict("equal")
        if agrees(results, right, dtype)
        else Verdict("wrong", f"{what}: the table says it is right")
    )


def warned() -> Iterator[tuple[str, int, tuple[DType | None, ...]]]:
    """Operator, version and input types of all calls that give a result with a warning.

    An enumeration of the samples' forms that ONNX's definitions allow.
    """
    for operator in sorted(samples()):
        for _, node, variable, dtype in forms(*operator):
            given = cast(node, variable, dtype)
            if given is None or not is_allowed(given) or is_right(given.op, kinds_of(given)):
                continue
            clear_cache()
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                try:
                    engine.prepare(given.op, kinds_of(given), given.attributes, given.outputs)(given.inputs)
                except Exception:  # a call that is refused in words
                    continue
            if any(issubclass(each.category, FallbackWarning) for each in told):
                yield operator[1], given.op.since_version, kinds_of(given)


def kinds_of(node: Node) -> tuple[DType | None, ...]:
    return tuple(None if each is None else DType.from_numpy(each.dtype) for each in node.inputs)


def is_allowed(node: Node) -> bool:
    """True if a definition allows the element types of a call."""
    return all(
        each is None or f"tensor({each.onnx_name})" in formal(node.op, position).types
        for position, each in enumerate(kinds_of(node))
    )


def verdicts(seed: int) -> Iterator[Verdict]:
    """All forms; the seed decides with which operator they begin."""
    operators = sorted(samples())
    random.Random(seed).shuffle(operators)
    for operator in operators:
        for form in forms(*operator):
            found = judged(*form)
            if found is not None:
                yield found


LAW = Law(
    "the reference evaluator is right where a table says so, and else a fallback warns: an enumeration of forms",
    30_000,
    verdicts,
)
