"""A model is saved, loaded, looked at and run."""

import pathlib
import tempfile

import numpy as np
import onnx

import onnxsmith
from onnxsmith import FLOAT, Model, load, trace
from onnxsmith import opset21 as op

model = trace(lambda x: op.Relu(x) * 2, FLOAT["N", 4])
x = np.ones((2, 4), dtype=np.float32)

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "m.onnx")
    model.save(path)
    model.save(str(path))
    again: Model = Model.load(path)
    third: Model = load(str(path))
    fourth = onnxsmith.load(path)

proto: onnx.ModelProto = model.proto
print(again(x), third(x=x), fourth(x).shape, proto.ir_version, model.ir.graph.name)
for port in (*model.inputs, *model.outputs):
    print(port.name, port.type)
print(Model.from_proto(proto), repr(model), str(model), model.text())
