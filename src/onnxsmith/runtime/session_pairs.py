"""Pairs of an input that is state and the output that follows it, by their names or the caller; runs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import AttributeTypeError, SessionStateError
from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.model_inputs import fits
from onnxsmith.types.value_types import AnyValueType, TensorType

#: How the output that follows an input is named: what in the name of the input stands for what in its own.
_PAIRS = (("past_key_values", "present"), ("past", "present"), ("_in", "_out"))


def checked_mapping(name: str, value: object) -> dict[str, Any]:
    """The argument `state` or `pairs`, whose keys are names; None is none of them."""
    if value is None:
        return {}
    strange = type(value) if not isinstance(value, Mapping) else None
    if isinstance(value, Mapping):
        keys = (type(each) for each in cast("Mapping[object, object]", value) if not isinstance(each, str))
        strange = next(keys, None)
    if strange is not None:
        where = "from " if isinstance(value, Mapping) else ""
        raise AttributeTypeError(
            f"{name} is a mapping from names of inputs, not {where}{described_type(strange)}",
            help='state={"h": array}' if name == "state" else 'pairs={"h": "h_after"}',
            culprit=("attribute", name),
        )
    return dict(cast("Mapping[str, Any]", value))


def requiring(model: Model, state: Mapping[str, Any]) -> Model:
    """The model, whose inputs of the state have to be given where they have defaults."""
    optional = {each.name for each in model.optional_inputs} & state.keys()
    return model._requiring(frozenset(optional)) if optional else model  # pyright: ignore[reportPrivateUsage]  # as a call of the model does


def paired(model: Model, state: Mapping[str, Any], pairs: Mapping[str, str]) -> dict[str, str]:
    """The output that follows each input of the state."""
    inputs = [each.name for each in model.inputs]
    outputs = [each.name for each in model.outputs]
    metadata: Mapping[str, str] = cast(Any, model).metadata  # a capability, which checkers see in the stubs
    noted = trained_parameters.read_state(metadata)
    for name in (*state, *pairs):
        if name not in inputs:
            raise SessionStateError(
                f"the model has no input '{name}' that could be state",
                help=did_you_mean(name, inputs) or "its inputs are " + ", ".join(inputs),
            )
    for name, output in pairs.items():
        if not isinstance(cast(object, output), str):
            raise AttributeTypeError(
                f"pairs gives the output that follows '{name}' by its name, not {described_type(type(output))}",
                help='pairs={"h": "h_after"}',
                culprit=("attribute", "pairs"),
            )
        if name not in state:
            raise SessionStateError(
                f"'{name}' has a pair and no first value", help=f'state={{"{name}": array}}'
            )
    found: dict[str, str] = {}
    for name in state:
        named = [f"{name}_next", *(name.replace(old, new) for old, new in _PAIRS if old in name)]
        candidates = [pairs[name]] if name in pairs else [*filter(None, [noted.get(name)]), *named]
        output = next((each for each in candidates if each in outputs), None)
        if output is None:
            raise SessionStateError(
                f"no output of the model follows the state '{name}': there is no {' or '.join(map(repr, candidates))}",
                help=f'its outputs are {", ".join(outputs)}: pairs={{"{name}": …}} says which one it is',
            )
        if output in found.values():
            other = next(each for each in found if found[each] == output)
            raise SessionStateError(f"the output '{output}' follows both '{other}' and '{name}'")
        _check_pair(model, name, output)
        found[name] = output
    return found


def _check_pair(model: Model, name: str, output: str) -> None:
    types = {each.name: each.type for each in (*model.outputs, *model.inputs)}
    old, new = types[name], next(each.type for each in model.outputs if each.name == output)
    if not isinstance(old, TensorType) or not isinstance(new, TensorType):
        return
    is_other = None not in (old.dtype, new.dtype) and old.dtype is not new.dtype
    if is_other or (old.shape is not None and new.shape is not None and not fits(new.shape, old.shape)):
        raise SessionStateError(
            f"the state '{name}' is {old!r}, and the output '{output}' that follows it is {new!r}",
            help="what a run gives has to be what the next one takes",
        )


def is_fixed(old: AnyValueType, new: AnyValueType) -> bool:
    """True if state and what follows it have one size in every run."""
    if not isinstance(old, TensorType) or not isinstance(new, TensorType) or old.shape is None:
        return False
    return old.shape == new.shape and all(isinstance(each, int) for each in old.shape)
