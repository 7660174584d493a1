# pyright: basic
"""From a call of an ATen operator to nodes: a translation, the in-place twin's, or torch's decomposition."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import ml_dtypes  # noqa: F401  # numpy learns bfloat16 from it
import numpy as np
import torch
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value import Value
from onnxsmith.errors import TranslationError
from onnxsmith.graphs.records import ValueRecord, declared
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.schema.inference.known import Known
from onnxsmith.torch.arguments import bound, has_complex, lifted, overload_name
from onnxsmith.torch.custom import called_custom, check_count
from onnxsmith.torch.decompose import Decompositions, decomposed, is_input
from onnxsmith.torch.interpreter import Interpreter, is_assert
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import SUBSTITUTES, onnx_dtype, torch_dtype
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import Translation, Untranslatable, find, find_complex
from onnxsmith.torch.module_calls import module_calls
from onnxsmith.torch.mutation import functional_twin
from onnxsmith.torch.origins import span_of
from onnxsmith.torch.reporting import OperatorRow, Way
from onnxsmith.torch.sizes import Sizes
from onnxsmith.torch.target import Origin, current_target
from onnxsmith.torch.untranslated import Failure
from onnxsmith.torch.weights import as_array, identity
from onnxsmith.types.value_types import TensorType, describe_shape


class Dispatcher:
    """The state of one export that translating a call needs."""

    def __init__(self, program: Any, sizes: Sizes, origin: Origin, custom: Mapping[Any, Any]) -> None:
        self.program = program
        self.sizes = sizes
        self.origin = origin
        self.custom = custom
        #: The operators that were translated by what the user gave.
        self.used: set[Any] = set()
        self.failures: list[Failure] = []
        #: How each operator was translated, how often, into how many nodes.
        self.operators: dict[str, OperatorRow] = {}
        self._decompositions: Decompositions = {}
        self._weights: dict[Any, Any] = {}
        self._depth = 0
        #: Whether nodes note the calls of modules that they are in.
        self.keeps_modules = False

    def enter(self, node: torch.fx.Node, scope: str, source: str) -> None:
        """Say which node is translated now. Nodes of a decomposition belong to the node that was decomposed."""
        if not self._depth:
            origin = self.origin
            origin.name, origin.scope, origin.source = node.name, scope, source
            if self.keeps_modules:
                origin.modules = module_calls(node) or origin.modules

    # -- weights ---------------------------------------------------------------------------------------

    def weight(self, tensor: torch.Tensor, name: str, *, is_written: bool = False) -> Any:
        """A tensor of the module as an initializer; tensors that are the same memory are the same one.

        One that the module writes to is copied: the model has its value of now.
        """
        key = identity(tensor)
        if key is not None and key in self._weights:
            return self._weights[key][1]
        substitute = SUBSTITUTES.get().get(tensor.dtype)
        if substitute is not None:
            array = as_array(tensor.detach().to(torch_dtype(substitute)))
        else:
            array = as_array(tensor.detach().clone() if is_written else tensor)
        value: Any
        if np.iscomplexobj(array):
            value = Complex(
                self._initializer(array.real, f"{name}.real"), self._initializer(array.imag, f"{name}.imag")
            )
        else:
            value = self._initializer(array, name)
        if key is not None:
            self._weights[key] = (tensor, value)  # the tensor is held, so that its address stays its own
        return value

    def _initializer(self, array: np.ndarray[Any, Any], name: str) -> Any:
        root = current_target().root
        value, known = self.program.named_initializer(array, name)
        value.weight = name
        return SymbolicTensor(value, known, root, None)  # type: ignore[arg-type]

    # -- calls -----------------------------------------------------------------------------------------

    def call(self, node: torch.fx.Node, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of a call, with torch's dtype and shape."""
        overload = overload_name(target)
        if is_assert(overload):
            return None
        output = node.meta.get("val")
        began, nodes = time.perf_counter(), current_target().nodes
        count = len(nodes)
        try:
            result, way = self._result(node, overload, target, output, args, kwargs)
        except Untranslatable as reason:
            if self._depth:
                detail = str(reason) or f"what its decomposition needs: {overload}"
                raise Untranslatable(detail) from None
            self.failures.append(Failure(overload, target, node, span_of(node), str(reason)))
            return _stand_in(output, self.sizes)
        settled = self._settled(result, output, overload, node)
        if not self._depth:
            row = self.operators.get(overload)
            if row is None:
                row = self.operators[overload] = OperatorRow(overload, way)
            row.calls += 1
            row.nodes += len(nodes) - count
            row.seconds += time.perf_counter() - began
        return settled

    def _result(
        self, node: torch.fx.Node, overload: str, target: Any, output: Any, args: Any, kwargs: Any
    ) -> tuple[Any, Way]:
        custom = self.custom.get(target)
        if custom is not None:
            self.used.add(target)
            result = called_custom(custom, target, args, kwargs)
            check_count(overload, result, output)
            return result, "custom"
        reason = ""
        for name, each in ((overload, target), self._twin(target)):
            if each is None:
                continue
            try:
                result = self._translated(node, name, each, output, args, kwargs)
            except Untranslatable as error:
                reason = str(error)
                continue
            if result is not _NONE:
                return result, "translation"
        graph = None
        if isinstance(target, torch._ops.OpOverload):
            twin = self._twin(target)[1] or target
            fakes = [map_arg(each, lambda n: n.meta.get("val")) for each in (node.args, node.kwargs)]
            graph = decomposed(twin, fakes[0], fakes[1], self._decompositions)
        if graph is None:
            raise Untranslatable(reason)
        flat_fakes = tree_leaves(fakes, is_leaf=lambda each: each is None)
        flat = tree_leaves((args, kwargs), is_leaf=lambda each: each is None)
        inputs = [value for value, fake in zip(flat, flat_fakes, strict=True) if is_input(fake)]
        self._depth += 1
        try:
            return Interpreter(self, graph).run(inputs), "decomposition"
        finally:
            self._depth -= 1

    def _twin(self, target: Any) -> tuple[str, Any]:
        if isinstance(target, torch._ops.OpOverload) and target._schema.is_mutable:
            twin = functional_twin(target)
            if twin is not None:
                return str(twin), twin
        return "", None

    def _translated(
        self, node: torch.fx.Node, overload: str, target: Any, output: Any, args: Any, kwargs: Any
    ) -> Any:
        call = Call(overload, target, output, self.sizes, node)
        if has_complex(args) or (kwargs and has_complex(list(kwargs.values()))):
            translation = find_complex(overload)
            if translation is not None:
                return _called(translation, call, target, args, kwargs)
            translation = find(overload)
            if translation is None or not translation.lifts:
                return _NONE
            args, kwargs = bound(translation, target, args, kwargs)
            return lifted(translation, call, args, kwargs)
        translation = find(overload)
        return _NONE if translation is None else _called(translation, call, target, args, kwargs)

    # -- results ---------------------------------------------------------------------------------------

    def _settled(self, value: Any, fake: Any, overload: str, node: torch.fx.Node) -> Any:
        """The result with the dtype and shape that torch has for it."""
        if isinstance(fake, torch.Tensor):
            return self._settled_tensor(value, fake, overload, node)
        if isinstance(value, tuple | list) and isinstance(fake, tuple | list):
            return [self._settled(a, b, overload, node) for a, b in zip(value, fake, strict=False)]
        if isinstance(value, Number):
            return self.sizes.remember(fake, value)
        return value

    def received(self, value: Any, fake: Any) -> Any:
        """What a subgraph is given, with what torch knows of it there."""
        if isinstance(value, Number):
            return self.sizes.remember(fake, value)
        if isinstance(value, SymbolicTensor) and isinstance(fake, torch.Tensor):
            shape = value.type.shape
            if shape is None or None in shape:
                theirs = self.sizes.shape(fake)
                if shape is not None:
                    theirs = tuple(b if a is None else a for a, b in zip(shape, theirs, strict=True))
                value = _with_shape(value, theirs)
            self.sizes.announce(value, fake)
        return value

    def _settled_tensor(self, value: Any, fake: torch.Tensor, overload: str, node: torch.fx.Node) -> Any:
        if isinstance(value, Complex):
            real = fake.real if fake.dtype.is_complex else fake
            return Complex(
                self._settled_tensor(value.real, real, overload, node),
                self._settled_tensor(value.imag, real, overload, node),
            )
        dtype = onnx_dtype(fake.dtype)
        if isinstance(value, Number):
            value = value.as_dtype(dtype)
        elif not isinstance(value, Value):
            value = current_target().constant(np.asarray(value, dtype.numpy))
        if not isinstance(value, SymbolicTensor):
            return value
        if value.dtype is None:  # an operator of which nothing is known gives what torch says it does
            return _with_type(value, TensorType(dtype, self.sizes.shape(fake)))
        if value.dtype is not dtype:
            value = op.Cast(value, to=dtype)
        shape = value.type.shape
        if shape is not None and _is_plainly(shape, fake):
            return value
        theirs = self.sizes.shape(fake)
        if shape is not None:
            is_wrong = len(shape) != len(theirs) or any(
                isinstance(a, int) and isinstance(b, int) and a != b
                for a, b in zip(shape, theirs, strict=True)
            )
            if is_wrong:
                raise TranslationError(
                    f"the translation of {overload} gives shape {describe_shape(shape)} where torch has "
                    f"{describe_shape(theirs)}",
                    help="this is a mistake in the translation; export(translations=…) can replace it",
                ).locate(span_of(node))
            if None not in shape:
                self.sizes.announce(value, fake)
                return value
            theirs = tuple(b if a is None else a for a, b in zip(shape, theirs, strict=True))
        value = _with_shape(value, theirs)
        self.sizes.announce(value, fake)
        return value


