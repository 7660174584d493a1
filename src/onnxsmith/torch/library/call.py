"""What a translation is told of the call that it translates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import torch
from torch.fx.node import Argument, map_arg

from onnxsmith.algorithms.values import Size
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.registry import Untranslatable
from onnxsmith.types.dtypes import DType

if TYPE_CHECKING:
    from onnxsmith.torch.sizes import Sizes


class Call:
    """One call of an ATen operator: its overload and what torch knows of its result."""

    __slots__ = ("name", "node", "output", "overload", "sizes", "target")

    def __init__(
        self, overload: str, target: Callable[..., Any], output: Any, sizes: Sizes, node: torch.fx.Node
    ) -> None:
        #: `"aten.softmax.int"`.
        self.overload = overload
        #: torch's own object for it: an `OpOverload`, or a higher-order operator.
        self.target: Any = target
        #: The fake tensor that torch has for the result: its dtype and shape. A tuple or list for several; a
        #: `torch.SymInt` and the like for a number.
        self.output: Any = output
        self.sizes = sizes
        #: The fx node, for those who need more.
        self.node = node
        self.name: str = node.name

    @property
    def inputs(self) -> tuple[Any, ...]:
        """What torch knows of the positional arguments: fake tensors where tensors are, symbolic or known numbers."""

        def known(node: torch.fx.Node) -> Argument:
            return node.meta.get("val")

        return cast("tuple[Any, ...]", map_arg(self.node.args, known))

    @property
    def has_several(self) -> bool:
        """Whether there is a list of results, which may have one entry."""
        return isinstance(self.output, tuple | list)

    @property
    def outputs(self) -> list[Any]:
        """What torch knows of each result; of a single one too."""
        return list(cast("tuple[Any, ...]", self.output)) if self.has_several else [self.output]

    @property
    def torch_dtype(self) -> torch.dtype:
        """torch's element type of the (first) result."""
        return self._fake().dtype

    @property
    def dtype(self) -> DType:
        """ONNX's element type of the (first) result; of a complex result, that of its parts."""
        return onnx_dtype(self._fake().dtype)

    @property
    def is_complex(self) -> bool:
        """Whether the (first) result is complex."""
        return self._fake().dtype.is_complex

    @property
    def rank(self) -> int:
        """How many dimensions the (first) result has."""
        return self._fake().dim()

    def output_shape(self, position: int = 0) -> list[Size]:
        """The shape of a result: ints, and numbers of the model (`Number`) where they are not known."""
        return self.sizes.of_fake(self._fake(position))

    def shape_of(self, tensor: TensorValue) -> list[Size]:
        """The shape of a tensor of the graph: ints, and numbers of the model where they are not known."""
        return self.sizes.of(tensor)

    def size(self, tensor: TensorValue, axis: int) -> Size:
        """One dimension of a tensor of the graph: an int, or a number of the model."""
        return self.sizes.axis(tensor, axis)

    def input_dtype(self, position: int = 0) -> torch.dtype:
        """torch's element type of an argument that is a tensor."""
        return self.inputs[position].dtype

    def refuse(self, reason: str) -> Untranslatable:
        """To be raised where a translation does not cover a call: `raise call.refuse("negative padding")`."""
        return Untranslatable(reason)

    def _fake(self, position: int = 0) -> torch.Tensor:
        output: object = self.output
        if isinstance(output, tuple | list):
            several = cast("tuple[object, ...]", output)
            return [each for each in several if isinstance(each, torch.Tensor)][position]
        assert isinstance(output, torch.Tensor)  # whoever asks for a dtype or a shape translates to a tensor
        return output
