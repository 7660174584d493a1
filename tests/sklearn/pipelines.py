"""Twenty-five pipelines of the kinds that scikit-learn's gallery shows: mixed columns, text, searches, ensembles.

Each says what it is fitted on; `test_pipelines` converts all of them. Data is made here, small and without network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
    VotingClassifier,
)
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest, SelectPercentile, chi2, f_classif
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import (
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeCV,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, LinearSVC

_RNG = np.random.default_rng(7)
_N = 90

PASSENGERS = pd.DataFrame(
    {
        "age": np.where(_RNG.random(_N) < 0.1, np.nan, _RNG.uniform(1, 80, _N).round(1)),
        "fare": _RNG.lognormal(3, 1, _N),
        "embarked": _RNG.choice(["S", "C", "Q", None], _N, p=[0.6, 0.2, 0.15, 0.05]),
        "sex": _RNG.choice(["male", "female"], _N),
        "pclass": _RNG.choice([1, 2, 3], _N),
    }
)
SURVIVED = ((PASSENGERS["sex"] == "female") ^ (_RNG.random(_N) < 0.2)).astype(int).to_numpy()

RIDES = pd.DataFrame(
    {
        "season": pd.Categorical(_RNG.choice(["spring", "summer", "fall", "winter"], _N)),
        "hour": _RNG.integers(0, 24, _N),
        "temp": _RNG.normal(15, 8, _N),
        "weather": pd.Categorical(_RNG.choice(["clear", "misty", "rain"], _N)),
        "holiday": _RNG.random(_N) < 0.1,
    }
)
DEMAND = (
    20
    + 10 * np.sin(RIDES["hour"].to_numpy() / 24 * 2 * np.pi)
    + RIDES["temp"].to_numpy()
    + _RNG.normal(0, 1, _N)
)

_WORDS = {
    "space": ["orbit", "launch", "nasa", "moon", "shuttle", "rocket", "solar", "Apollo-11", "die", "Straße"],
    "motor": ["engine", "wheel", "brake", "car", "bike", "fuel", "clutch", "ÖL", "Σύστημα", "ΟΔΟΣ"],
    "faith": ["church", "belief", "god", "prayer", "soul", "moral", "İstanbul", "the", "is", "of"],
}
TOPICS = np.array(_RNG.choice(sorted(_WORDS), _N), dtype=object)
TEXTS = [
    " ".join(_RNG.choice([*_WORDS[each], "the", "and", "Of", "a"], _RNG.integers(3, 14)))
    + _RNG.choice(["", ".", "!", " 42"])
    for each in TOPICS
]

POSTS = pd.DataFrame(
    {"subject": [each[:15] for each in TEXTS], "body": TEXTS, "length": [float(len(each)) for each in TEXTS]}
)

NUMBERS = np.asarray(_RNG.normal(size=(_N, 5)))
CLASSES = np.array(["low", "mid", "high"], dtype=object)[
    np.digitize(NUMBERS[:, 0] + NUMBERS[:, 1], [-0.5, 0.7])
]
BINARY = (NUMBERS[:, 0] - NUMBERS[:, 2] > 0).astype(int)
TARGET = NUMBERS @ np.array([1.0, -2.0, 0.5, 0.0, 3.0]) + _RNG.normal(0, 0.1, _N)


class Case(NamedTuple):
    """One pipeline."""

    name: str
    #: The page of the gallery that it is like.
    page: str
    made: Callable[[], Any]
    data: Any
    target: Any


def _titanic() -> Any:
    numeric = Pipeline([("imputer", SimpleImputer(strategy="median")), ("scaler", StandardScaler())])
    categorical = Pipeline(
        [
            ("encoder", OneHotEncoder(handle_unknown="ignore")),
            ("selector", SelectPercentile(chi2, percentile=50)),
        ]
    )
    columns = ColumnTransformer(
        [("num", numeric, ["age", "fare"]), ("cat", categorical, ["embarked", "sex", "pclass"])]
    )
    return Pipeline([("preprocessor", columns), ("classifier", LogisticRegression())])


def _titanic_by_dtype() -> Any:
    columns = ColumnTransformer(
        [
            (
                "num",
                make_pipeline(SimpleImputer(), StandardScaler()),
                make_column_selector(dtype_include="number"),
            ),
            (
                "cat",
                make_pipeline(
                    SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
                ),
                make_column_selector(dtype_exclude="number"),
            ),
        ]
    )
    return make_pipeline(columns, RandomForestClassifier(10, random_state=0))


def _cyclic() -> Any:
    def sine(period: int) -> Any:
        return FunctionTransformer(lambda x: np.sin(x / period * 2 * np.pi))

    def cosine(period: int) -> Any:
        return FunctionTransformer(lambda x: np.cos(x / period * 2 * np.pi))

    columns = ColumnTransformer(
        [
            ("categorical", OneHotEncoder(handle_unknown="ignore"), ["season", "weather"]),
            ("hour_sin", sine(24), ["hour"]),
            ("hour_cos", cosine(24), ["hour"]),
        ],
        remainder=MinMaxScaler(),
    )
    return make_pipeline(columns, RidgeCV(alphas=np.logspace(-3, 3, 7)))


def _splines() -> Any:
    columns = ColumnTransformer(
        [
            ("categorical", OneHotEncoder(handle_unknown="ignore"), ["season", "weather"]),
            ("cyclic_hour", SplineTransformer(degree=3, n_knots=7, extrapolation="periodic"), ["hour"]),
        ],
        remainder=MinMaxScaler(),
    )
    return make_pipeline(columns, Nystroem(n_components=20, random_state=0), Ridge())


def _ordinal_boosting() -> Any:
    columns = make_column_transformer(
        (
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
            make_column_selector(dtype_include="category"),
        ),
        remainder="passthrough",
    )
    return make_pipeline(
        columns, HistGradientBoostingRegressor(categorical_features=[0, 1], max_iter=10, random_state=0)
    )


def _posts() -> Any:
    columns = ColumnTransformer(
        [
            ("subject", TfidfVectorizer(min_df=2), "subject"),
            ("body_bow", make_pipeline(TfidfVectorizer(), TruncatedSVD(5, random_state=0)), "body"),
            ("body_stats", StandardScaler(), ["length"]),
        ],
        transformer_weights={"subject": 0.8, "body_bow": 0.5, "body_stats": 1.0},
    )
    return make_pipeline(columns, LinearSVC(random_state=0))


def _stacking() -> Any:
    linear = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        (StandardScaler(), ["hour", "temp"]),
    )
    tree = make_column_transformer(
        (
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
            make_column_selector(dtype_include="category"),
        ),
        remainder="passthrough",
    )
    return StackingRegressor(
        [
            ("forest", make_pipeline(tree, RandomForestRegressor(8, random_state=0))),
            ("ridge", make_pipeline(linear, Ridge())),
        ],
        final_estimator=RidgeCV(),
    )


def _poisson() -> Any:
    columns = ColumnTransformer(
        [
            ("binned", KBinsDiscretizer(n_bins=5), ["temp"]),
            ("log", make_pipeline(FunctionTransformer(np.log1p), StandardScaler()), ["hour"]),
            ("onehot", OneHotEncoder(), ["season", "weather"]),
        ],
        remainder="drop",
    )
    return make_pipeline(columns, PoissonRegressor(alpha=1e-6))


PIPELINES: tuple[Case, ...] = (
    Case("titanic", "Column Transformer with Mixed Types", _titanic, PASSENGERS, SURVIVED),
    Case("titanic by dtype", "Column Transformer with Mixed Types", _titanic_by_dtype, PASSENGERS, SURVIVED),
    Case(
        "titanic searched",
        "Column Transformer with Mixed Types",
        lambda: GridSearchCV(
            _titanic(),
            {"preprocessor__num__imputer__strategy": ["mean", "median"], "classifier__C": [0.1, 1.0]},
            cv=2,
        ),
        PASSENGERS,
        SURVIVED,
    ),
    Case("cyclic hours", "Time-related feature engineering", _cyclic, RIDES, DEMAND),
    Case("periodic splines", "Time-related feature engineering", _splines, RIDES, DEMAND),
    Case(
        "ordinal categories",
        "Categorical Feature Support in Gradient Boosting",
        _ordinal_boosting,
        RIDES,
        DEMAND,
    ),
    Case("stacking", "Combine predictors using stacking", _stacking, RIDES, DEMAND),
    Case("poisson", "Poisson regression and non-normal loss", _poisson, RIDES, np.abs(DEMAND)),
    Case(
        "target encoder",
        "Comparing Target Encoder with Other Encoders",
        lambda: make_pipeline(
            ColumnTransformer(
                [("encoder", TargetEncoder(cv=2, random_state=0), ["embarked", "sex"])],
                remainder=SimpleImputer(),
            ),
            Ridge(),
        ),
        PASSENGERS,
        SURVIVED.astype(float),
    ),
    Case(
        "newsgroups tf-idf",
        "Classification of text documents using sparse features",
        lambda: make_pipeline(
            TfidfVectorizer(sublinear_tf=True, max_df=0.5, min_df=2, stop_words="english"),
            LogisticRegression(),
        ),
        TEXTS,
        TOPICS,
    ),
    Case(
        "newsgroups grid",
        "Sample pipeline for text feature extraction and evaluation",
        lambda: GridSearchCV(
            Pipeline([("vect", TfidfVectorizer()), ("clf", ComplementNB())]),
            {"vect__ngram_range": [(1, 1), (1, 2)], "vect__norm": ["l1", "l2"], "clf__alpha": [0.1, 1.0]},
            cv=2,
        ),
        TEXTS,
        TOPICS,
    ),
    Case(
        "text tutorial",
        "Working with text data",
        lambda: Pipeline(
            [("vect", CountVectorizer()), ("tfidf", TfidfTransformer()), ("clf", MultinomialNB())]
        ),
        TEXTS,
        TOPICS,
    ),
    Case(
        "hashed text",
        "FeatureHasher and DictVectorizer comparison",
        lambda: make_pipeline(
            HashingVectorizer(n_features=2**10, stop_words="english", alternate_sign=False),
            SGDClassifier(loss="log_loss", random_state=0),
        ),
        TEXTS,
        TOPICS,
    ),
    Case(
        "characters",
        "Clustering and classification of text by characters",
        lambda: make_pipeline(
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)), LinearSVC(random_state=0)
        ),
        TEXTS,
        TOPICS,
    ),
    Case("subjects and bodies", "Column Transformer with Heterogeneous Data Sources", _posts, POSTS, TOPICS),
    Case(
        "semantic analysis",
        "Clustering text documents using k-means",
        lambda: make_pipeline(
            TfidfVectorizer(), TruncatedSVD(6, random_state=0), StandardScaler(), KNeighborsClassifier(3)
        ),
        TEXTS,
        TOPICS,
    ),
    Case(
        "pca and logistic",
        "Pipelining: chaining a PCA and a logistic regression",
        lambda: GridSearchCV(
            Pipeline(
                [
                    ("scaler", StandardScaler()),
                    ("pca", PCA()),
                    ("logistic", LogisticRegression(max_iter=1000, tol=0.1)),
                ]
            ),
            {"pca__n_components": [2, 4]},
            cv=2,
        ),
        NUMBERS,
        CLASSES,
    ),
    Case(
        "union of features",
        "Concatenating multiple feature extraction methods",
        lambda: Pipeline(
            [
                ("features", FeatureUnion([("pca", PCA(2)), ("univ_select", SelectKBest(f_classif, k=1))])),
                ("svm", SVC(kernel="linear")),
            ]
        ),
        NUMBERS,
        CLASSES,
    ),
    Case(
        "calibrated",
        "Probability calibration curves",
        lambda: CalibratedClassifierCV(make_pipeline(StandardScaler(), GaussianNB()), cv=3),
        NUMBERS,
        BINARY,
    ),
    Case(
        "fixed threshold",
        "Post-tuning the decision threshold",
        lambda: FixedThresholdClassifier(
            make_pipeline(StandardScaler(), LogisticRegression()), threshold=0.3
        ),
        NUMBERS,
        BINARY,
    ),
    Case(
        "tuned threshold",
        "Post-tuning the decision threshold",
        lambda: TunedThresholdClassifierCV(
            make_pipeline(StandardScaler(), LogisticRegression()), cv=2, random_state=0
        ),
        NUMBERS,
        BINARY,
    ),
    Case(
        "transformed target",
        "Effect of transforming the targets in regression model",
        lambda: TransformedTargetRegressor(
            make_pipeline(PolynomialFeatures(2), RidgeCV()), func=np.log1p, inverse_func=np.expm1
        ),
        NUMBERS,
        np.exp(TARGET / 4),
    ),
    Case(
        "voting",
        "Visualizing the probabilistic predictions of a VotingClassifier",
        lambda: VotingClassifier(
            [
                ("lr", make_pipeline(StandardScaler(), LogisticRegression())),
                ("rf", RandomForestClassifier(10, random_state=0)),
                ("gnb", GaussianNB()),
            ],
            voting="soft",
        ),
        NUMBERS,
        CLASSES,
    ),
    Case(
        "robust boosting",
        "Compare the effect of different scalers on data with outliers",
        lambda: make_pipeline(
            RobustScaler(),
            QuantileTransformer(n_quantiles=20, random_state=0),
            GradientBoostingRegressor(n_estimators=15, random_state=0),
        ),
        NUMBERS,
        TARGET,
    ),
    Case(
        "one against the rest",
        "Varying regularization in Multi-layer Perceptron",
        lambda: make_pipeline(
            StandardScaler(), OneVsRestClassifier(MLPClassifier((8,), max_iter=60, random_state=0))
        ),
        NUMBERS,
        CLASSES,
    ),
)
