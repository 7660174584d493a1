"""All estimators of scikit-learn that predict or transform: how each is made, and on which data.

The list is pinned: `all_estimators()` of another version has others. Parameters are the defaults; where an estimator
has none, or where the defaults cannot be fitted on data of this size, the table says what is taken.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

#: How many rows estimators are fitted on, and how many columns there are.
ROWS, COLUMNS = 40, 5
#: How many rows they are compared on.
BATCHES = (1, 7, ROWS, 2 * ROWS + 1)
#: What is asked for, where there is it: the bar counts an estimator where all of these agree.
METHODS = ("predict", "predict_proba", "transform")


def _rows(kind: str, count: int, seed: int) -> Any:
    """Rows of a kind of data, as float64 unless they are text."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(count, COLUMNS))
    match kind:
        case "positive":
            return np.abs(numbers)
        case "counts":
            return rng.integers(0, 6, size=(count, COLUMNS)).astype(np.float64)
        case "near":
            return numbers * 0.3
        case "column":
            return numbers[:, :1]
        case "missing":
            numbers[rng.random(numbers.shape) < 0.2] = np.nan
            return numbers
        case "square":
            return numbers @ np.random.default_rng(7).normal(size=(ROWS, COLUMNS)).T
        case "images":
            return rng.normal(size=(count, 6, 6))
        case "texts":
            words = ["one", "two", "three", "four", "five", "six"]
            return [" ".join(rng.choice(words, 4)) for _ in range(count)]
        case "dicts":
            return [{"a": float(a), "b": float(b)} for a, b in numbers[:, :2]]
        case "labels":
            return rng.integers(0, 4, size=count)
        case "sets":
            return [set(rng.choice(4, 2).tolist()) for _ in range(count)]
        case _:
            return numbers


def _target(kind: str, x: Any) -> Any:
    """What rows are fitted to."""
    count = len(x)
    rng = np.random.default_rng(count)
    if kind in ("texts", "dicts", "labels", "sets", "images"):
        return None
    matrix = np.nan_to_num(np.asarray(x, dtype=np.float64))
    weights = np.random.default_rng(3).normal(size=(matrix.shape[1], 3))
    scores = matrix @ weights + rng.normal(size=(count, 3)) * 0.5
    match kind:
        case "regression" | "column":
            return scores[:, 0]
        case "regression_positive":
            return np.exp(scores[:, 0] / 3)
        case "several":
            return scores[:, :2]
        case "binary":
            return (scores[:, 0] > 0).astype(np.int64)
        case "several_labels":
            return (scores[:, :2] > 0).astype(np.int64)
        case "partly":
            return np.where(rng.random(count) < 0.3, -1, np.argmax(scores, axis=1))
        case _:
            return np.argmax(scores, axis=1)


def _import(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"sklearn.{module}"), name)


def _logistic() -> Any:
    return _import("linear_model.LogisticRegression")()


def _ridge() -> Any:
    return _import("linear_model.Ridge")()


def _named_classifiers() -> list[tuple[str, Any]]:
    return [("linear", _logistic()), ("bayes", _import("naive_bayes.GaussianNB")())]


def _named_regressors() -> list[tuple[str, Any]]:
    return [("ridge", _ridge()), ("linear", _import("linear_model.LinearRegression")())]


def _columns() -> list[tuple[str, Any, list[int]]]:
    scaler = _import("preprocessing.StandardScaler")()
    return [("scaled", scaler, [0, 1]), ("bounded", _import("preprocessing.MinMaxScaler")(), [2, 4])]


def _steps() -> list[tuple[str, Any]]:
    return [("scaled", _import("preprocessing.StandardScaler")()), ("linear", _logistic())]


def _union() -> list[tuple[str, Any]]:
    return [("parts", _import("decomposition.PCA")(2)), ("scaled", _import("preprocessing.StandardScaler")())]


