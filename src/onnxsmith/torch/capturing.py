"""A module as a program of torch.export, with the dimensions that were asked for open as far as the module allows."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Generator
from enum import Enum
from typing import Any, NamedTuple, cast

import torch
from torch.export import _trace
from torch.fx.experimental import _config
from torch.utils import _pytree as pytree

from onnxsmith.diagnostics import wants_full_traceback
from onnxsmith.errors import ExportError, TracedValueError
from onnxsmith.graphs.trial_inputs import Draw
from onnxsmith.torch.autograd_modes import LoopHistory, left_transforms, refusing_lost_regions
from onnxsmith.torch.caches import register_caches
from onnxsmith.torch.checking import Given
from onnxsmith.torch.conditions import decided_dimensions, excludes, narrowings, pinned
from onnxsmith.torch.dynamic_shape_spec import Dimensions, with_torch_dims
from onnxsmith.torch.guards import fixes_by_reading, located_guards, places_of_fixed_sizes
from onnxsmith.torch.hidden_state import HiddenState, is_close, without_new_attributes
from onnxsmith.torch.known_switches import known_switches
from onnxsmith.torch.library.kinds import Example, ModuleArgument
from onnxsmith.torch.open_numbers import open_numbers
from onnxsmith.torch.recording_gradients import check_strict, recording, unchanged_buffers
from onnxsmith.torch.refusals import (
    check_derivatives,
    explained,
    has_wrapped_tensors,
    is_of_derivative,
    place_of,
    refused_derivatives,
)
from onnxsmith.torch.resizing import perturbed
from onnxsmith.torch.size_text import refused_size_text
from onnxsmith.torch.symbols import environment, hint_of, keep_from, ranges_of
from onnxsmith.torch.traced_shapes import open_time, right_unique_shapes
from onnxsmith.torch.verifying import flat_arguments, is_random


class TracedAs(Enum):
    """The ways of tracing that are tried: the first keeps most dimensions dynamic, the last keeps least."""

    ANY = "the example, and a larger one where a size is 0 or 1"
    GIVEN = "the example as it is"
    FIXED = "the example, whose sizes of 0 and 1 torch fixes"


def _cuts_gradients(program: torch.export.ExportedProgram) -> bool:
    """True if a module without parameters says something about gradients of its inputs."""
    return any("detach" in node.name or "grad" in node.name for node in program.graph.nodes)


def captured(
    module: torch.nn.Module,
    given: Given,
    strict: bool,
    *,
    is_training: bool,
    traced_as: TracedAs = TracedAs.ANY,
) -> torch.export.ExportedProgram:
    """The program, from the first way of tracing that leaves all dimensions dynamic that were asked to be.

    Without one, from the way that leaves most. `given` is told where the others are fixed. The program of a module in
    training says what autograd would do.
    """
    register_caches()
    hidden = HiddenState()
    example = (given.args, given.kwargs or {})
    best: tuple[_Loss, torch.export.ExportedProgram] | None = None
    first_error: Exception | None = None
    places: dict[str, None] = {}
    for way in _ways(given, strict, traced_as):
        if way.is_last and best is not None and not best[0].is_for_others:
            continue
        try:
            program = _traced(module, given, way, hidden, is_training=is_training)
        except TracedValueError as error:  # of the text of a size: it is no fault of the way
            raise error.with_traceback(None) from None  # it has its place, and torch's frames say nothing
        except Exception as error:  # torch has many classes for its refusals, some of them Python's
            if isinstance(error, ExportError) and is_of_derivative(error):
                error.locate(place_of(error.__traceback__))
                raise  # with `strict` the program cannot be read
            if is_training and isinstance(error, ExportError):
                if best is not None or (first_error is not None and way.is_strict and not strict):
                    continue  # what another way has given, or has to say, is more
                error.locate(place_of(error.__traceback__))
                raise  # of what gradients a model can have
            # What the larger example meets may not be the user's mistake.
            first_error = first_error if first_error is not None or way.is_enlarged else error
            if isinstance(error, TypeError):  # Python's, of a size that is a key of a dict, say
                given.decided |= _all_dimensions(example)
            if given.dynamic_shapes is None and way.is_strict:
                break
            continue
        if way.is_strict and has_wrapped_tensors(program):
            check_derivatives(without_traces(module), given.args, given.kwargs or {})
        given.decided |= (
            _all_dimensions(example) if fixes_by_reading(program) else decided_dimensions(program)
        )
        loss = _loss(program, example, given)
        is_small = way.is_enlarged or (bool(given.small) and way.takes_any_size)
        if is_small and (loss.is_for_others or _is_doubtful(program, example)):
            loss = loss._replace(is_for_others=not _is_right(program, module, example))
        if best is None or loss < best[0]:
            best = loss, program
        if not any(best[0]):
            break
        places |= dict.fromkeys(_places(program))
    if best is None:
        assert first_error is not None
        if is_training and not any(each.requires_grad for each in module.parameters()):
            # Without autograd torch takes more, such as branches of `cond` that return their arguments.
            with contextlib.suppress(ExportError):
                program = captured(module, given, strict, is_training=False, traced_as=traced_as)
                if not _cuts_gradients(program):
                    return program
        if strict and not isinstance(first_error, ExportError):
            check_derivatives(without_traces(module), given.args, given.kwargs or {})
        _explain(given, first_error)
        raise first_error
    # What fixes a size leaves no trace where it is one number from the start, and is known of the larger example alone.
    given.decided_at = places_of_fixed_sizes(best[1]) or tuple(places) or given.decided_at
    hidden.check(module, example, is_random=is_random(best[1].graph_module))
    return _settled(best[1])


def _all_dimensions(example: Example) -> set[tuple[int, int]]:
    leaves = enumerate(pytree.tree_leaves(example))
    return {(k, axis) for k, each in leaves if isinstance(each, torch.Tensor) for axis in range(each.dim())}


class _Way(NamedTuple):
    """One way of tracing a module."""

    is_strict: bool
    #: Sizes of 0 and 1 are special to much of torch's code, so a dimension stays dynamic best at 2. The module may need
    #: what it was given, though: for broadcasting, say.
    is_enlarged: bool
    #: torch treats sizes of 0 and 1 like others where it can.
    takes_any_size: bool
    #: The name of dimensions that are not enlarged.
    but_for: str = ""
    #: Tried only where all that came of others is not for the example.
    is_last: bool = False


def _ways(given: Given, strict: bool, traced_as: TracedAs) -> list[_Way]:
    """The ways to try in turn; torch reads the module's code, which takes longer, where running it fixes a size."""
    last = _Way(strict, is_enlarged=False, takes_any_size=False)
    if traced_as is TracedAs.FIXED:
        return [last]
    sizes = [True, False] if given.small else [False]
    ways = [_Way(strict, is_enlarged, takes_any_size=True) for is_enlarged in sizes]
    if not strict:
        ways.append(_Way(is_strict=True, is_enlarged=bool(given.small), takes_any_size=True))
    if len({name for name in given.small_names if name}) > 1:
        # The last of several names stays as it is: it may be there to be broadcast.
        ways.append(_Way(strict, is_enlarged=True, takes_any_size=False, but_for=given.small_names[-1]))
    if given.small and not strict:
        ways.append(_Way(is_strict=True, is_enlarged=False, takes_any_size=True, is_last=True))
    return [each for each in (*ways, last) if traced_as is TracedAs.ANY or not each.is_enlarged]


