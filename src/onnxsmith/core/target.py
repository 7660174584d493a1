"""What operator calls are made on: the target protocol, and which target is in force.

The targets themselves (a graph being built, a runtime) live above and register from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from onnxsmith.core.late_imports import load_module
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference.known import Known

if TYPE_CHECKING:
    from onnxsmith.core.operator_protocols import AnyOperator, StandardOperators
    from onnxsmith.core.stored import Stored
    from onnxsmith.core.value import Value


class Target(Protocol):
    """Where a bound, promoted call goes."""

    #: Whether dtype and shape are worked out before every `emit`. A runtime asks only for calls that are new or fail.
    needs_inference: ClassVar[bool]

    @property
    def is_lenient(self) -> bool:
        """Whether a call that looks wrong is made all the same, with a warning: a given model is taken as it is."""
        ...

    @property
    def operators(self) -> StandardOperators:
        """The standard operators that Python's own operators, indexing and methods are made of."""
        ...

    def constant(self, array: np.ndarray[Any, Any]) -> Any:
        """An array as an input of a call on this target."""
        ...

    def stored(self, value: Stored) -> Any:
        """A weight as an input of a call on this target."""
        ...

    def constant_like(self, array: np.ndarray[Any, Any], like: Any) -> Any:
        """A literal as an input, with the element type of `like`, which is not known yet."""
        ...

    def sequence(self, elements: Sequence[Any]) -> Any:
        """A Python list as an input that takes an ONNX sequence."""
        ...

    def bodies(
        self, op: OperatorDef, inputs: Sequence[Any], attributes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Functions given as graph attributes, made into bodies; other graphs pass through."""
        ...

    def run_bodies(
        self, op: OperatorDef, inputs: Sequence[Any], attributes: Mapping[str, Any]
    ) -> tuple[Any, ...] | None:
        """The outputs of control flow whose bodies are functions, where the target simply calls them."""
        ...

    def emit(
        self,
        op: OperatorDef,
        version: int | None,
        inputs: Sequence[Any],
        attributes: Mapping[str, Any],
        output_count: int,
        outputs: Sequence[Known],
    ) -> tuple[Any, ...]:
        """Perform the call; `version` is the opset asked of, None when Python's syntax chose the operator."""
        ...

    def learn(
        self,
        operator: AnyOperator,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        lifted: Sequence[Any],
        attributes: Mapping[str, Any],
        output_count: int,
    ) -> None:
        """Called after `emit` succeeded, so that a target can answer a call of the same form at once."""
        ...


#: The target that an enclosing trace or script set; None where operators simply run.
ACTIVE: ContextVar[Target | None] = ContextVar("onnxsmith_active_target", default=None)

#: Where operators run unless somebody says otherwise; its module is imported on first use, and registers it.
_default: Target | None = None
_make_default: Callable[[], Target] | None = None


def register_default(make: Callable[[], Target]) -> None:
    """Say how the target of ordinary eager calls is made; it is made on first use."""
    global _make_default  # set once, by the package itself
    _make_default = make


def default_target() -> Target:
    """The target of calls outside any trace or script."""
    global _default
    if _default is None:
        if _make_default is None:
            load_module("default target")
        assert _make_default is not None, "the module of the default target registers it"
        _default = _make_default()
    return _default


def target_of(values: Sequence[Any]) -> Target:
    """The target a call belongs to: the active one, that of a symbolic input, or the default."""
    active = ACTIVE.get()
    if active is not None:
        return active
    for value in values:
        if getattr(value, "is_symbolic", False):
            owner: Value = value
            return owner.target
    return default_target()
