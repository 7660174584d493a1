"""Estimators and pipelines of scikit-learn, not fitted yet, each with what it is to be fitted on. Fits nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Data = Literal["numbers", "holes", "counts", "codes", "words", "text", "table"]
Target = Literal["three", "two", "names", "number", "numbers", "labels", "positive", "none"]


@dataclass(frozen=True)
class Case:
    """An estimator to be fitted, and on what."""

    name: str
    make: Callable[[], Any]
    data: Data = "numbers"
    target: Target = "three"
    #: Whether probabilities come as a sequence of maps, by label.
    has_map: bool = False


def cases() -> list[Case]:
    """All of them."""
    return [*_classifiers(), *_regressors(), *_transformers(), *_pipelines()]


def _classifiers() -> list[Case]:
    from sklearn import (
        calibration,
        discriminant_analysis,
        ensemble,
        gaussian_process,
        linear_model,
        multiclass,
        multioutput,
        naive_bayes,
        neighbors,
        neural_network,
        svm,
        tree,
    )

    logistic = linear_model.LogisticRegression
    forest = ensemble.RandomForestClassifier
    return [
        Case("logistic regression", logistic),
        Case("logistic regression of two", logistic, target="two"),
        Case("logistic regression with maps", logistic, target="names", has_map=True),
        Case("random forest with maps", lambda: forest(n_estimators=9, random_state=0), has_map=True),
        Case("logistic regression, names", logistic, target="names"),
        Case("logistic regression, one against all", lambda: multiclass.OneVsRestClassifier(logistic())),
        Case("one against one", lambda: multiclass.OneVsOneClassifier(logistic())),
        Case("output code", lambda: multiclass.OutputCodeClassifier(logistic(), random_state=0)),
        Case("several labels", lambda: multioutput.MultiOutputClassifier(logistic()), target="labels"),
        Case("ridge classifier", linear_model.RidgeClassifier),
        Case("SGD, hinge", lambda: linear_model.SGDClassifier(random_state=0)),
        Case("SGD, log loss", lambda: linear_model.SGDClassifier(loss="log_loss", random_state=0)),
        Case(
            "SGD, modified Huber", lambda: linear_model.SGDClassifier(loss="modified_huber", random_state=0)
        ),
        Case("perceptron", lambda: linear_model.Perceptron(random_state=0)),
        Case("linear SVC", lambda: svm.LinearSVC(random_state=0)),
        Case("SVC, probabilities", lambda: svm.SVC(probability=True, random_state=0)),
        Case("SVC, polynomial", lambda: svm.SVC(kernel="poly")),
        Case("SVC, sigmoid, two", lambda: svm.SVC(kernel="sigmoid"), target="two"),
        Case("NuSVC", lambda: svm.NuSVC(nu=0.2)),
        Case("k nearest", neighbors.KNeighborsClassifier),
        Case("k nearest, by distance", lambda: neighbors.KNeighborsClassifier(weights="distance")),
        Case("k nearest, Manhattan", lambda: neighbors.KNeighborsClassifier(metric="manhattan")),
        Case("neighbours in a radius", lambda: neighbors.RadiusNeighborsClassifier(radius=20.0)),
        Case("decision tree", lambda: tree.DecisionTreeClassifier(random_state=0)),
        Case("extra tree", lambda: tree.ExtraTreeClassifier(random_state=0)),
        Case("random forest", lambda: forest(n_estimators=9, random_state=0)),
        Case("random forest, names", lambda: forest(n_estimators=9, random_state=0), target="names"),
        Case("random forest, labels", lambda: forest(n_estimators=9, random_state=0), target="labels"),
        Case("extra trees", lambda: ensemble.ExtraTreesClassifier(n_estimators=9, random_state=0)),
        Case(
            "gradient boosting", lambda: ensemble.GradientBoostingClassifier(n_estimators=9, random_state=0)
        ),
        Case("histogram boosting", lambda: ensemble.HistGradientBoostingClassifier(max_iter=9)),
        Case("AdaBoost", lambda: ensemble.AdaBoostClassifier(n_estimators=5, random_state=0)),
        Case("bagging", lambda: ensemble.BaggingClassifier(n_estimators=5, random_state=0)),
        Case(
            "voting, soft",
            lambda: ensemble.VotingClassifier(
                [("l", logistic()), ("n", naive_bayes.GaussianNB())], voting="soft", flatten_transform=False
            ),
        ),
        Case(
            "voting, hard",
            lambda: ensemble.VotingClassifier(
                [("l", logistic()), ("n", naive_bayes.GaussianNB())], flatten_transform=False
            ),
        ),
        Case(
            "stacking",
            lambda: ensemble.StackingClassifier([("l", logistic()), ("n", naive_bayes.GaussianNB())]),
        ),
        Case("naive Bayes, Gauss", naive_bayes.GaussianNB),
        Case("naive Bayes, Bernoulli", naive_bayes.BernoulliNB, "counts"),
        Case("naive Bayes, multinomial", naive_bayes.MultinomialNB, "counts"),
        Case("naive Bayes, complement", naive_bayes.ComplementNB, "counts"),
        Case("naive Bayes, categories", naive_bayes.CategoricalNB, "codes"),
        Case("linear discriminants", discriminant_analysis.LinearDiscriminantAnalysis),
        Case("quadratic discriminants", discriminant_analysis.QuadraticDiscriminantAnalysis),
        Case("network", lambda: neural_network.MLPClassifier((8, 8), max_iter=30, random_state=0)),
        Case(
            "network of two, tanh",
            lambda: neural_network.MLPClassifier((8,), activation="tanh", max_iter=30, random_state=0),
            target="two",
        ),
        Case(
            "Gaussian process classifier",
            lambda: gaussian_process.GaussianProcessClassifier(random_state=0),
            target="two",
        ),
        Case(
            "calibrated, sigmoid", lambda: calibration.CalibratedClassifierCV(svm.LinearSVC(random_state=0))
        ),
        Case(
            "calibrated, isotonic",
            lambda: calibration.CalibratedClassifierCV(naive_bayes.GaussianNB(), method="isotonic"),
        ),
    ]


def _regressors() -> list[Case]:
    from sklearn import (
        cross_decomposition,
        ensemble,
        gaussian_process,
        linear_model,
        multioutput,
        neighbors,
        neural_network,
        svm,
        tree,
    )
    from sklearn.gaussian_process import kernels

    process = gaussian_process.GaussianProcessRegressor
    of_number = [
        ("linear regression", linear_model.LinearRegression),
        ("ridge", linear_model.Ridge),
        ("lasso", lambda: linear_model.Lasso(0.1)),
        ("elastic net", lambda: linear_model.ElasticNet(0.1)),
        ("Bayesian ridge", linear_model.BayesianRidge),
        ("Huber", linear_model.HuberRegressor),
        ("Theil and Sen", lambda: linear_model.TheilSenRegressor(random_state=0)),
        ("least angles", linear_model.Lars),
        ("RANSAC", lambda: linear_model.RANSACRegressor(random_state=0)),
        ("quantile regression", linear_model.QuantileRegressor),
        ("SVR", svm.SVR),
        ("SVR, polynomial", lambda: svm.SVR(kernel="poly")),
        ("NuSVR", svm.NuSVR),
        ("linear SVR", lambda: svm.LinearSVR(random_state=0)),
        ("k nearest, regression", neighbors.KNeighborsRegressor),
        ("k nearest by distance, regression", lambda: neighbors.KNeighborsRegressor(weights="distance")),
        ("neighbours in a radius, regression", lambda: neighbors.RadiusNeighborsRegressor(radius=20.0)),
        ("regression tree", lambda: tree.DecisionTreeRegressor(random_state=0)),
        ("random forest, regression", lambda: ensemble.RandomForestRegressor(n_estimators=9, random_state=0)),
        (
            "gradient boosting, regression",
            lambda: ensemble.GradientBoostingRegressor(n_estimators=9, random_state=0),
        ),
        ("histogram boosting, regression", lambda: ensemble.HistGradientBoostingRegressor(max_iter=9)),
        ("AdaBoost, regression", lambda: ensemble.AdaBoostRegressor(n_estimators=5, random_state=0)),
        ("bagging, regression", lambda: ensemble.BaggingRegressor(n_estimators=5, random_state=0)),
        (
            "voting, regression",
            lambda: ensemble.VotingRegressor(
                [("l", linear_model.Ridge()), ("t", tree.DecisionTreeRegressor(random_state=0))]
            ),
        ),
        (
            "stacking, regression",
            lambda: ensemble.StackingRegressor([("l", linear_model.Ridge()), ("s", svm.SVR())]),
        ),
        (
            "network, regression",
            lambda: neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=30, random_state=0),
        ),
        ("Gaussian process, RBF", lambda: process(kernels.RBF() + kernels.WhiteKernel())),
        (
            "Gaussian process, product",
            lambda: process(
                kernels.ConstantKernel() * kernels.DotProduct() + kernels.RationalQuadratic(), alpha=1.0
            ),
        ),
        ("partial least squares", cross_decomposition.PLSRegression),
    ]
    return [
        *(Case(name, make, target="number") for name, make in of_number),
        Case("Poisson", linear_model.PoissonRegressor, target="positive"),
        Case("gamma", linear_model.GammaRegressor, target="positive"),
        Case("Tweedie", lambda: linear_model.TweedieRegressor(power=1.5), target="positive"),
        Case("ridge of two", linear_model.Ridge, target="numbers"),
        Case("several regressions", lambda: multioutput.MultiOutputRegressor(svm.SVR()), target="numbers"),
        Case(
            "random forest of two",
            lambda: ensemble.RandomForestRegressor(n_estimators=9, random_state=0),
            target="numbers",
        ),
    ]


def _transformers() -> list[Case]:
    from sklearn import (
        cluster,
        decomposition,
        ensemble,
        feature_selection,
        impute,
        mixture,
        neighbors,
        preprocessing,
        svm,
    )

    def alone(name: str, make: Callable[[], Any], data: Data = "numbers", target: Target = "none") -> Case:
        return Case(name, make, data, target)

    return [
        alone("standard scaler", preprocessing.StandardScaler),
        alone("min-max scaler", lambda: preprocessing.MinMaxScaler(clip=True)),
        alone("robust scaler", preprocessing.RobustScaler),
        alone("normalizer", preprocessing.Normalizer),
        alone("binarizer", preprocessing.Binarizer),
        alone("polynomial features", lambda: preprocessing.PolynomialFeatures(3)),
        alone("power transformer", preprocessing.PowerTransformer),
        alone("bins", lambda: preprocessing.KBinsDiscretizer(4, encode="ordinal")),
        alone("bins, one-hot", lambda: preprocessing.KBinsDiscretizer(4, encode="onehot-dense")),
        alone("one-hot of words", lambda: preprocessing.OneHotEncoder(handle_unknown="ignore"), "words"),
        alone("one-hot of codes", preprocessing.OneHotEncoder, "codes"),
        alone("ordinal codes of words", preprocessing.OrdinalEncoder, "words"),
        alone("imputer, mean", impute.SimpleImputer, "holes"),
        alone("imputer, median", lambda: impute.SimpleImputer(strategy="median"), "holes"),
        alone("imputer, nearest", impute.KNNImputer, "holes"),
        alone("PCA", lambda: decomposition.PCA(2, whiten=True)),
        alone("incremental PCA", lambda: decomposition.IncrementalPCA(2)),
        alone("kernel PCA", lambda: decomposition.KernelPCA(2, kernel="rbf")),
        alone("truncated SVD", lambda: decomposition.TruncatedSVD(2)),
        alone("select best", lambda: feature_selection.SelectKBest(k=2), target="three"),
        alone("variance threshold", lambda: feature_selection.VarianceThreshold(0.5)),
        alone("k means", lambda: cluster.KMeans(3, random_state=0)),
        alone("Gaussian mixture", lambda: mixture.GaussianMixture(2, random_state=0)),
        alone(
            "Gaussian mixture, tied",
            lambda: mixture.GaussianMixture(2, covariance_type="tied", random_state=0),
        ),
        alone("isolation forest", lambda: ensemble.IsolationForest(n_estimators=9, random_state=0)),
        alone("one-class SVM", svm.OneClassSVM),
        alone("local outliers", lambda: neighbors.LocalOutlierFactor(novelty=True)),
        alone("nearest neighbours imputed, then trees", _holes_then_trees, "holes", "three"),
    ]


def _holes_then_trees() -> Any:
    from sklearn import ensemble, impute, pipeline

    return pipeline.make_pipeline(
        impute.KNNImputer(), ensemble.GradientBoostingClassifier(n_estimators=5, random_state=0)
    )


def _pipelines() -> list[Case]:
    from sklearn import (
        compose,
        decomposition,
        ensemble,
        feature_extraction,
        impute,
        linear_model,
        naive_bayes,
        pipeline,
        preprocessing,
        svm,
    )

    text = feature_extraction.text
    columns = [
        ("n", preprocessing.StandardScaler(), ["size", "weight"]),
        ("w", preprocessing.OneHotEncoder(), ["colour"]),
    ]

    def chain(*parts: Any) -> Callable[[], Any]:
        return lambda: pipeline.make_pipeline(*parts)

    return [
        Case(
            "scaled logistic regression",
            chain(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
        ),
        Case("PCA and SVC", chain(preprocessing.StandardScaler(), decomposition.PCA(2), svm.SVC())),
        Case(
            "imputed forest",
            chain(impute.SimpleImputer(), ensemble.RandomForestClassifier(9, random_state=0)),
            "holes",
        ),
        Case(
            "polynomial ridge",
            chain(preprocessing.PolynomialFeatures(), linear_model.Ridge()),
            target="number",
        ),
        Case(
            "union of features",
            lambda: pipeline.make_union(preprocessing.StandardScaler(), decomposition.PCA(2)),
            target="none",
        ),
        Case("counted words", text.CountVectorizer, "text", "none"),
        Case("weighted words", lambda: text.TfidfVectorizer(ngram_range=(1, 2)), "text", "none"),
        Case(
            "weighted words, naive Bayes",
            chain(text.TfidfVectorizer(), naive_bayes.MultinomialNB()),
            "text",
            "names",
        ),
        Case(
            "counted words, SVD", chain(text.CountVectorizer(), decomposition.TruncatedSVD(2)), "text", "none"
        ),
        Case("columns", lambda: compose.ColumnTransformer(columns), "table", "none"),
        Case(
            "columns, logistic regression",
            chain(compose.ColumnTransformer(columns), linear_model.LogisticRegression()),
            "table",
            "names",
        ),
        Case(
            "columns, boosting",
            chain(
                compose.ColumnTransformer(columns),
                ensemble.GradientBoostingRegressor(n_estimators=9, random_state=0),
            ),
            "table",
            "number",
        ),
    ]
