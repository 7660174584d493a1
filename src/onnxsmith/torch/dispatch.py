"""From a call of an ATen operator to nodes: a translation, the in-place twin's, or torch's decomposition."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from typing import Any, cast, final

import numpy as np
import torch
from torch._ops import OpOverload
from torch.utils._pytree import tree_leaves

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value import Array, Value
from onnxsmith.errors import TracedValueError, TranslationError
from onnxsmith.graphs.program import Program
from onnxsmith.graphs.records import ValueRecord, declared
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.schema.inference.known import Known
from onnxsmith.torch.arguments import bound, has_complex, lifted, overload_name
from onnxsmith.torch.custom import CustomTranslation, called_custom, called_functionally, check_count
from onnxsmith.torch.decompose import Decompositions, decomposed, is_input
from onnxsmith.torch.hidden_state import refused_generator
from onnxsmith.torch.interpreter import Interpreter, is_assert
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import SUBSTITUTES, onnx_dtype, torch_dtype
from onnxsmith.torch.library.kinds import (
    SYMBOLIC_NUMBERS,
    Argument,
    Arguments,
    Fake,
    Given,
    Keywords,
    SymbolicNumber,
    Target,
    Translated,
    known_arguments,
    schema_of,
)
from onnxsmith.torch.library.registry import COMPLEX, TRANSLATIONS, Translation, Untranslatable
from onnxsmith.torch.module_calls import module_calls
from onnxsmith.torch.mutation import functional_twin
from onnxsmith.torch.origins import span_of
from onnxsmith.torch.reporting import OperatorRow, Way
from onnxsmith.torch.size_arithmetic import AnyNumber, as_number
from onnxsmith.torch.sizes import Sizes
from onnxsmith.torch.target import Origin, current_target
from onnxsmith.torch.untranslated import Failure
from onnxsmith.torch.weights import as_array, identity, initializer_names
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, TensorType, describe_shape, shapes_differ


@final
class _Missing:
    """No translation; None is a result."""


_MISSING = _Missing()
#: What torch's rewriting makes of an operator that writes to its arguments.
_FUNCTIONALISED = torch.ops.higher_order.auto_functionalized_v2


class Dispatcher:
    """The state of one export that translating a call needs."""

    def __init__(
        self, program: Program, sizes: Sizes, origin: Origin, custom: Mapping[Target, CustomTranslation]
    ) -> None:
        self.program = program
        self.sizes = sizes
        self.origin = origin
        self.custom = custom
        #: The operators that were translated by what the user gave.
        self.used: set[Target] = set()
        self.failures: list[Failure] = []
        #: How each operator was translated, how often, into how many nodes.
        self.operators: dict[str, OperatorRow] = {}
        self._decompositions: Decompositions = {}
        self._weights: dict[Hashable, tuple[torch.Tensor, Given]] = {}
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

    def weight(self, tensor: torch.Tensor, name: str, *, is_written: bool = False) -> Given:
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
        value: Given
        if np.iscomplexobj(array):
            real, imaginary = initializer_names(tensor, name)
            value = Complex(
                self._initializer(array.real, real, is_written=is_written),
                self._initializer(array.imag, imaginary, is_written=is_written),
            )
        else:
            value = self._initializer(array, name, is_written=is_written)
        if key is not None:
            self._weights[key] = (tensor, value)  # the tensor is held, so that its address stays its own
        return value

    def _initializer(self, array: Array, name: str, *, is_written: bool) -> SymbolicTensor:
        value, known = self.program.named_initializer(array, name)
        value.weight = name
        target = current_target()
        if is_written and target.keeps_weights:
            self.origin.state.add(value)
        return SymbolicTensor(value, known, target.outermost, None)

    # -- calls -----------------------------------------------------------------------------------------

    def call(self, node: torch.fx.Node, target: Target, args: Arguments, kwargs: Keywords) -> Argument:
        """The value of a call, with torch's dtype and shape."""
        overload = overload_name(target)
        if is_assert(overload):
            return None
        output: Fake = node.meta.get("val")
        began, nodes = time.perf_counter(), current_target().nodes
        count = len(nodes)
        try:
            result, way = self._result(node, overload, target, args, kwargs)
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
        self, node: torch.fx.Node, overload: str, target: Target, args: Arguments, kwargs: Keywords
    ) -> tuple[Translated, Way]:
        if target is _FUNCTIONALISED and args[0] in self.custom:
            written = cast("OpOverload[..., Any]", args[0])
            self.used.add(written)
            return called_functionally(self.custom[written], written, kwargs), "custom"
        custom = self.custom.get(target)
        if custom is not None:
            self.used.add(target)
            result = called_custom(custom, target, args, kwargs)
            check_count(overload, result, node.meta.get("val"))
            return result, "custom"
        if not self._depth and node.kwargs.get("generator") is not None:
            raise refused_generator(overload).locate(span_of(node))
        reason = ""
        twin = _twin(target)
        for name, each in ((overload, target), *(() if twin is None else ((f"{twin}", twin),))):
            try:
                result = self._translated(node, name, each, args, kwargs)
            except Untranslatable as error:
                reason = str(error)
                continue
            except TracedValueError:
                # A size, say, in the place of a factor that is an attribute in ONNX. torch's decomposition would
                # decide by what the number is in the example.
                raise Untranslatable("a number that only the model knows, where ONNX needs it now") from None
            if not isinstance(result, _Missing):
                return result, "translation"
        if not isinstance(target, OpOverload):
            raise Untranslatable(reason)
        whole = cast("OpOverload[..., Any]", target) if twin is None else twin
        return self._decomposed(node, whole, args, kwargs, reason), "decomposition"

    def _translated(
        self, node: torch.fx.Node, overload: str, target: Target, args: Arguments, kwargs: Keywords
    ) -> Translated | _Missing:
        call = Call(overload, target, node.meta.get("val"), self.sizes, node, self._depth > 0)
        if has_complex(args) or (kwargs and has_complex(list(kwargs.values()))):
            translation = COMPLEX.get(overload)
            if translation is not None:
                return _called(translation, call, target, args, kwargs)
            translation = TRANSLATIONS.get(overload)
            if translation is None or not translation.lifts:
                return _MISSING
            args, kwargs = bound(translation, target, args, kwargs)
            return lifted(translation, call, args, kwargs)
        translation = TRANSLATIONS.get(overload)
        return _MISSING if translation is None else _called(translation, call, target, args, kwargs)

    def _decomposed(
        self,
        node: torch.fx.Node,
        target: OpOverload[..., Any],
        args: Arguments,
        kwargs: Keywords,
        reason: str,
    ) -> Translated:
        """The result of torch's own decomposition of a call; Untranslatable for `reason` where there is none."""
        fakes = known_arguments(node)
        graph = decomposed(target, *fakes, self._decompositions)
        if graph is None:
            raise Untranslatable(reason)
        flat, flat_fakes = (tree_leaves(each, is_leaf=_is_none) for each in ((args, kwargs), fakes))
        inputs = [value for value, fake in zip(flat, flat_fakes, strict=True) if is_input(fake)]
        self._depth += 1
        try:
            return cast("Translated", Interpreter(self, graph).run(inputs))
        finally:
            self._depth -= 1

    # -- results ---------------------------------------------------------------------------------------

    def _settled(self, value: Translated, fake: Fake, overload: str, node: torch.fx.Node) -> Argument:
        """The result with the dtype and shape that torch has for it."""
        if isinstance(fake, torch.Tensor):
            return self._settled_tensor(value, fake, overload, node)
        if isinstance(value, tuple | list) and isinstance(fake, tuple | list):
            return [self._settled(a, b, overload, node) for a, b in zip(value, fake, strict=False)]
        if isinstance(value, Number):
            return self.sizes.remember(fake, value)
        return cast("Argument", value)  # of what is no tensor, as it is

    def received(self, value: Argument, fake: Fake) -> Argument:
        """The argument of a subgraph, with torch's facts about it there."""
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

    def _settled_tensor(
        self, value: Translated, fake: torch.Tensor, overload: str, node: torch.fx.Node
    ) -> Value | Complex:
        if isinstance(value, Complex):
            real = fake.real if fake.dtype.is_complex else fake
            return Complex(
                self._settled_part(value.real, real, overload, node),
                self._settled_part(value.imag, real, overload, node),
            )
        return self._settled_part(value, fake, overload, node)

    def _settled_part(
        self, value: Translated, fake: torch.Tensor, overload: str, node: torch.fx.Node
    ) -> Tensor:
        dtype = onnx_dtype(fake.dtype)
        if isinstance(value, Number):
            value = value.as_dtype(dtype)
        elif not isinstance(value, Value):
            value = current_target().constant(np.asarray(value, dtype.numpy))
        if not isinstance(value, SymbolicTensor):
            return cast("Tensor", value)
        if value.dtype is None:  # an operator of which nothing is known gives what torch says it does
            return _with_type(value, TensorType(dtype, self.sizes.shape(fake)))
        if value.dtype is not dtype:
            value = cast("SymbolicTensor", op.Cast(value, to=dtype))
        shape = value.type.shape
        if shape is not None and _is_plainly(shape, fake):
            return value
        theirs = self.sizes.shape(fake)
        if shape is not None:
            _check_shape(shape, theirs, overload, node)
            if None not in shape:
                self.sizes.announce(value, fake)
                return value
            theirs = tuple(b if a is None else a for a, b in zip(shape, theirs, strict=True))
        value = _with_shape(value, theirs)
        self.sizes.announce(value, fake)
        return value