def _is_plainly(shape: tuple[Any, ...], fake: torch.Tensor) -> bool:
    """Whether a shape is known and torch's; the common case, and so without a generator."""
    if len(shape) != fake.dim():
        return False
    for mine, theirs in zip(shape, fake.shape, strict=True):
        if type(mine) is not int or type(theirs) is not int or mine != theirs:
            return False
    return True


def _with_shape(value: SymbolicTensor, shape: Any) -> SymbolicTensor:
    known = value.known.type
    assert isinstance(known, TensorType)
    return _with_type(value, TensorType(known.dtype, shape))


def _with_type(value: SymbolicTensor, kind: TensorType) -> SymbolicTensor:
    value.record.type = declared(kind)
    return SymbolicTensor(value.record, Known(kind, value.known.data), value.scope, value.place)


#: No translation; None is a result.
_NONE = object()


def _called(translation: Translation, call: Call, target: Any, args: Any, kwargs: Any) -> Any:
    args, kwargs = bound(translation, target, args, kwargs)
    return translation.function(call, *args, **kwargs)


def _stand_in(fake: Any, sizes: Sizes) -> Any:
    """A value of torch's dtype and shape that nothing makes, so that the walk can find what else is missing."""
    if isinstance(fake, tuple | list):
        return [_stand_in(each, sizes) for each in fake]
    if not isinstance(fake, torch.Tensor):
        return fake if not is_input(fake) else _stand_in_number(fake)
    known = Known(TensorType(onnx_dtype(fake.dtype), sizes.shape(fake)))

    def make() -> SymbolicTensor:
        return SymbolicTensor(ValueRecord("untranslated"), known, current_target(), None)

    return Complex(make(), make()) if fake.dtype.is_complex else make()


def _stand_in_number(fake: Any) -> Number:
    kind = {torch.SymInt: torch.int64, torch.SymFloat: torch.float64}.get(type(fake), torch.bool)
    known = Known(TensorType(onnx_dtype(kind), ()))
    return SymbolicTensor(ValueRecord("untranslated"), known, current_target(), None).as_number()
