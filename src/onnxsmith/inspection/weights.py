"""`model.weights`: the weights of a model by name, read when they are asked for."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import onnx_ir as ir

from onnxsmith.diagnostics import clipped, did_you_mean, printable
from onnxsmith.errors import WeightError, boundary
from onnxsmith.graphs.elements import Elements, read_only
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.sparse_tensor import SparseTensor
from onnxsmith.inspection.node import Graph
from onnxsmith.inspection.nodes import nodes_of
from onnxsmith.types.dtypes import DType

_SHOWN_ROWS = 30
_LONGEST_NAME = 80
_MOST_CANDIDATES = 5000


@dataclass(frozen=True, slots=True)
class WeightInfo:
    """The facts of a weight that are known without reading it.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, trace
    >>> scale = np.float32([1, 2])
    >>> model = trace(lambda a: a * scale, FLOAT["N", 2])
    >>> model.weights.info("scale").size
    2
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    #: How many bytes its elements take; of strings, which have no fixed size, 0.
    nbytes: int
    #: The file beside the model that it lies in.
    file: str | None = None
    #: Whether the model holds only the elements that are not zero.
    is_sparse: bool = False

    @property
    def size(self) -> int:
        """How many elements it has."""
        size = 1
        for each in self.shape:
            size *= each
        return size

    def __str__(self) -> str:
        dims = ", ".join(map(str, self.shape))
        return printable(f"{clipped(self.name, _LONGEST_NAME)}: {self.dtype.name}[{dims}]")


class ModelWeights(Mapping[str, Elements]):
    """Arrays by name, each read when it is asked for; they cannot be changed.

    The names are those of the model's initializers, and of what its `Constant` nodes give: which of the two holds a
    tensor says nothing of it, and functions have no initializers. One inside a body whose name an outer one has is
    called by the body's address, `12.then_branch/w`; one of a function always so, `domain::layer/w`.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, trace
    >>> scale = np.float32([1, 2])
    >>> model = trace(lambda a: a * scale, FLOAT["N", 2])
    >>> list(model.weights), model.weights.nbytes
    (['scale'], 8)
    """

    def __init__(self, model: Model) -> None:
        nodes = nodes_of(model)
        self._tensors: dict[str, ir.TensorProtocol] = {}
        self._enter(nodes.graph)
        for node in nodes:
            for body in node.bodies:
                self._enter(body)
        for node in nodes:
            attribute = node.ir.attributes.get("value") if node.operator == "Constant" else None
            if attribute is not None and attribute.type == ir.AttributeType.TENSOR and not attribute.is_ref():
                self._put(node.graph, node.ir.outputs[0].name or "", attribute.as_tensor())

    def _enter(self, graph: Graph) -> None:
        for name, value in graph.ir.initializers.items():
            if value.const_value is not None:
                self._put(graph, name, value.const_value)

    def _put(self, graph: Graph, name: str, tensor: ir.TensorProtocol) -> None:
        is_apart = name in self._tensors or "::" in graph.address
        self._tensors[f"{graph.address}/{name}" if is_apart else name] = tensor

    @boundary
    def __getitem__(self, name: str) -> Elements:
        return read_only(self._tensor(name))

    def _tensor(self, name: str) -> ir.TensorProtocol:
        tensor = self._tensors.get(name)
        if tensor is None:
            candidates = list(self._tensors)[:_MOST_CANDIDATES]
            raise WeightError(f"the model has no weight {name!r}", help=did_you_mean(str(name), candidates))
        return tensor

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    @boundary
    def info(self, name: str) -> WeightInfo:
        """The facts of a weight, without reading it.

        >>> import numpy as np
        >>> from onnxsmith import FLOAT, trace
        >>> scale = np.float32([1, 2])
        >>> model = trace(lambda a: a * scale, FLOAT["N", 2])
        >>> model.weights.info("scale").nbytes
        8
        """
        tensor = self._tensor(name)
        is_text = tensor.dtype == ir.DataType.STRING
        location = cast(Any, tensor).location if isinstance(tensor, ir.ExternalTensor) else None
        return WeightInfo(
            name,
            DType(int(tensor.dtype)),
            dimensions_of(tensor),
            0 if is_text else tensor.nbytes,
            None if location is None else str(location),
            isinstance(tensor, SparseTensor),
        )

    def infos(self) -> Iterator[WeightInfo]:
        """The facts of every weight, without reading any."""
        return (self.info(name) for name in self)

    @property
    def nbytes(self) -> int:
        """How many bytes all of them take."""
        return sum(each.nbytes for each in self.infos())

    @property
    def size(self) -> int:
        """How many elements all of them have."""
        return sum(each.size for each in self.infos())

    def __repr__(self) -> str:
        return f"<{len(self)} weight{'s' * (len(self) != 1)}: {self.size:,} elements, {self.nbytes:,} bytes>"

    def _repr_html_(self) -> str:
        infos = [self.info(name) for name in list(self)[:_SHOWN_ROWS]]
        rows = "".join(
            f"<tr><td>{html.escape(str(each))}</td><td>{each.nbytes:,}</td></tr>" for each in infos
        )
        more = len(self) - _SHOWN_ROWS
        rest = f"<p>{more} more</p>" if more > 0 else ""
        head = "<tr><th>weight</th><th>bytes</th></tr>"
        return f"<p>{html.escape(repr(self))}</p><table>{head}{rows}</table>{rest}"


def weights_of(model: Model) -> ModelWeights:
    """The weights of a model, found once: what `model.weights` is."""
    return cast(ModelWeights, cast(Any, model).weights)  # a capability, which `graphs` does not know


def weights(model: Model) -> ModelWeights:
    """The weights by name, as arrays that are read when they are asked for and cannot be changed.

    What lies in a file beside the model is mapped, not read into memory. `replace_weights` makes a model with others.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, trace
    >>> scale = np.float32([1, 2])
    >>> model = trace(lambda a: a * scale, FLOAT["N", 2])
    >>> model.weights
    <1 weight: 2 elements, 8 bytes>
    >>> model.weights["scale"]
    array([1., 2.], dtype=float32)
    """
    return ModelWeights(model)
