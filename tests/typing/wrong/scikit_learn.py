"""What is no estimator, no rows, or no option is given to onnxsmith.sklearn."""

import numpy as np
from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

from onnxsmith.sklearn import convert, discrepancies, from_onnx

X = np.ones((2, 2))
scaler = StandardScaler().fit(X)
model = convert(scaler, X)
convert(scaler)  # error
convert(3, X)  # error
convert(np.ones(3), X)  # error
convert(scaler, 3)  # error
convert(scaler, X, inputs="rows")  # error
convert(scaler, X, outputs=3)  # error
convert(scaler, X, tolerance="small")  # error
convert(scaler, X, target_opset=21)  # error
discrepancies("pipeline", model, X)  # error
discrepancies(scaler, X, X)  # error
from_onnx(3)  # error
model.predict()  # error
model.transform(3)  # error
model.report.roads  # error
