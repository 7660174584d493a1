"""Every operator definition there is, by domain, name and opset version; each is made once, when first asked for.

Finds definitions and says why there is none; it knows nothing of calls. The opset version that is used where the user
names none is here, too. `ai.onnx` is another name of the domain "".
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import sys
import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import OperatorNotInOpsetError, UnknownOperatorError
from onnxsmith.schema import from_onnx, from_onnxruntime
from onnxsmith.schema.definition import OperatorDef, Parameter
from onnxsmith.schema.other_names import ONNX_NAMES

if TYPE_CHECKING:
    from onnx.defs import OpSchema


#: (since version, whether the operator was deprecated then), ascending.
_History = tuple[tuple[int, bool], ...]

_LOOKUP_LIMIT = 16384
_UNKNOWN_LIMIT = 4096

_lock = threading.RLock()
# All written under the lock and read without it. The first is bounded by the operators that exist; the others by
# the limits above, because their keys come from whoever asks.
_definitions: dict[tuple[str, str, int], OperatorDef] = {}
_lookup_cache: dict[tuple[str, str, int], OperatorDef] = {}
_unknown_cache: dict[tuple[str, str, int], OperatorDef] = {}
_range_cache: dict[OperatorDef, tuple[int, int | None]] = {}
_registered: dict[str, dict[str, dict[int, OperatorDef]]] = {}

# Where the documentation of a removed operator does not name what came in its place.
_REPLACEMENTS = {("", "Upsample"): "Resize"}


def find(domain: str, name: str, version: int) -> OperatorDef | None:
    """The definition in force at a version of a domain; None when that version has no such operator."""
    found = _lookup_cache.get((domain, name, version))
    if found is not None:
        return found
    plain = _canonical(domain)
    held = _registered.get(plain, {}).get(name)
    schema = from_onnx.find_schema(plain, name, version) if held is None else None
    if held is not None:
        since = max((each for each in held if each <= version), default=None)
        found = None if since is None or held[since].is_deprecated else held[since]
    elif schema is not None:
        found = None if schema.deprecated else _definition(plain, name, schema.since_version, schema)
    elif plain in from_onnxruntime.DOMAINS:
        found = _find_in_onnxruntime(plain, name, version)
    if found is not None:
        with _lock:
            if len(_lookup_cache) >= _LOOKUP_LIMIT:
                _lookup_cache.clear()
            _lookup_cache[domain, name, version] = found
    return found


def lookup(domain: str, name: str, version: int) -> OperatorDef:
    """The definition in force at a version of a domain, or of an operator about which nothing is known.

    Raises UnknownOperatorError or OperatorNotInOpsetError for a domain whose operators are known.
    """
    found = find(domain, name, version)
    if found is not None:
        return found
    domain = _canonical(domain)
    if not is_known_domain(domain):
        return _unknown(domain, name, version)
    history = _index(domain).get(name)
    if history is None:
        raise _unknown_operator(domain, name, version)
    raise _not_in_opset(domain, name, version, history)


def names(domain: str, version: int) -> tuple[str, ...]:
    """The operators that a version of a domain has, sorted."""
    return tuple(name for name, history in _index(_canonical(domain)).items() if _in_force(history, version))


def all_names(domain: str) -> tuple[str, ...]:
    """The operators that any version of a domain has or had, sorted."""
    return tuple(_index(_canonical(domain)))


def versions(domain: str, name: str) -> tuple[int, ...]:
    """The versions in which the operator was introduced or changed, ascending; those that removed it left out."""
    return tuple(since for since, is_deprecated in _history(_canonical(domain), name) if not is_deprecated)


def valid_range(op: OperatorDef) -> tuple[int, int | None]:
    """The versions of its domain for which a definition is the one in force: from, and up to but without.

    The end is None for the newest definition.
    """
    if not op.is_known:  # made for one version, and nothing says what another would be
        return op.since_version, op.since_version + 1
    found = _range_cache.get(op)
    if found is None:
        newer = _history(op.domain, op.name, after=op.since_version)
        found = op.since_version, newer[0][0] if newer else None
        with _lock:
            if len(_range_cache) >= _LOOKUP_LIMIT:
                _range_cache.clear()
            _range_cache[op] = found
    return found


def latest_version(domain: str) -> int:
    """The newest version of a domain; 1 for a domain about which nothing is known."""
    domain = _canonical(domain)
    stated = from_onnx.latest_version(domain)
    if stated is not None:
        return stated
    return max((history[-1][0] for history in _index(domain).values()), default=1)


def domains() -> tuple[str, ...]:
    """The domains whose operators are known, sorted."""
    return tuple(sorted({*_onnx_index(), *from_onnxruntime.schemas(), *_registered}))


def is_known_domain(domain: str) -> bool:
    """True if an operator of the domain that cannot be found is a mistake."""
    return bool(_index(_canonical(domain)))


def register(op: OperatorDef) -> None:
    """Make an operator of a custom domain known; the same domain, name and version again replaces it."""
    with _lock:  # new dictionaries, never changed ones: others may be reading
        held = _registered.get(op.domain, {})
        _registered[op.domain] = {**held, op.name: {**held.get(op.name, {}), op.since_version: op}}
        _lookup_cache.clear()
        _range_cache.clear()
        for key in [key for key in _unknown_cache if key[0] == op.domain]:
            del _unknown_cache[key]


def _canonical(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _find_in_onnxruntime(domain: str, name: str, version: int) -> OperatorDef | None:
    held = from_onnxruntime.schemas().get(domain, {}).get(name, {})
    since = max((each for each in held if each <= version), default=None)
    return None if since is None or held[since].deprecated else _definition(domain, name, since)


def _definition(domain: str, name: str, since: int, schema: OpSchema | None = None) -> OperatorDef:
    """The one definition of a schema version; made under the lock, so that identity means equality.

    `schema` is onnx's, and None for one of ONNX Runtime's.
    """
    key = (domain, name, since)
    found = _definitions.get(key)
    if found is not None:
        return found
    with _lock:
        found = _definitions.get(key)
        if found is None:
            if schema is not None:
                found = from_onnx.convert(schema)
            else:
                found = from_onnxruntime.convert(from_onnxruntime.schemas()[domain][name][since])
            _definitions[key] = found
    return found


def unchecked(domain: str, name: str, version: int) -> OperatorDef:
    """A definition that takes anything, also for an operator that there is a schema for."""
    return _unknown(_canonical(domain), name, version)


def _unknown(domain: str, name: str, version: int) -> OperatorDef:
    key = (domain, name, version)
    with _lock:
        found = _unknown_cache.get(key)
        if found is None:
            if len(_unknown_cache) >= _UNKNOWN_LIMIT:
                _unknown_cache.clear()
            found = _unknown_cache[key] = OperatorDef(
                domain=domain,
                name=name,
                since_version=version,
                inputs=(_anything("inputs"),),
                outputs=(_anything("outputs"),),
                attributes=MappingProxyType({}),
                min_inputs=0,
                max_inputs=_UNLIMITED,
                min_outputs=0,
                max_outputs=_UNLIMITED,
                is_known=False,
            )
    return found


#: What onnx's own schemas give as the limit of a variadic parameter.
_UNLIMITED = 2**31 - 1


def _anything(name: str) -> Parameter:
    return Parameter(name, "", frozenset(), "variadic", is_homogeneous=False, min_arity=0)


@functools.cache
def _onnx_index() -> Mapping[str, Mapping[str, _History]]:
    return from_onnx.index()


def _index(domain: str) -> Mapping[str, _History]:
    """The history of every operator of a domain, by name, sorted."""
    known: Mapping[str, _History] = _onnx_index().get(domain, {})
    if not known and domain in from_onnxruntime.DOMAINS:
        held = from_onnxruntime.schemas().get(domain, {})
        known = {
            name: tuple(sorted((since, schema.deprecated) for since, schema in each.items()))
            for name, each in sorted(held.items())
        }
    if domain in _registered:
        own = {
            name: tuple(sorted((since, op.is_deprecated) for since, op in each.items()))
            for name, each in _registered[domain].items()
        }
        known = dict(sorted({**known, **own}.items()))
    return known


def _history(domain: str, name: str, after: int = 0) -> _History:
    """One operator's history after a version."""
    if domain in _registered or domain in from_onnxruntime.DOMAINS:
        return tuple(each for each in _index(domain).get(name, ()) if each[0] > after)
    return _onnx_history(domain, name, after)


