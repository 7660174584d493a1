"""Paths that users give."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

from onnxsmith.diagnostics import described_type
from onnxsmith.errors import AttributeTypeError, AttributeValueError


def path_of(given: object) -> Path:
    """The path of a file, which may be anything that Python takes for one but bytes; refuses what is none."""
    text: object = given
    kind: type[object] = type(given)
    if isinstance(given, os.PathLike):
        text = cast("os.PathLike[str]", given).__fspath__()
    if not isinstance(text, str):
        raise AttributeTypeError(
            f"the path of a file is text or a pathlib.Path, not {described_type(kind)}", culprit=0
        )
    if "\0" in text:
        raise AttributeValueError(f"no file can be called {text!r}: there is a zero byte in it", culprit=0)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise AttributeValueError(
            f"no file can be called {text!r}: it has characters that names of files do not have", culprit=0
        ) from None
    return Path(text)
