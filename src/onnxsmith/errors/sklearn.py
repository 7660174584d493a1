"""C8: what keeps a scikit-learn pipeline from becoming a model."""

from __future__ import annotations

from onnxsmith.errors.base import OnnxsmithError


class UnconvertedStepError(OnnxsmithError, NotImplementedError):
    """A step of a pipeline cannot become part of a model. The message names the step and says why on each road.

    Code of your own is recorded, with numpy's meaning. What it calls has to be numpy, or Python; or the class says
    itself what it computes, in a method `to_onnx(self, op, x)` that is given operators and a tensor.

    Wrong:

        import subprocess

        from sklearn.preprocessing import FunctionTransformer

        def called(x):
            return subprocess.run(["sort"], input=x.tobytes(), capture_output=True).stdout

        onnxsmith.sklearn.convert(FunctionTransformer(called).fit(x), x)

    Right:

        from sklearn.base import BaseEstimator, TransformerMixin

        class Sizes(TransformerMixin, BaseEstimator):
            def fit(self, X, y=None):
                return self

            def __sklearn_is_fitted__(self):
                return True

            def transform(self, X):
                return np.abs(X)

            def to_onnx(self, op, x):
                return op.Abs(x)

        onnxsmith.sklearn.convert(Sizes().fit(x), x)
    """

    code = "C801"


class PipelineError(OnnxsmithError, TypeError, ValueError):
    """An argument of `onnxsmith.sklearn` is no fitted estimator, or no data of a kind that a model takes.

    Wrong:

        from sklearn.preprocessing import StandardScaler

        onnxsmith.sklearn.convert(StandardScaler(), x)

    Right:

        from sklearn.preprocessing import StandardScaler

        onnxsmith.sklearn.convert(StandardScaler().fit(x), x)
    """

    code = "C802"
