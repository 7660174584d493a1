"""Where two runs part: the first step whose result is another one even on the same inputs.

Values that differ may do so because of a node long before. So a node of the second run is run again on what the first
run has for its inputs: the difference that is left is its own. And if it is what is wrong, the second run with that one
value put right gives what the first one gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnxsmith.comparing.matching import Matching, step_key
from onnxsmith.comparing.outputs import apart, in_narrower, paired_outputs, value_difference
from onnxsmith.comparing.refining import Part, renamed_inputs, taken_apart
from onnxsmith.comparing.sides import Side
from onnxsmith.comparing.weights import TakenWeight, odd_weights
from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.agreement import (
    CONVERTED,
    Difference,
    Tolerance,
    as_wide,
    compare,
    described,
    distances,
    is_text,
    kinds_differ,
)
from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.graphs.trial_inputs import Draw
from onnxsmith.observing import Step

#: Runs on slightly other inputs, to see how much a computation makes of rounding.
_NOISE_RUNS = 2
#: Pairs that are looked into before the search ends.
_MOST_SUSPECTS = 400
#: What is left of the difference of the outputs after the cause is put right.
_LEFT_OVER = 0.02
_REFINING_BYTES = 1 << 28
#: How far a fitted line may be off, as a part of the largest element.
_FIT = 1e-3
#: Operators that only move data.
MOVERS = frozenset(
    {
        "Cast",
        "CastLike",
        "Concat",
        "Constant",
        "Expand",
        "Flatten",
        "Identity",
        "Reshape",
        "Shape",
        "Squeeze",
        "Transpose",
        "Unsqueeze",
    }
)


@dataclass(frozen=True, slots=True)
class Parting:
    """The first step that differs."""

    left: ir.Value
    right: ir.Value
    #: The steps between the last equal values and these, in each run.
    left_region: tuple[Step, ...]
    right_region: tuple[Step, ...]
    #: The step of each that is to blame, where one is.
    left_step: Step | None
    right_step: Step | None
    difference: Difference
    #: What the second run gives on the values of the first; None where it is no tensor.
    local: Array | None
    #: Whether putting this value right makes the outputs of both runs equal.
    explains: bool
    #: Whether the regions compute a weight of others, and nothing else.
    is_weight: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """The result of a search, with counts of the values that were looked at."""

    parting: Parting | None
    matched: int
    differing: int
    #: How the outputs differ, by name, beyond the tolerance.
    outputs: dict[str, Difference]
    notes: tuple[str, ...]


class Searching:
    """Compares two runs."""

    def __init__(self, left: Side, right: Side, tolerance: Tolerance, *, refines: bool = True) -> None:
        self._left, self._right = left, right
        self._tolerance = tolerance
        self._refines = refines
        self._matching = Matching(left, right, any_shape=not refines)
        self._pairs = paired_outputs(left, right)
        #: The outputs that both have, and what each run gives for them.
        self._compared = [each for each in self._pairs if each.left is not None and each.right is not None]
        self._results = (
            _taken(left.outputs(), [each.left for each in self._compared]),
            _taken(right.outputs(), [each.right for each in self._compared]),
        )

    def run(self) -> Search:
        """Look for the first step that differs."""
        outputs = self._outputs()
        gap = apart(*self._results)
        pairs = [(one, two) for one, two in self._matching.pairs() if self._can_compare(one, two)]
        differing, suspects = 0, 0
        first: Parting | None = None
        for one, two in pairs:
            if self._direct(one, two) is None or self._is_idle(one):
                continue
            differing += 1
            if suspects >= _MOST_SUSPECTS:
                break
            found = self._local(one, two)
            if found is None:
                continue
            suspects += 1
            parting = self._parting(one, two, *found, gap)
            if parting.explains:
                return Search(parting, len(pairs), differing, outputs, self._notes())
            first = first or parting
        # Several nodes differ, or no value of the cause has a counterpart: the first difference is what there is.
        if any(pair.name in outputs for pair in self._compared):
            first = first or self._made_otherwise(outputs)
        else:
            first = None
        return Search(first, len(pairs), differing, outputs, self._notes())

    def _of_right(self, given: Mapping[ir.Value, RunValue]) -> list[RunValue]:
        """The outputs of the second run that the first has, too, where some values are others."""
        wanted = [each.right for each in self._compared if each.right is not None]
        return self._right.computed_after(wanted, given)

    # -- comparing -------------------------------------------------------------------------------------

    def _can_compare(self, one: ir.Value, two: ir.Value) -> bool:
        signatures = self._left.signatures.get(one), self._right.signatures.get(two)
        return (
            signatures[0] is not None
            and signatures[1] is not None
            and signatures[0].size == signatures[1].size
        )

    def _direct(self, one: ir.Value, two: ir.Value) -> Difference | None:
        return self._difference(self._left.array(one), self._right.array(two))

    def _is_idle(self, value: ir.Value) -> bool:
        """True if a weight is other, and nothing that is made of it: `Reshape` takes -1 for a size, too."""
        if not self._matching.is_fixed(value) and value not in self._left.line.constants:
            return False
        if any(value is each for each in self._left.line.outputs):
            return False
        made = [each for step in self._matching.readers(value) for each in step.run.outputs if each.name]
        for each in made:
            other = self._matching.to_right.get(each)
            if other is None or not self._can_compare(each, other):
                return False
            if self._direct(each, other) is not None and not self._is_idle(each):
                return False
        return bool(made)

    def _difference(
        self, mine: Array, theirs: Array, noise: Array | None = None, *, is_stepped: bool = False
    ) -> Difference | None:
        """How two values differ. Of numbers of two widths, the narrower decides how far they may be apart."""
        if mine.size == theirs.size:
            theirs = theirs.reshape(mine.shape)
        return compare(*in_narrower(mine, theirs), self._tolerance, noise=noise, is_stepped=is_stepped)

    def _local(self, one: ir.Value, two: ir.Value) -> tuple[Difference, Array] | None:
        """How the second run's node differs on the values of the first, and what it gives."""
        mine = self._left.array(one)
        if two in self._right.line.constants:
            theirs = self._right.array(two)
            found = self._difference(mine, theirs)
            return None if found is None else (found, theirs)
        given = self._given_to(two)
        try:
            local = self._right.computed([two], given)[0]
        except OnnxsmithError:
            return None  # it does not run on them: they are no counterparts
        if not isinstance(local, np.ndarray):
            return None
        region = self._right.region(two, given)
        is_stepped = any("Quant" in step.run.op_type or "QLinear" in step.run.op_type for step in region)
        found = self._difference(mine, local, is_stepped=is_stepped)
        if found is not None and not self._tolerance.is_given and not is_text(mine):
            noise = self._noise(two, given, local)
            noise = None if noise is None or noise.size != mine.size else noise.reshape(mine.shape)
            found = self._difference(mine, local, noise, is_stepped=is_stepped)
        return None if found is None else (found, local)

    def _given_to(self, value: ir.Value) -> dict[ir.Value, RunValue]:
        """The numbers of the first run for the values that a value of the second is made of."""
        known = _Except(self._matching.to_left, value)
        given: dict[ir.Value, RunValue] = {}
        for step in self._right.region(value, known):
            for each in self._right.line.taken(step):
                actual = self._right.line.actual(each)
                if actual in known and actual not in given:
                    held = self._of_left(actual)
                    if held is not None:
                        given[actual] = held
        return given

    def _of_left(self, value: ir.Value) -> Array | None:
        """The value of the first run for a value of the second, in its form."""
        other = self._matching.to_left.get(value)
        found = self._right.signatures.get(value)
        if other is None or found is None or other not in self._left.signatures:
            return None
        held = self._left.array(other)
        return _like(held, found.numpy, found.shape) if held.size == found.size else None

    def _noise(self, value: ir.Value, given: dict[ir.Value, RunValue], result: Array) -> Array | None:
        """How far a result moves when what it is made of moves by rounding."""
        draw = Draw()
        noise = np.zeros(result.shape)
        for _ in range(_NOISE_RUNS):
            moved = {each: draw.rounded(held) for each, held in given.items()}
            try:
                other = self._right.computed([value], moved)[0]
            except OnnxsmithError:
                return None
            if isinstance(other, np.ndarray) and other.size == result.size:
                apart = distances(other.reshape(result.shape), result)
                noise = np.maximum(noise, np.where(np.isfinite(apart), apart, 0.0))
        return noise

    # -- the cause -------------------------------------------------------------------------------------

    def _parting(self, one: ir.Value, two: ir.Value, found: Difference, local: Array, gap: float) -> Parting:
        known = _Except(self._matching.to_right, one)
        others = _Except(self._matching.to_left, two)
        left = tuple(self._left.region(one, known))
        right = () if two in self._right.line.constants else tuple(self._right.region(two, others))
        left_step, right_step = self._blamed(left, right)
        if left and right and self._refines:
            mine, given = self._left.array(one), self._given_to(two)
            if self._is_shift(self._left, left, {}, local) or self._is_shift(self._right, right, given, mine):
                # The bias of the one or of the other: nobody can tell.
                explains = self._explains(one, two, gap)
                left_step, right_step = (each[0] if len(each) == 1 else None for each in (left, right))
                return Parting(one, two, left, right, left_step, right_step, found, local, explains)
        if (left_step is None or right_step is None) and left and right and self._refines:
            mine = self._left.array(one)
            left_step = left_step or self._normalising(self._left, left, {}, local)
            right_step = right_step or self._normalising(self._right, right, self._given_to(two), mine)
        if (left_step is None or right_step is None) and left and right and self._refines:
            refined = self._refined(one, two, left, right)
            left_step, right_step = left_step or refined[0], right_step or refined[1]
        if left and right and len(left) + len(right) > 2:
            odd = odd_weights((self._left, self._right), (left, right), self._matching.is_fixed)
            if odd is not None:
                left, left_step = _of_weight(odd[0], left, left_step)
                right, right_step = _of_weight(odd[1], right, right_step)
        explains = self._explains(one, two, gap)
        is_weight = all(self._is_fixed(self._left, each) for each in left) and all(
            self._is_fixed(self._right, each) for each in right
        )
        return Parting(one, two, left, right, left_step, right_step, found, local, explains, is_weight)

    def _is_fixed(self, side: Side, step: Step) -> bool:
        return all(self._matching.is_fixed(each) for each in step.run.outputs)

    def _blamed(self, left: Sequence[Step], right: Sequence[Step]) -> tuple[Step | None, Step | None]:
        """Of the steps of two regions those that have no equal in the other."""
        if len(left) <= 1 and len(right) <= 1:
            return (left[-1] if left else None), (right[-1] if right else None)
        blamed: list[Step | None] = [None, None]
        for key_of in (step_key, _operator):
            keys = [
                [key_of(side, step) for step in steps]
                for side, steps in ((self._left, left), (self._right, right))
            ]
            counts = [Counter(each) for each in keys]
            odd = [
                [
                    step
                    for step, key in zip(steps, keys[n], strict=True)
                    if counts[1 - n][key] < counts[n][key]
                ]
                for n, steps in enumerate((left, right))
            ]
            if key_of is _operator and not (odd[0] and odd[1]):
                break  # one has an operator that was fused in the other: that alone is no fault
            blamed = [
                each or _only(*pair)
                for each, pair in zip(blamed, zip((left, right), odd, strict=True), strict=True)
            ]
        return blamed[0], blamed[1]

    def _refined(
        self, one: ir.Value, two: ir.Value, left: Sequence[Step], right: Sequence[Step]
    ) -> tuple[Step | None, Step | None]:
        """The steps to blame once operators that only one region has are taken apart."""
        given = self._given_to(two)
        known = _Except(self._matching.to_right, one)
        frontier = {
            actual: self._left.array(actual)
            for step in left
            for each in self._left.line.taken(step)
            if (actual := self._left.line.actual(each)) in known and actual in self._left.signatures
        }
        first, taken = self._left.part([one], frontier)
        second, others = self._right.part([two], given)
        names = {each: self._matching.to_left[each].name for each in others if each in self._matching.to_left}
        renaming = {each.name or "": name for each, name in names.items() if name}
        inputs = [
            {each.name or "": frontier[each] for each in taken if each in frontier},
            {renaming.get(each.name or "", each.name or ""): given[each] for each in others if each in given},
        ]
        try:
            second = renamed_inputs(second, renaming)
            parts = taken_apart(Part(first, inputs[0], left), Part(second, inputs[1], right))
            if parts is None:
                return None, None
            sides = [Side(part.model, part.inputs, memory=_REFINING_BYTES) for part in parts[:2]]
            for side in sides:
                side.look()
            found = Searching(sides[0], sides[1], self._tolerance, refines=False).run().parting
        except OnnxsmithError:
            return None, None
        if found is None:
            return None, None
        steps = (found.left_step, found.right_step)
        return tuple(  # type: ignore[return-value]
            None if step is None else part.step_of(step.node.name, parts[2])
            for part, step in zip(parts[:2], steps, strict=True)
        )

    def _is_shift(
        self, side: Side, steps: Sequence[Step], given: Mapping[ir.Value, RunValue], wanted: Array
    ) -> bool:
        """True if a convolution with a bias and the normalisation after it are off by one number in each channel.

        The other run has both in one, so that the bias of either may be the cause, and what computes it.
        """
        computing = [each for each in steps if each.run.op_type not in MOVERS]
        if [each.run.op_type for each in computing] != ["Conv", "BatchNormalization"]:
            return False
        if len(computing[0].run.inputs) < 3 or computing[0].run.inputs[2] is None:
            return False
        now = side.computed([computing[1].run.outputs[0]], given)[0]
        if not isinstance(now, np.ndarray) or now.shape != wanted.shape or now.ndim < 2:
            return False
        apart = np.moveaxis(as_wide(wanted) - as_wide(now), 1, 0).reshape(now.shape[1], -1)
        largest = max(float(np.abs(as_wide(wanted)).max()), 1e-30)
        return bool((np.ptp(apart, axis=1) <= _FIT * largest).all())

    def _normalising(
        self, side: Side, steps: Sequence[Step], given: Mapping[ir.Value, RunValue], wanted: Array
    ) -> Step | None:
        """Of a convolution and the normalisation after it, which the other run has in one, the one to blame.

        If what is wanted is a multiple of what the normalisation takes, plus a number, in each channel, then other
        weights of the normalisation alone would give it.
        """
        computing = [each for each in steps if each.run.op_type not in MOVERS]
        if len(computing) != 2 or computing[1].run.op_type != "BatchNormalization":
            return None
        product = computing[1].run.inputs[0]
        taken = None if product is None else side.computed([product], given)[0]
        if not isinstance(taken, np.ndarray) or taken.shape != wanted.shape or taken.ndim < 2:
            return None
        channels = [np.moveaxis(as_wide(each), 1, 0).reshape(each.shape[1], -1) for each in (taken, wanted)]
        for one, two in zip(*channels, strict=True):
            centred, wanted_centred = one - one.mean(), two - two.mean()
            square = float(centred @ centred)
            slope = float(centred @ wanted_centred) / square if square else 0.0
            if np.abs(wanted_centred - slope * centred).max() > _FIT * max(float(np.abs(two).max()), 1e-30):
                return computing[0]
        return computing[1]

    def _explains(self, one: ir.Value, two: ir.Value, gap: float) -> bool:
        """True if the second run gives what the first does once this value is what it is in the first.

        A node in a loop or function is run several times, and has several results: all of them are put right.
        """
        right: dict[ir.Value, RunValue] = {}
        step = self._right.by_value.get(two)
        held = self._of_left(two)
        if held is not None:
            right[two] = held
        for other in () if step is None else self._right.runs_of(step.node):
            for each in other.run.outputs:
                held = self._of_left(each)
                if held is not None:
                    right[each] = held
        try:
            outputs = self._of_right(right)
        except OnnxsmithError:
            return False
        left_over = apart(self._results[0], outputs)
        if not np.isfinite(left_over):
            return False
        pairs = zip(self._results[0], outputs, strict=True)
        is_near = all(value_difference(one, two, CONVERTED) is None for one, two in pairs)
        return (is_near and left_over <= gap * 1.5 + 1e-12) or left_over <= _LEFT_OVER * gap

    # -- the outputs -----------------------------------------------------------------------------------

    def _outputs(self) -> dict[str, Difference]:
        found: dict[str, Difference] = {}
        results = zip(self._compared, self._results[0], self._results[1], strict=True)
        for pair, one, two in results:
            told = value_difference(one, two, self._tolerance)
            if told is not None:
                found[pair.name] = told
        for pair in self._pairs:
            if pair.left is None or pair.right is None:
                kinds = ("nothing", "an output") if pair.left is None else ("an output", "nothing")
                found[pair.name] = kinds_differ(*kinds)
        return found

    def _notes(self) -> tuple[str, ...]:
        """Outputs that agree, and are of other types."""
        results = zip(self._compared, self._results[0], self._results[1], strict=True)
        return tuple(
            f"output '{pair.name}' is {described(one)} in the first, and {described(two)} in the second"
            for pair, one, two in results
            if isinstance(one, np.ndarray) and isinstance(two, np.ndarray) and one.dtype != two.dtype
        )

    def _made_otherwise(self, outputs: Mapping[str, Difference]) -> Parting | None:
        """The nodes that give the first output that differs, where all values that have counterparts agree.

        Or, before it, the first control flow that both have, and that goes another way.
        """
        for number, pair in enumerate(self._compared):
            told = outputs.get(pair.name)
            if told is None or pair.left is None or pair.right is None:
                continue
            steps = self._left.by_value.get(pair.left), self._right.by_value.get(pair.right)
            ways = zip(self._left.line.ways.items(), self._right.line.ways.items(), strict=False)
            for (one, way), (two, other) in ways:
                if way != other and one.run.op_type == two.run.op_type:
                    steps, told = (one, two), kinds_differ(way, other)
                    break
            left, right = (() if each is None else (each,) for each in steps)
            local = self._results[1][number]
            local = local if isinstance(local, np.ndarray) else None
            explains = len(outputs) == 1
            return Parting(pair.left, pair.right, left, right, *steps, told, local, explains)
        return None


