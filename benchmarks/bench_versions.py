"""ONNX's backend cases converted to the newest opset and down to 13, beside onnx's converter and onnxscript's.

What comes out is run on one engine for all and compared with the data of the case. It is *equal*, *wrong* (other
results, does not run, or is not of the opset that it claims), or there is *none*: refused, or the converter failed. A
converter may end its process, so each works in one of its own.
"""

from __future__ import annotations

import multiprocessing
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, Literal

from benchmarks.contest import Context
from benchmarks.rows import NOT_INSTALLED, Row, at_most, ratio_at_most

NAME = "versions"
DESCRIPTION = "backend cases in other opsets (--set part=1 for all of them); cases that are not equal"

Outcome = Literal["equal", "wrong", "none"]
_OLDER = 13
#: One case of so many is taken.
_PART = 8


def run(context: Context) -> list[Row]:
    """Two rows for each opset and converter: wrong ones, and those that it gives no model for."""
    from tests.passes.versions.backend_cases import backend_cases, newest

    names = list(backend_cases())[:: int(context.number("part", _PART))]
    rows: list[Row] = []
    for target in (newest(), _OLDER):
        ours = _counted(_with_onnxsmith, target, names)
        for peer, package, convert in (
            ("onnx.version_converter", "onnx", _with_onnx),
            ("onnxscript", "onnxscript", _with_onnxscript),
        ):
            found = _counted(convert, target, names) if context.has(package) else None
            for kind, called, bar in (
                ("wrong", "wrong", at_most(0)),
                ("none", "without a model", ratio_at_most(1.0)),
            ):
                theirs = NOT_INSTALLED if found is None else float(found[kind])
                name = f"{len(names)} cases to opset {target}, {called}"
                rows.append(Row(name, float(ours[kind]), "cases", peer, theirs, bar))
    return rows


Convert = Callable[[Any, int], Any]


def _counted(convert: Convert, target: int, names: Sequence[str]) -> Counter[str]:
    return Counter(str(each) for each in _outcomes(convert, target, names))


def _with_onnxsmith(proto: Any, target: int) -> Any:
    from onnxsmith import Model

    return Model.from_proto(proto).convert_version(target).proto


def _with_onnx(proto: Any, target: int) -> Any:
    from onnx import version_converter

    return version_converter.convert_version(proto, target)


def _with_onnxscript(proto: Any, target: int) -> Any:
    import onnx_ir as ir
    from onnxscript import version_converter

    model = ir.from_proto(proto)
    version_converter.convert_version(model, target)
    return ir.to_proto(model)


def _outcomes(convert: Convert, target: int, names: Sequence[str]) -> Iterator[Outcome]:
    """What becomes of cases, in their order; one that ends the process has no model."""
    context = multiprocessing.get_context("fork")
    done = 0
    while done < len(names):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(sender, convert, target, names[done:]))
        process.start()
        sender.close()
        try:
            while done < len(names):
                yield receiver.recv()
                done += 1
        except EOFError:
            yield "none"
            done += 1
        finally:
            receiver.close()
            process.join()


def _work(sender: Connection, convert: Convert, target: int, names: Sequence[str]) -> None:
    from tests.passes.versions.backend_cases import backend_cases

    warnings.simplefilter("ignore")
    cases = backend_cases()
    for name in names:
        sender.send(_outcome(cases[name], convert, target))


def _outcome(case: Any, convert: Convert, target: int) -> Outcome:
    from onnxsmith import Model
    from tests.passes.versions.backend_cases import as_converted

    try:
        proto = convert(case.model, target)
    except Exception:  # each has its own classes
        return "none"
    try:
        found = as_converted(case, Model.from_proto(case.model), Model.from_proto(proto), target)
    except Exception:  # a model that cannot be read or run is no conversion, whoever says so
        return "wrong"
    # What nothing that is installed can run is judged by its form alone.
    return "wrong" if found.kind == "wrong" else "equal"
