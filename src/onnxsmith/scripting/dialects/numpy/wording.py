"""Errors of the front end in the words of numpy: plain numpy code has no scripts, operators and tensors.

The front end is that of scripts, and says what these may do. Whoever wrote for numpy is told the same of arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from onnxsmith.errors import OnnxsmithError

#: Parts of help texts, and what is said instead; tried in this order, before the words.
_ADVICE = (
    ("'__collected__'", "what is collected here"),
    (
        "to index with it, index a tensor: op.Gather(table, i), or table[i] where table is a tensor;\n"
        "in place of range(n), op.Loop or a loop in a @script function",
        "lists, tuples and dicts are indexed with what is known when the model is made; of numbers make an array: "
        "np.array(table)[i]",
    ),
    (
        "in place of a branch, op.Where(condition, a, b) or op.If, or write it in a @script function",
        "in place of a branch, np.where(condition, a, b)",
    ),
    (
        "otherwise collect with op.SequenceInsert(…), with x.at[i].set(…) or in op.Scan",
        "otherwise make an array before the loop, out = np.zeros(n), and write to it: out[i] = v",
    ),
    (
        "print it in an eager run; a loop over static_range(…) has Python ints",
        "return the value, and show it then",
    ),
    ("; a loop over static_range(…) has Python ints", ""),
    (
        "pass the value as an argument; random numbers are op.RandomUniform(…), op.RandomNormal(…)",
        "pass the value",
    ),
    (
        "draw in the model, with op.RandomUniform(shape=[1]), or before, and pass it as an argument",
        "draw before, and pass the numbers as an argument",
    ),
    ("append a tensor: op.Constant(value_float=1.0)", "append a number of numpy's: np.float64(1.0)"),
    ("op.Constant(value=[…]) makes a list a tensor", "np.array([…]) makes a list an array"),
    ("use op.Where, or split the function", "use np.where, or split the function"),
    ("a 'for' statement of a @script function runs over it in the model", "a 'for' statement runs over it"),
)
_Word: TypeAlias = "str | Callable[[re.Match[str]], str]"


def _of_numpy(found: re.Match[str]) -> str:
    return f"np.{found[1].lower()}"


_WORDS: tuple[tuple[re.Pattern[str], _Word], ...] = (
    (re.compile(r"\ba script (can|cannot)\b"), r"code that becomes a model \1"),
    (re.compile(r"\bin a script\b"), "in code that becomes a model"),
    (re.compile(r"\boutside the script\b"), "outside the function"),
    (re.compile(r"\bscripts\b"), "models"),
    (re.compile(r"\bop\.Where\b"), "np.where"),
    (
        re.compile(r"\bop\.(Min|Max|Abs|Clip|Floor|Ceil|Sqrt|Exp|Log)\b"),
        _of_numpy,
    ),
    (re.compile(r"\b([Aa]) tensor\b"), r"\1n array"),
    (re.compile(r"\btensors\b"), "arrays"),
    (re.compile(r"\btensor\b"), "array"),
)


def in_numpys_words(error: OnnxsmithError) -> None:
    """Say what an error says, and those that were found with it, to people who wrote for numpy."""
    for each in (error, *error.others):
        if "as ONNX does" in each.message:  # it is about a tensor
            continue
        each.message = _reworded(each.message)
        each.help = None if each.help is None else _reworded(each.help)


def _reworded(text: str) -> str:
    for said, instead in _ADVICE:
        text = text.replace(said, instead)
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    return text
