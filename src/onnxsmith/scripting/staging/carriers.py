"""Objects that hold values of a graph, such as arrays, at the end of a path: what they hold, and who shares it.

A path is staged with a journal. At its end the objects from before are put back, so that the other path finds them as
they were; what the path leaves is looked up here. Knows no graphs: `merge` makes outputs of it, `loop_state` states.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator, Sequence

from onnxsmith.core.value_containers import SHARED, CarriedParts, Carrier, Journal, Written
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.structure import Shell, as_carried, parts, rebuilt


def carriers_in(value: Held) -> Iterator[Carrier]:
    """The carriers in a value, and itself if it is one."""
    if isinstance(value, Carrier):
        yield value
        return
    for _, each in parts(value) or ():
        yield from carriers_in(each)


class PathEnd:
    """The values of carriers at the end of a path. Made where the graph of the path is active."""

    __slots__ = ("_held", "start", "written")

    def __init__(self, journal: Journal, values: Iterable[Held]) -> None:
        #: When the path began: what was made later is its own.
        self.start = journal.start
        found = {id(each): each for value in values for each in carriers_in(value)}
        self._held: dict[int, Written] = {key: Written(each, each.carried) for key, each in found.items()}
        #: The carriers from before that the path wrote to, by their ids.
        self.written: dict[int, Written] = {id(each.carrier): each for each in journal.end()}

    def parts_of(self, carrier: Carrier) -> CarriedParts:
        """The values of a carrier at the end."""
        found = self._held.get(id(carrier)) or self.written.get(id(carrier))
        return carrier.carried if found is None else found.parts

    def opened(self, value: Held, form: Held = None, *, keeps_older: bool = False) -> Held:
        """A value with what the carriers in it hold; what `form` has as a carrier is made one.

        Those from before the path are left as they are with `keeps_older`.
        """
        value = as_carried(value)
        if isinstance(value, Carrier):
            if keeps_older and value.born < self.start:
                return value
            return Shell.of(value, self.parts_of(value))
        if isinstance(form, Shell):
            adopted = form.like.adopted(value)
            return value if adopted is None else Shell.of(adopted, adopted.carried)
        inner, forms = parts(value), parts(form) or ()
        if inner is None:
            return value
        by_key = dict(forms)
        items = [self.opened(each, by_key.get(key), keeps_older=keeps_older) for key, each in inner]
        if all(item is each for item, (_, each) in zip(items, inner, strict=True)):
            return value
        return rebuilt(value, items)


def lock_shared(
    results: Sequence[tuple[Carrier, Sequence[Carrier | None]]], is_alone: Callable[[Carrier], bool]
) -> None:
    """Refuse writing where only the model knows who would see it.

    Given are objects that take the place of others, and those others, one for each path. Such an object stands alone
    only if all that it stands for does, and if on no path another one stands for the same. Where it does not, it is not
    written to; what it stands for may be, if nobody reads it afterwards.
    """
    owners = [[None if each is None else each.owner for each in sources] for _, sources in results]
    counts = [collections.Counter(map(id, side)) for side in zip(*owners, strict=True)]
    for (result, _), sources in zip(results, owners, strict=True):
        held = {
            id(each): each
            for each, count in zip(sources, counts, strict=True)
            if each is not None and (count[id(each)] > 1 or not is_alone(each))
        }
        if held:
            result.keep_unchanged(SHARED)
        for place, each in enumerate(held.values()):
            if place or not result.show_until_written(each):
                each.keep_unchanged(SHARED)
