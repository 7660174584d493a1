"""What stands in signatures for classes of libraries that are slow to check: onnx-ir and PyTorch.

A checker reads every module that a stub imports, whether or not the program uses it: PyTorch alone takes mypy ten
seconds. So a parameter is a protocol that the class fulfils, and a result that comes from such a library is `Any`:
whoever imports the library can say what it is, `model: onnx_ir.Model = m.ir`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

class IrModel(Protocol):
    """An `onnx_ir.Model`."""

    ir_version: int
    @property
    def graph(self) -> Any: ...
    @property
    def functions(self) -> Any: ...
    @property
    def opset_imports(self) -> Any: ...

class TorchModule(Protocol):
    """A `torch.nn.Module`."""

    training: bool
    @property
    def forward(self) -> Callable[..., Any]: ...
    @property
    def state_dict(self) -> Callable[..., Any]: ...
    @property
    def named_parameters(self) -> Callable[..., Any]: ...

class TorchProgram(Protocol):
    """A `torch.export.ExportedProgram`."""

    @property
    def graph_module(self) -> Any: ...
    @property
    def graph_signature(self) -> Any: ...
    @property
    def run_decompositions(self) -> Callable[..., Any]: ...

class TorchDtype(Protocol):
    """A `torch.dtype`."""

    @property
    def is_floating_point(self) -> bool: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def to_complex(self) -> Callable[..., Any]: ...

#: An `onnx_ir.Model` that comes back.
AnyIrModel: TypeAlias = Any
#: An `onnx_ir.Node`, `onnx_ir.Graph`, `onnx_ir.Value` or `onnx_ir.Attr`.
AnyIrPart: TypeAlias = Any
