"""The runtime that models find when they run: sessions in this process, or in a child with limits. Registers itself."""

from __future__ import annotations

import functools
import importlib.metadata
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from onnxsmith.diagnostics import clipped
from onnxsmith.errors import DeviceError
from onnxsmith.graphs.edits import NodeNote
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.isolation import Isolation
from onnxsmith.graphs.model_runtime import Explain, FindNode, Objection, RunEach, register_model_runtime
from onnxsmith.graphs.rewriting.rewrite import Rule, Rules, TooDeep, rewrite
from onnxsmith.graphs.run_values import Run, RunValue
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.adapting import FACT_KEY, Refused, rule_of
from onnxsmith.runtime.device_arrays import device_of
from onnxsmith.runtime.devices import computing_on, staying_on
from onnxsmith.runtime.facts.fact import ByOperator, facts_of
from onnxsmith.runtime.isolated import isolated_session
from onnxsmith.runtime.model_session import load_session
from onnxsmith.runtime.opening import weight_reader
from onnxsmith.runtime.tensor import arrays_behind, as_tensor


class Sessions:
    """Loads and runs models on the engines of this package."""

    def load(
        self, model: SessionModel, find_node: FindNode | None, objection: Objection | None, explain: Explain
    ) -> Run:
        return load_session(model, find_node=find_node, objection=objection, explain=explain).run

    def isolated(
        self, model: SessionModel, names: Sequence[str], limits: Isolation, find_node: FindNode | None
    ) -> AbstractContextManager[RunEach]:
        return isolated_session(model, names, limits, find_node)

    def staying_with(
        self, inputs: Sequence[RunValue], device: str | None
    ) -> AbstractContextManager[object] | None:
        found = device_of(inputs)
        if found is not None:
            if device not in (None, found):
                raise DeviceError(
                    f"the model is on the device {device}, and was given a tensor on {found}",
                    help=f'model.to_device("{found}"), or x.to_device("{device}")',
                )
            return staying_on(found)
        return None if device is None else computing_on(device)

    def arrays_behind(self, values: Sequence[Any]) -> list[Any] | None:
        return arrays_behind(values)

    def as_tensors(self, outputs: Sequence[RunValue]) -> list[Any]:
        return [as_tensor(each) for each in outputs]

    def faults(self, model: SessionModel) -> list[str]:
        return faults(model)


register_model_runtime(Sessions())


# -- plain files -----------------------------------------------------------------------------------------------
# Faults of the installed ONNX Runtime on a model as it stands in a file, where nothing of ours corrects it.
#
# Looks at the model; makes no session of it. `for_runtime` is the remedy for all that is found.


#: The distributions that the module may be of.
_DISTRIBUTIONS = ("onnxruntime", "onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-openvino")
_LONGEST_NAME = 60


def faults(model: SessionModel) -> list[str]:
    """Reasons why the installed runtime gets a model wrong, each with its node; none where there is no runtime."""
    version = _installed_version()
    if version is None:
        return []
    try:
        # Declared ranks are believed: nothing runs by them here, and bodies of loops say theirs in no other way.
        edits = rewrite(
            model.proto, ordinary_rules(version), weight_reader(model), mark=FACT_KEY, believes_shapes=True
        ).edits
    except Refused as refusal:
        where = f" in '{clipped(refusal.node, _LONGEST_NAME)}'" if refusal.node else ""
        return [f"{refusal}{where}"]
    except TooDeep:
        return []
    return [f"{_named(each.before[0])}: {each.reason}" for each in edits]


def _named(node: NodeNote) -> str:
    place = f" ({node.source})" if node.source else ""
    return f"{node.operator} '{clipped(node.called, _LONGEST_NAME)}'{place}"


@functools.cache
def ordinary_rules(version: tuple[int, ...]) -> Rules:
    """How operators are met that are wrong on inputs as users have them."""

    def find(operator: tuple[str, str]) -> Rule | None:
        ordinary = [each for each in facts_of(operator, version) if each.is_ordinary]
        return rule_of(ordinary, is_kept=True) if ordinary else None

    return ByOperator(find)


def _installed_version() -> tuple[int, ...] | None:
    """Major and minor number of the installed runtime, which is not loaded for it; None where there is none."""
    if not onnxruntime_api.is_available():
        return None
    if "onnxruntime" in sys.modules:
        return onnxruntime_api.version()
    return _declared_version() or onnxruntime_api.version()


@functools.cache
def _declared_version() -> tuple[int, ...] | None:
    for name in _DISTRIBUTIONS:
        try:
            text = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        return tuple(int(each) for each in text.split(".")[:2])
    return None