def _taken(results: Mapping[ir.Value, RunValue], wanted: Iterable[ir.Value | None]) -> list[RunValue]:
    return [results[each] for each in wanted if each is not None]


class _Except(Container[ir.Value]):
    """All values of a mapping but one."""

    def __init__(self, values: Mapping[ir.Value, ir.Value], left_out: ir.Value) -> None:
        self._values = values
        self._left_out = left_out

    def __contains__(self, value: object) -> bool:
        return value is not self._left_out and value in self._values


def _of_weight(
    odd: TakenWeight, region: tuple[Step, ...], step: Step | None
) -> tuple[tuple[Step, ...], Step | None]:
    """The region and the step to blame where a weight is other: what computes it, or else what takes it."""
    if not odd.makers:
        return region, step or odd.taker
    return odd.makers, odd.makers[0] if len(odd.makers) == 1 else None


def _operator(side: Side, step: Step) -> Hashable:
    return (step.run.domain, step.run.op_type)


def _only(steps: Sequence[Step], odd: Sequence[Step]) -> Step | None:
    """The one step that can be to blame; what only moves data is, if there is nothing else."""
    if len(steps) == 1:
        return steps[0]
    for found in (odd, [each for each in odd if each.run.op_type not in MOVERS]):
        if len(found) == 1:
            return found[0]
    return None


def _like(array: Array, dtype: str, shape: tuple[int, ...]) -> Array:
    """An array as a value of the other run has it: of its shape, and in its width."""
    shaped = array.reshape(shape)
    with np.errstate(all="ignore"):  # what a narrower type cannot hold becomes infinite there, too
        return shaped if str(shaped.dtype) == dtype else shaped.astype(dtype)
