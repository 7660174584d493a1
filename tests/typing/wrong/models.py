"""Models used for what they are not."""

import numpy as np

from onnxsmith import FLOAT, Model, eager, errors, load, trace
from onnxsmith import opset21 as op

model = trace(lambda x: op.Relu(x), FLOAT["N"])
model.save()  # error
model.save(3)  # error
model.write("m.onnx")  # error
load()  # error
Model.load(b"bytes", 3)  # error
model.inputs[0].dtype  # error
with eager.using(provider="CPU"):  # error
    pass
with eager.using(runtime="tensorrt"):  # error
    pass
errors.NoSuchError  # error
print(np.ones(3) + model)  # error