#: What the constructor is given.
_ARGUMENTS: dict[str, Callable[[], Mapping[str, Any]]] = {
    "ClassifierChain": lambda: {"estimator": _logistic()},
    "ColumnTransformer": lambda: {"transformers": _columns()},
    "FeatureUnion": lambda: {"transformer_list": _union()},
    "FixedThresholdClassifier": lambda: {"estimator": _logistic()},
    "GaussianRandomProjection": lambda: {"n_components": 3, "random_state": 0},
    "GridSearchCV": lambda: {"estimator": _logistic(), "param_grid": {"C": [0.1, 1.0]}},
    # 2**20 features, unless given, are tested with the other settings of the vectorizers.
    "HashingVectorizer": lambda: {"n_features": 2**12},
    "HalvingGridSearchCV": lambda: {"estimator": _logistic(), "param_grid": {"C": [0.1, 1.0]}},
    "HalvingRandomSearchCV": lambda: {"estimator": _logistic(), "param_distributions": {"C": [0.1, 1.0]}},
    "MultiOutputClassifier": lambda: {"estimator": _logistic()},
    "MultiOutputRegressor": lambda: {"estimator": _ridge()},
    "OneVsOneClassifier": lambda: {"estimator": _logistic()},
    "OneVsRestClassifier": lambda: {"estimator": _logistic()},
    "OutputCodeClassifier": lambda: {"estimator": _logistic(), "random_state": 0},
    "PatchExtractor": lambda: {"patch_size": (2, 2)},
    "Pipeline": lambda: {"steps": _steps()},
    "RFE": lambda: {"estimator": _logistic()},
    "RFECV": lambda: {"estimator": _logistic()},
    "RandomizedSearchCV": lambda: {
        "estimator": _logistic(),
        "param_distributions": {"C": [0.1, 1.0]},
        "n_iter": 2,
    },
    "RegressorChain": lambda: {"estimator": _ridge()},
    "SelectFromModel": lambda: {"estimator": _logistic()},
    "SelfTrainingClassifier": lambda: {"estimator": _logistic()},
    "SequentialFeatureSelector": lambda: {"estimator": _logistic()},
    "SparseCoder": lambda: {"dictionary": np.random.default_rng(1).normal(size=(3, COLUMNS))},
    "SparseRandomProjection": lambda: {"n_components": 3, "random_state": 0},
    "StackingClassifier": lambda: {"estimators": _named_classifiers()},
    "StackingRegressor": lambda: {"estimators": _named_regressors()},
    "TunedThresholdClassifierCV": lambda: {"estimator": _logistic()},
    "VotingClassifier": lambda: {"estimators": _named_classifiers()},
    "VotingRegressor": lambda: {"estimators": _named_regressors()},
    "LocalOutlierFactor": lambda: {"novelty": True},
}

