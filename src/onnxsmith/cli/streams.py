"""The meaning of `-`: a model or an array from standard input, a model or a text to standard output."""

from __future__ import annotations

import sys

import onnx

from onnxsmith.cli.report import Usage
from onnxsmith.cli.standard_output import results, writing
from onnxsmith.graphs import files

#: The word for standard input or output, and what messages call the former.
STREAM = "-"
STANDARD_INPUT = "standard input"


def shown(word: str) -> str:
    """The name of a file in messages."""
    return STANDARD_INPUT if word == STREAM else word


def read_input() -> bytes:
    """All that is piped in; once, as it is gone then."""
    stream = sys.stdin
    if stream is None or stream.isatty():  # pyright: ignore[reportUnnecessaryComparison]  # None where there is none
        raise Usage("- is standard input, and nothing is piped in")
    content = stream.buffer.read()
    if not content:
        raise Usage("- is standard input, and nothing came from there")
    return content


def read_proto(content: bytes) -> onnx.ModelProto:
    """The model in what was piped in."""
    return files.parse(content, STANDARD_INPUT)


def write_output(content: bytes) -> None:
    """Bytes to standard output, where a terminal would only be confused by them."""
    stream = results()
    if stream is None:
        raise Usage("-o - is standard output, which is closed")
    if stream.isatty():
        raise Usage("a model is not for a terminal: pipe it, or name a file with -o")
    with writing():
        stream.buffer.write(content)
        stream.buffer.flush()


def check_words(words: list[str]) -> None:
    """Standard input can be read once."""
    if words.count(STREAM) > 1:
        raise Usage("- stands for standard input, which can be read only once")
