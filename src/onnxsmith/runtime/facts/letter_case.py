"""Upper and lower case: ONNX Runtime takes them from a locale, which the machine that runs a model may not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import helper

from onnxsmith.graphs.rewriting.branches import choose
from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.empty import may_be_empty
from onnxsmith.runtime.facts.fact import refusal, rewrite
from onnxsmith.types.characters import (
    Case,
    changes_ascii_alike,
    class_text,
    ranges_of,
    simple_case,
    simple_changes,
)
from onnxsmith.types.dtypes import DType

_REASON = (
    "upper and lower case are those of a locale, and no session is made where the machine does not have it"
)
#: The opset that added operators on parts of texts.
_CAN_JOIN = 20
#: The opset from which branches may give texts of different shapes, and sizes are compared.
_CAN_CHOOSE = 13
#: Every machine has these; letters beyond ASCII have no case in them.
_EVERYWHERE = frozenset({"C", "POSIX"})
#: ONNX's default, in the spelling of ONNX Runtime.
_DEFAULT = "en_US.UTF-8"
#: Noncharacters of Unicode, which texts do not hold: for a character that stays, and for a word that is dropped.
_SAME = "\ufdd1"
_DROPPED = "\ufdd0\ufdd1"
_ML = "ai.onnx.ml"


def _locale(site: Site) -> str | None:
    """The locale that decides what a node gives; None if none does, or one that every machine has."""
    is_compared = bool(site.texts("stopwords")) and not site.integer("is_case_sensitive", 0)
    locale = site.text("locale", _DEFAULT)
    is_needed = _case(site) is not None or is_compared
    return locale if is_needed and locale not in _EVERYWHERE else None


def _case(site: Site) -> Case | None:
    action = site.text("case_change_action", "NONE")
    return action if action in ("LOWER", "UPPER") else None


# No probe: as below; in these opsets there is nothing to put texts together with,
@refusal("StringNormalizer", _REASON, until=_CAN_JOIN - 1, is_ordinary=True)
def case_in_an_old_opset(site: Site) -> str | None:
    locale = _locale(site)
    return None if locale is None else f"its letters have the case of the locale {locale}"


@rewrite(
    "StringNormalizer",
    _REASON,
    probe="g (string[N] x) => (string[M] y) "
    '{ y = StringNormalizer <case_change_action = "LOWER", stopwords = ["the"], locale = "xx_XX.UTF-8"> (x) }',
    given={"x": np.array(["The", "Élan", ""], object)},
    right=[np.array(["élan", ""], object)],
    since=_CAN_JOIN,
    is_ordinary=True,
)
def case_of_tables(site: Site) -> bool:
    """The case of each character is looked up in tables, which the model holds."""
    locale = _locale(site)
    if locale is None:
        return False
    emit, case, words, texts = site.emit, _case(site), site.texts("stopwords"), _some_text(site)
    if case is not None and (site.integer("is_case_sensitive", 0) or not words):
        return _shaped(site, _changed(site, texts, case, locale, without=words))
    # ONNX Runtime compares in the case that results get, and in lower case where they stay as they are.
    compared = case or "LOWER"
    changed = _changed(site, texts, compared, locale)
    dropped = list(dict.fromkeys(simple_case(each, compared, locale) for each in words))
    if case is not None:
        return _shaped(site, _without(emit, changed, dropped))
    found = emit.op(
        "LabelEncoder",
        changed,
        domain=_ML,
        keys_strings=dropped,
        values_int64s=[1] * len(dropped),
        default_int64=0,
    )
    mark = emit.constant(np.array(_DROPPED, object), DType.STRING)
    marked = emit.where(emit.cast(found, DType.BOOL), mark, _flat(emit, texts))
    return _shaped(site, _without(emit, marked, [_DROPPED]))


@rewrite(
    "StringNormalizer",
    "it refuses an input without elements, for which ONNX has one empty text, as where all are dropped",
    probe="g (string[N] x) => (string[M] y) { y = StringNormalizer <is_case_sensitive = 1> (x) }",
    given={"x": np.zeros(0, object)},
    right=[np.array([""], object)],
    since=_CAN_CHOOSE,
)
def no_texts(site: Site) -> bool:
    if _locale(site) is not None or (texts := _some_text(site)) == site.input(0):
        return False
    site.same_node([texts])
    return True


def _some_text(site: Site) -> str:
    """The input, or one empty text where it has no elements; the kernel refuses other shapes as before."""
    if not may_be_empty(site):
        return site.input(0)
    emit, given, rank = site.emit, site.input(0), site.rank(0)
    result = emit.names.after(given)

    def as_it_is(inner: Emitter, names: Mapping[str, str]) -> None:
        inner.op("Identity", given, into=names[result])

    def one(inner: Emitter, names: Mapping[str, str]) -> None:
        if rank in (1, 2):  # with a shape that inference sees: it refuses others than [C] and [1, C]
            blank = inner.constant(np.full((1,) * rank, "", object), DType.STRING)
            inner.op("Identity", blank, into=names[result])
            return
        shape = inner.op("Concat", _leading(inner, given), inner.constant([1]), axis=0)
        inner.op("Expand", inner.constant(np.array([""], object), DType.STRING), shape, into=names[result])

    has_some = emit.op("Greater", emit.size(given), emit.constant(0))
    if rank == 2:  # several rows of nothing stay what they are, and are refused
        is_row = emit.op("Equal", emit.dimension(given, 0), emit.constant(1))
        has_some = emit.op("Or", has_some, emit.negated(is_row))
    choose(emit, has_some, [result], as_it_is, one)
    return result


def _leading(emit: Emitter, texts: str) -> str:
    """All sizes but the last."""
    return emit.op("Slice", emit.op("Shape", texts), emit.constant([0]), emit.constant([-1]))


def _flat(emit: Emitter, texts: str) -> str:
    return emit.op("Reshape", texts, emit.constant([-1]))


def _shaped(site: Site, flat: str) -> bool:
    """Gives the node's result: a row is a matrix where the input is one."""
    emit, shape = site.emit, site.emit.constant([-1])
    if site.rank(0) != 1:
        shape = emit.op("Concat", _leading(emit, site.input(0)), shape, axis=0)
    emit.op("Reshape", flat, shape, into=site.output(0))
    return True


