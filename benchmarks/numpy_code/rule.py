"""The rule that makes the list of functions: `python -m benchmarks.numpy_code.rule` writes `functions.json`.

Public functions of the packages below whose source Python can read; numpy's are taken without their dispatcher, as
`np.cov.__wrapped__`. A function counts if it takes one of the arguments of `inputs` at sizes 5 and 7 and gives numbers,
the same ones twice. Nothing of onnxsmith is imported here: whether a function becomes a model is no part of the choice.

Half of the list is numpy's own, all of it; the other half are as many of the other packages, by the order of a hash of
their names. The rest is held out: what was made for the list is measured there.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.metadata
import inspect
import io
import json
import multiprocessing
import pkgutil
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.numpy_code import inputs

LIST = Path(__file__).parent / "functions.json"
#: Seconds that a function has to accept or refuse all arguments.
LIMIT = 60

#: Distribution -> the modules whose public names are taken.
MODULES: dict[str, tuple[str, ...]] = {
    "numpy": ("numpy", "numpy.linalg", "numpy.fft", "numpy.lib.*"),
    "scipy": (
        "scipy.stats",
        "scipy.stats.contingency",
        "scipy.signal",
        "scipy.signal.windows",
        "scipy.spatial",
        "scipy.spatial.distance",
        "scipy.special",
    ),
    "scikit-image": (
        "skimage.color",
        "skimage.exposure",
        "skimage.feature",
        "skimage.filters",
        "skimage.measure",
        "skimage.metrics",
        "skimage.morphology",
        "skimage.restoration",
        "skimage.segmentation",
        "skimage.transform",
        "skimage.util",
    ),
    "scikit-learn": ("sklearn.metrics", "sklearn.metrics.pairwise", "sklearn.metrics.cluster"),
}
#: Modules of `numpy.lib` that read and write files, and its tests.
_FILES = ("format", "npyio", "tests")
#: Parts of names of functions that draw pictures, write text, or ask for files.
_OUTSIDE = ("plot", "save", "load", "fromtxt", "fromfile", "fromregex", "repr", "array2string", "array_str")
_OUTSIDE += (
    "printoptions",
    "show_",
    "get_include",
    "setbufsize",
    "seterr",
    "geterr",
    "getbufsize",
    "test",
    "info",
)
_EXACT = ("test", "info")


def modules(distribution: str) -> Iterator[types.ModuleType]:
    """The modules of a distribution that the rule looks into."""
    for name in MODULES[distribution]:
        if not name.endswith(".*"):
            yield importlib.import_module(name)
            continue
        package = importlib.import_module(name[:-2])
        yield package
        for each in pkgutil.iter_modules(package.__path__):
            if not each.name.startswith("_") and each.name not in _FILES:
                yield importlib.import_module(f"{package.__name__}.{each.name}")


def _is_outside(name: str) -> bool:
    return any(name == each if each in _EXACT else each in name for each in _OUTSIDE)


def body(thing: object) -> Callable[..., Any] | None:
    """The Python function that a public name stands for, without numpy's dispatcher; None where there is none."""
    if type(thing).__name__ == "_ArrayFunctionDispatcher":
        thing = getattr(thing, "__wrapped__", None)
    if not isinstance(thing, types.FunctionType):
        return None
    try:
        inspect.getsource(thing)
    except (OSError, TypeError):
        return None
    return thing


