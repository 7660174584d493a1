"""Runs a model and its module in sizes that a guard leaves out, so that no size is lost which the model is right for.

torch notes what its own code asks about sizes, and modules ask what makes no difference: whether a sequence is longer
than one token, before attention is made causal. Which of these matter only a run shows.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Collection, Generator, Mapping, Sequence
from enum import Enum
from typing import Any, cast

import onnx_ir as ir
import torch

from onnxsmith.errors import VerificationError
from onnxsmith.graphs import files
from onnxsmith.graphs.agreement import FLOAT16
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.size_conditions import SizeCondition, spelled
from onnxsmith.graphs.trial_inputs import Draw
from onnxsmith.torch.conditions import MOST_TRIED, Narrowing
from onnxsmith.torch.guards import line_of
from onnxsmith.torch.library.kinds import Example, schema_of
from onnxsmith.torch.recorded_calls import may_hide
from onnxsmith.torch.refusals import place_of
from onnxsmith.torch.resizing import Inputs, Resizing
from onnxsmith.torch.symbols import Range, Symbol
from onnxsmith.torch.verifying import Runner, Verification
from onnxsmith.types.value_types import TensorType

#: How many sizes of those that one of torch's leaves out are tried, and how many the module may refuse.
_MOST_TRIES = 8
_MOST_FAILING = 64
#: So many draws of elements are compared, of up to as many as sizes are tried.
_DRAWS = 2
#: Above this the session that a trial needs costs more than it finds.
_MOST_BYTES = 1 << 30


#: How the names of ATen's kernels for attention begin, between which the public operator chooses.
_UNCHECKED = ("_scaled_dot_product_", "_flash_attention_", "_efficient_attention_")


class Outcome(Enum):
    """The result of trying the sizes that a guard leaves out."""

    EQUAL = "the model is right there"
    DIFFERENT = "the model is wrong there"
    FAILED = "the model raises an error there"
    REFUSED = "the module refuses them"
    RAISED = "torch raises an error for them where the guard was made"
    IMPLIED = "the model refuses them for other reasons"
    UNTRIED = "there is no module to compare with, it draws random numbers, or its kernels check no sizes"


class Trial:
    """A model beside its module."""

    def __init__(self, verification: Verification | None, allowed: Mapping[Symbol, Range]) -> None:
        is_safe = verification is not None and not _calls_unchecked_kernels(verification.program)
        self._verification = verification if is_safe else None
        self._is_random = verification is not None and verification.is_random
        self._allowed = allowed
        #: The outputs whose rank is another one in some sizes that were tried, with the first of these.
        self.other_ranks: dict[str, str] = {}

    def outcome(self, narrowing: Narrowing, enforced: Sequence[SizeCondition]) -> tuple[Outcome, list[str]]:
        """The outcome in the sizes that a guard leaves out, and which were tried.

        Sizes that the model refuses for other reasons, `enforced`, are not among them. With an error of torch's
        come the comparisons that keep its sizes out.
        """
        if narrowing.is_raised:
            return Outcome.RAISED, list(narrowing.texts)
        verification = self._verification
        resizing = None if verification is None else verification.resizing
        if verification is None or resizing is None:
            return Outcome.UNTRIED, []
        left_out = self._left_out(narrowing, resizing, enforced)
        if narrowing.is_torch and not left_out:
            return Outcome.IMPLIED, []
        if not narrowing.is_torch and not 0 < len(left_out) <= MOST_TRIED:
            return Outcome.UNTRIED, []
        raised = self._raised(narrowing, verification, resizing, left_out) if narrowing.is_torch else []
        if raised:
            return Outcome.RAISED, raised
        if self._is_random:
            return Outcome.UNTRIED, []
        tried: list[str] = []
        for sizes in left_out[:_MOST_TRIES]:
            outcome = self._at(verification, resizing, sizes, is_other_way=narrowing.is_torch)
            if outcome in (Outcome.DIFFERENT, Outcome.FAILED):
                return Outcome.DIFFERENT, []
            if outcome is Outcome.REFUSED and not narrowing.is_torch:
                return outcome, []
            if outcome is Outcome.EQUAL and _may_hide(verification, resizing, sizes):
                return Outcome.DIFFERENT, []
            if outcome is Outcome.EQUAL:
                changed = {each: sizes[each] for each in narrowing.symbols if each in sizes}
                tried.append(", ".join(f"{name} = {size}" for name, size in resizing.named(changed).items()))
                self._note_ranks(verification, resizing, sizes, tried[-1])
            if len(tried) == MOST_TRIED:
                break
        return (Outcome.EQUAL if tried else Outcome.REFUSED), tried

    def dimensions_that_need_elements(self, enforced: Sequence[SizeCondition]) -> list[str]:
        """The names of dimensions that may be 0 as far as anybody noted, where the model gives a wrong result then.

        One that the module raises an error for is wrong as well.

        torch takes sizes for positive. So it decides `n == 0` when it traces, with no guard, and simplifies sizes such
        as that of `x[:-1]` to what they are for all others.
        """
        verification = self._verification
        resizing = None if verification is None or self._is_random else verification.resizing
        if verification is None or resizing is None:
            return []
        example = resizing.symbols()
        by_name: dict[str, list[Symbol]] = {}
        for symbol, size in example.items():
            if size:
                by_name.setdefault(next(iter(resizing.named({symbol: 0}))), []).append(symbol)
        found: list[str] = []
        for name, symbols in by_name.items():
            sizes = example | dict.fromkeys(symbols, 0)
            if any(each.holds(resizing.named(sizes)) is False for each in enforced):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of torch, about means of nothing
                outcome = self._at(verification, resizing, sizes, is_other_way=False)
            inputs = resizing.to(sizes)
            if outcome is Outcome.REFUSED and inputs is not None:
                is_wrong = verification.is_run(as_called(verification.model), inputs)
            else:
                is_wrong = outcome is Outcome.DIFFERENT
            if is_wrong:
                found.append(name)
        return found

    def _raised(
        self,
        narrowing: Narrowing,
        verification: Verification,
        resizing: Resizing,
        left_out: Sequence[Mapping[Symbol, int]],
    ) -> list[str]:
        """The comparisons that keep out sizes in which torch raises an error; none where it does not in all of them.

        They are those of a guard, unless these would keep out a size of 0 that torch takes.
        """
        if not all(_is_raised(narrowing, verification, resizing, each) for each in left_out[:_MOST_TRIES]):
            return []
        for none in [resizing.with_sizes({each: 0}) for each in narrowing.symbols]:
            assert none is not None  # of one symbol
            is_kept_out = any(each.holds(resizing.named(none)) is False for each in narrowing.conditions())
            if is_kept_out and not _is_raised(narrowing, verification, resizing, none):
                names = [
                    resizing.named({each: sizes[each]}) for each in narrowing.symbols for sizes in left_out
                ]
                is_one = len(narrowing.symbols) == 1 and len(left_out) <= MOST_TRIED
                return [
                    f"{spelled(name)} != {size}" for each in names for name, size in each.items() if is_one
                ]
        return list(narrowing.texts) if left_out else []

    def _note_ranks(
        self, verification: Verification, resizing: Resizing, sizes: Mapping[Symbol, int], label: str
    ) -> None:
        """Note the outputs that have another rank than the model declares, where the model is right."""
        inputs = resizing.to(sizes)
        if inputs is None:
            return
        for port, result in zip(verification.model.outputs, verification.wanted(inputs), strict=False):
            shape = port.type.shape if isinstance(port.type, TensorType) else None
            if shape is None or not isinstance(result, torch.Tensor):
                continue
            if len(shape) != result.dim() + result.is_complex():  # real and imaginary parts are a dimension
                self.other_ranks.setdefault(port.name, label)

    def _left_out(
        self, narrowing: Narrowing, resizing: Resizing, enforced: Sequence[SizeCondition]
    ) -> list[dict[Symbol, int]]:
        failing = itertools.islice(narrowing.failing(self._allowed), _MOST_FAILING)
        found = [resizing.with_sizes(sizes) for sizes in failing]
        return [
            each
            for each in found
            if each is not None
            and not any(condition.holds(resizing.named(each)) is False for condition in enforced)
        ]

    def _at(
        self,
        verification: Verification,
        resizing: Resizing,
        sizes: Mapping[Symbol, int],
        *,
        is_other_way: bool,
    ) -> Outcome:
        """The outcome for sizes: on the example's elements, and on others near them, without which nothing is found.

        `is_other_way` says that torch may compute the same in another way there: distances by a product of matrices,
        say, which is less exact.
        """
        found, is_number, usable = Outcome.REFUSED, False, 0
        for seed in (None, *range(_MOST_TRIES)):
            inputs = resizing.to(sizes, None if seed is None else Draw(seed))
            if inputs is None or usable == _DRAWS:
                return found
            try:
                wanted = verification.wanted(inputs)
            except Exception:  # torch's code, or the module's, refuses the sizes in whatever way
                usable += seed is not None
                continue
            if seed is None:
                is_number = not _has_nan(wanted)
            elif is_number and _has_nan(wanted):
                continue  # a mask that leaves nothing, say, of which torch's own kernels differ
            usable += seed is not None
            try:
                tolerance = FLOAT16 if is_other_way else None
                rows = verification.compared(as_called(verification.model), inputs, tolerance)
            except VerificationError:
                return Outcome.FAILED
            if not all(each.is_close for each in rows):
                return Outcome.DIFFERENT
            found = found if seed is None else Outcome.EQUAL
        return found


def _may_hide(verification: Verification, resizing: Resizing, sizes: Mapping[Symbol, int]) -> bool:
    """True if the module computes something else in sizes, and the results that were compared may not show it."""
    inputs = resizing.to(sizes)
    program = verification.program
    # An example that the user gave may be smaller.
    traced = cast("Example", program.example_inputs or resizing.example)
    return inputs is None or may_hide(verification.reference, Inputs("example", *traced), inputs, program)


def _has_nan(results: Sequence[Any]) -> bool:
    return any(isinstance(each, torch.Tensor) and bool(each.isnan().any()) for each in results)


def _is_raised(
    narrowing: Narrowing, verification: Verification, resizing: Resizing, sizes: Mapping[Symbol, int]
) -> bool:
    """True if torch raises an error for sizes, and they are why.

    The module may refuse the data of an example in other sizes, on another line. The model fails for such data as well.
    torch notes a guard once, on the first line that asks for it. A number that the graph holds is reason enough. So is
    a size of 1 that torch takes for no size, of which it notes no line.
    """
    inputs = resizing.to(sizes)
    if inputs is None:
        return False
    try:
        with _same_numbers_after():
            verification.wanted(inputs)
    except Exception as error:  # torch's code, or the module's, refuses the sizes in whatever way
        place = place_of(error.__traceback__)
        is_same = place is not None and line_of(place) in narrowing.places
        is_known = narrowing.is_exact or is_same or not narrowing.places
        return is_known or verification.is_run(as_called(verification.model), inputs)
    return False


def _calls_unchecked_kernels(program: torch.export.ExportedProgram) -> bool:
    """True if a module itself calls kernels of ATen that check no sizes, as others see to that they fit.

    `_adaptive_avg_pool2d_backward` of two batches of other sizes reads beyond its input, and
    `_scaled_dot_product_flash_attention_for_cpu` of no tokens divides by 0: each ends the process.
    """
    modules = program.graph_module.modules()
    graphs = [each.graph for each in modules if isinstance(each, torch.fx.GraphModule)]
    schemas = (schema_of(node.target) for graph in graphs for node in graph.nodes)
    names = (each.name.removeprefix("aten::") for each in schemas if each is not None)
    return any(each.endswith("_backward") or each.startswith(_UNCHECKED) for each in names)


@contextlib.contextmanager
def _same_numbers_after() -> Generator[None]:
    """Random numbers after the block are those that would have been drawn in its place."""
    state = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)


def as_called(model: Model) -> Runner:
    """A model as users call it, with all that is checked then."""

    def run(feeds: Sequence[Any]) -> list[Any]:
        found: Any = model(*feeds)
        return list(cast("tuple[Any, ...]", found)) if isinstance(found, tuple) else [found]

    return run


def forget_ranks(graph: ir.Graph, outputs: Collection[str]) -> None:
    """Take away the shapes of outputs whose rank depends on a size, and of all that is computed behind a squeeze."""
    for each in graph.outputs:
        if each.name in outputs:
            each.shape = None
    squeezes = [each for each in graph if each.op_type == "Squeeze" and len(each.inputs) == 1]
    waiting = [each.outputs[0] for each in squeezes]
    seen: set[ir.Value] = set()
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        if not value.is_graph_output():
            value.shape = None
        waiting += [each for use in value.uses() for each in use.node.outputs]


def is_tried(model: Model) -> bool:
    """True if a model is small enough to be run beside its module unasked."""
    return files.weight_bytes(model.ir) <= _MOST_BYTES