def _without(emit: Emitter, texts: str, words: Sequence[str]) -> str:
    """The texts without those that are equal to one of the words."""
    # ONNX Runtime 1.21 wants the locale of every node, also where none is needed.
    return emit.op("StringNormalizer", texts, is_case_sensitive=1, stopwords=list(words), locale="C")


def _changed(site: Site, given: str, case: Case, locale: str, without: Sequence[str] = ()) -> str:
    """The texts in a case, as a vector, and before that without some.

    ASCII is left to the runtime, so that texts of nothing else cost little more than before.
    """
    emit, is_alike = site.emit, changes_ascii_alike(locale)
    table = simple_changes(case, locale)
    if is_alike:
        table = {each: made for each, made in table.items() if not each.isascii()}
    # On the input itself in any case: it looks at the shape.
    texts = emit.op(
        "StringNormalizer",
        given,
        is_case_sensitive=1,
        stopwords=list(without) or None,
        case_change_action=case if is_alike else None,
        locale="C",
    )
    flat = _flat(emit, texts)
    changing = class_text(ranges_of(sorted(map(ord, table))))
    is_changing = emit.op("RegexFullMatch", flat, pattern=f"(?s).*{changing}.*")
    yes, no = emit.inner(), emit.inner()
    changed = _graph(yes, "changed", _mapped(yes, flat, table))
    same = _graph(no, "same", no.op("Identity", flat))
    return emit.op("If", emit.any(is_changing), then_branch=changed, else_branch=same)


def _mapped(emit: Emitter, texts: str, table: Mapping[str, str]) -> str:
    """The texts with characters exchanged: each that changes by itself, and all between two of them in one piece."""
    ranges = ranges_of(sorted(map(ord, table)))
    pattern = f"{class_text(ranges)}|{class_text(ranges, is_negated=True)}+"
    pieces = emit.op(
        "Tokenizer", texts, domain="com.microsoft", mark=0, mincharnum=1, pad_value="", tokenexp=pattern
    )
    found = emit.op(
        "LabelEncoder",
        pieces,
        domain=_ML,
        keys_strings=list(table),
        values_strings=list(table.values()),
        default_string=_SAME,
    )
    is_same = emit.op("Equal", found, emit.constant(np.array(_SAME, object), DType.STRING))
    return _joined(emit, emit.where(is_same, pieces, found))


def _joined(emit: Emitter, pieces: str) -> str:
    """The pieces of each row as one text: a loop joins neighbours until one column is left."""
    body = emit.inner()
    turn, goes_on, current = (body.names.after("joined") for _ in range(3))
    width = body.dimension(current, 1)
    half = body.op("Div", body.op("Add", width, body.constant(1)), body.constant(2))
    end = body.unsqueeze(body.op("Mul", half, body.constant(2)), [0])
    rows = body.unsqueeze(body.dimension(current, 0), [0])
    blank = body.op(
        "Expand",
        body.constant(np.array([[""]], object), DType.STRING),
        body.op("Concat", rows, body.constant([1]), axis=0),
    )
    padded = body.op("Concat", current, blank, axis=1)
    axis, step = body.constant([1]), body.constant([2])
    first, second = (body.op("Slice", padded, body.constant([k]), end, axis, step) for k in (0, 1))
    made = body.op("StringConcat", first, second)
    is_left = body.op("Greater", half, body.constant(1))
    text = helper.make_tensor_type_proto(onnx.TensorProto.STRING, [None, None])
    graph = helper.make_graph(
        body.nodes,
        "joined",
        [
            helper.make_tensor_value_info(turn, onnx.TensorProto.INT64, []),
            helper.make_tensor_value_info(goes_on, onnx.TensorProto.BOOL, []),
            helper.make_value_info(current, text),
        ],
        [
            helper.make_tensor_value_info(is_left, onnx.TensorProto.BOOL, []),
            helper.make_value_info(made, text),
        ],
    )
    begins = emit.op("Greater", emit.dimension(pieces, 1), emit.constant(1))
    whole = emit.op("Loop", "", begins, pieces, body=graph)
    return emit.op("Reshape", whole, emit.constant([-1]))


def _graph(emit: Emitter, name: str, result: str) -> onnx.GraphProto:
    """A branch that gives a vector of texts."""
    return helper.make_graph(
        emit.nodes, name, [], [helper.make_tensor_value_info(result, onnx.TensorProto.STRING, [None])]
    )
