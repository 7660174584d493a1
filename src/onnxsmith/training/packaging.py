"""Training packages: the step, evaluation and inference of a model as files, with a loop that runs them elsewhere.

The loops, in `loops`, need ONNX Runtime and numpy, or onnxruntime-web. Makes and writes a package, and reads its state
back; `Trainer.package` and `generate_artifacts` say what goes into one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from onnxsmith.core.value import Array
from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    CallError,
    MissingDependencyError,
    ModelWriteError,
    UnreadableModelError,
    boundary,
)
from onnxsmith.errors.arguments import check_counts
from onnxsmith.errors.user_warnings import tell
from onnxsmith.errors.wrong_kinds import Given
from onnxsmith.graphs import files
from onnxsmith.graphs.given_paths import path_of
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.temporary_files import is_temporary
from onnxsmith.passes import optimize
from onnxsmith.runtime.for_runtime import for_runtime
from onnxsmith.source import caller_span
from onnxsmith.training.rates import Rates
from onnxsmith.training.step import Objective, in_new_opset
from onnxsmith.training.updates import Updates
from onnxsmith.training.weights import with_inputs
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType

#: Where a package is for.
Kind: TypeAlias = Literal["python", "web"]

#: The files of each kind that are the same in all packages.
_LOOPS: dict[str, dict[str, str]] = {
    "python": {"train.py": "train.py.txt"},
    "web": {"train.mjs": "train.mjs", "index.html": "index.html"},
}
_PLAN, _STATE = "training.json", "state.bin"
_FORMAT, _VERSION = "onnxsmith training package", 1
#: Behind the state in its file: the number of steps that the loop has made.
_COUNT_BYTES = 8


@dataclass(frozen=True, slots=True)
class Package:
    """The content of a package: models, what they take, and where training begins."""

    step: Model
    evaluation: Model
    inference: Model
    state: Mapping[str, Array]
    #: The rates of steps, by the input that takes them; the last one stays.
    rates: Mapping[str, Sequence[float]]

    def write(
        self, folder: str | os.PathLike[str], kind: Kind, *, prefix: str = "", is_shared: bool = False
    ) -> Path:
        """Write the package and return its folder; with `is_shared` that may hold other files, too."""
        chosen = _read_kind(kind)
        content = self._content(chosen, prefix)
        place = _check_folder(path_of(folder), chosen, list(content), prefix, is_shared=is_shared)
        try:
            place.mkdir(parents=True, exist_ok=True)
            with contextlib.ExitStack() as stack:
                # All is written before anything is renamed. The plan is entered last and so renamed first: it has the
                # digests of the other files, so that a loop notices those of another package.
                for name in sorted(content, key=lambda each: each == prefix + _PLAN):
                    temporary = stack.enter_context(files.replacing(place / name))
                    temporary.write_bytes(content[name])
        except OSError as error:
            if isinstance(error, ModelWriteError):
                raise
            raise ModelWriteError(f"cannot write to {str(place)!r}: {error.strerror or error}") from None
        return place

    def _content(self, kind: Kind, prefix: str) -> dict[str, bytes]:
        """The files by name, all in memory: weights are in one of them."""
        state = {name: _stored(name, array) for name, array in self.state.items()}
        data = [each for each in self.step.inputs if each.name not in state and each.name not in self.rates]
        models = {"training_step": self.step, "evaluation": self.evaluation, "inference": self.inference}
        parts = {key: (f"{prefix}{key}.onnx", _bytes_of(model, key)) for key, model in models.items()}
        arrays = b"".join(each.tobytes() for each in state.values())
        parts["state"] = (prefix + _STATE, arrays + bytes(_COUNT_BYTES))
        ports = {each.name: each for each in self.step.inputs}
        plan = {
            "format": _FORMAT,
            "version": _VERSION,
            "kind": kind,
            "files": {key: _described(name, raw) for key, (name, raw) in parts.items()},
            "data": [_port(each.name, each.type, kind) for each in data],
            "rates": [
                {"name": name, "dtype": _port(name, ports[name].type, kind)["dtype"], "values": values}
                for name, values in self.rates.items()
            ],
            "state": _entries(state),
        }
        content = dict(parts.values())
        for name, source in _LOOPS[kind].items():
            content[prefix + name] = _loop(source, prefix)
        content[prefix + _PLAN] = json.dumps(plan, indent=1).encode()
        return content


def package_of(
    objective: Objective,
    updates: Updates,
    *,
    step: Model,
    state: Mapping[str, Array],
    rates: Mapping[str, Sequence[float]],
    inference: Model | None = None,
) -> Package:
    """A package of what is minimised and how, of a step of it and a state.

    `inference` is the model as it predicts, where it is another one in training; its weights have the same names.
    """
    trained = objective.with_weights([each for each in objective.names if each in state])
    if inference is not None:
        trained = _predicting(trained, inference, state)
    evaluated, predicting = trained.loss_model(gives_predictions=True), _inference(trained)
    averaged = {
        name: f"{name}_average" for name in objective.names if updates.average is not None and name in state
    }
    shown, predicted = (optimize(each, opset="keep") for each in (evaluated, predicting))
    if averaged:  # those are what a trainer predicts with
        shown, predicted = (cast(Any, each).rename(averaged) for each in (shown, predicted))
    return Package(step, shown, predicted, state, rates)


def _predicting(objective: Objective, model: Model, state: Mapping[str, Array]) -> Objective:
    """The same loss of a model that is in evaluation: it reads running statistics, and writes to none."""
    there = model.ir.graph.initializers
    missing = next((each for each in objective.names if each not in there), None)
    if missing is not None:
        raise CallError(
            f"the model for inference has no weight '{missing}', which is trained",
            help="the exporter of PyTorch's modules keeps all weights where only the layers are in evaluation: "
            "module.eval(); module.training = True",
        )
    names = [each.name for each in model.inputs], [each.name for each in model.outputs]
    if names != (objective.model_inputs, objective.predictions):
        raise CallError(
            f"the model for inference takes {', '.join(names[0])} and gives {', '.join(names[1])}; the model that is "
            f"trained takes {', '.join(objective.model_inputs)} and gives {', '.join(objective.predictions)}",
            help="model.rename({…}) gives inputs and outputs other names",
        )
    held = [each for each in state if each in there]
    return dataclasses.replace(objective, model=in_new_opset(model), names=held, state={})


def _inference(objective: Objective) -> Model:
    """The model with its weights as inputs, and no output but the predictions."""
    buffers = [each for each in objective.state if each not in objective.names]
    free = with_inputs(objective.model, [*buffers, *objective.names], objective.state)
    own = [each for each in objective.predictions if each != objective.loss] or objective.predictions
    # A capability that `Model` is given, which checkers see in the stubs.
    return cast(Any, free).extract(outputs=own)


def planned_rates(
    updates: Updates,
    steps: int | None,
    *,
    first: int = 0,
    plateaus: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, list[float]]:
    """The rates of so many steps from one on, by input; `plateaus` is what was seen of them."""
    check_counts(steps=steps)
    rates = Rates(updates)
    if not updates.rates:
        return {}
    if steps is None:
        raise AttributeValueError(
            "the rate follows a schedule, and a package has the rates of a number of steps, which is not given",
            help="steps=1000; later steps take the last of these rates",
            culprit="steps",
        )
    if rates.plateaus:
        tell(
            "the loop of a package does not follow a plateau: the rate stays, unless the loop gives its steps another",
            caller_span(),
        )
    rates.restore(plateaus or {})
    rates.begin(first, int(steps))
    by_step = [rates.of_step(first + number) for number in range(int(steps))]
    found = {name: [each[name] for each in by_step] for name in updates.rates.values()}
    for values in found.values():
        while len(values) > 1 and values[-1] == values[-2]:  # the last one stays anyway
            values.pop()
    return found


# -- parts of a package ----------------------------------------------------------------------------------------------


def _read_kind(kind: Given) -> Kind:
    if not isinstance(kind, str):
        raise AttributeTypeError(
            f'the kind of a package is "python" or "web", not {described_type(type(kind))}', culprit="kind"
        )
    if kind not in _LOOPS:
        raise AttributeValueError(
            f'a package is for "python" or for "web", and not for {kind!r}',
            help=did_you_mean(kind, list(_LOOPS)) or 'trainer.package("folder", "python")',
            culprit="kind",
        )
    return cast(Kind, kind)


def _port(name: str, kind: AnyValueType, where: Kind) -> dict[str, Any]:
    """An input as loops know it; refused where they cannot make one."""
    if not isinstance(kind, TensorType) or kind.dtype is None:
        raise CallError(
            f"the loop of a package gives tensors to the model, and '{name}' is a {kind.described}",
            help="make the model take tensors, or train it here",
        )
    if not _is_plain(kind.dtype, where):
        raise CallError(
            f"'{name}' is {kind.dtype.spelling}, which {'numpy' if where == 'python' else 'JavaScript'} does not have",
            help="give the model an input of float32, and convert it in the model",
        )
    shape = None if kind.shape is None else list(kind.shape)
    return {"name": name, "dtype": kind.dtype.spelling.lower(), "shape": shape}


def _is_plain(dtype: DType, where: Kind) -> bool:
    """True if the arrays of a loop have the element type."""
    if dtype is DType.STRING:
        return True
    return dtype.is_native and not (where == "web" and dtype.numpy.kind == "c")


def _stored(name: str, array: Array) -> Array:
    """State as a file has it: whole, little-endian, in the order of rows."""
    found = np.asarray(array)
    if found.dtype.kind not in "fiub":
        raise CallError(
            f"the state of a package is numbers that numpy has, and '{name}' is {found.dtype.name}",
            help="train it in float32",
        )
    return np.ascontiguousarray(found, found.dtype.newbyteorder("<")).reshape(found.shape)


def _entries(state: Mapping[str, Array]) -> list[dict[str, Any]]:
    """The arrays of the state in their file."""
    found: list[dict[str, Any]] = []
    offset = 0
    for name, array in state.items():
        entry = {"name": name, "dtype": array.dtype.name, "shape": list(array.shape)}
        found.append({**entry, "offset": offset, "bytes": array.nbytes})
        offset += array.nbytes
    return found


def _described(name: str, raw: bytes) -> dict[str, Any]:
    return {"name": name, "bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


def _bytes_of(model: Model, called: str) -> bytes:
    """A model as ONNX Runtime gets it right, where that is installed to ask; else as it is."""
    try:
        shipped: Model = for_runtime(model)
    except MissingDependencyError:
        shipped = model
    try:
        return files.serialize(shipped.ir)
    except ModelWriteError as error:
        raise ModelWriteError(
            f"{called}.onnx: {error.message}",
            help="weights that are frozen stand in each model; a package is for those of less than 2 GB",
        ) from None


def _loop(source: str, prefix: str) -> bytes:
    """A file of the loops, which finds the files with their prefix."""
    text = (resources.files("onnxsmith.training") / "loops" / source).read_text("utf-8")
    for name, begin in ((_PLAN, ""), ("train.mjs", "./")):
        text = text.replace(json.dumps(begin + name), json.dumps(begin + prefix + name))
    return text.encode()


# -- folders ---------------------------------------------------------------------------------------------------------


def _check_folder(place: Path, kind: Kind, names: list[str], prefix: str, *, is_shared: bool) -> Path:
    """Refuse a place that is no folder, and a folder whose files are not those of such a package."""
    if Path(prefix).name != prefix and prefix:
        raise AttributeValueError(
            f"prefix is the beginning of names of files, and {prefix!r} is none",
            help='prefix="small_"; the folder is the other argument',
            culprit="prefix",
        )
    if os.path.exists(place) and not os.path.isdir(place):
        raise ModelWriteError(f"cannot write to {str(place)!r}: it is no folder", help="name a new folder")
    if not os.path.isdir(place):
        return place
    try:
        there = [each for each in os.listdir(place) if not is_temporary(each)]
    except OSError as error:
        raise ModelWriteError(f"cannot write to {str(place)!r}: {error.strerror or error}") from None
    found = _kind_of(place / (prefix + _PLAN))
    others = [each for each in there if each in names] if is_shared else there
    if found is None and others:
        which = (
            f"it holds {min(others)!r}, which is of no package"
            if is_shared
            else "it is not empty, and holds no training package"
        )
        raise ModelWriteError(f"cannot write to {str(place)!r}: {which}", help="name a new folder")
    if found not in (None, kind):
        raise ModelWriteError(
            f"cannot write to {str(place)!r}: it holds a package for {found!r}", help="name another folder"
        )
    return place


def _kind_of(plan: Path) -> str | None:
    """The kind of the package whose plan this is, or None."""
    try:
        found: object = json.loads(plan.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    entries = cast("dict[str, object]", found)
    return str(entries.get("kind")) if entries.get("format") == _FORMAT else None


@boundary
def load_state(folder: str | os.PathLike[str], file: str = _STATE, *, prefix: str = "") -> dict[str, Array]:
    """The state that the loop of a training package has saved in its folder, as arrays by name; by default the first.

    Weights have their names in the model: `model.replace_weights` takes them.

    >>> import numpy as np, tempfile
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.training import artifacts, load_state
    >>> weight = np.zeros((2, 1), np.float32)
    >>> model = trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2])
    >>> folder = tempfile.mkdtemp()
    >>> artifacts.generate_artifacts(model, loss="MSELoss", optimizer="SGD", artifact_directory=folder)
    >>> load_state(folder)["weight"].shape
    (2, 1)
    """
    place = path_of(folder)
    try:
        plan: Any = json.loads((place / (prefix + _PLAN)).read_text("utf-8"))
        raw = (place / (file if file != _STATE else prefix + _STATE)).read_bytes()
        entries: list[dict[str, Any]] = plan["state"] if plan["format"] == _FORMAT else []
        shapes = {str(each["name"]): [int(size) for size in each["shape"]] for each in entries}
        dtypes = {str(each["name"]): np.dtype(str(each["dtype"])).newbyteorder("<") for each in entries}
    except OSError as error:
        raise UnreadableModelError(
            f"cannot read {error.filename!r}: {error.strerror or error}",
            help='name the folder of a training package: load_state("folder", "trained.bin")',
        ) from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UnreadableModelError(
            f"{str(place / (prefix + _PLAN))!r} is no plan of a training package"
        ) from None
    sizes = {name: math.prod(shape) * dtypes[name].itemsize for name, shape in shapes.items()}
    if not entries or len(raw) != sum(sizes.values()) + _COUNT_BYTES:
        raise UnreadableModelError(
            f"{file!r} is not the state of this package: it has {len(raw):,} bytes, and "
            f"{sum(sizes.values()) + _COUNT_BYTES:,} are expected"
        )
    state: dict[str, Array] = {}
    offset = 0
    for name, shape in shapes.items():
        part = raw[offset : offset + sizes[name]]
        state[name] = (
            np.frombuffer(part, dtypes[name]).astype(dtypes[name].newbyteorder("="), copy=True).reshape(shape)
        )
        offset += sizes[name]
    return state
