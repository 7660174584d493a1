"""Names for code that comes from onnxscript: choosing what runs operators, by an evaluator object.

New code says `with onnxsmith.runtime.using(runtime="reference"):`, which is what these do.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from onnxsmith.diagnostics import described_type
from onnxsmith.errors import CallError
from onnxsmith.runtime.settings import Runtime, chosen, current, using


class Evaluator:
    """An evaluator runs operators; the two classes below are all there are.

    >>> from onnxsmith import evaluator
    >>> evaluator.default().runtime
    'onnxruntime'
    """

    runtime: Runtime = "onnxruntime"


class ORTEvaluator(Evaluator):
    """ONNX Runtime, with the reference evaluator for what it cannot run.

    >>> from onnxsmith import evaluator
    >>> evaluator.ORTEvaluator().runtime
    'onnxruntime'
    """


class ORTMixedEvaluator(ORTEvaluator):
    """The same: functions run operator by operator here in any case.

    >>> from onnxsmith import evaluator
    >>> evaluator.ORTMixedEvaluator().runtime
    'onnxruntime'
    """


class OnnxReferenceRuntimeEvaluator(Evaluator):
    """onnx's reference evaluator.

    >>> from onnxsmith import evaluator
    >>> evaluator.OnnxReferenceRuntimeEvaluator().runtime
    'reference'
    """

    runtime: Runtime = "reference"


def default() -> Evaluator:
    """The evaluator in force.

    >>> from onnxsmith.evaluator import OnnxReferenceRuntimeEvaluator, default, default_as
    >>> with default_as(OnnxReferenceRuntimeEvaluator()):
    ...     type(default()).__name__
    'OnnxReferenceRuntimeEvaluator'
    """
    return OnnxReferenceRuntimeEvaluator() if current().runtime == "reference" else ORTEvaluator()


def set_default(evaluator: Evaluator) -> None:
    """Use an evaluator from here on, in this thread or task.

    >>> from onnxsmith import evaluator
    >>> evaluator.set_default(evaluator.ORTEvaluator())
    >>> evaluator.default().runtime
    'onnxruntime'
    """
    chosen.set(using(runtime=_runtime_of(evaluator)).settings)


@contextmanager
def default_as(temp_default: Evaluator) -> Generator[Evaluator]:
    """Use an evaluator within a `with` block.

    >>> from onnxsmith import evaluator
    >>> with evaluator.default_as(evaluator.OnnxReferenceRuntimeEvaluator()) as chosen:
    ...     chosen.runtime
    'reference'
    """
    with using(runtime=_runtime_of(temp_default)):
        yield temp_default


def _runtime_of(evaluator: Evaluator) -> Runtime:
    if not isinstance(evaluator, Evaluator):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise CallError(
            f"an evaluator is one of this module, not {described_type(type(evaluator))}",
            help="evaluator.ORTEvaluator() or evaluator.OnnxReferenceRuntimeEvaluator()",
        ).locate_at_caller()
    return evaluator.runtime


__all__ = [
    "Evaluator",
    "ORTEvaluator",
    "ORTMixedEvaluator",
    "OnnxReferenceRuntimeEvaluator",
    "default",
    "default_as",
    "set_default",
]


def __dir__() -> list[str]:
    return list(__all__)