@functools.lru_cache(maxsize=2048)
def _onnx_history(domain: str, name: str, after: int) -> _History:
    """The same of an operator of onnx, which is asked version by version: a few µs each, 18 ms for all operators."""
    found: list[tuple[int, bool]] = []
    version = _UNLIMITED
    while version > after and (schema := from_onnx.find_schema(domain, name, version)) is not None:
        found.append((schema.since_version, schema.deprecated))
        version = schema.since_version - 1
    return tuple(each for each in reversed(found) if each[0] > after)


def _in_force(history: _History, version: int) -> bool:
    state = [is_deprecated for since, is_deprecated in history if since <= version]
    return bool(state) and not state[-1]


def _opset(domain: str, version: int) -> str:
    return f"opset {version} of {domain}" if domain else f"opset {version}"


def _unknown_operator(domain: str, name: str, version: int) -> UnknownOperatorError:
    return UnknownOperatorError(
        f"{_opset(domain, version)} has no operator {name}", help=_what_was_meant(domain, name, version)
    )


def _what_was_meant(domain: str, name: str, version: int) -> str | None:
    elsewhere = next((other for other, operators in _onnx_index().items() if name in operators), None)
    if elsewhere is not None:
        module = f"opset_{elsewhere.replace('.', '_')}" if elsewhere else "opset"
        return f"{elsewhere or 'ai.onnx'} has it: from onnxsmith import {module}{latest_version(elsewhere)}"
    known = names(domain, version)
    meant = ONNX_NAMES.get(name.lower(), "") if domain == "" else ""
    if meant.partition(" ")[0] in known:
        return f"ONNX calls it {meant}"
    return did_you_mean(name, known) or did_you_mean(name, _index(domain))


