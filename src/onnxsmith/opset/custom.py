"""`Opset("my.domain", 1)`: operators of any domain, known or not."""

from __future__ import annotations

from onnxsmith.core.operator import Operator
from onnxsmith.errors import AttributeTypeError, OperatorNotInOpsetError, boundary
from onnxsmith.schema import registry


class Opset:
    """The operators of a domain and version, as attributes.

    A domain that nobody has a schema for takes any operator, unchecked; say `outputs=2` where there are several.
    `checked=False` takes any operator of any domain so, also one that its domain has removed or never had.

    >>> from onnxsmith import Opset
    >>> custom = Opset("my.domain", 1)
    >>> custom.Frobnicate
    <operator Frobnicate-1 of my.domain 1>
    >>> Opset("", 21).Relu
    <operator Relu-14 of opset 21>
    """

    def __init__(self, domain: str, version: int, *, checked: bool = True) -> None:
        self._check(domain, version)
        self._is_checked = checked
        self.domain = "" if domain == "ai.onnx" else domain
        self.version = version

    @staticmethod
    @boundary
    def _check(domain: str, version: int) -> None:
        if not isinstance(domain, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # a user's value
            raise AttributeTypeError(f"a domain is a string, not {domain!r}")
        is_number = isinstance(version, int) and not isinstance(version, bool)  # pyright: ignore[reportUnnecessaryIsInstance]  # a user's value
        if not is_number or version < 1:
            raise AttributeTypeError(f"an opset version is an int from 1 up, not {version!r}")

    @boundary
    def __getattr__(self, name: str) -> Operator:
        if name.startswith("_") or name in ("domain", "version"):
            raise AttributeError(name)
        found = self[name]
        setattr(self, name, found)
        return found

    @boundary
    def __getitem__(self, name: str) -> Operator:
        """An operator whose name is no Python identifier."""
        if not self._is_checked:
            return Operator(registry.unchecked(self.domain, name, self.version), self.version)
        if registry.is_known_domain(self.domain) and self.version > registry.latest_version(self.domain):
            raise OperatorNotInOpsetError(
                f"{self!r} is newer than what is installed: {self.domain or 'the standard domain'} ends at version "
                f"{registry.latest_version(self.domain)}",
                help="install a newer onnx, or use an older version of the opset",
            )
        return Operator(registry.lookup(self.domain, name, self.version), self.version)

    def __dir__(self) -> list[str]:
        return [*registry.names(self.domain, self.version), "domain", "version"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opset) and (self.domain, self.version) == (other.domain, other.version)

    def __hash__(self) -> int:
        return hash((self.domain, self.version))

    def __repr__(self) -> str:
        return f"Opset({self.domain!r}, {self.version})"
