"""State of a module that no model has: attributes that `forward` changes, and random numbers of its own.

torch.export runs `forward` once, and puts what it finds there into the program as constants. A counter, or a tensor
that is kept for the next call, would silently stay as it was, and a number of Python's `random` would be drawn once. So
a module that changes one of these is run twice beside itself: where that gives something else, it is refused. A cache
gives the same, and stays. Buffers are torch's own state, which `keep_mutations` is about.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import random
import types
import warnings
from collections.abc import Generator, Iterable
from typing import Any, cast

import numpy as np
import torch
from torch.utils import _pytree as pytree

from onnxsmith.errors import ExportError
from onnxsmith.graphs.agreement import CONVERTED, compare
from onnxsmith.graphs.trial_inputs import Draw
from onnxsmith.scripting.staging.shared_state import picture_of_bits, picture_of_random
from onnxsmith.scripting.staging.snapshots import Picture
from onnxsmith.source import Span, caller_span
from onnxsmith.torch.library.kinds import Example, ModuleArgument
from onnxsmith.torch.recording_gradients import unchanged_buffers
from onnxsmith.torch.resizing import perturbed
from onnxsmith.torch.weights import as_array

#: What torch keeps in every module; the attributes of a user's class are all others.
_OF_TORCH = frozenset(vars(torch.nn.Module()))
#: Packages whose classes keep no state of a user's.
_NO_STATE = frozenset(["torch", "builtins"])
#: Values of classes and globals that are looked at: objects of libraries, such as loggers, reach everything.
_PLAIN: Any = (list, dict, set, int, float, torch.Tensor)
_RANDOM: Any = torch.random
_TORCH: Any = torch
_NUMPYS: Any = np.random


def _generators() -> dict[str, Picture]:
    """Pictures of the generators that Python and numpy draw from where code names none."""
    return {
        "Python's random": picture_of_random(vars(random)["_inst"]),
        "numpy's random": picture_of_bits(_NUMPYS.get_bit_generator()),
    }


class HiddenState:
    """The changes that one run of `forward` made to what no model has; `watching` fills it in."""

    def __init__(self) -> None:
        #: The names of attributes, as `self.block.count`.
        self.attributes: list[str] = []
        #: The generators of Python and numpy that were drawn from.
        self.generators: list[str] = []
        #: The line that seeds torch's generator.
        self.seeded_at: Span | None = None

    @contextlib.contextmanager
    def watching(self, module: torch.nn.Module) -> Generator[None]:
        """Compare attributes and generators before and after `forward`, whose end torch puts the attributes back at."""
        attributes, generators = _attributes(module), _generators()
        inner, is_own, seed = module.forward, "forward" in vars(module), _TORCH.manual_seed

        @functools.wraps(inner)
        def forward(*args: ModuleArgument, **kwargs: ModuleArgument) -> ModuleArgument:
            result = inner(*args, **kwargs)
            after = _attributes(module)
            self.attributes = [name for name in after if not _is_same(attributes.get(name), after[name])]
            self.generators = [name for name, picture in generators.items() if picture.is_changed()]
            return result

        def manual_seed(number: int) -> torch.Generator:
            self.seeded_at = caller_span()
            return seed(number)

        module.forward, _TORCH.manual_seed = forward, manual_seed
        try:
            with warnings.catch_warnings():
                # torch warns of every tensor that is kept, caches among them.
                warnings.filterwarnings(
                    "ignore", "The tensor attributes? .* assigned during export", UserWarning
                )
                yield
        finally:
            _TORCH.manual_seed = seed
            if is_own:
                module.forward = inner
            else:
                del module.forward

    def check(self, module: torch.nn.Module, example: Example, *, is_random: bool) -> None:
        """Refuse what the next call would give otherwise than the model."""
        if self.seeded_at is not None and is_random:
            raise ExportError(
                "the module seeds torch's generator, and a model draws other numbers than torch",
                help=_DRAWN_ONCE,
            ).locate(self.seeded_at)
        if self.attributes and not _gives_the_same(module, example, is_used=True):
            raise ExportError(
                f"the module gives another result when it is called again: it changes {', '.join(self.attributes)}, "
                "and a model has no memory from one call to the next",
                help="keep a tensor in a buffer, self.register_buffer('state', torch.zeros(…)), and write to it: with "
                "keep_mutations=True its new value is an output",
            ).locate(_definition(module))
        if self.generators and not _gives_the_same(module, example, is_used=False):
            raise ExportError(
                f"the result depends on {' and '.join(self.generators)}, whose numbers a model would hold as they were "
                "drawn once",
                help=f"draw with torch's functions, whose operators the model has; {_DRAWN_ONCE}",
            ).locate(_definition(module))


@contextlib.contextmanager
def without_new_attributes(module: torch.nn.Module) -> Generator[None]:
    """Remove the attributes that modules get in this block: torch puts back those that were there before, alone.

    What torch traces with is left in the others, and no call of the module could use it.
    """
    before = [(each, set(vars(each))) for _, each in _parts(module)]
    try:
        yield
    finally:
        for each, names in before:
            for name in set(vars(each)) - names:
                del vars(each)[name]


#: What to write where random numbers shall be the same in each call.
_DRAWN_ONCE = "numbers that stay are drawn once, in __init__: self.register_buffer('noise', torch.rand(…))"


def refused_generator(operator: str) -> ExportError:
    """The error of a random operator that draws from a generator which the module has made."""
    return ExportError(
        f"{operator} draws from a generator of the module's own, and a model draws other numbers than torch",
        help=f"leave out generator= where any numbers will do; {_DRAWN_ONCE}",
    )


def _parts(module: torch.nn.Module) -> list[tuple[str, torch.nn.Module]]:
    return list(cast("Iterable[tuple[str, torch.nn.Module]]", module.named_modules()))


def _attributes(module: torch.nn.Module) -> dict[str, ModuleArgument]:
    """The attributes of a user's modules and of their classes, and the globals that their code names.

    Containers and objects are copied, so that changes inside are seen.
    """
    known: dict[int, ModuleArgument] = {}
    found: dict[str, ModuleArgument] = {}
    for path, each in _parts(module):
        for name, value in vars(each).items():
            if name not in _OF_TORCH and name != "forward":
                found[".".join(filter(None, ("self", path, name)))] = value
    classes = {cls for each in module.modules() for cls in type(each).__mro__}
    for cls in classes:
        if cls.__module__.partition(".")[0] in _NO_STATE:
            continue
        for name, value in vars(cls).items():
            if isinstance(value, types.FunctionType):
                outside = ((each, value.__globals__.get(each)) for each in value.__code__.co_names)
                found |= {each: held for each, held in outside if isinstance(held, _PLAIN)}
            elif isinstance(value, _PLAIN) and not name.startswith("__"):
                found[f"{cls.__name__}.{name}"] = value
    return {name: _snapshot(value, known) for name, value in found.items()}


def _snapshot(value: ModuleArgument, known: dict[int, ModuleArgument]) -> ModuleArgument:
    """A value with copies of the containers and of the attributes of objects that it holds."""

    def leaf(each: ModuleArgument) -> ModuleArgument:
        if isinstance(each, torch.Tensor):
            return each if each.is_inference() else (each, each._version)  # pyright: ignore[reportPrivateUsage]  # torch's only name for it
        if isinstance(each, set):
            return tuple(map(id, cast("set[object]", each)))
        if isinstance(each, torch.nn.Module | type | types.FunctionType | types.ModuleType):
            return each
        if id(each) not in known and hasattr(each, "__dict__"):
            known[id(each)] = each  # one that holds itself
            known[id(each)] = {
                "": each,
                **{name: _snapshot(held, known) for name, held in vars(each).items()},
            }
        return known.get(id(each), each)

    return pytree.tree_map(leaf, value)


def _is_same(before: ModuleArgument, after: ModuleArgument) -> bool:
    old, new = pytree.tree_flatten(before), pytree.tree_flatten(after)
    return old[1] == new[1] and all(map(_is_same_leaf, old[0], new[0]))


def _is_same_leaf(before: ModuleArgument, after: ModuleArgument) -> bool:
    is_plain = isinstance(after, bool | int | float | str) and type(before) is type(after)
    return before is after or (is_plain and bool(before == after))


def _gives_the_same(module: torch.nn.Module, example: Example, *, is_used: bool) -> bool:
    """True if a copy of a module that was called before, or one under other seeds, gives what a new copy gives.

    Copies share parameters and buffers, and leave them as they are. A module that cannot be copied or run is taken as
    it is: torch.export says more about it.
    """
    shared = {id(each): each for each in (*module.parameters(), *module.buffers())}
    first, second = example, _perturbed(example) if is_used else example
    try:
        # Hooks of a module in training need gradients.
        with torch.set_grad_enabled(module.training), _RANDOM.fork_rng(devices=[]), _kept_generators():
            new, used = (copy.deepcopy(module, dict(shared)) for _ in range(2))
            wanted = _run(module, new, second, 0)
            if is_used:
                _run(module, used, first, 0)
            got = _run(module, used, second, 0 if is_used else 1)
    except Exception:  # whatever user code raises
        return True
    return len(got) == len(wanted) and all(map(is_close, got, wanted))


def _run(module: torch.nn.Module, made: torch.nn.Module, example: Example, seed: int) -> list[ModuleArgument]:
    _TORCH.manual_seed(0)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - the generator of modules that draw from numpy's
    args, kwargs = pytree.tree_map_only(torch.Tensor, torch.clone, example)
    with unchanged_buffers(module):
        found = pytree.tree_leaves(made(*args, **kwargs))
        found = [each.clone() if isinstance(each, torch.Tensor) else each for each in found]
    for path, each in _parts(module):  # a buffer that was bound anew
        made.get_submodule(path)._buffers.update(each._buffers)  # pyright: ignore[reportPrivateUsage]
    return found


def _perturbed(example: Example) -> Example:
    draw = Draw(0)
    return pytree.tree_map_only(torch.Tensor, lambda each: perturbed(each, draw), example)


@contextlib.contextmanager
def _kept_generators() -> Generator[None]:
    kept = _generators()
    try:
        yield
    finally:
        for each in kept.values():
            each.put_back()


def is_close(mine: ModuleArgument, theirs: ModuleArgument) -> bool:
    """True if two results of a module are the same but for rounding."""
    if not isinstance(mine, torch.Tensor) or not isinstance(theirs, torch.Tensor):
        return bool(mine == theirs)
    return compare(as_array(theirs.detach()), as_array(mine.detach()), CONVERTED) is None


def _definition(module: torch.nn.Module) -> Span | None:
    """The line at which the class of a module defines `forward`."""
    code = getattr(inspect.unwrap(type(module).forward), "__code__", None)
    line = getattr(code, "co_firstlineno", 0)
    return None if code is None else Span(code.co_filename, line, 0, line, 0, code.co_name)
