"""Asks for models of the functions of the list, and compares them with the functions, on all sizes and two types.

`python -m benchmarks.numpy_code.run` prints a table by package and the reasons; names of functions restrict it. Each
function is asked in a process of its own, which has a limit of time.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import importlib
import io
import json
import multiprocessing
import re
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.numpy_code import inputs, rule
from benchmarks.numpy_code.comparing import FACTORS, difference

#: The functions that were equal when they were last asked for.
EQUAL = Path(__file__).with_name("equal.txt")
SIZES = (5, 7, 1, 0, 20)
TYPES: tuple[type[np.floating[Any]], ...] = (np.float64, np.float32)
#: Seconds that a function has for all of its models.
LIMIT = 120

#: Refused: an error of ours when the model is made. Failed: one when it runs, where the function gives a result.
#: Raw: an error that is not ours.
Verdict = Literal["equal", "refused", "late", "failed", "raw", "wrong"]
#: From the best to the worst: what a function is, is the worst that one of its calls is.
ORDER: tuple[Verdict, ...] = ("equal", "refused", "late", "failed", "raw", "wrong")


@dataclass
class Outcome:
    """What became of a function."""

    name: str
    verdict: Verdict
    #: Of the first call that is not equal.
    error: str = ""
    reason: str = ""
    line: str = ""
    call: str = ""
    seconds: float = 0.0


def outcome(entry: dict[str, Any]) -> Outcome:
    """Ask for all models of one function."""
    function = rule.named(entry["name"])
    worst = Outcome(entry["name"], "equal")
    started = time.process_time()
    for told in entry["arguments"]:
        for dtype in TYPES:
            found = _one(entry["name"], function, told, dtype)
            if ORDER.index(found.verdict) > ORDER.index(worst.verdict):
                worst = found
    worst.seconds = round(time.process_time() - started, 2)
    return worst


def _one(name: str, function: Any, told: dict[str, str], dtype: type[np.floating[Any]]) -> Outcome:
    import onnxsmith.numpy as xp  # what is measured: the rule must not see it
    from onnxsmith.errors import OnnxsmithError

    positional, named = inputs.bound(function, {key: _type(text, dtype) for key, text in told.items()})
    call = f"{told}, {dtype.__name__}"
    try:
        model = xp.to_model(function, *positional, verify=False, **named)
    except OnnxsmithError as error:
        return Outcome(name, "refused", type(error).__name__, _reason(error), _line(error), call)
    except Exception as error:
        return Outcome(name, "raw", type(error).__name__, str(error)[:300], _raw_line(error), call)
    for size in SIZES:
        call = f"{told}, size {size}, {dtype.__name__}"
        try:
            own = inputs.called(function, told, size, dtype)
            exact = inputs.called(function, told, size)
        except Exception:  # any: each library has its own
            continue  # the function itself does not take this size
        if rule.numbers(own) is None:
            continue
        try:
            given: Any = model(*_feeds(told, size, dtype))
        except OnnxsmithError as error:
            return Outcome(name, "failed", type(error).__name__, _reason(error), _line(error), call)
        except Exception as error:
            return Outcome(name, "raw", type(error).__name__, str(error)[:300], _raw_line(error), call)
        first = inputs.value(next(iter(told.values())), size, dtype)
        found = difference(own, given, exact, FACTORS.get(name), first, dtype, size == 0)
        if found is not None and found.startswith("off by"):
            found = _beyond_rounding(function, model, told, size, dtype, own, given)
        if found is not None:
            return Outcome(name, "wrong", "", found, "", call)
    return Outcome(name, "equal")


def _beyond_rounding(
    function: Any,
    model: Any,
    told: dict[str, str],
    size: int,
    dtype: type[np.floating[Any]],
    own: object,
    given: object,
) -> str | None:
    """How a result differs by more than results differ for neighbours of the arguments, the function's or the model's.

    A difference of nearly equal numbers has few digits that mean anything: what rounding does to it is how much a model
    may be off.
    """
    found: str | None = ""
    for step in range(16):
        values = {key: _nudged(inputs.value(text, size, dtype), step) for key, text in told.items()}
        positional, named = inputs.bound(function, values)
        try:
            found = difference(own, given, function(*positional, **named), dtype=dtype)
            if found is not None:
                near = model(*(_nudged(each, step) for each in _feeds(told, size, dtype)))
                found = difference(given, own, near, dtype=dtype)
        except Exception:  # any: the function is somebody's, and says as it likes what it does not take
            return "off, and the function does not take neighbours of its arguments"
        if found is None:
            return None
    return found


def _nudged(value: Any, step: int) -> Any:
    """Floats near those of an argument, a few steps up or down."""
    if isinstance(value, list):
        return [_nudged(each, step) for each in value]
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    steps = np.random.default_rng(step).integers(-8, 9, value.shape)
    return (value + steps * np.spacing(value)).astype(value.dtype)


def _type(text: str, dtype: type[np.floating[Any]]) -> Any:
    """What `to_model` is told of an argument: a type with open sizes, or the value itself."""
    from onnxsmith import BOOL, DOUBLE, FLOAT, INT64  # as above

    if text.startswith("="):
        return np.float64 if text == "=float" else inputs.value(text, 0)
    if text.startswith("["):
        return [_type(each, dtype) for each in text[1:-1].split(", ")]
    kind = text.partition(":")[0]
    if kind == "size":
        return int
    element: Any = FLOAT if dtype is np.float32 else DOUBLE
    if kind in inputs.WHOLE:
        element = INT64
    elif kind == "mask":
        element = BOOL
    return element[inputs.DIMENSIONS[kind]]


def _feeds(told: dict[str, str], size: int, dtype: type[np.floating[Any]]) -> list[Any]:
    """The inputs of the model, in order."""
    found: list[Any] = []
    for text in told.values():
        if not text.startswith("="):
            value = inputs.value(text, size, dtype)
            found += value if isinstance(value, list) else [np.asarray(value)]
    return found


def _reason(error: Exception) -> str:
    return str(getattr(error, "message", None) or error).split("\n")[0][:300]


def _line(error: Exception) -> str:
    found = re.search(r"([\w./-]+\.py)[\":,]+\s*(?:line )?(\d+)", str(error))
    return f"{'/'.join(Path(found[1]).parts[-3:])}:{found[2]}" if found else ""


def _raw_line(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{'/'.join(Path(last.filename).parts[-3:])}:{last.lineno}"


# -- processes -----------------------------------------------------------------------------------------------


def _work(entry: dict[str, Any], sender: Connection) -> None:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            found = outcome(entry)
        except BaseException as error:
            found = Outcome(entry["name"], "raw", type(error).__name__, str(error)[:300], _raw_line(error))  # pyright: ignore[reportArgumentType]
    sender.send(asdict(found))


def _asked(entry: dict[str, Any]) -> Outcome:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(entry, sender))
    process.start()
    sender.close()
    try:
        if receiver.poll(LIMIT):
            return Outcome(**receiver.recv())
        return Outcome(entry["name"], "late", "", f"takes more than {LIMIT} s")
    except EOFError:
        return Outcome(entry["name"], "raw", "", "the process ended")
    finally:
        process.kill()
        process.join()
        receiver.close()


def _used(sender: Connection) -> None:
    outcome({"name": "numpy.cov", "arguments": [{"m": "vector:0"}]})
    sender.send(sorted(sys.modules))


def _load_what_runs_need() -> None:
    """Load here, once, the modules that a run loads: what they start (threads, sessions) is left to the processes."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_used, args=(sender,))
    process.start()
    for name in receiver.recv():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    process.join()


