"""The law of letters: `StringNormalizer` gives what ONNX says of it, on every road, whatever locales a machine has."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from onnx import parser

import onnxsmith
from onnxsmith import STRING, Model, opset21
from onnxsmith.errors import OnnxsmithError
from onnxsmith.runtime import using
from tests.laws.bare_session import BareProcess
from tests.laws.named import Law, Verdict

#: Characters of scripts with cases, without those whose other case is several characters in Python.
LETTERS = [
    each
    for first, last in (
        (0x20, 0x7E),
        (0xA1, 0x17F),
        (0x370, 0x3FF),
        (0x400, 0x52F),
        (0x1E00, 0x1EFF),
        (0x4E00, 0x4E08),
    )
    for each in map(chr, range(first, last + 1))
    if len(each.upper()) == len(each.lower()) == 1 and each.isprintable()
]
WORDS = ("the", "The", "THE", "Élan", "élan", "Ärger", "ΟΔΟΣ", "Ёлка", "ёлка", "", "a b", "北京", "İ", "ß")
LOCALES = (None, "en_US.UTF-8", "de_DE.UTF-8", "xx_XX", "C.utf8", "C")


def spec(texts: list[str], attributes: dict[str, Any]) -> list[str]:
    """The operator as ONNX's text says it, in Python's own functions on single characters."""
    action = attributes.get("case_change_action", "NONE")
    is_ascii = attributes.get("locale") == "C"

    def changed(text: str, case: str) -> str:
        function = {"LOWER": str.lower, "UPPER": str.upper, "NONE": str}[case]
        special = {"İ": "i", "ß": "ß"} if case == "LOWER" else {"ß": "ß", "İ": "İ"}
        return "".join(
            each
            if is_ascii and not each.isascii()
            else special.get(each, function(each))
            if case != "NONE"
            else each
            for each in text
        )

    compared = "NONE" if attributes.get("is_case_sensitive") else "LOWER" if action == "NONE" else action
    stop = {changed(each, compared) for each in attributes.get("stopwords", ())}
    return [changed(each, action) for each in texts if changed(each, compared) not in stop] or [""]


def drawn(rng: random.Random) -> tuple[list[str], dict[str, Any]]:
    """Texts and attributes of one call."""
    texts = [
        rng.choice(WORDS) if rng.random() < 0.5 else "".join(rng.choices(LETTERS, k=rng.randrange(9)))
        for _ in range(rng.randrange(1, 6))
    ]
    attributes: dict[str, Any] = {}
    if rng.random() < 0.8:
        attributes["case_change_action"] = rng.choice(("LOWER", "UPPER", "NONE"))
    if rng.random() < 0.5:
        attributes["is_case_sensitive"] = rng.randrange(2)
    if rng.random() < 0.6:
        attributes["stopwords"] = rng.sample([*WORDS, *texts], rng.randrange(1, 4))
    locale = rng.choice(LOCALES)
    if locale is not None:
        attributes["locale"] = locale
    return texts, attributes


def _old(attributes: dict[str, Any]) -> Model:
    """The same in opset 10."""
    words = [
        f"{name} = {value if isinstance(value, int) else _quoted(value)}"
        for name, value in attributes.items()
    ]
    listed = f" <{', '.join(words)}>" if words else ""
    text = f"g (string[N] x) => (string[M] y) {{ y = StringNormalizer{listed} (x) }}"
    return Model.from_proto(parser.parse_model(f'<ir_version: 8, opset_import: ["" : 10]> {text}'))


def _quoted(value: str | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_quoted, value))}]"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _outcome(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except OnnxsmithError as error:
        return error.message


def _in_a_bare_session(bare: BareProcess, model: Model, given: Any) -> Any:
    proto = model.for_runtime().proto
    outcome = bare.ask(proto.SerializeToString(), {model.inputs[0].name: given}, timeout=30)
    return next(iter(outcome.results.values()), outcome.text)


def verdict(rng: random.Random, bare: BareProcess) -> Verdict:
    """One call on every road."""
    texts, attributes = drawn(rng)
    x = np.array(texts, object)
    is_row = rng.random() < 0.3
    given = x[None] if is_row else x
    right = spec(texts, attributes)

    def call(value: Any) -> Any:
        return opset21.StringNormalizer(value, **attributes)

    model = onnxsmith.trace(call, STRING[1, "N"] if is_row else STRING["N"])
    roads: dict[str, Callable[[], Any]] = {
        "eager": lambda: call(given),
        "model": lambda: model(given),
        "for_runtime, bare": lambda: _in_a_bare_session(bare, model, given),
    }
    if not is_row:
        old = _old(attributes)
        roads["opset 10"] = lambda: old(x)
        roads["opset 10, for_runtime"] = lambda: old.for_runtime()(x)
    found = {road: _outcome(run) for road, run in roads.items()}
    with using(runtime="reference"):
        found["reference"] = _outcome(lambda: call(given))
    wrong = [
        f"{road}: {np.asarray(value).tolist()}"
        for road, value in found.items()
        if np.asarray(value).tolist() != ([right] if is_row else right)
    ]
    what = f"StringNormalizer({texts!r}, **{attributes!r}): {right!r}, "
    return Verdict("wrong", what + "; ".join(wrong)) if wrong else Verdict("equal")


def verdicts(seed: int) -> Iterator[Verdict]:
    bare = BareProcess()
    rng = random.Random(seed)
    try:
        while True:
            yield verdict(rng, bare)
    finally:
        bare.close()


LAW = Law("StringNormalizer gives what ONNX defines on every road, in every locale", 500, verdicts)
