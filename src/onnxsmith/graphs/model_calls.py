"""The calls of one model: its ports, read once, and the session for each choice of a runtime.

A call on arrays of element types and shapes that an earlier call had goes straight to the session: nothing else
decides whether a model takes its inputs. How arguments become inputs is the business of `model_inputs`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.core.call_cache import CHOICE, CallCache, are_arrays
from onnxsmith.core.value import Value
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import CallError, ModelInputError, NotRunnableError
from onnxsmith.graphs import model_inputs, size_conditions
from onnxsmith.graphs.model_inputs import Port
from onnxsmith.graphs.model_runtime import Explain, model_runtime
from onnxsmith.graphs.run_values import Run, RunValue, session_value
from onnxsmith.graphs.size_conditions import SizeCondition
from onnxsmith.schema.foreign_arrays import DeviceArray, is_foreign

#: How many choices of a runtime have a session, and how many forms of a call are known.
_MOST_CHOICES = 8
_MOST_FORMS = 256

#: What decides whether a model takes an array.
form_of: Callable[[Any], tuple[np.dtype[Any], tuple[int, ...]]] = operator.attrgetter("dtype", "shape")


def placed_form_of(array: Any) -> tuple[np.dtype[Any], tuple[int, ...], str | None]:
    """The facts that decide whether a model takes an array behind a tensor, and where it runs then."""
    return array.dtype, array.shape, array.device if isinstance(array, DeviceArray) else None


class ModelCalls:
    """The ports and sessions of a model, and the forms of the calls that it has accepted; made by the first call."""

    __slots__ = ("known", "names", "optional", "ports", "sessions")

    def __init__(self, ports: tuple[Port, ...], optional: tuple[Port, ...]) -> None:
        self.ports = ports
        self.optional = optional
        #: Of the inputs that must be given.
        self.names = tuple(port.name for port in ports)
        #: By the choice of a runtime.
        self.sessions: CallCache[Run] = CallCache(_MOST_CHOICES)
        #: By the choice and the forms of the arrays.
        self.known: CallCache[Run] = CallCache(_MOST_FORMS)

    @property
    def all_names(self) -> list[str]:
        """The names of all inputs, in the order of a call."""
        return [*self.names, *(port.name for port in self.optional)]

    def find_tensors(self, values: Sequence[Any]) -> tuple[Run, Sequence[Any]] | None:
        """The session of a call on tensors, or arrays of other libraries, whose forms are known, and their arrays."""
        arrays = model_runtime().arrays_behind(values)
        run = None if arrays is None else self.known.find((CHOICE.get(), *map(placed_form_of, arrays)))
        return None if run is None or arrays is None else (run, arrays)

    def learn_tensors(
        self, given: tuple[Any, ...], named: Mapping[str, Any], feeds: Sequence[Any], run: Run
    ) -> None:
        """Enter a call on tensors that was accepted, if all of its arguments are inputs as they are."""
        values = self._in_order(given, named, feeds)
        arrays = None if values is None else model_runtime().arrays_behind(values)
        if arrays is not None and all(
            form_of(array) == form_of(feed) and array.dtype.isnative and not array.dtype.hasobject
            for array, feed in zip(arrays, feeds, strict=True)
        ):
            self.known.put((CHOICE.get(), *map(placed_form_of, arrays)), run)

    def _in_order(
        self, given: tuple[Any, ...], named: Mapping[str, Any], feeds: Sequence[Any]
    ) -> tuple[Any, ...] | None:
        """All arguments in the order of the inputs; None if they are not exactly those that must be given."""
        if len(given) + len(named) != len(feeds) or len(feeds) != len(self.names):
            return None
        return (*given, *(named[name] for name in self.names[len(given) :]))

    def learn(self, given: tuple[Any, ...], named: Mapping[str, Any], feeds: Sequence[Any], run: Run) -> None:
        """Enter a call that was accepted, if all of its arguments are arrays that are inputs as they are."""
        values = self._in_order(given, named, feeds)
        if (
            values is not None
            and are_arrays(map(type, values))
            and all(
                value is feed and value.dtype.isnative and not value.dtype.hasobject
                for value, feed in zip(values, feeds, strict=True)
            )
        ):
            self.known.put((CHOICE.get(), *map(form_of, values)), run)


def gives_tensors(value: object) -> bool:
    """True for an argument for which the results are tensors: a tensor, or an array of another library."""
    if isinstance(value, list | tuple):
        return any(gives_tensors(each) for each in cast("Sequence[object]", value))
    return isinstance(value, Value | DeviceArray) or is_foreign(value)


def of_arrays(run: Run, ports: Sequence[Port]) -> Callable[[Sequence[Any]], Any]:
    """A session as a function of a list of arrays, of any byte order: one output comes as it is, several as a tuple.

    A list of another length is refused, and so is an array: its rows would be taken for inputs.
    """
    count = len(ports)

    def call(arrays: Sequence[RunValue], /, *others: object) -> Any:
        is_list = arrays.__class__ is list or isinstance(cast(object, arrays), Sequence)
        if not is_list or others or len(arrays) != count:
            raise _not_the_inputs(arrays, others, ports).locate_at_caller()
        for each in arrays:  # inline: most are arrays as they should be
            if each.__class__ is not np.ndarray or not cast("np.ndarray[Any, Any]", each).dtype.isnative:
                arrays = [session_value(value) for value in arrays]
                break
        outputs = run(arrays)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    return call


def _not_the_inputs(
    given: object, others: Sequence[object], ports: Sequence[Port]
) -> CallError | ModelInputError:
    kind: type[object] = type(given)
    if isinstance(given, Sequence) and not others:
        return model_inputs.wrong_count(len(cast("Sequence[object]", given)), ports)
    what = f"{len(others) + 1} arguments" if others else described_type(kind)
    names = ", ".join(port.name for port in ports)
    return CallError(f"a runner takes the inputs as a list, and was given {what}", help=f"run([{names}])")


def refusing(error: NotRunnableError, explain: Explain) -> Run:
    """Says, on the inputs, why the model cannot run."""

    def refuse(feeds: Sequence[RunValue]) -> list[RunValue]:
        raise explain(error, feeds)

    return refuse


def checking(run: Run, conditions: Sequence[SizeCondition], ports: Sequence[Port]) -> Run:
    """A session that refuses sizes that the model is not for."""

    def check_and_run(feeds: Sequence[RunValue]) -> list[RunValue]:
        size_conditions.check(conditions, model_inputs.sizes(ports, feeds))
        return run(feeds)

    return check_and_run
