"""What type checkers see of `Opset`: any operator, of which nothing is known."""

from collections.abc import Callable

from onnxsmith.opset._stubs.tensors import AnyTensor

class Opset:
    """The operators of a domain and version, as attributes: `Opset("my.domain", 1).Frobnicate(x)`."""

    domain: str
    version: int
    def __init__(self, domain: str, version: int, *, checked: bool = True) -> None: ...
    def __getattr__(self, name: str, /) -> Callable[..., AnyTensor]: ...
    def __getitem__(self, name: str, /) -> Callable[..., AnyTensor]: ...