#: Module -> kind of data -> estimators. The data are those of the first word; what is fitted to follows from the whole.
_LIST: dict[str, dict[str, str]] = {
    "calibration": {"classes": "CalibratedClassifierCV"},
    "cluster": {
        "classes": (
            "AffinityPropagation Birch BisectingKMeans FeatureAgglomeration KMeans MeanShift MiniBatchKMeans"
        )
    },
    "compose": {"classes": "ColumnTransformer", "regression": "TransformedTargetRegressor"},
    "covariance": {"classes": "EllipticEnvelope"},
    "cross_decomposition": {"several": "CCA PLSCanonical PLSRegression PLSSVD"},
    "decomposition": {
        "classes": (
            "DictionaryLearning FactorAnalysis FastICA IncrementalPCA KernelPCA MiniBatchDictionaryLearning "
            "MiniBatchSparsePCA PCA SparseCoder SparsePCA TruncatedSVD"
        ),
        "positive": "LatentDirichletAllocation MiniBatchNMF NMF",
    },
    "discriminant_analysis": {"classes": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis"},
    "dummy": {"classes": "DummyClassifier", "regression": "DummyRegressor"},
    "ensemble": {
        "classes": (
            "AdaBoostClassifier BaggingClassifier ExtraTreesClassifier GradientBoostingClassifier "
            "HistGradientBoostingClassifier IsolationForest RandomForestClassifier RandomTreesEmbedding "
            "StackingClassifier VotingClassifier"
        ),
        "regression": (
            "AdaBoostRegressor BaggingRegressor ExtraTreesRegressor GradientBoostingRegressor "
            "HistGradientBoostingRegressor RandomForestRegressor StackingRegressor VotingRegressor"
        ),
    },
    "feature_extraction": {"dicts": "DictVectorizer FeatureHasher"},
    "feature_extraction.image": {"images": "PatchExtractor"},
    "feature_extraction.text": {
        "texts": "CountVectorizer HashingVectorizer TfidfVectorizer",
        "counts": "TfidfTransformer",
    },
    "feature_selection": {
        "classes": (
            "GenericUnivariateSelect RFE RFECV SelectFdr SelectFpr SelectFromModel SelectFwe SelectKBest "
            "SelectPercentile SequentialFeatureSelector VarianceThreshold"
        )
    },
    "gaussian_process": {"classes": "GaussianProcessClassifier", "regression": "GaussianProcessRegressor"},
    "impute": {"missing": "IterativeImputer KNNImputer MissingIndicator SimpleImputer"},
    "isotonic": {"column": "IsotonicRegression"},
    "kernel_approximation": {
        "classes": "Nystroem PolynomialCountSketch RBFSampler",
        "positive": "AdditiveChi2Sampler SkewedChi2Sampler",
    },
    "kernel_ridge": {"regression": "KernelRidge"},
    "linear_model": {
        "classes": (
            "LogisticRegression LogisticRegressionCV PassiveAggressiveClassifier Perceptron RidgeClassifier "
            "RidgeClassifierCV SGDClassifier SGDOneClassSVM"
        ),
        "regression": (
            "ARDRegression BayesianRidge ElasticNet ElasticNetCV HuberRegressor Lars LarsCV Lasso LassoCV LassoLars "
            "LassoLarsCV LassoLarsIC LinearRegression OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV "
            "PassiveAggressiveRegressor QuantileRegressor RANSACRegressor Ridge RidgeCV SGDRegressor TheilSenRegressor"
        ),
        "regression_positive": "GammaRegressor PoissonRegressor TweedieRegressor",
        "several": "MultiTaskElasticNet MultiTaskElasticNetCV MultiTaskLasso MultiTaskLassoCV",
    },
    "manifold": {"classes": "Isomap LocallyLinearEmbedding"},
    "mixture": {"classes": "BayesianGaussianMixture GaussianMixture"},
    "model_selection": {
        "classes": "GridSearchCV HalvingGridSearchCV HalvingRandomSearchCV RandomizedSearchCV",
        "binary": "FixedThresholdClassifier TunedThresholdClassifierCV",
    },
    "multiclass": {"classes": "OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier"},
    "multioutput": {
        "several_labels": "ClassifierChain MultiOutputClassifier",
        "several": "MultiOutputRegressor RegressorChain",
    },
    "naive_bayes": {
        "classes": "BernoulliNB GaussianNB",
        "positive": "ComplementNB MultinomialNB",
        "counts": "CategoricalNB",
    },
    "neighbors": {
        "classes": (
            "KNeighborsClassifier KNeighborsTransformer LocalOutlierFactor NearestCentroid "
            "NeighborhoodComponentsAnalysis"
        ),
        "near": "RadiusNeighborsClassifier RadiusNeighborsTransformer",
        "regression": "KNeighborsRegressor",
        "near regression": "RadiusNeighborsRegressor",
    },
    "neural_network": {"classes": "BernoulliRBM MLPClassifier", "regression": "MLPRegressor"},
    "pipeline": {"classes": "FeatureUnion Pipeline"},
    "preprocessing": {
        "classes": (
            "Binarizer FunctionTransformer KBinsDiscretizer MaxAbsScaler MinMaxScaler Normalizer PolynomialFeatures "
            "PowerTransformer QuantileTransformer RobustScaler SplineTransformer StandardScaler"
        ),
        "counts": "OneHotEncoder OrdinalEncoder TargetEncoder",
        "labels": "LabelBinarizer LabelEncoder",
        "sets": "MultiLabelBinarizer",
        "square": "KernelCenterer",
    },
    "random_projection": {"classes": "GaussianRandomProjection SparseRandomProjection"},
    "semi_supervised": {"partly": "LabelPropagation LabelSpreading SelfTrainingClassifier"},
    "svm": {
        "classes": "LinearSVC NuSVC OneClassSVM SVC",
        "regression": "LinearSVR NuSVR SVR",
    },
    "tree": {
        "classes": "DecisionTreeClassifier ExtraTreeClassifier",
        "regression": "DecisionTreeRegressor ExtraTreeRegressor",
    },
}


@dataclass(frozen=True)
class Case:
    """An estimator with its data."""

    name: str
    module: str
    data: str

    def make(self) -> Any:
        """The estimator, not fitted."""
        if self.name.startswith("Halving"):
            importlib.import_module("sklearn.experimental.enable_halving_search_cv")
        if self.name == "IterativeImputer":
            importlib.import_module("sklearn.experimental.enable_iterative_imputer")
        kind = _import(f"{self.module}.{self.name}")
        given = dict(_ARGUMENTS[self.name]()) if self.name in _ARGUMENTS else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = kind(**given)
        if "random_state" in made.get_params(deep=False):
            made.set_params(random_state=0)
        return made

    def rows(self, count: int, dtype: Any, seed: int = 0) -> Any:
        """Rows to fit on or to compare on."""
        made = _rows(self.data.split()[0], count, seed)
        is_of_numbers = isinstance(made, np.ndarray) and made.dtype.kind == "f"
        return made.astype(dtype) if is_of_numbers else made

    def fitted(self, dtype: Any) -> tuple[Any, Any]:
        """The estimator, fitted, and what it was fitted on."""
        x = self.rows(ROWS, dtype)
        y = _target(self.data.split()[-1], x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator = self.make()
            return (estimator.fit(x) if y is None else estimator.fit(x, y)), x


CASES = tuple(
    Case(name, module, data)
    for module, by_data in _LIST.items()
    for data, names in by_data.items()
    for name in names.split()
)
BY_NAME = {each.name: each for each in CASES}
