"""Finds equal values of two runs: by how they are made, by what they are, by what makes and takes them.

The second model may be an optimised, renamed, converted or exported twin of the first, so nothing is sure. Equal ways
of making a value come first, then equal numbers, then neighbours of known pairs, and names. A value without a
counterpart is left alone: it was fused away.
"""

from __future__ import annotations

import bisect
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence

import onnx_ir as ir

from onnxsmith.comparing.flow import HANDING_ON, Flow
from onnxsmith.comparing.outputs import paired_outputs
from onnxsmith.comparing.sides import Side
from onnxsmith.graphs.identity import FINGERPRINT
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.observing import Step

_COMMUTATIVE = frozenset({"Add", "Mul", "And", "Or", "Xor", "Max", "Min", "Sum", "Mean", "Equal"})
#: Values with fewer elements are equal by chance.
_TELLING = 8
_FEWEST = 3
_MOST_ROUNDS = 50
#: Equal values differ in length by no more than this part of it, whatever their type.
_LARGEST_DRIFT = 5e-2


def step_key(side: Side, step: Step) -> Hashable:
    """The key of a step's computation, as far as its operator, attributes and weights give it."""
    taken = [None if each is None else side.line.actual(each) for each in step.run.inputs]
    weights = tuple(
        None if each is None else FINGERPRINT.tensor(side.line.constants[each])
        for each in taken
        if each is None or each in side.line.constants
    )
    return (step.run.domain, step.run.op_type, _attributes(step), weights)


def _attributes(step: Step) -> Hashable:
    held = step.run.attributes
    return tuple((name, FINGERPRINT.attribute(held[name], _operators)) for name in sorted(held))


def _operators(graph: ir.Graph) -> Hashable:
    return tuple(node.op_type for node in graph.all_nodes())


