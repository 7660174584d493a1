"""Python names for what a model names in any way it likes.

A name from a model is data: what comes out here is always a plain ASCII identifier that means nothing else in the
module that is written.
"""

from __future__ import annotations

import builtins
import functools
import keyword
import re
from collections.abc import Container, Sequence, Set

from onnxsmith.graphs.names import snake_case

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_OTHER = re.compile(r"[^A-Za-z0-9]+")
_OUTPUT_SUFFIX = re.compile(r"(?:_output_0|:0)$")
_LONGEST = 40
#: A prefix that so few names share, or that is so short, is left where it is.
_FEW, _SHORT = 4, 8
#: Names that Python or the module gives a meaning, whatever the model uses.
RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "_", "self", "cls"})


class Identifiers:
    """Hands out identifiers, each once, and none of those that are taken, which are not copied.

    Each function of a module has its own, and all share the names of the module: copies take the square of its size.
    """

    def __init__(self, taken: Set[str] = frozenset()) -> None:
        self._taken_before = taken
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    def _is_taken(self, name: str) -> bool:
        return name in self._taken or name in self._taken_before or name in RESERVED

    def exact(self, name: str) -> str | None:
        """The name itself, if it can be an identifier and is free."""
        if len(name) > _LONGEST or not _PLAIN.fullmatch(name) or self._is_taken(name):
            return None
        self._taken.add(name)
        return name

    def unique(self, wish: str) -> str:
        """The wished identifier, or the first free one with a number behind it."""
        if not self._is_taken(wish):
            self._taken.add(wish)
            return wish
        count = self._counts.get(wish, 2)
        while self._is_taken(name := f"{wish}_{count}"):
            count += 1
        self._counts[wish] = count + 1
        self._taken.add(name)
        return name

    def reserve(self, name: str) -> None:
        """Keep a name from being handed out."""
        self._taken.add(name)

    def for_value(self, name: str, operator: str, prefix: str = "", ambiguous: Container[str] = ()) -> str:
        """An identifier for a value: its own name where Python can spell it, or else one that is like it.

        A name that says nothing (`123`) gives way to the operator that makes the value. `prefix` is what all names
        of a graph begin with, and therefore says nothing. A short name that is `ambiguous` gives way to the whole path,
        so that what is added to one layer renames nothing in the others.
        """
        has_prefix = bool(prefix) and name.startswith(prefix)
        exact = None if has_prefix else self.exact(name)
        if exact is not None:
            return exact
        short = readable(name[len(prefix) :] if has_prefix else name, operator)
        return self.unique(readable(name, operator, is_whole=True) if short in ambiguous else short)


def readable(name: str, operator: str, *, is_whole: bool = False) -> str:
    """A readable form of a name that Python cannot spell: its last words, or all of them, in ASCII.

    >>> readable("/layers.0/self_attn/MatMul_output_0", "MatMul")
    'self_attn_mat_mul'
    >>> readable("123", "LayerNormalization")
    'layer_normalization'
    """
    fallback = _words(operator) or "value"
    fallback = fallback if fallback[0].isalpha() else f"value_{fallback}"
    parts = [_words(part) for part in _OUTPUT_SUFFIX.sub("", name[-200:]).split("/")]
    parts = [part for part in parts if part and not part.isdigit()]
    if not parts or not any(character.isalpha() for character in parts[-1]):
        return fallback
    text = _whole(parts) if is_whole else parts[-1]
    if not is_whole and len(parts) > 1 and not parts[-2].replace("_", "").isdigit():
        text = f"{parts[-2]}_{text}"
    if len(text) > _LONGEST:
        text = text[-_LONGEST:].partition("_")[2].lstrip("_0123456789") or text[-_LONGEST:].lstrip(
            "_0123456789"
        )
    return text if text[:1].isalpha() else f"{fallback}_{text}".rstrip("_")


def _whole(parts: Sequence[str]) -> str:
    """A path in one word. It may say `layers/layers.0`, where the second says all of the first."""
    pairs = zip(parts, [*parts[1:], ""], strict=True)
    return "_".join(part for part, following in pairs if not following.startswith(f"{part}_"))


def common_prefix(names: Sequence[str]) -> str:
    """The common beginning of all names, up to the end of a word; empty where it is short or they are few."""
    if len(names) < _FEW:
        return ""
    first, last = min(names), max(names)  # what these two share, all share
    length = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    shared = first[:length]
    while shared and (shared[-1].isalnum() or shared in names):
        shared = shared[:-1]
    return shared if len(shared) >= _SHORT else ""


@functools.lru_cache(maxsize=4096)  # the parts of paths are few
def _words(part: str) -> str:
    return snake_case(_OTHER.sub("_", part).strip("_"))
