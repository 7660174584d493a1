"""New nodes in the opset of the model that they are for, with names that nothing else has.

Knows the few operators whose form changed between versions; what nodes are for is decided by whoever emits them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnxsmith.types.dtypes import DType

#: Anything that numpy makes an array of.
Content: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]] | np.generic | float | Sequence[float]
Attribute: TypeAlias = (
    int | float | str | Sequence[int] | Sequence[float] | Sequence[str] | onnx.GraphProto | onnx.TensorProto
)
#: Domains beside the standard one that nodes are emitted for, in the versions that they are written in.
EMITTED_DOMAINS = {"ai.onnx.ml": 3, "com.microsoft": 1}


class FreshNames:
    """Names of values that are not taken yet anywhere in a model.

    >>> fresh = FreshNames(["y", "y__1"])
    >>> fresh.after("y"), fresh.after("y")
    ('y__2', 'y__3')
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def after(self, wish: str) -> str:
        """A new name that begins as `wish` does."""
        count = self._counts.get(wish, 0)
        while True:
            count += 1
            name = f"{wish}__{count}"
            if name not in self._taken:
                break
        self._counts[wish] = count
        self._taken.add(name)
        return name


class Emitter:
    """Collects nodes for one place of a graph; each method gives the name of the value that its node makes."""

    def __init__(self, version: int, names: FreshNames, stem: str, origin: str) -> None:
        #: The version of the standard domain that nodes are written for.
        self.version = version
        self.nodes: list[onnx.NodeProto] = []
        self.names = names
        self._stem = stem
        self._origin = origin

    def inner(self) -> Emitter:
        """An emitter for a body of a node that is emitted here."""
        return Emitter(self.version, self.names, self._stem, self._origin)

    def op(
        self,
        operator: str,
        *inputs: str,
        into: str | None = None,
        domain: str = "",
        named: str | None = None,
        **attributes: Attribute | None,
    ) -> str:
        """A node with one output, called `into` or by a new name."""
        result = self.names.after(self._stem) if into is None else into
        self.node(operator, inputs, [result], domain=domain, named=named, **attributes)
        return result

    def node(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        domain: str = "",
        named: str | None = None,
        **attributes: Attribute | None,
    ) -> onnx.NodeProto:
        """A node with these inputs and outputs. Its name says which node of the model it stands for."""
        made = onnx.NodeProto(
            op_type=operator,
            domain=domain,
            input=inputs,
            output=outputs,
            name=self._name(outputs) if named is None else named,
        )
        for name, value in attributes.items():
            if value is not None:
                made.attribute.append(helper.make_attribute(name, value))
        self.nodes.append(made)
        return made

    def _name(self, outputs: Sequence[str]) -> str:
        # Values have names of their own, so that nodes have, too; ONNX Runtime insists on it.
        return f"{self._origin}/{next(filter(None, outputs), '')}" if self._origin else ""

    def keep(self, node: onnx.NodeProto) -> None:
        """Add a node as it is."""
        self.nodes.append(node)

    def constant(self, content: Content, dtype: DType = DType.INT64) -> str:
        """A constant; a node, because a function has no initializers, nor a model of IR version 3 without inputs."""
        array = np.asarray(content).astype(dtype.numpy)
        return self.op("Constant", value=numpy_helper.from_array(array))

    # -- forms that changed between versions ------------------------------------------------------------

    def cast(self, value: str, dtype: DType, *, into: str | None = None) -> str:
        return self.op("Cast", value, into=into, to=int(dtype))

    def constant_like(self, number: int, value: str, dtype: DType | None) -> str:
        """A number in the element type of a value, which may be known or not; the latter needs opset 15."""
        if dtype is not None:
            return self.constant(number, dtype)
        return self.op("CastLike", self.constant(number), value)

    def cast_like(self, value: str, like: str, dtype: DType | None) -> str:
        """A value in the element type of another; the latter's name serves where the type is not known."""
        return self.op("CastLike", value, like) if dtype is None else self.cast(value, dtype)

    def where(self, condition: str, yes: str, no: str, *, into: str | None = None) -> str:
        return self.op("Where", condition, yes, no, into=into)

    def reduce(
        self,
        kind: str,
        value: str,
        axes: Sequence[int] | None = None,
        *,
        keepdims: bool = False,
        into: str | None = None,
    ) -> str:
        """`Reduce<kind>`; over all axes for None."""
        operator = f"Reduce{kind}"
        if axes is None:
            return self.op(operator, value, into=into, keepdims=int(keepdims))
        if self.version >= (13 if kind == "Sum" else 18):
            return self.op(operator, value, self.constant(axes), into=into, keepdims=int(keepdims))
        return self.op(operator, value, into=into, axes=list(axes), keepdims=int(keepdims))

    def unsqueeze(self, value: str, axes: Sequence[int]) -> str:
        if self.version >= 13:
            return self.op("Unsqueeze", value, self.constant(axes))
        return self.op("Unsqueeze", value, axes=list(axes))

    def slice(self, value: str, start: int, end: int) -> str:
        """Along the first axis."""
        if self.version >= 10:
            return self.op("Slice", value, self.constant([start]), self.constant([end]), self.constant([0]))
        return self.op("Slice", value, starts=[start], ends=[end], axes=[0])

    # -- numbers about values ---------------------------------------------------------------------------

    def size(self, value: str) -> str:
        """How many elements a tensor has."""
        return self.op("Size", value)

    def rank(self, value: str) -> str:
        """How many dimensions a tensor has."""
        # Not the size of the shape: ONNX's inference takes that for the product of what is in it.
        return self.op("Gather", self.op("Shape", self.op("Shape", value)), self.constant(0))

    def dimension(self, value: str, axis: int) -> str:
        """One dimension; -1 where the tensor has no such axis, so that asking never fails."""
        shape = self.op("Shape", value)
        missing = self.constant([-1] * (axis + 1 if axis >= 0 else -axis))
        parts = (shape, missing) if axis >= 0 else (missing, shape)
        return self.op("Gather", self.op("Concat", *parts, axis=0), self.constant(axis))

    def any(self, condition: str) -> str:
        """True if any element of a BOOL tensor holds; false for none at all."""
        count = self.reduce("Sum", self.cast(condition, DType.INT64))
        return self.op("Greater", count, self.constant(0))

    def all(self, condition: str) -> str:
        """True if every element of a BOOL tensor holds; true for none at all."""
        return self.negated(self.any(self.negated(condition)))

    def negated(self, condition: str) -> str:
        return self.op("Not", condition)

    def both(self, first: str, second: str) -> str:
        return self.op("And", first, second)

    def either(self, first: str, second: str) -> str:
        return self.op("Or", first, second)
