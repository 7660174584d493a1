"""Models in every form that a user may give them in: each public function of models takes all of them."""

from __future__ import annotations

import importlib
import inspect
import io
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnxsmith
from onnxsmith import FLOAT, Model, Rule, trace
from onnxsmith import opset21 as op
from onnxsmith.diffing import timeline
from onnxsmith.errors import CallError, OnnxsmithError, UnreadableModelError
from onnxsmith.grad import expand_training, gradient, initial_state, losses, sgd, training_step
from onnxsmith.graphs.capabilities import METHODS
from onnxsmith.inspection import equals, summary
from onnxsmith.observing import intermediate, observe
from onnxsmith.passes import extract, rename, with_metadata, with_outputs, with_shapes, with_tried_shapes
from onnxsmith.passes.surgery import bind_inputs, replace_weights, split, then
from onnxsmith.profiling import profile
from onnxsmith.rewriter import RewriteRule
from onnxsmith.rewriter import rewrite as rewrite_as_onnxscript
from onnxsmith.runtime import load_session
from onnxsmith.runtime.for_runtime import for_runtime
from onnxsmith.runtime.sessions import session, to_device
from onnxsmith.training import Trainer, model_in_use
from onnxsmith.training.artifacts import generate_artifacts
from onnxsmith.view import show

PUBLIC_NAMES = Path(__file__).parents[1] / "public_names.txt"
WEIGHT = np.float32([[1.0], [-2.0]])
MODEL = trace(lambda x: op.Relu(op.MatMul(x, WEIGHT)), FLOAT["N", 2], output_names=["y"])
X = np.float32([[3.0, 1.0]])
RULE = Rule(lambda x: op.Relu(x), lambda x: op.Abs(x), name="example")


class Wrapped:
    """An open file as libraries wrap one."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._content = path.read_bytes()

    def read(self) -> bytes:
        return self._content


FORMS: dict[str, Callable[[Path], Any]] = {
    "Model": lambda path: MODEL,
    "path as text": str,
    "path": lambda path: path,
    "bytes": lambda path: path.read_bytes(),
    "bytearray": lambda path: bytearray(path.read_bytes()),
    "open file": Wrapped,
    "file in memory": lambda path: io.BytesIO(path.read_bytes()),
    "ModelProto": lambda path: MODEL.proto,
    "onnx-ir": lambda path: MODEL.ir,
}


def _packaged(write: Callable[[str], object]) -> list[tuple[str, bytes]]:
    """The files that a function writes into a folder, but for programs."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder)
        return [(each.name, each.read_bytes()) for each in sorted(Path(folder).glob("*.bin"))]


