"""`convert`: a fitted pipeline as a model that takes what the pipeline takes, and gives what it gives."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, cast

from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import PipelineError, boundary
from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.batches import row_count, rows_at
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.numpy import Array
from onnxsmith.sklearn.calling import Road, call, roads
from onnxsmith.sklearn.frames.refused import refused_kinds
from onnxsmith.sklearn.frames.signature import KEY, OUTPUT_NAMES, Signature, signature_of
from onnxsmith.sklearn.library import of_sklearn
from onnxsmith.sklearn.restoring.estimators import pipeline_metadata
from onnxsmith.sklearn.rows import Rows
from onnxsmith.sklearn.steps import noting_steps
from onnxsmith.sklearn.values import Columns, Estimator, Fitted, Given, Part, Result, Structured, array_of
from onnxsmith.sklearn.verifying import ConversionReport
from onnxsmith.sklearn.verifying import verify as verify_model
from onnxsmith.sklearn.weights import weight_names
from onnxsmith.tracing.trace import trace
from onnxsmith.types.dtypes import DType


class ConvertedModel(Model):
    """A model that came from an estimator: a `Model` that knows how each step was converted, and how near it is.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> model = onnxsmith.sklearn.convert(LogisticRegression().fit(X, y), X)
    >>> type(model).__name__
    'ConvertedModel'
    """

    #: How each call was converted.
    roads: Sequence[Road]
    #: On what it was compared with the pipeline.
    report: ConversionReport


@boundary
def convert(
    estimator: Estimator,
    X: Rows,
    *,
    outputs: str | Sequence[str] | None = None,
    inputs: Literal["columns", "matrix"] | None = None,
    verify: bool = True,
    tolerance: float | None = None,
    restorable: bool = True,
    opset_version: int | None = None,
    name: str | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> ConvertedModel:
    """The model of a fitted estimator, such as a pipeline, for data like `X`; the number of rows stays open.

    `X` is an array, a data frame of pandas or polars, or a list of texts. For a frame the model has one input for each
    column that the estimator uses, or with `inputs="matrix"` one for all; `model.predict(df)` takes a frame with
    columns in any order.

    `outputs` are the methods whose results the model gives, by default `predict` and `predict_proba`, where there are
    these, or else `transform`.

    The model is compared with the estimator on `X`, on no, one and more rows, and on rows that hold NaN, unseen
    categories or thresholds of trees; a difference is an error. `tolerance` is how much of a number may differ, and
    which share of labels.

    With `restorable`, the model's metadata holds what `from_onnx` makes the pipeline of again, for classes that it
    knows. Without it, models of forests are smaller.

    Coefficients and intercepts are weights with names, such as `mlpregressor.coefs_0`, and a `Trainer` trains these.
    What scalers and encoders have found stays as it is.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = np.array([[0.0, 1.0], [2.0, 5.0]])
    >>> model = onnxsmith.sklearn.convert(StandardScaler().fit(X), X)
    >>> model(X)
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    fitted = cast(Fitted, estimator)  # which is checked first
    refuse_unfitted(fitted)
    methods = _methods(fitted, outputs)
    signature = signature_of(X, inputs, used_columns(fitted) or None)
    names = [OUTPUT_NAMES.get(each, each) for each in methods]
    signature = with_outputs(signature, fitted, dict(zip(methods, names, strict=True)))
    refused = refused_kinds(fitted, methods, X, signature.columns)
    signature = replace(signature, refused=tuple(each for each in refused if not signature.holds(*each, X)))
    if verify:
        _refuse_data(fitted, X, methods[0])
    found: list[Road] = []
    notes = {**(metadata or {}), KEY: signature.to_json()}

    def body(*tensors: Tensor) -> tuple[Tensor, ...]:
        given = given_of(signature, tensors)
        with noting_steps() as steps:
            made = [_single(call(fitted, method, given), method) for method in methods]
        found.extend(roads())
        results = tuple(each if isinstance(each, Tensor) else each.tensor for each in made)
        if weights := weight_names():
            # skl2onnx has the weights of a step as constants of its own: trained elsewhere, they would stay behind.
            is_whole = all(each.road != "skl2onnx" for each in found)
            trained_parameters.note(notes, weights if is_whole else [])
        probabilities = [OUTPUT_NAMES[each] for each in methods if each == "predict_proba"]
        if probabilities:
            trained_parameters.note_probabilities(notes, probabilities)
        if restorable:
            called = {
                id(cast(SymbolicTensor, each).record): name for each, name in zip(results, names, strict=True)
            }
            notes.update(pipeline_metadata(fitted, steps, called))
        return results

    model = trace(
        body,
        *signature.types,
        opset_version=opset_version,
        name=name or type(fitted).__name__,
        input_names=signature.names,
        output_names=names,
        doc_string=doc_string,
        metadata=notes,  # which is read when all is recorded
    )
    model.__class__ = ConvertedModel
    converted = cast(ConvertedModel, model)
    converted.roads = tuple(found)
    converted.report = ConversionReport()
    if verify:
        converted.report = verify_model(fitted, model, X, methods, tolerance)
    return converted


