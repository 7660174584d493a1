"""The family that holds the converters of a class: that module alone is loaded when the class is met."""

from __future__ import annotations

import importlib

#: Family -> the classes that it converts, without "sklearn.".
HOMES: dict[str, str] = {
    "bagging": "ensemble.BaggingClassifier ensemble.BaggingRegressor",
    "boosting": (
        "ensemble.AdaBoostClassifier ensemble.AdaBoostRegressor ensemble.GradientBoostingClassifier "
        "ensemble.GradientBoostingRegressor"
    ),
    "centroids": "neighbors.NearestCentroid",
    "clusters": (
        "cluster.AffinityPropagation cluster.Birch cluster.BisectingKMeans cluster.KMeans cluster.MeanShift "
        "cluster.MiniBatchKMeans"
    ),
    "coding": (
        "decomposition.DictionaryLearning decomposition.MiniBatchDictionaryLearning "
        "decomposition.MiniBatchSparsePCA decomposition.SparseCoder decomposition.SparsePCA"
    ),
    "composition": "compose.ColumnTransformer pipeline.FeatureUnion",
    "encoding": (
        "preprocessing.KBinsDiscretizer preprocessing.LabelBinarizer preprocessing.LabelEncoder "
        "preprocessing.MultiLabelBinarizer preprocessing.OneHotEncoder preprocessing.OrdinalEncoder "
        "preprocessing.TargetEncoder"
    ),
    "ensembles": (
        "calibration.CalibratedClassifierCV ensemble.StackingClassifier ensemble.StackingRegressor "
        "ensemble.VotingClassifier ensemble.VotingRegressor"
    ),
    "factors": "decomposition.LatentDirichletAllocation decomposition.NMF",
    "histogram_boosting": "ensemble.HistGradientBoostingClassifier ensemble.HistGradientBoostingRegressor",
    "imputing": "impute.IterativeImputer",
    "kernels": "kernel_approximation.Nystroem kernel_ridge.KernelRidge",
    "linear": (
        "linear_model.GammaRegressor linear_model.LinearRegression linear_model.LogisticRegression "
        "linear_model.PoissonRegressor linear_model.Ridge linear_model.TweedieRegressor"
    ),
    "neighbour_imputing": "impute.KNNImputer",
    "neighbours": (
        "neighbors.KNeighborsClassifier neighbors.KNeighborsRegressor neighbors.KNeighborsTransformer "
        "neighbors.LocalOutlierFactor neighbors.RadiusNeighborsClassifier neighbors.RadiusNeighborsRegressor "
        "neighbors.RadiusNeighborsTransformer"
    ),
    "outputs": "multioutput.MultiOutputClassifier multioutput.MultiOutputRegressor",
    "passing": (
        "impute.SimpleImputer model_selection.GridSearchCV model_selection.HalvingGridSearchCV "
        "model_selection.HalvingRandomSearchCV model_selection.RandomizedSearchCV "
        "preprocessing.FunctionTransformer"
    ),
    "pipelines": "pipeline.Pipeline",
    "scaling": "preprocessing.MinMaxScaler preprocessing.StandardScaler",
    "selection": (
        "feature_selection.GenericUnivariateSelect feature_selection.RFE feature_selection.RFECV "
        "feature_selection.SelectFdr feature_selection.SelectFpr feature_selection.SelectFromModel "
        "feature_selection.SelectFwe feature_selection.SelectKBest feature_selection.SelectPercentile "
        "feature_selection.SequentialFeatureSelector feature_selection.VarianceThreshold"
    ),
    "shaping": (
        "covariance.EllipticEnvelope feature_extraction.text.TfidfTransformer neural_network.BernoulliRBM "
        "preprocessing.PowerTransformer "
        "preprocessing.SplineTransformer random_projection.SparseRandomProjection"
    ),
    "support_vectors": "svm.NuSVC svm.NuSVR svm.OneClassSVM svm.SVC svm.SVR",
    "text": (
        "feature_extraction.text.CountVectorizer feature_extraction.text.HashingVectorizer "
        "feature_extraction.text.TfidfVectorizer"
    ),
    "trees": (
        "ensemble.ExtraTreesClassifier ensemble.ExtraTreesRegressor ensemble.IsolationForest "
        "ensemble.RandomForestClassifier ensemble.RandomForestRegressor ensemble.RandomTreesEmbedding "
        "tree.DecisionTreeClassifier tree.DecisionTreeRegressor tree.ExtraTreeClassifier "
        "tree.ExtraTreeRegressor"
    ),
}

#: The same for classes of other libraries, by their whole names.
OTHER_HOMES: dict[str, str] = {
    "catboost_trees": (
        "catboost.core.CatBoost catboost.core.CatBoostClassifier catboost.core.CatBoostRanker "
        "catboost.core.CatBoostRegressor"
    ),
    "lightgbm_trees": (
        "lightgbm.sklearn.LGBMClassifier lightgbm.sklearn.LGBMModel lightgbm.sklearn.LGBMRanker "
        "lightgbm.sklearn.LGBMRegressor"
    ),
    "xgboost_trees": (
        "xgboost.sklearn.XGBClassifier xgboost.sklearn.XGBModel xgboost.sklearn.XGBRFClassifier "
        "xgboost.sklearn.XGBRFRegressor xgboost.sklearn.XGBRanker xgboost.sklearn.XGBRegressor"
    ),
}

_HOME_OF = {
    **{f"sklearn.{name}": family for family, names in HOMES.items() for name in names.split()},
    **{name: family for family, names in OTHER_HOMES.items() for name in names.split()},
}


def load_home(name: str) -> None:
    """Import the family that converts a class; nothing happens for one that none converts."""
    family = _HOME_OF.get(name)
    if family is not None:
        load_family(family)


def load_family(family: str) -> None:
    """Import a family."""
    importlib.import_module(f"onnxsmith.sklearn.families.{family}")


def load_all() -> None:
    """Import every family."""
    for family in (*HOMES, *OTHER_HOMES):
        load_family(family)