#: A call of each function on a model; what it gives is compared with the same call on a `Model`.
VERBS: dict[str, Callable[[Any], Any]] = {
    "load": onnxsmith.load,
    "Model.load": Model.load,
    "optimize": onnxsmith.optimize,
    "session": lambda model: session(model)(X).tolist(),
    "to_device": lambda model: to_device(model, "cpu")(X).tolist(),
    "convert_version": lambda model: onnxsmith.convert_version(model, 18),
    "outline": onnxsmith.outline,
    "model_in_use": model_in_use,
    "generate_artifacts": lambda model: _packaged(
        lambda folder: generate_artifacts(model, loss="MSELoss", optimizer="SGD", artifact_directory=folder)
    ),
    "package": lambda model: _packaged(
        lambda folder: Trainer(MODEL, "squared").package(folder, "python", inference=model)
    ),
    "rewrite": lambda model: onnxsmith.rewrite(model, RULE),
    "explain_match": lambda model: str(onnxsmith.explain_match(model, "relu", RULE)),
    "compose": onnxsmith.compose,
    "then": lambda model: then(trace(lambda x: x * 1.0, FLOAT["N", 2], opset_version=21), model),
    "extract": lambda model: extract(model, outputs="y"),
    "split": lambda model: split(model, "mat_mul")[1],
    "rename": lambda model: rename(model, inputs={"x": "z"}),
    "with_outputs": lambda model: with_outputs(model, "mat_mul"),
    "with_shapes": lambda model: with_shapes(model, N=1),
    "with_metadata": lambda model: with_metadata(model, author="me"),
    "bind_inputs": lambda model: bind_inputs(model, x=X),
    "replace_weights": lambda model: replace_weights(model, lambda name, array: array * 2),
    "diff": lambda model: bool(onnxsmith.diff(model, MODEL)),
    "diff's second": lambda model: bool(onnxsmith.diff(MODEL, model)),
    "timeline": lambda model: len(timeline(model, []).steps),
    "compare": lambda model: bool(onnxsmith.compare(model, "reference")),
    "compare's second": lambda model: bool(onnxsmith.compare(MODEL, model)),
    "equals": lambda model: bool(equals(model, MODEL)),
    "equals' second": lambda model: bool(equals(MODEL, model)),
    "summary": lambda model: str(summary(model)),
    "decompile": lambda model: onnxsmith.decompile(model).splitlines()[-5:],
    "gradient": lambda model: gradient(trace(lambda x: op.ReduceSum(MODEL(x)), FLOAT["N", 2]), wrt=["x"]),
    "training_step": lambda model: training_step(model, losses.squared, sgd(lr=0.1)),
    "Trainer": lambda model: Trainer(model, losses.squared, sgd(lr=0.1)).step,
    "initial_state": lambda model: list(
        initial_state(model, training_step(MODEL, losses.squared, sgd(lr=0.1)))
    ),
    "expand_training": expand_training,
    "intermediate": lambda model: intermediate(model, [X], "mat_mul")["mat_mul"].tolist(),
    "profile": lambda model: [each.operator for each in profile(model, [X], runs=1, warm_up=0).kernels],
    "for_runtime": for_runtime,
    "load_session": lambda model: load_session(model)([X])[0].tolist(),
    "with_tried_shapes": lambda model: with_tried_shapes(model, {"N": 1}),
    "proto2python": lambda model: onnxsmith.proto2python(model).splitlines()[-5:],
    "rewriter.rewrite": lambda model: len(
        _nodes(rewrite_as_onnxscript(model, [RewriteRule(lambda op, x: op.Relu(x), lambda op, x: op.Abs(x))]))
    ),
}


def _nodes(given: Any) -> list[Any]:
    return list(given.graph.node if isinstance(given, onnx.ModelProto) else getattr(given, "ir", given).graph)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    MODEL.save(tmp_path / "model.onnx", external_data=False)
    return tmp_path / "model.onnx"


def _shown(result: Any) -> Any:
    return repr(result) if isinstance(result, Model) else result


@pytest.mark.parametrize("verb", VERBS)
def test_every_function_takes_a_model_in_every_form(verb: str, path: Path) -> None:
    wanted = _shown(VERBS[verb](MODEL))
    for name, form in FORMS.items():
        assert _shown(VERBS[verb](form(path))) == wanted, name


#: Take a model, and not in every form.
OTHER_FORMS = {
    "Model": "is made of an onnx-ir model",
    "from_proto": "says what it takes",
    "polish": "changes an onnx-ir model in its place",
    "tidy": "changes an onnx-ir model in its place",
    **dict.fromkeys(
        ("arrays_of", "form_in_use", "roles_of", "with_initializers"),
        "are for training, of the model that it holds",
    ),
    "close": "of a report, for passes",
    "of": "of a report, for passes",
    "apply_to_model": "changes an onnx-ir model in its place, as onnxscript's does",
    "model_bundle": "is a method of Model for notebooks",
    "show_side_by_side": "is what a Difference shows itself with",
    **dict.fromkeys(
        ("ConvertedModel", "ExportedModel", "PassedModel", "Difference"), "is made by a function of models"
    ),
}
#: Take them in every form, and are tested elsewhere: with signatures (tests/sklearn/test_given_models.py), where they
#: are trained (tests/sklearn/networks/test_estimators.py), and below.
ELSEWHERE = {
    "NeuralNetClassifier",
    "NeuralNetRegressor",
    "Session",
    "from_onnx",
    "signature",
    "discrepancies",
    "OnnxPredictor",
    "OnnxTransformer",
    "observe",
    "show",
}
#: Methods that a model has that came from an estimator; the model is what they are called on.
OF_ITSELF = {"predict", "predict_proba", "decision_function", "transform", "_repr_mimebundle_", "_hold"}