def outcomes(entries: Sequence[dict[str, Any]], at_once: int = 2) -> Iterator[Outcome]:
    """Ask for all functions, some at once, in order."""
    for distribution in rule.MODULES:
        if any(each["package"] == distribution for each in entries):
            list(rule.modules(distribution))  # loaded once, for all processes
    _load_what_runs_need()
    with ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(_asked, entries)


# -- tables --------------------------------------------------------------------------------------------------


def table(found: Iterable[Outcome]) -> str:
    """What became of functions, by package."""
    rows: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for each in found:
        parts = each.name.split(".")
        for group in (".".join(parts[: 1 if parts[0] == "numpy" else 2]), "all"):
            rows[group][each.verdict] += 1
    lines = ["| package | functions | " + " | ".join(ORDER) + " |", "| --- |" + " ---: |" * (len(ORDER) + 1)]
    for group, counts in sorted(rows.items(), key=lambda item: (item[0] == "all", item[0])):
        cells = [str(counts[verdict]) for verdict in ORDER]
        lines.append(f"| {group} | {counts.total()} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def reasons(found: Iterable[Outcome]) -> str:
    """Why functions are not equal, counted; each with its functions."""
    groups: dict[tuple[str, str, str], list[str]] = collections.defaultdict(list)
    for each in found:
        if each.verdict != "equal":
            reason = re.sub(r"\d+(\.\d+)?(e[-+]?\d+)?", "#", each.reason)
            groups[each.verdict, each.error, reason].append(f"{each.name} ({each.line})")
    lines: list[str] = []
    for (verdict, error, reason), names in sorted(
        groups.items(), key=lambda item: (-ORDER.index(item[0][0]), -len(item[1]))
    ):
        lines.append(f"{len(names):4} {verdict} {error}: {reason}")
        lines += [f"         {name}" for name in names]
    return "\n".join(lines)


def listed(part: str = "functions") -> list[dict[str, Any]]:
    """The list, or what is held out."""
    return json.loads(rule.LIST.read_text())[part]


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="regular expressions that names match")
    parser.add_argument("--held-out", action="store_true", help="what is not on the list")
    parser.add_argument("--again", type=Path, help="only those that a former --json says are not equal")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", action="store_true", help="write down which are equal, for the tests")
    parser.add_argument("-n", type=int, default=2, help="processes")
    options = parser.parse_args(arguments)
    entries = listed("held out" if options.held_out else "functions")
    if options.names:
        entries = [each for each in entries if any(re.search(name, each["name"]) for name in options.names)]
    if options.again:
        former = {each["name"]: each["verdict"] for each in json.loads(options.again.read_text())}
        entries = [each for each in entries if former.get(each["name"], "") != "equal"]
    found: list[Outcome] = []
    for each in outcomes(entries, options.n):
        print(
            each.verdict,
            each.name,
            each.error,
            each.reason,
            each.line,
            each.call,
            file=sys.stderr,
            flush=True,
        )
        found.append(each)
    print(reasons(found))
    print(table(found))
    if options.keep:
        former = set(EQUAL.read_text().split()) if EQUAL.exists() else set[str]()
        asked = {each.name for each in found}
        equal = (former - asked) | {each.name for each in found if each.verdict == "equal"}
        EQUAL.write_text("".join(f"{name}\n" for name in sorted(equal)))
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n")


if __name__ == "__main__":
    main()
