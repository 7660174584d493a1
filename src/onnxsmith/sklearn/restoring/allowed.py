"""The classes that are made again, in a fixed list: metadata can name no others."""

from __future__ import annotations

from onnxsmith.sklearn.library import of_sklearn

#: Module of scikit-learn -> classes whose fitted attributes are numbers, text, trees and estimators of this list.
_BY_ATTRIBUTES: dict[str, str] = {
    "compose": "ColumnTransformer TransformedTargetRegressor",
    "dummy": "DummyClassifier DummyRegressor",
    "ensemble": (
        "AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor ExtraTreesClassifier"
        " ExtraTreesRegressor IsolationForest RandomForestClassifier RandomForestRegressor RandomTreesEmbedding"
    ),
    "feature_selection": "VarianceThreshold",
    "impute": "KNNImputer MissingIndicator SimpleImputer",
    "linear_model": (
        "ARDRegression BayesianRidge ElasticNet ElasticNetCV HuberRegressor Lars LarsCV Lasso LassoCV LassoLars"
        " LassoLarsCV LinearRegression LogisticRegression LogisticRegressionCV MultiTaskElasticNet MultiTaskLasso"
        " OrthogonalMatchingPursuit Ridge RidgeCV RidgeClassifier RidgeClassifierCV TheilSenRegressor"
    ),
    "naive_bayes": "BernoulliNB ComplementNB GaussianNB MultinomialNB",
    "neighbors": "NearestCentroid",
    "pipeline": "FeatureUnion Pipeline",
    "preprocessing": (
        "Binarizer FunctionTransformer KBinsDiscretizer LabelBinarizer LabelEncoder MaxAbsScaler MinMaxScaler"
        " Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures PowerTransformer QuantileTransformer RobustScaler"
        " StandardScaler TargetEncoder"
    ),
    "svm": "LinearSVC LinearSVR",
    "tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor",
}
#: Classes that are fitted again, on the rows that they keep: fitting is what builds their trees of neighbours.
_BY_FITTING: dict[str, str] = {
    "neighbors": (
        "KNeighborsClassifier KNeighborsRegressor KNeighborsTransformer LocalOutlierFactor NearestNeighbors"
        " RadiusNeighborsClassifier RadiusNeighborsRegressor RadiusNeighborsTransformer"
    ),
}


def _names(table: dict[str, str]) -> dict[str, tuple[str, str]]:
    return {
        f"sklearn.{module}.{name}": (module, name)
        for module, names in table.items()
        for name in names.split()
    }


BY_ATTRIBUTES = _names(_BY_ATTRIBUTES)
BY_FITTING = _names(_BY_FITTING)


def class_of(name: str) -> type | None:
    """The class of a public name; None for one that is not in the list."""
    found = BY_ATTRIBUTES.get(name) or BY_FITTING.get(name)
    return None if found is None else of_sklearn(*found)