def _is_none(value: Argument | Fake) -> bool:
    return value is None


def _twin(target: Target) -> OpOverload[..., Any] | None:
    """The operator that computes what an in-place one writes."""
    schema = schema_of(target)
    return functional_twin(target) if schema is not None and schema.is_mutable else None


def _check_shape(
    mine: tuple[Dimension, ...], theirs: tuple[Dimension, ...], overload: str, node: torch.fx.Node
) -> None:
    if shapes_differ(mine, theirs):
        raise TranslationError(
            f"the translation of {overload} gives shape {describe_shape(mine)} where torch has "
            f"{describe_shape(theirs)}",
            help="this is a mistake in the translation; export(translations=…) can replace it",
        ).locate(span_of(node))


def _is_plainly(shape: tuple[Dimension, ...], fake: torch.Tensor) -> bool:
    """True if a shape is known and torch's; the common case, and so without a generator."""
    if len(shape) != fake.dim():
        return False
    for mine, theirs in zip(shape, fake.shape, strict=True):
        if type(mine) is not int or type(theirs) is not int or mine != theirs:
            return False
    return True


def _with_shape(value: SymbolicTensor, shape: tuple[Dimension, ...]) -> SymbolicTensor:
    known = value.known.type
    assert isinstance(known, TensorType)
    return _with_type(value, TensorType(known.dtype, shape))