def functions() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Distribution, name and body of every function, each body once."""
    seen: set[int] = set()
    for distribution in MODULES:
        for module in modules(distribution):
            public = getattr(module, "__all__", None) or [each for each in dir(module) if each[0] != "_"]
            for name in sorted(public):
                found = body(getattr(module, name, None))
                if found is None or name[0] == "_" or _is_outside(name) or id(found) in seen:
                    continue
                if found.__module__.partition(".")[0] != module.__name__.partition(".")[0]:
                    continue
                seen.add(id(found))
                yield distribution, f"{module.__name__}.{name}", found


def named(name: str) -> Callable[..., Any]:
    """The function of a name in the list."""
    module, _, short = name.rpartition(".")
    found = body(getattr(importlib.import_module(module), short))
    assert found is not None
    return found


def numbers(result: object) -> list[np.ndarray[Any, Any]] | None:
    """The arrays that a result is made of: of arrays and numbers, in tuples, lists and dicts; None for all else."""
    if result is None:
        return None
    if isinstance(result, np.ndarray | np.generic | bool | int | float | complex):
        made = np.asarray(result)
        return [made] if made.dtype.kind in "biufc" and type(result) is not np.ma.MaskedArray else None
    if isinstance(result, dict):
        parts = [numbers(each) for each in result.values()]
    elif isinstance(result, tuple | list):
        parts = [numbers(each) for each in result]
    else:
        return None
    if not parts or any(each is None for each in parts):
        return None
    return [array for each in parts if each is not None for array in each]


def same(one: object, other: object) -> bool:
    """Whether two results are made of the same numbers."""
    first, second = numbers(one), numbers(other)
    if first is None or second is None or len(first) != len(second):
        return False
    return all(
        a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        for a, b in zip(first, second, strict=True)
    )


def accepts(function: Callable[..., Any], told: dict[str, str]) -> str | None:
    """Why a function does not take arguments, or None where it does."""
    for size in (5, 7):
        try:
            first, second = (inputs.called(function, told, size) for _ in range(2))
        except BaseException as error:
            return f"raises {type(error).__name__}"
        if numbers(first) is None:
            return f"gives {type(first).__name__}, which is not made of numbers"
        if not same(first, second):
            return "is random"
    return None


def _in_order(name: str, key: str, text: str) -> str:
    kind, _, slot = text.partition(":")
    is_vector = inputs.DIMENSIONS.get(kind) == ("N",)
    return f"rising:{slot}" if is_vector and key in inputs.RISING.get(name, ()) else text


def chosen(name: str) -> tuple[list[dict[str, str]], str]:
    """The first two arguments that a function takes; where there are none, the reason."""
    function = named(name)
    taken: list[dict[str, str]] = []
    reasons: list[str] = []
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            for uses_names in (True, False):
                for plain in inputs.candidates(function, uses_names):
                    told = {key: _in_order(name, key, text) for key, text in plain.items()}
                    reason = accepts(function, told)
                    if reason is not None:
                        reasons.append(reason)
                        continue
                    taken.append(told)
                    if len(taken) == 2:
                        return taken, ""
                if taken:
                    return taken, ""
        except (TypeError, ValueError):
            return [], "has no signature"
    if not reasons:
        return [], "takes no data"
    # A result that is no number says more than arguments that do not fit.
    told_reasons = [each for each in reasons if not each.startswith("raises")]
    return [], (told_reasons or ["takes none of the arguments of the pool"])[0]


def parted(listed: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The list, and what is held out."""
    numpys = [each for each in listed if each["package"] == "numpy"]
    others = [each for each in listed if each["package"] != "numpy"]
    others.sort(key=lambda each: hashlib.sha256(each["name"].encode()).hexdigest())
    kept = {each["name"] for each in [*numpys, *others[: len(numpys)]]}
    return {
        "functions": [each for each in listed if each["name"] in kept],
        "held out": [each for each in listed if each["name"] not in kept],
    }


def written(document: dict[str, Any]) -> str:
    """The list as a file, with a line for each function."""
    parts: list[str] = []
    for key, value in document.items():
        if isinstance(value, list):
            lines = ",\n".join(f"  {json.dumps(each)}" for each in value)
            parts.append(f"{json.dumps(key)}: [\n{lines}\n]")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value, indent=1)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Write the list."""
    listed: list[dict[str, Any]] = []
    left_out: dict[str, str] = {}
    for distribution, name, _ in functions():
        with multiprocessing.Pool(1) as pool:
            try:
                taken, reason = pool.apply_async(chosen, (name,)).get(LIMIT)
            except multiprocessing.TimeoutError:
                taken, reason = [], f"takes more than {LIMIT} s"
        print(name, len(taken), "" if taken else reason, file=sys.stderr)
        if taken:
            listed.append({"package": distribution, "name": name, "arguments": taken})
        else:
            left_out[name] = reason
    versions = {each: importlib.metadata.version(each) for each in MODULES}
    document = {"versions": versions, **parted(listed), "left out": left_out}
    LIST.write_text(written(document))
    print(
        len(document["functions"]),
        "functions,",
        len(document["held out"]),
        "held out,",
        len(left_out),
        "left out",
    )


if __name__ == "__main__":
    main()
