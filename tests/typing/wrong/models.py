"""Models used for what they are not."""

import numpy as np

from onnxsmith import FLOAT, Model, errors, load, runtime, trace
from onnxsmith import opset21 as op

model = trace(lambda x: op.Relu(x), FLOAT["N"])
model.save()  # error
model.save(3)  # error
model.write("m.onnx")  # error
load()  # error
Model.load(b"bytes", 3)  # error
model.inputs[0].dtype  # error
with runtime.using(provider="CPU"):  # error
    pass
with runtime.using(runtime="tensorrt"):  # error
    pass
errors.NoSuchError  # error
print(np.ones(3) + model)  # error
