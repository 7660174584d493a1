"""Operators of the user's own through both exporters: every arity, kind of argument, position and keyword.

An operator computes a number of its own from its arguments, so that no two orders of them give the same result. Its
translation is a script with the same parameters, one with other names, a function, or an operator of a custom domain.
"""

from __future__ import annotations

import itertools
import linecache
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import nn

import onnxsmith.torch
from onnxsmith import FLOAT, Opset, script
from onnxsmith import opset18 as op
from onnxsmith.errors import OnnxsmithError
from tests.laws.named import Law, Verdict, verdict_on

#: The kinds of arguments: a tensor, a number with a fraction, a whole number, several of these.
KINDS = {"t": "Tensor", "f": "float", "i": "int", "l": "float[]"}
#: Names in an order that is neither that of the alphabet nor its reverse.
NAMES = ("mid", "zeta", "alpha", "beta")
_LIBRARY = torch.library.Library("onnxsmith_enumerated", "DEF")


@dataclass(frozen=True)
class Case:
    """One call of one operator."""

    kinds: str
    #: How many arguments are given, the others have defaults.
    given: int
    #: How many of them go by position.
    positional: int
    #: Whether the last arguments go by name alone in the schema.
    keyword_only: int
    way: str
    #: The place of an argument that is left out though later ones are given.
    left_out: int = -1

    @property
    def name(self) -> str:
        return f"op_{self.kinds}_{self.keyword_only}"


def _computed(values: Sequence[Any]) -> Any:
    """A weighted sum, with another weight for each position."""
    total: Any = 0.0
    for k, value in enumerate(values):
        parts = value if isinstance(value, list | tuple) else [value]
        for j, part in enumerate(parts):
            total = part * float(3**k + 0.5 * j) + total
    return total


def _default(kind: str, position: int) -> str:
    return {"f": f"{position + 0.25}", "i": f"{position + 2}", "l": f"[{position + 0.5}, 1.0]"}[kind]


def _schema(case: Case) -> str:
    texts: list[str] = []
    first = case.kinds.rfind("t") + 1
    for k, kind in enumerate(case.kinds):
        if case.keyword_only and k == len(case.kinds) - case.keyword_only:
            texts.append("*")
        default = f"={_default(kind, k)}" if k >= first else ""
        texts.append(f"{KINDS[kind]} {NAMES[k]}{default}")
    return f"{case.name}({', '.join(texts)}) -> Tensor"


_DEFINED: set[str] = set()


def _operator(case: Case) -> Any:
    if case.name not in _DEFINED:
        _DEFINED.add(case.name)
        _LIBRARY.define(_schema(case))
        _LIBRARY.impl(case.name, lambda *args, **kwargs: _computed(_ordered(case, args, kwargs)) + 0, "CPU")
        torch.library.register_fake(
            f"onnxsmith_enumerated::{case.name}",
            lambda *args, **kwargs: torch.empty_like(
                next(each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor))
            ),
            lib=_LIBRARY,
        )
    return getattr(torch.ops.onnxsmith_enumerated, case.name)


def _source(kinds: str, names: Sequence[str]) -> str:
    """A script of the operator as text: its parameters decide which are inputs, and which attributes."""
    annotations = {"t": "FLOAT[...]", "f": "float", "i": "int", "l": "Sequence[float]"}
    first = kinds.rfind("t") + 1
    parameters = [
        f"{name}: {annotations[kind]}"
        + (f" = {_default(kind, k).replace('[', '(').replace(']', ')')}" if k >= first else "")
        for k, (name, kind) in enumerate(zip(names, kinds, strict=False))
    ]
    terms: list[str] = []
    for k, (name, kind) in enumerate(zip(names, kinds, strict=False)):
        if kind == "l":
            weights = f"op.Constant(value_floats=[{float(3**k)}, {3**k + 0.5}])"
            terms.append(f"op.ReduceSum(op.Constant(value_floats={name}) * {weights}, keepdims=0)")
        elif kind == "i":
            terms.append(f"op.Cast(op.Constant(value_int={name}), to=1) * {float(3**k)}")
        elif kind == "f":
            terms.append(f"op.Constant(value_float={name}) * {float(3**k)}")
        else:
            terms.append(f"{name} * {float(3**k)}")
    return f"def translated_{kinds}({', '.join(parameters)}):\n    return {' + '.join(terms)}\n"


def _script(kinds: str, names: Sequence[str]) -> Any:
    text = _source(kinds, names)
    scope: dict[str, Any] = {"FLOAT": FLOAT, "op": op, "Sequence": Sequence}
    file = f"<translation of {kinds} {names[0]}>"
    exec(compile(text, file, "exec"), scope)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return script(default_opset=op)(scope[f"translated_{kinds}"])


TENSORS = tuple(torch.tensor([1.0, -2.0]) + 3 * k for k in range(3))


