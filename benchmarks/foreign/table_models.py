"""Models of onnxmltools: gradient boosting and scikit-learn, on data that is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import onnxmltools
import sklearn.cluster
import sklearn.decomposition
import sklearn.ensemble
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.neighbors
import sklearn.neural_network
import sklearn.pipeline
import sklearn.preprocessing
import sklearn.svm
import sklearn.tree
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx.common.data_types import FloatTensorType as SklearnTensorType
from sklearn.datasets import make_classification, make_regression

from benchmarks.foreign.making import SEED, Made, Maker

_ROWS, _COLUMNS = 120, 5
_TYPES = [("x", FloatTensorType([None, _COLUMNS]))]
_SKLEARN_TYPES = [("x", SklearnTensorType([None, _COLUMNS]))]


def _classes(count: int) -> tuple[Any, Any]:
    x, y = make_classification(
        _ROWS,
        _COLUMNS,
        n_informative=4,
        n_redundant=0,
        n_classes=count,
        n_clusters_per_class=1,
        random_state=SEED,
    )
    return x.astype(np.float32), y


def _numbers() -> tuple[Any, Any]:
    x, y = make_regression(_ROWS, _COLUMNS, noise=0.5, random_state=SEED)
    return x.astype(np.float32), (y / 50).astype(np.float32)


Convert = Callable[[Any], Any]


def _boosted(convert: Convert, estimator: Any, data: tuple[Any, Any], *, is_classifier: bool) -> Maker:
    def make() -> Made:
        x, y = data
        fitted = estimator.fit(x, y)
        given = x[:20]
        wanted = (
            [fitted.predict(given), fitted.predict_proba(given)] if is_classifier else [fitted.predict(given)]
        )
        return Made(convert(fitted), [given], [_column(each) for each in wanted])

    return make


def _column(array: Any) -> Any:
    return np.asarray(array)


def _transformed(estimator: Any) -> Maker:
    def make() -> Made:
        x, y = _classes(2)
        fitted = estimator.fit(x, y)
        wanted = [fitted.predict(x[:20])] if hasattr(fitted, "predict") else []
        return Made(_sklearn(fitted), [x[:20]], [*wanted, fitted.transform(x[:20])])

    return make


def _sklearn(fitted: Any) -> Any:
    return onnxmltools.convert_sklearn(fitted, initial_types=_SKLEARN_TYPES, target_opset=15)


def _xgboost(fitted: Any) -> Any:
    return onnxmltools.convert_xgboost(fitted, initial_types=_TYPES, target_opset=15)


def _lightgbm(fitted: Any) -> Any:
    return onnxmltools.convert_lightgbm(fitted, initial_types=_TYPES, target_opset=15, zipmap=False)


_TREES = {"n_estimators": 12, "max_depth": 3}
MODELS: dict[str, Maker] = {
    "xgboost regressor": _boosted(_xgboost, xgboost.XGBRegressor(**_TREES), _numbers(), is_classifier=False),
    "xgboost classifier": _boosted(
        _xgboost, xgboost.XGBClassifier(**_TREES), _classes(2), is_classifier=True
    ),
    "xgboost three classes": _boosted(
        _xgboost, xgboost.XGBClassifier(**_TREES), _classes(3), is_classifier=True
    ),
    "xgboost random forest": _boosted(
        _xgboost, xgboost.XGBRFRegressor(n_estimators=6), _numbers(), is_classifier=False
    ),
    "xgboost poisson": _boosted(
        _xgboost,
        xgboost.XGBRegressor(objective="count:poisson", **_TREES),
        (_numbers()[0], np.abs(_numbers()[1])),
        is_classifier=False,
    ),
    "lightgbm regressor": _boosted(
        _lightgbm, lightgbm.LGBMRegressor(verbose=-1, **_TREES), _numbers(), is_classifier=False
    ),
    "lightgbm classifier": _boosted(
        _lightgbm, lightgbm.LGBMClassifier(verbose=-1, **_TREES), _classes(2), is_classifier=True
    ),
    "lightgbm three classes": _boosted(
        _lightgbm, lightgbm.LGBMClassifier(verbose=-1, **_TREES), _classes(3), is_classifier=True
    ),
    **{
        f"onnxmltools {name}": _boosted(_sklearn, estimator, _classes(3), is_classifier=True)
        for name, estimator in {
            "logistic regression": sklearn.linear_model.LogisticRegression(),
            "decision tree": sklearn.tree.DecisionTreeClassifier(max_depth=4, random_state=SEED),
            "random forest": sklearn.ensemble.RandomForestClassifier(8, max_depth=4, random_state=SEED),
            "gradient boosting": sklearn.ensemble.GradientBoostingClassifier(
                n_estimators=8, random_state=SEED
            ),
            "naive bayes": sklearn.naive_bayes.GaussianNB(),
            "neighbours": sklearn.neighbors.KNeighborsClassifier(3),
            "perceptron": sklearn.neural_network.MLPClassifier(8, max_iter=50, random_state=SEED),
            "pipeline": sklearn.pipeline.make_pipeline(
                sklearn.preprocessing.StandardScaler(), sklearn.linear_model.LogisticRegression()
            ),
        }.items()
    },
    **{
        f"onnxmltools {name}": _boosted(_sklearn, estimator, _numbers(), is_classifier=False)
        for name, estimator in {
            "ridge": sklearn.linear_model.Ridge(),
            "support vectors": sklearn.svm.SVR(),
            "forest regressor": sklearn.ensemble.RandomForestRegressor(8, max_depth=4, random_state=SEED),
        }.items()
    },
    **{
        f"onnxmltools {name}": _transformed(estimator)
        for name, estimator in {
            "polynomial features": sklearn.preprocessing.PolynomialFeatures(2),
            "principal components": sklearn.decomposition.PCA(3),
            "clusters": sklearn.cluster.KMeans(3, n_init=1, random_state=SEED),
            "normalizer": sklearn.preprocessing.Normalizer(),
            "bins": sklearn.preprocessing.KBinsDiscretizer(
                3, encode="ordinal", quantile_method="averaged_inverted_cdf"
            ),
        }.items()
    },
}