def _with_type(value: SymbolicTensor, kind: TensorType) -> SymbolicTensor:
    value.record.type = declared(kind)
    return SymbolicTensor(value.record, Known(kind, value.known.data), value.scope, value.place)


def _called(
    translation: Translation, call: Call, target: Target, args: Arguments, kwargs: Keywords
) -> Translated:
    args, kwargs = bound(translation, target, args, kwargs)
    return translation.function(call, *args, **kwargs)


def _stand_in(fake: Fake, sizes: Sizes) -> Argument:
    """A value of torch's dtype and shape that nothing makes, so that the walk can find what else is missing."""
    if isinstance(fake, tuple | list):
        return [_stand_in(each, sizes) for each in fake]
    if isinstance(fake, SYMBOLIC_NUMBERS):
        return _stand_in_number(fake)
    if not isinstance(fake, torch.Tensor):
        return cast("Argument", fake)
    known = Known(TensorType(onnx_dtype(fake.dtype), sizes.shape(fake)))

    def make() -> SymbolicTensor:
        return SymbolicTensor(ValueRecord("untranslated"), known, current_target(), None)

    return Complex(make(), make()) if fake.dtype.is_complex else make()


def _stand_in_number(fake: SymbolicNumber) -> AnyNumber:
    dtype = (
        DType.INT64
        if isinstance(fake, torch.SymInt)
        else DType.DOUBLE
        if isinstance(fake, torch.SymFloat)
        else DType.BOOL
    )
    known = Known(TensorType(dtype, ()))
    return as_number(SymbolicTensor(ValueRecord("untranslated"), known, current_target(), None).as_number())
