"""The information for a translation about the call that it translates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from onnxsmith.algorithms.values import Size
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.kinds import Fake, Target, known_arguments
from onnxsmith.torch.library.registry import Untranslatable
from onnxsmith.types.dtypes import DType

if TYPE_CHECKING:
    from onnxsmith.torch.size_arithmetic import AnyNumber
    from onnxsmith.torch.sizes import Sizes


class Call:
    """One call of an ATen operator: its overload and what torch knows of its result."""

    __slots__ = ("is_inside_decomposition", "name", "node", "output", "overload", "sizes", "target")

    def __init__(
        self,
        overload: str,
        target: Target,
        output: Fake,
        sizes: Sizes,
        node: torch.fx.Node,
        is_inside_decomposition: bool = False,
    ) -> None:
        #: `"aten.softmax.int"`.
        self.overload = overload
        #: torch's own object for it: an `OpOverload`, or a higher-order operator.
        self.target = target
        #: The fake tensor that torch has for the result: its dtype and shape. A tuple or list for several; a
        #: `torch.SymInt` and the like for a number.
        self.output = output
        self.sizes = sizes
        #: The fx node, for those who need more.
        self.node = node
        self.name: str = node.name
        #: Whether torch's own code makes the call, and not the module.
        self.is_inside_decomposition = is_inside_decomposition

    @property
    def inputs(self) -> tuple[Fake, ...]:
        """The facts of torch about positional arguments: fake tensors for tensors, symbolic or known numbers."""
        return known_arguments(self.node)[0]

    @property
    def has_several(self) -> bool:
        """True if there is a list of results, which may have one entry."""
        return isinstance(self.output, tuple | list)

    @property
    def outputs(self) -> list[Fake]:
        """The facts of torch about each result; of a single one too."""
        return list(self.output) if isinstance(self.output, tuple | list) else [self.output]

    @property
    def torch_dtype(self) -> torch.dtype:
        """torch's element type of the (first) result."""
        return self.output_fake().dtype

    @property
    def dtype(self) -> DType:
        """ONNX's element type of the (first) result; of a complex result, that of its parts."""
        return onnx_dtype(self.output_fake().dtype)

    @property
    def is_complex(self) -> bool:
        """True if the (first) result is complex."""
        return self.output_fake().dtype.is_complex

    @property
    def rank(self) -> int:
        """How many dimensions the (first) result has."""
        return self.output_fake().dim()

    def output_shape(self, position: int = 0) -> list[Size]:
        """The shape of a result: ints, and numbers of the model (`Number`) where they are not known."""
        return self.sizes.of_fake(self.output_fake(position))

    def shape_of(self, tensor: Tensor) -> list[Size]:
        """The shape of a tensor of the graph: ints, and numbers of the model where they are not known."""
        return self.sizes.of(tensor)

    def size(self, tensor: Tensor, axis: int) -> Size:
        """One dimension of a tensor of the graph: an int, or a number of the model."""
        return self.sizes.axis(tensor, axis)

    def input_dtype(self, position: int = 0) -> torch.dtype:
        """torch's element type of an argument that is a tensor."""
        return self.input_fake(position).dtype

    def input_fake(self, position: int = 0) -> torch.Tensor:
        """The facts of torch about an argument that is a tensor."""
        fake = self.inputs[position]
        assert isinstance(fake, torch.Tensor)  # whoever asks has a tensor there
        return fake

    def refuse(self, reason: str) -> Untranslatable:
        """To be raised where a translation does not cover a call: `raise call.refuse("negative padding")`."""
        return Untranslatable(reason)

    def output_fake(self, position: int = 0) -> torch.Tensor:
        """The facts of torch about a result that is a tensor."""
        output = self.output
        if isinstance(output, tuple | list):
            return [each for each in output if isinstance(each, torch.Tensor)][position]
        assert isinstance(output, torch.Tensor)  # whoever asks for a dtype or a shape translates to a tensor
        return output

    def output_numbers(self) -> list[AnyNumber]:
        """The results, where they are numbers that torch has an expression for."""
        found = [
            each
            for each in self.outputs
            if isinstance(each, int | float | torch.SymInt | torch.SymFloat | torch.SymBool)
        ]
        assert len(found) == len(self.outputs)  # whoever asks translates to numbers
        return [self.sizes.value(each) for each in found]
