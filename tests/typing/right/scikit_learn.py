"""Estimators of scikit-learn and rows of every kind are given to onnxsmith.sklearn, as they are."""

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
from sklearn.compose import ColumnTransformer  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import CountVectorizer  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.model_selection import GridSearchCV  # type: ignore[import-untyped]
from sklearn.pipeline import Pipeline, make_pipeline  # type: ignore[import-untyped]
from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]
from sklearn.tree import DecisionTreeClassifier  # type: ignore[import-untyped]

from onnxsmith import Model
from onnxsmith.sklearn import (
    ConvertedModel,
    Discrepancy,
    OnnxTransformer,
    convert,
    discrepancies,
    from_onnx,
    signature,
)

X = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 1.0], [1.0, 3.0]])
y = [0, 1, 1, 0]
pandas_frame = pd.DataFrame(X, columns=["a", "b"])
polars_frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})

pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
model: ConvertedModel = convert(pipeline, X, outputs=["predict", "predict_proba"], tolerance=1e-5)
found: list[Discrepancy] = discrepancies(pipeline, model, X, tolerance=1e-5)
print(found, model.report.largest, [road.method for road in model.roads], signature(model).names)
print(model.predict(X).shape, model.predict_proba(X.tolist())[:, 1], from_onnx(model).predict(X))

convert(Pipeline([("tree", DecisionTreeClassifier())]).fit(X, y), X, outputs="predict", verify=False)
convert(GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2).fit(X, y), X)

chosen = ColumnTransformer([("scaled", StandardScaler(), ["a"]), ("rest", "passthrough", ["b"])]).fit(
    pandas_frame
)
by_column: Model = convert(chosen, pandas_frame)
convert(chosen, polars_frame, verify=False)
convert(chosen, pandas_frame, inputs="matrix")
of_columns = convert(chosen, {"a": X[:, 0], "b": X[:, 1].tolist()}, verify=False)
print(
    of_columns.transform(pandas_frame),
    of_columns.transform(polars_frame),
    of_columns.transform({"a": [1.0], "b": [2.0]}),
)

texts = ["red apple", "green tree"]
words = convert(CountVectorizer().fit(texts), texts)
print(
    words.transform(texts),
    words.transform(pd.Series(texts)),
    words.transform(pl.Series(texts)),
    words.transform(np.array(texts)),
)
print(OnnxTransformer(convert(StandardScaler().fit(X), X)).fit(X).transform(X))