class _Loss(NamedTuple):
    """The dimensions that a program loses of those that were asked for; the least is best."""

    is_for_others: bool
    #: Dimensions that are one number; or one with others in an example of 1, which may be there to be broadcast.
    fixed: int
    merged: int
    exact: int


def _loss(program: torch.export.ExportedProgram, example: Example, given: Given) -> _Loss:
    if given.dynamic_shapes is None:
        return _Loss(False, 0, 0, 0)
    dimensions = Dimensions.of_program(program, given.dynamic_shapes)
    found = narrowings(program, dimensions.names, dimensions.asked)
    exact = [each for each in found if each.is_exact and not each.is_torch]
    # A symbol that is one number all the same has shapes that torch did not mean to be for others.
    fixed = len(dimensions.fixed) + 2 * pinned(program)
    merged = len(dimensions.merged)
    return _Loss(excludes(program, example), fixed + (2 if merged and given.small else 0), merged, len(exact))


def _is_doubtful(program: torch.export.ExportedProgram, example: Example) -> bool:
    """True if a guard leaves an example out that torch's own code made, or code of the module's that torch read."""
    return not is_random(program.graph_module) and excludes(program, example, with_torch=True)


def _is_right(program: torch.export.ExportedProgram, module: torch.nn.Module, example: Example) -> bool:
    """True if a program gives the module's results for an example though a guard of the module's leaves it out."""
    if excludes(program, example, but_for_tried=True):
        return False
    for seed in (0, 1):
        draw = Draw(seed)
        args, kwargs = pytree.tree_map_only(torch.Tensor, lambda x, draw=draw: perturbed(x, draw), example)
        try:
            with torch.no_grad():
                wanted = pytree.tree_leaves(without_traces(module)(*args, **kwargs))
                got = torch.fx.Interpreter(program.graph_module).run(*flat_arguments(program, (args, kwargs)))
        except Exception:  # whatever torch raises for sizes that a program is not for
            return False
        mine = pytree.tree_leaves(got)[-len(wanted) :]
        if len(mine) != len(wanted) or not all(map(is_close, mine, wanted)):
            return False
    return True