class Matching:
    """Pairs of values: of the first run to the second, and back."""

    def __init__(self, left: Side, right: Side, *, any_shape: bool = False) -> None:
        """`any_shape` lets values be the same that have other shapes, but as many elements."""
        self._left, self._right = left, right
        self.to_right: dict[ir.Value, ir.Value] = {}
        self.to_left: dict[ir.Value, ir.Value] = {}
        self._keys: dict[Hashable, int] = {}
        self._any_shape = any_shape
        #: What is computed of weights alone.
        self._fixed: set[ir.Value] = {*_fixed(left), *_fixed(right)}
        #: Pairs in the order in which they were found: what looks at neighbours goes on where it was.
        self._found: list[tuple[ir.Value, ir.Value]] = []
        self._seen: Counter[str] = Counter()
        self._flows = (Flow(left), Flow(right))
        self._inputs()
        self._equal_ways()
        self._equal_numbers(telling_only=True)
        self._constants()
        self._outputs()
        self._neighbours()
        self._names()
        self._neighbours()
        self._equal_numbers(telling_only=False)
        self._changed_operators()
        self._neighbours()

    def pairs(self) -> Iterator[tuple[ir.Value, ir.Value]]:
        """The pairs of values of which at least one is computed, in the order of the first run."""
        for value, other in self.to_right.items():
            if value in self._left.line.constants and other in self._right.by_value:
                yield value, other
        for value in self._left.by_value:
            other = self.to_right.get(value)
            if other is not None and (other in self._right.by_value or other in self._right.line.constants):
                yield value, other

    def is_fixed(self, value: ir.Value) -> bool:
        """True if a value is computed of weights alone."""
        return value in self._fixed

    def readers(self, value: ir.Value) -> list[Step]:
        """The steps of the first run that take a value."""
        return self._flows[0].readers(value)

    def _pair(self, left: ir.Value, right: ir.Value) -> bool:
        if left in self.to_right and right in self.to_left:
            return False
        self.to_right.setdefault(left, right)
        self.to_left.setdefault(right, left)
        self._found.append((left, right))
        return True

    def _new_pairs(self, reader: str) -> list[tuple[ir.Value, ir.Value]]:
        """The pairs that were found since a reader asked last."""
        start, self._seen[reader] = self._seen[reader], len(self._found)
        return self._found[start:]

    def _inputs(self) -> None:
        left, right = self._left.line.inputs, self._right.line.inputs
        if not left.keys().isdisjoint(right):
            pairs = [(value, right[name]) for name, value in left.items() if name in right]
        else:
            pairs = list(zip(left.values(), right.values(), strict=False))
        for one, two in pairs:
            self._pair(one, two)

    def _outputs(self) -> None:
        for pair in paired_outputs(self._left, self._right):
            if pair.left in self._left.by_value and pair.right in self._right.by_value:
                self._pair(pair.left, pair.right)

    # -- by the way that they are made -----------------------------------------------------------------

    def _equal_ways(self) -> None:
        groups: list[dict[int, list[ir.Value]]] = []
        inputs = {
            value: self._number(("input", k)) for k, value in enumerate(self._left.line.inputs.values())
        }
        for value, other in self.to_right.items():
            if value in inputs:
                inputs[other] = inputs[value]
        for side in (self._left, self._right):
            known: dict[ir.Value, int] = {value: inputs.get(value, -1) for value in side.line.inputs.values()}
            for value, tensor in side.line.constants.items():
                known[value] = self._number(FINGERPRINT.tensor(tensor))
            found: dict[int, list[ir.Value]] = defaultdict(list)
            for step in side.line.steps:
                taken = tuple(known.get(side.line.actual(each), -2) for each in side.line.taken(step))
                holes = tuple(each is None for each in step.run.inputs)
                way = self._number((step.run.domain, step.run.op_type, _attributes(step), taken, holes))
                for position, value in enumerate(step.run.outputs):
                    if value.name:
                        known[value] = self._number((way, position))
                        found[known[value]].append(value)
            groups.append(found)
        for way, values in groups[0].items():
            others = groups[1].get(way)
            if others:
                for one, two in _zipped(values, others):
                    self._pair(one, two)

    def _number(self, key: Hashable) -> int:
        return self._keys.setdefault(key, len(self._keys))

    # -- by what they are ------------------------------------------------------------------------------

    def _equal_numbers(self, *, telling_only: bool) -> None:
        left, right = self._left.signatures, self._right.signatures
        by_size: dict[int, list[ir.Value]] = defaultdict(list)
        for value in self._right.by_value:
            found = right.get(value)
            if found is not None and value not in self.to_left:
                by_size[found.size].append(value)
        # By their lengths, so that only those near are looked at: a model may have thousands of one size.
        lengths: dict[int, list[float]] = {}
        for size, values in by_size.items():
            values.sort(key=lambda each: right[each].length)
            lengths[size] = [right[each].length for each in values]
        for value in self._left.by_value:
            mine = left.get(value)
            if mine is None or value in self.to_right:
                continue
            if telling_only and (mine.size < _TELLING or mine.is_plain):
                continue
            allowed = 2 * _LARGEST_DRIFT * mine.length
            start = bisect.bisect_left(lengths.get(mine.size, []), mine.length - allowed)
            end = bisect.bisect_right(lengths.get(mine.size, []), mine.length + allowed)
            near = [
                each
                for each in by_size.get(mine.size, [])[start:end]
                if each not in self.to_left and mine.is_near(right[each])
            ]
            if not telling_only and (mine.size < _FEWEST or mine.is_plain):
                near = [each for each in near if self._operator(value) == self._operator(each)]
            if near:
                self._pair(value, min(near, key=lambda each: self._distance(value, each)))

    def _operator(self, value: ir.Value) -> tuple[str, str] | None:
        step = self._left.by_value.get(value) or self._right.by_value.get(value)
        return None if step is None else (step.run.domain, step.run.op_type)

    def _distance(self, left: ir.Value, right: ir.Value) -> tuple[bool, bool, bool, float]:
        shapes = self._left.signatures[left].shape, self._right.signatures[right].shape
        places = (
            self._left.order[left] / len(self._left.order),
            self._right.order[right] / len(self._right.order),
        )
        return (
            self._operator(left) != self._operator(right),
            shapes[0] != shapes[1],
            self._name(self._left, left) != self._name(self._right, right),
            abs(places[0] - places[1]),
        )

    def _constants(self) -> None:
        """Pairs values that one model computes from weights alone with weights that the other holds."""
        for one, two, is_left in ((self._left, self._right, True), (self._right, self._left, False)):
            known = self.to_right if is_left else self.to_left
            back = self.to_left if is_left else self.to_right
            made = [each for each in _fixed(one) if each in one.signatures and each not in known]
            sizes = {one.signatures[each].size for each in made}
            held = [
                value
                for value, tensor in two.line.constants.items()
                if value not in back and tensor.size in sizes
            ]
            for value in held:
                two.note_constant(value)
            for value in made:
                mine = one.signatures[value]
                near = [each for each in held if each not in back and _is_near(two, each, mine)]
                if len(near) == 1 or (near and mine.size >= _TELLING and not mine.is_plain):
                    self._pair(*((value, near[0]) if is_left else (near[0], value)))

    # -- by what makes and takes them ------------------------------------------------------------------

    def _neighbours(self) -> None:
        for _ in range(_MOST_ROUNDS):
            if not (self._backward() | self._forward(with_operator=True) | self._copies()):
                return

    def _copies(self) -> bool:
        """Pairs the results of steps that only hand a value on."""
        changed = False
        for flow, there, back in zip(
            self._flows, (self.to_right, self.to_left), (self.to_left, self.to_right), strict=True
        ):
            side = flow.side
            for given, made in flow.handed_on:
                is_open = given in there and made not in there and made in side.signatures
                if (
                    is_open
                    and given in side.signatures
                    and side.signatures[made].is_near(side.signatures[given])
                ):
                    there[made] = there[given]
                    back.setdefault(there[given], made)
                    other = there[given]
                    self._found.append((made, other) if side is self._left else (other, made))
                    changed = True
        return changed

    def _backward(self) -> bool:
        """The inputs of two nodes that give the same value and are of one operator are the same."""
        changed = False
        order = self._left.order
        waiting = sorted(self._new_pairs("backward"), key=lambda pair: order.get(pair[0], -1))
        while waiting:
            value, other = waiting.pop()
            left, right = self._left.by_value.get(value), self._right.by_value.get(other)
            if left is None or right is None:
                continue
            if left.run.op_type != right.run.op_type:
                left, right = _through(self._left, left), _through(self._right, right)
            if left.run.op_type != right.run.op_type:
                continue
            if len(left.run.inputs) != len(right.run.inputs):
                continue
            if self._same_inputs(left, right):
                changed = True
                waiting += self._new_pairs("backward")
        return changed

    def _same_inputs(self, left: Step, right: Step) -> bool:
        ours, theirs = self._flows[0].taken(left), self._flows[1].taken(right)
        if left.run.op_type in _COMMUTATIVE and len(ours) == 2:
            straight = self._agrees(ours[0], theirs[0]) + self._agrees(ours[1], theirs[1])
            crossed = self._agrees(ours[0], theirs[1]) + self._agrees(ours[1], theirs[0])
            theirs = theirs[::-1] if crossed > straight else theirs
        changed = False
        for one, two in zip(ours, theirs, strict=True):
            if one is None or two is None or not self._can_pair(one, two):
                continue
            changed |= self._pair(one, two)
        return changed

    def _can_pair(self, one: ir.Value, two: ir.Value) -> bool:
        if one in self._left.line.constants and two in self._right.line.constants:
            return False
        for side, value, other in ((self._left, one, two), (self._right, two, one)):
            if value in side.line.constants:
                if other not in self._fixed:
                    return False
                side.note_constant(value)
            elif value not in side.by_value:
                return False
        mine, theirs = self._left.signatures.get(one), self._right.signatures.get(two)
        if mine is None or theirs is None or not mine.fits(theirs, any_shape=self._any_shape):
            return False
        if (
            one in self.to_right or two in self.to_left
        ):  # it is a second name of a value that has a counterpart
            return mine.is_near(theirs)
        return True

    def _agrees(self, one: ir.Value | None, two: ir.Value | None) -> int:
        if one is None or two is None:
            return int(one is two)
        if self.to_right.get(one) is two or self.to_left.get(two) is one:
            return 2
        is_weight = one in self._left.line.constants, two in self._right.line.constants
        return int(is_weight[0] == is_weight[1] and one not in self.to_right and two not in self.to_left)

    def _forward(self, *, with_operator: bool) -> bool:
        """Two nodes that alone take the same values, and are of one operator, give the same values."""
        left: dict[Hashable, list[Step]] = defaultdict(list)
        right: dict[Hashable, list[Step]] = defaultdict(list)
        new = list(zip(*self._new_pairs(f"forward {with_operator}"), strict=True)) or [(), ()]
        for flow, known, values, found in zip(
            self._flows, (self.to_right, self.to_left), new, (left, right), strict=True
        ):
            for step in flow.near(values):
                if any(each in known for each in step.run.outputs):
                    continue
                key = self._form(flow, step, with_operator)
                if key is not None:
                    found[key].append(step)
        changed = False
        for key, steps in left.items():
            others = right.get(key, ())
            if len(steps) != len(others) or (len(steps) > 1 and not with_operator):
                continue
            for one, two in zip(steps, others, strict=True):
                for mine, theirs in zip(one.run.outputs, two.run.outputs, strict=False):
                    if mine.name and theirs.name and self._can_pair(mine, theirs):
                        changed |= self._pair(mine, theirs)
        return changed

    def _form(self, flow: Flow, step: Step, with_operator: bool) -> Hashable | None:
        side = flow.side
        taken: list[Hashable] = []
        has_known = False
        for each in flow.taken(step):
            if each is None:
                taken.append(None)
            elif each in side.line.constants:
                taken.append(_as_operand(dimensions_of(side.line.constants[each])))
            elif each in self._fixed and each in side.signatures:
                taken.append(_as_operand(side.signatures[each].shape))
            else:
                value = each if side is self._left else self.to_left.get(each)
                if value is None or (side is self._left and each not in self.to_right):
                    return None
                has_known = True
                taken.append(id(self.to_right.get(value, value)))
        if not has_known:
            return None
        if not with_operator:
            taken = [each for each in taken if isinstance(each, int)]
        elif step.run.op_type in _COMMUTATIVE:
            taken.sort(key=repr)
        return (step.run.op_type if with_operator else None, tuple(taken), len(step.run.outputs))

    def _changed_operators(self) -> None:
        """Pairs values that take and are taken alike, even if another operator makes them."""
        while self._forward(with_operator=False):
            self._neighbours()

    # -- by names --------------------------------------------------------------------------------------

    def _name(self, side: Side, value: ir.Value) -> Hashable | None:
        step = side.by_value.get(value)
        if step is None:
            return None
        position = list(step.run.outputs).index(value)
        outputs = step.node.ir.outputs
        name = outputs[position].name if position < len(outputs) else None
        return None if not name else (step.node.graph.address, name, step.turns, step.calls)

    def _names(self) -> None:
        names = {name: each for each in self._right.by_value if (name := self._name(self._right, each))}
        for value in self._left.by_value:
            name = None if value in self.to_right else self._name(self._left, value)
            other = None if name is None else names.get(name)
            if other is not None and other not in self.to_left and self._can_pair(value, other):
                self._pair(value, other)


