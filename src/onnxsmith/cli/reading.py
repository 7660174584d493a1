"""Reads the model that a word names: a file, or standard input."""

from __future__ import annotations

from onnxsmith.cli.streams import STREAM, read_input, read_proto
from onnxsmith.graphs.model import Model


def load_model(word: str) -> Model:
    """The model of a file, or of standard input; one that comes that way has no files beside it."""
    return Model.from_proto(read_proto(read_input())) if word == STREAM else Model.load(word)