class Calling(nn.Module):
    """A module that calls an operator."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.case, self.operator = case, _operator(case)

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        left, count = iter(tensors), self.case.positional
        values: list[Any] = [
            next(left) if kind == "t" else {"f": k + 0.75, "i": k + 5, "l": [k + 1.5, 2.5]}[kind]
            for k, kind in enumerate(self.case.kinds[: self.case.given])
        ]
        named = dict(zip(NAMES[count:], values[count:], strict=False))
        if self.case.left_out >= 0:
            del named[NAMES[self.case.left_out]]
        return self.operator(*values[:count], **named)


def cases() -> Iterator[Case]:
    """All of them: up to three arguments of every kind, of which one at least is a tensor, and some of four."""
    kinds = ["".join(each) for count in (1, 2, 3) for each in itertools.product("tfil", repeat=count)]
    kinds += ["tffi", "tfif", "ttfl", "tftf", "tilf"]
    for way in ("script", "other names", "function", "operator", "torch.onnx"):
        for each in kinds:
            if "t" not in each:
                continue
            first = each.rfind("t") + 1
            for keyword_only in range(min(3, len(each))):
                for given in range(first, len(each) + 1):
                    for positional in {
                        min(given, len(each) - keyword_only),
                        min(1, len(each) - keyword_only),
                    }:
                        yield Case(each, given, positional, keyword_only, way)
                        for place in range(max(first, positional), given - 1):
                            yield Case(each, given, positional, keyword_only, way, place)


def _translation(case: Case) -> Callable[..., Any]:
    if case.way == "function":
        return lambda *args, **kwargs: _computed(_ordered(case, args, kwargs))
    if case.way == "operator":
        return Opset("onnxsmith.enumerated", 1).Enumerated
    names = NAMES if case.way != "other names" else ("self_", "yes", "x", "n")
    made = _script(case.kinds, names)
    return onnxsmith.torch.for_torch_onnx(made) if case.way == "torch.onnx" else made


def _ordered(case: Case, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    values = dict(zip(NAMES, args, strict=False)) | kwargs
    defaults = {
        name: eval(_default(kind, k))
        for k, (name, kind) in enumerate(zip(NAMES, case.kinds, strict=False))
        if name not in values
    }
    return [(values | defaults)[name] for name in NAMES[: len(case.kinds)]]


def judged(case: Case) -> Verdict:
    """The result of the exported module, compared with torch's."""
    net = Calling(case).eval()
    tensors = TENSORS[: case.kinds.count("t")]
    wanted = net(*tensors).numpy()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = onnxsmith.torch.export(
                net, tensors, opset_version=18, translations={net.operator: _translation(case)}
            )
            if case.way == "operator":
                return _compared_node(case, model)
            got = model(*(each.numpy() for each in tensors))
    except OnnxsmithError as error:
        return Verdict("wrong", f"{case}: refused: {str(error).splitlines()[0]}")
    return _compared(case, got, wanted)


def _compared(case: Case, got: Any, wanted: Any) -> Verdict:
    if np.allclose(np.asarray(got), wanted):
        return Verdict("equal")
    return Verdict("wrong", f"{case}: {got}, torch's {wanted}")


class CallingAll(nn.Module):
    """A module that calls many operators: torch.onnx takes seconds for each module."""

    def __init__(self, cases: Sequence[Case]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(Calling(each) for each in cases)

    def forward(self, *tensors: torch.Tensor) -> list[torch.Tensor]:
        return [each(*tensors[: each.case.kinds.count("t")]) for each in self.parts]


def judged_by_torch_onnx(cases: Sequence[Case]) -> list[Verdict]:
    """The same of many cases in one module, through torch's own exporter."""
    net = CallingAll(cases).eval()
    wanted = [each.numpy() for each in net(*TENSORS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            net,
            TENSORS,
            dynamo=True,
            custom_translation_table={
                each.operator.default: _translation(case) for each, case in zip(net.parts, cases, strict=True)
            },
            verbose=False,
            optimize=False,
        )
    assert program is not None
    session = onnxruntime.InferenceSession(program.model_proto.SerializeToString())
    names = {each.name for each in session.get_inputs()}
    order = [each.name for each in program.model_proto.graph.input]
    given = {name: each.numpy() for name, each in zip(order, TENSORS, strict=True) if name in names}
    return [_compared(*each) for each in zip(cases, session.run(None, given), wanted, strict=True)]


def _compared_node(case: Case, model: Any) -> Verdict:
    """An operator of a domain that nobody has: its inputs are the tensors, its attributes the other arguments."""
    (node,) = [each for each in model.ir.graph if each.domain == "onnxsmith.enumerated"]
    values = {
        name: {"f": k + 0.75, "i": k + 5, "l": [k + 1.5, 2.5]}[kind]
        for k, (name, kind) in enumerate(zip(NAMES, case.kinds[: case.given], strict=False))
        if kind != "t" and k != case.left_out
    }
    found = {name: each.value for name, each in node.attributes.items()}
    found = {name: list(each) if isinstance(each, tuple | list) else each for name, each in found.items()}
    inputs = [each.name for each in node.inputs]
    if case.left_out >= 0:  # torch gives what goes by position up to the last that is given
        place = case.left_out
        found.setdefault(NAMES[place], default := eval(_default(case.kinds[place], place)))
        values[NAMES[place]] = default
    if found == values and inputs == [each.name for each in model.inputs]:
        return Verdict("equal")
    return Verdict("wrong", f"{case}: inputs {inputs}, attributes {found} where torch has {values}")


def verdicts(seed: int) -> Iterator[Verdict]:
    """An enumeration; the seed decides which come first."""
    found = list(cases())
    random.Random(seed).shuffle(found)
    batch: list[Case] = []
    for case in found:
        if case.way != "torch.onnx":
            yield verdict_on(str(case), partial(judged, case))
            continue
        batch.append(case)
        if len(batch) == _BATCH:
            yield from _judged_at_once(batch)
            batch = []
    if batch:
        yield from _judged_at_once(batch)


def _judged_at_once(cases: Sequence[Case]) -> list[Verdict]:
    """Verdicts on cases in one module; where torch.onnx ends with an error, each of them by itself."""
    try:
        return judged_by_torch_onnx(cases)
    except Exception:  # of any of the packages
        return [verdict_on(str(each), lambda each=each: judged_by_torch_onnx([each])[0]) for each in cases]


#: How many cases one module for torch.onnx has.
_BATCH = 40
LAW = Law(
    "custom operators get all arguments, by position and by name, in both exporters: an enumeration",
    len(list(cases())),
    verdicts,
)
