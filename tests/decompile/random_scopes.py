"""A graph in the making: its names with their types, those of the graphs around it, and its nodes.

Knows scopes and names, no operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper

from tests.decompile.odd_names import maybe_texts, names
from tests.decompile.random_tensors import Draw, tensor

Form = Literal["tensor", "sequence", "optional"]
Dims = tuple[int | str | None, ...]


@dataclass(frozen=True)
class Kind:
    """The type of a value; no shape where nothing is known of it."""

    form: Form
    dtype: int
    shape: Dims | None = None

    @property
    def proto(self) -> onnx.TypeProto:
        inner = helper.make_tensor_type_proto(self.dtype, None if self.form != "tensor" else self.shape)
        if self.form == "sequence":
            return helper.make_sequence_type_proto(inner)
        return helper.make_optional_type_proto(inner) if self.form == "optional" else inner

    @property
    def is_ranked(self) -> bool:
        """Whether it certainly has an axis."""
        return bool(self.shape)


FLOATS = Kind("tensor", TensorProto.FLOAT)


@dataclass
class Setting:
    """What a whole model has: the source of chance, versions, and functions that can be called."""

    draw: Draw
    opset: int
    ir_version: int
    functions: list[onnx.FunctionProto] = field(default_factory=list)
    domains: set[str] = field(default_factory=set)

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(0, one_in - 1)) == one_in - 1

    def choose(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(options))


@dataclass
class Scope:
    """A graph or function body that is being filled."""

    setting: Setting
    parent: Scope | None = None
    depth: int = 0
    types: dict[str, Kind] = field(default_factory=dict)
    #: Names of outer values that were used here: to give them a new meaning now would change what was said.
    touched: set[str] = field(default_factory=set)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    initializers: list[TensorProto] = field(default_factory=list)
    sparse_initializers: list[onnx.SparseTensorProto] = field(default_factory=list)
    #: Attributes of the function whose body this is: name -> kind of attribute.
    attributes: dict[str, int] = field(default_factory=dict)
    is_function: bool = False

    def inner(self) -> Scope:
        """The scope of a body."""
        return Scope(
            self.setting, self, self.depth + 1, attributes=self.attributes, is_function=self.is_function
        )

    def fresh(self, kind: Kind) -> str:
        """A new value; it may hide one of an outer scope."""
        name: str = self.setting.draw(names)
        while name in self.types or name in self.touched:
            name += self.setting.choose(("_", ".", "1", "'"))
        self.types[name] = kind
        return name

    def find(self, is_wanted: Callable[[Kind], bool]) -> str | None:
        """Some value that can be seen from here."""
        seen: dict[str, Kind] = {}
        scope: Scope | None = self
        while scope is not None:
            seen = {**scope.types, **seen}
            scope = scope.parent
        fitting = sorted(name for name, kind in seen.items() if is_wanted(kind))
        if not fitting:
            return None
        name = self.setting.choose(fitting)
        scope = self
        while scope is not None and name not in scope.types:
            scope.touched.add(name)
            scope = scope.parent
        return name

    def kind_of(self, name: str) -> Kind:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.types:
                return scope.types[name]
            scope = scope.parent
        raise KeyError(name)

    def tensor(self, dtype: int, is_ranked: bool = False) -> str:
        """A tensor that can be seen from here; a new weight if there is none."""
        found = self.find(
            lambda kind: kind.form == "tensor" and kind.dtype == dtype and (kind.is_ranked or not is_ranked)
        )
        return found or self.weight(dtype, (2,) if is_ranked else None)

    def weight(self, dtype: int | None = None, shape: tuple[int, ...] | None = None) -> str:
        """A new initializer; where there can be none, a Constant."""
        content = tensor(self.setting.draw, "", dtype, shape)
        name = self.fresh(Kind("tensor", content.data_type, tuple(content.dims)))
        if self.is_function or self.setting.ir_version < 4 or self.setting.chance(4):
            self.add_node(helper.make_node("Constant", [], [name], value=content))
        else:
            content.name = name
            self.initializers.append(content)
        return name

    def fixed(self, dtype: int, values: Sequence[Any], shape: Sequence[int]) -> str:
        """A Constant of these elements."""
        name = self.fresh(Kind("tensor", dtype, tuple(shape)))
        content = helper.make_tensor("", dtype, shape, values)
        self.add_node(helper.make_node("Constant", [], [name], value=content))
        return name

    def add(
        self,
        op: str,
        inputs: Sequence[str],
        kinds: Sequence[Kind | None],
        domain: str = "",
        **attributes: Any,
    ) -> list[str]:
        """Append a node; None among the kinds is an output that is left out."""
        outputs = [self.fresh(kind) if kind is not None else "" for kind in kinds]
        self.add_node(helper.make_node(op, inputs, outputs, domain=domain, **attributes))
        return outputs

    def add_node(self, node: onnx.NodeProto) -> None:
        draw = self.setting.draw
        if self.setting.chance(2):
            node.name = draw(names)
        if self.setting.chance(8):
            node.doc_string = draw(maybe_texts)
        if self.setting.ir_version >= 10 and self.setting.chance(8):
            node.metadata_props.add(key=draw(names), value=draw(maybe_texts))
        self.nodes.append(node)