def without_traces(module: torch.nn.Module) -> Callable[..., Any]:
    """The module as a function that leaves its buffers as they are."""

    def run(*args: ModuleArgument, **kwargs: ModuleArgument) -> ModuleArgument:
        with unchanged_buffers(module):
            return module(*args, **kwargs)

    return run


def _places(program: torch.export.ExportedProgram) -> list[str]:
    """The lines where the module decides by sizes in a program that is not for all of them."""
    found = [place for each in narrowings(program, {}, {}) if not each.is_torch for place in each.places]
    return [*places_of_fixed_sizes(program), *found]


def _traced(
    module: torch.nn.Module, given: Given, way: _Way, hidden: HiddenState, *, is_training: bool
) -> torch.export.ExportedProgram:
    shapes = cast("dict[str, Any] | None", with_torch_dims(given.dynamic_shapes))  # or a tuple
    larger = given.enlarged(way.but_for) if way.is_enlarged else None
    args, kwargs = (given.args, given.kwargs) if larger is None else larger
    if is_training and way.is_strict:
        check_strict(module, args, kwargs or {})
    autograd = (
        torch.no_grad() if not is_training else torch.enable_grad() if way.is_strict else recording(module)
    )
    with contextlib.ExitStack() as stack:
        for each in (
            autograd,
            known_switches(module),
            open_time(),
            right_unique_shapes(),
            given.explicit(module),
            without_new_attributes(module),
            _quiet(),
            left_transforms(),
        ):
            stack.enter_context(each)
        stack.enter_context(located_guards())
        if is_training:
            stack.enter_context(refusing_lost_regions())
        if way.takes_any_size:
            stack.enter_context(_any_size())
        if not way.is_strict:
            stack.enter_context(LoopHistory())
            stack.enter_context(open_numbers())
            stack.enter_context(refused_derivatives())
            # Where torch reads the code, it fixes a size whose text is needed, or refuses.
            stack.enter_context(refused_size_text())
            stack.enter_context(hidden.watching(module))  # nothing of it is seen where torch reads the code
        return torch.export.export(module, args, kwargs, dynamic_shapes=shapes, strict=way.is_strict)


def _explain(given: Given, error: Exception) -> None:
    """Raise an error of ours in the place of torch's, where there is more to say."""
    if isinstance(error, ExportError):
        raise error.locate(place_of(error.__traceback__))
    told = explained(error, given.small)
    if told is not None:
        error.__context__ = None  # what torch met on its way would be shown in hundreds of lines
        raise told from error


def _settled(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """The program, whose sizes are from here on those that torch's own code has no exceptions for.

    What is left to trace are decompositions, which may ask about sizes only what is true of all of them.
    """
    shape_env = environment(program)
    if shape_env is None:
        return program
    for symbol, (low, high) in ranges_of(program).items():
        hint = hint_of(shape_env, symbol)
        if low < 2 and (high is None or high >= 2) and hint is not None and hint >= 2:
            keep_from(shape_env, symbol, 2)
    return program


@contextlib.contextmanager
def _any_size() -> Generator[None]:
    """Have torch treat sizes of 0 and 1 like others where it can; not every version has that."""
    patch: Callable[..., contextlib.AbstractContextManager[None]] = getattr(_config, "patch")  # noqa: B009  # untyped
    if hasattr(_config, "backed_size_oblivious"):
        with patch(backed_size_oblivious=True):
            yield
    else:
        yield


#: Where torch writes about sizes that it fixes, and the traceback of an operator that fails: we say both in our words.
_LOGGERS = (
    *("torch._export.non_strict_utils", "torch._subclasses.fake_tensor", "torch.export._trace"),
    *("torch._dynamo", "torch.fx.experimental.symbolic_shapes"),
)


def _ignored(*_: object, **__: object) -> None:
    """Print nothing."""


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    """Without what torch writes on standard error before it raises; all of it where full tracebacks are wanted."""
    if wants_full_traceback():
        yield
        return
    loggers = [logging.getLogger(each) for each in _LOGGERS]
    before = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.CRITICAL)
    # torch prints the graph that it had when it raised, on every level of its calls.
    setattr(_trace, "print", _ignored)  # noqa: B010  # torch has no such name of its own
    try:
        yield
    finally:
        delattr(_trace, "print")
        for each, level in zip(loggers, before, strict=True):
            each.setLevel(level)