def _not_in_opset(domain: str, name: str, version: int, history: _History) -> OperatorNotInOpsetError:
    opset = _opset(domain, version)
    first_later = next(
        (since for since, is_deprecated in history if since > version and not is_deprecated), None
    )
    if first_later is not None:
        return OperatorNotInOpsetError(
            f"{opset} has no operator {name}: it came with opset {first_later}",
            help=f"use opset {first_later} or later",
        )
    removed = next(since for since, is_deprecated in history if is_deprecated)
    replacement = _replacement(domain, name, removed)
    return OperatorNotInOpsetError(
        f"{opset} has no operator {name}: it was removed in opset {removed}",
        help=f"the last opset that has it is {removed - 1}"
        + (f"; {replacement} replaces it" if replacement else ""),
    )


def _replacement(domain: str, name: str, removed: int) -> str | None:
    """The operator that replaces a removed one, by the schema that removed it."""
    if (domain, name) in _REPLACEMENTS:
        return _REPLACEMENTS[domain, name]
    schema = from_onnx.find_schema(domain, name, removed)
    match = re.search(r"[Pp]lease use (\w+)", schema.doc or "") if schema is not None else None
    return match[1] if match else None


def is_runtime_installed() -> bool:
    """True if onnxruntime can be imported; it is not imported for it."""
    if "onnxruntime" in sys.modules:
        return sys.modules["onnxruntime"] is not None  # pyright: ignore[reportUnnecessaryComparison]  # None blocks an import
    return importlib.util.find_spec("onnxruntime") is not None


def default_opset_version() -> int:
    """The newest opset that the installed ONNX Runtime accepts; without it, the newest that onnx knows."""
    return _newest_opset(has_runtime=is_runtime_installed())


@functools.cache
def _newest_opset(*, has_runtime: bool) -> int:
    """The same with or without ONNX Runtime, which an import hook may hide for a time.

    ONNX Runtime has no call that tells, so a model of one `Identity` is tried, from the newest down.
    """
    from onnx import defs, helper  # heavy: on first use

    newest = defs.onnx_opset_version()
    if not has_runtime:
        return newest
    runtime: Any = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    value = [helper.make_tensor_value_info(name, 1, None) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "probe", value[:1], value[1:])
    for version in range(newest, 6, -1):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)
        try:
            runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception:  # ONNX Runtime's exceptions share no base but this
            continue
        return version
    return newest