def _single(made: Result, method: str) -> Part:
    """The output as one array."""
    if isinstance(made, Structured):
        made = made.dense()
    if isinstance(made, Columns):
        made = made.matrix()
    if not isinstance(made, Array | Tensor):
        raise PipelineError(
            f"{method} gives several arrays, and an output of a model is one",
            help="convert the estimators of the targets one by one",
        )
    return made


def refuse_unfitted(estimator: Fitted) -> None:
    """Refuse what is no estimator, and one that was not fitted."""
    name = type(estimator).__name__
    try:
        of_sklearn("utils.validation", "check_is_fitted")(estimator)
    except of_sklearn("exceptions", "NotFittedError"):
        raise PipelineError(
            f"the {name} was not fitted, and a model is made of what fitting found",
            help="fit it first: estimator.fit(X, y)",
        ).locate_at_caller() from None
    except TypeError as error:
        raise PipelineError(
            f"convert needs a fitted estimator first, not {name}: {error}",
            help="onnxsmith.sklearn.convert(pipeline, X)",
        ).locate_at_caller() from None


def _refuse_data(estimator: Fitted, data: Rows, method: str) -> None:
    """Refuse data that the estimator itself does not take, with its own words."""
    if not row_count(data):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(estimator, method)(rows_at(data, [0]))
    except Exception as error:  # whatever an estimator says of data that it does not take
        raise PipelineError(
            f"the {type(estimator).__name__} itself does not take X: {error}",
            help="give rows like those that it was fitted on",
        ).locate_at_caller() from None


def _methods(estimator: Fitted, outputs: str | Sequence[str] | None) -> Sequence[str]:
    name = type(estimator).__name__
    if outputs is not None:
        asked = [outputs] if isinstance(outputs, str) else list(outputs)
        missing = [each for each in asked if not callable(getattr(estimator, each, None))]
        if missing or not asked:
            there = [each for each in OUTPUT_NAMES if hasattr(estimator, each)]
            raise PipelineError(
                f"the {name} has no {missing[0]}" if missing else "outputs names no method",
                help=f"there are {', '.join(there)}" if there else "outputs=['transform']",
            ).locate_at_caller()
        return asked
    if hasattr(estimator, "predict"):
        return ["predict", "predict_proba"] if hasattr(estimator, "predict_proba") else ["predict"]
    if hasattr(estimator, "transform"):
        return ["transform"]
    raise PipelineError(
        f"the {name} neither predicts nor transforms new rows, and there is nothing for a model to do",
        help="outputs=['score_samples'] names another method",
    ).locate_at_caller()


# -- columns that are used -----------------------------------------------------------------------------


def used_columns(estimator: Fitted) -> set[str] | None:
    """The names of the columns that an estimator uses; None where it may use all."""
    # A class of the user's that derives from one of these may look at every column.
    kind = type(estimator)
    if kind is of_sklearn("pipeline", "Pipeline"):
        steps = [each for _, each in estimator.steps if each not in (None, "passthrough")]
        return used_columns(steps[0]) if steps else None
    if kind is of_sklearn("compose", "ColumnTransformer"):
        return _of_transformers(estimator)
    if hasattr(estimator, "best_estimator_") and kind.__module__.startswith("sklearn.model_selection."):
        return used_columns(estimator.best_estimator_)
    return None


def _of_transformers(estimator: Fitted) -> set[str] | None:
    names = cast("Sequence[str] | None", getattr(estimator, "feature_names_in_", None))
    places = cast(
        "Mapping[str, Sequence[int]] | None", getattr(estimator, "_transformer_to_input_indices", None)
    )
    if names is None or places is None:
        return None
    used: set[str] = set()
    for name, transformer, _ in estimator.transformers_:
        if not (isinstance(transformer, str) and transformer == "drop"):
            used.update(str(names[each]) for each in places[name])
    return used


# -- columns that are given ----------------------------------------------------------------------------


def given_of(signature: Signature, tensors: Sequence[Tensor]) -> Given:
    """The inputs of a model as the estimator takes them."""
    if signature.layout == "columns":
        return Columns((name, _part(each)) for name, each in zip(signature.names, tensors, strict=True))
    (only,) = tensors
    names = [name for name, _ in signature.columns if name is not None]
    if not names or signature.layout == "texts":
        return _part(only)
    return Columns((name, _part(only[:, place])) for place, name in enumerate(names))


def _part(tensor: Tensor) -> Part:
    return tensor if tensor.dtype is DType.STRING else array_of(tensor)


def with_outputs(signature: Signature, estimator: Fitted, outputs: Mapping[str, str]) -> Signature:
    """The signature of a model whose outputs are known, with the names of features where there are some."""
    names: Sequence[object] = ()
    if "transform" in outputs and hasattr(estimator, "get_feature_names_out"):
        try:
            names = list(estimator.get_feature_names_out())
        except (
            Exception
        ):  # whatever an estimator says instead: names are for people, and a model does without
            names = ()
    return replace(
        signature, outputs=tuple(outputs.items()), feature_names=tuple(str(each) for each in names)
    )