def _as_operand(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a weight; a single number is one, in however many brackets."""
    return () if all(size == 1 for size in shape) else shape


def _is_near(side: Side, value: ir.Value, other: object) -> bool:
    found = side.signatures.get(value)
    return found is not None and found.is_near(other)  # type: ignore[arg-type]


def _fixed(side: Side) -> list[ir.Value]:
    """The values that a run computes of weights alone, in order."""
    known: set[ir.Value] = set(side.line.constants)
    found: list[ir.Value] = []
    for step in side.line.steps:
        if step.run not in side.line.whole and all(
            side.line.actual(each) in known for each in side.line.taken(step)
        ):
            known.update(step.run.outputs)
            found += step.run.outputs
    return found


def _through(side: Side, step: Step) -> Step:
    """The step that makes what steps only hand on."""
    while step.run.op_type in HANDING_ON and step.run.inputs[0] is not None:
        before = side.by_value.get(side.line.actual(step.run.inputs[0]))
        if before is None:
            break
        step = before
    return step


def _zipped(left: Sequence[ir.Value], right: Sequence[ir.Value]) -> Iterable[tuple[ir.Value, ir.Value]]:
    """Values that are made in one way: in order; where there are more on one side, the rest are the last one again."""
    for position in range(max(len(left), len(right))):
        yield left[min(position, len(left) - 1)], right[min(position, len(right) - 1)]
