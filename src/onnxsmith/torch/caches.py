"""Key and value caches of the transformers package as containers of tensors, which torch.export asks of arguments."""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import Any, Protocol

from torch.utils import _pytree as pytree


def register_caches() -> None:
    """Tell torch of the caches, if the package is in use; what is registered already stays as it is."""
    caches = sys.modules.get("transformers.cache_utils")
    if caches is None:
        return
    known = pytree.SUPPORTED_NODES
    if getattr(caches, "DynamicCache", None) not in known:
        # Versions of the package differ in how they name and lay out a cache: this is its own way.
        with contextlib.suppress(ImportError, AttributeError):
            executorch = importlib.import_module("transformers.integrations.executorch")
            executorch.register_dynamic_cache_export_support()
    pair = getattr(caches, "EncoderDecoderCache", None)
    if pair is not None and pair not in known:
        pytree.register_pytree_node(
            pair,
            _parts,
            lambda parts, _: pair(*parts),
            serialized_type_name=f"{pair.__module__}.{pair.__name__}",
            flatten_with_keys_fn=_named_parts,  # pyright: ignore[reportArgumentType]  # a list of any keys there
        )


_NAMES = ("self_attention_cache", "cross_attention_cache")


class _PairOfCaches(Protocol):
    """The caches of transformers for a decoder that looks at an encoder: one for either."""

    self_attention_cache: Any
    cross_attention_cache: Any


def _parts(cache: _PairOfCaches) -> tuple[list[Any], None]:
    return [getattr(cache, name) for name in _NAMES], None


def _named_parts(cache: _PairOfCaches) -> tuple[list[tuple[pytree.GetAttrKey, Any]], None]:
    return [(pytree.GetAttrKey(name), getattr(cache, name)) for name in _NAMES], None