def _functions() -> Iterator[tuple[str, Any]]:
    """Name and object of all public functions, the methods of public classes among them."""
    for line in PUBLIC_NAMES.read_text("utf-8").splitlines():
        package, _, names = line.partition(":")
        if package.startswith(("#", "onnxsmith.numpy", "onnxsmith.errors")):
            continue
        for name in names.split():
            found = getattr(importlib.import_module(package), name)
            if isinstance(found, type):
                yield name, found.__init__
                yield from ((each, getattr(found, each)) for each in vars(found) if not each.startswith("__"))
            else:
                yield name, found
    yield from ((name, getattr(Model, name)) for name in METHODS)


def test_every_public_function_that_takes_a_model_is_tried() -> None:
    """By its annotations: whoever writes a function of models enters it above, and takes all forms."""
    pytest.importorskip("torch")  # its functions are among the public ones
    narrow, untried = set[str](), set[str]()
    for name, function in _functions():
        annotations = (
            getattr(inspect.unwrap(function), "__annotations__", None) if callable(function) else None
        )
        if not isinstance(annotations, dict) or name in OTHER_FORMS or name in OF_ITSELF:
            continue
        kinds = [str(each) for parameter, each in annotations.items() if parameter != "return"]
        taken = [
            each
            for each in kinds
            if re.search(r"\bModel(Like|Proto)?\b|\bLoadableModel\b|\bAnyModel\b", each)
        ]
        if not taken:
            continue
        if any(
            "ModelLike" not in each and "LoadableModel" not in each and "AnyModel" not in each
            for each in taken
        ):
            narrow.add(name)
        if name not in VERBS and name not in ELSEWHERE and f"rewriter.{name}" not in VERBS:
            untried.add(name)
    assert not narrow
    assert not untried


@pytest.mark.parametrize("form", FORMS)
def test_a_loaded_model_runs(form: str, path: Path) -> None:
    np.testing.assert_array_equal(onnxsmith.load(FORMS[form](path))(X), [[1.0]])


def test_observe_and_show_take_a_file(path: Path, tmp_path: Path) -> None:
    seen: list[float] = []
    observe(path, [[X]], lambda each: seen.append(each.value.item()), ["mat_mul"])
    assert seen == [1.0]
    assert show(path.read_bytes(), tmp_path / "page.html") == tmp_path / "page.html"


def test_weights_beside_an_open_file_are_found(tmp_path: Path) -> None:
    MODEL.save(tmp_path / "large.onnx", external_data="large.data")
    with open(tmp_path / "large.onnx", "rb") as file:
        model = onnxsmith.load(file)
    np.testing.assert_array_equal(model(X), [[1.0]])
    assert model.place == tmp_path / "large.onnx"


def test_a_model_stays_the_object_that_it_is() -> None:
    assert onnxsmith.load(MODEL) is MODEL


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        (3, CallError, "load takes a model, not an int"),
        (None, CallError, "load takes a model, not a NoneType"),
        (lambda x: x, CallError, "makes a model of a function"),
        (np.ones(3), CallError, "load takes a model, not a ndarray"),
        (b"", UnreadableModelError, "the model in these bytes"),
        (b"no model", UnreadableModelError, "the model in these bytes"),
        (io.StringIO("text"), UnreadableModelError, "opened as text"),
        ("nowhere.onnx", UnreadableModelError, "cannot read 'nowhere.onnx'"),
    ],
)
def test_what_is_no_model_is_refused(given: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        onnxsmith.load(given)
    assert text in str(caught.value)


def test_a_closed_file_and_one_open_as_text_are_refused(path: Path) -> None:
    with open(path, "rb") as file:
        pass
    with pytest.raises(UnreadableModelError, match="closed file"):
        onnxsmith.optimize(file)
    with open(path, encoding="latin-1") as text, pytest.raises(UnreadableModelError, match="opened as text"):
        onnxsmith.optimize(text)  # type: ignore[arg-type]


def test_a_script_is_no_model_but_becomes_one() -> None:
    @onnxsmith.script
    def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
        return x + x

    with pytest.raises(CallError, match=r"\.to_model\(\)"):
        onnxsmith.optimize(doubled)  # type: ignore[arg-type]


def test_an_invalid_model_in_a_file_is_named_as_invalid(tmp_path: Path) -> None:
    proto = MODEL.proto
    proto.graph.node[1].input[0] = "nowhere"
    (tmp_path / "bad.onnx").write_bytes(proto.SerializeToString())
    for form in (str(tmp_path / "bad.onnx"), proto, proto.SerializeToString()):
        with pytest.raises(OnnxsmithError):
            onnxsmith.optimize(form, verify=True)
