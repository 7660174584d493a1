"""PyTorch's tensors and layers in scripts: numbers to read, and refused where they change."""

import torch

from onnxsmith import FLOAT
from onnxsmith.errors import LastingChangeError, MutationError
from tests.scripting.corpus import refused, runs, vector

TENSOR = torch.ones(1)
LAYER = torch.nn.Linear(1, 1).requires_grad_(False)
LAYER.load_state_dict({"weight": torch.tensor([[0.5]]), "bias": torch.tensor([0.25])})


@refused(MutationError, "'TENSOR'")
def torch_tensor_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        TENSOR.add_(5)  # here
    return x * float(TENSOR[0])


@refused(MutationError, "LAYER")
def torch_layer_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        LAYER.weight.add_(5)  # here
    return x * float(LAYER.weight[0, 0])


@runs(vector(1, 2, 3))
def torch_layer_is_called(x: FLOAT["N"]):
    if x.sum() > 0:
        x = x + float(LAYER(TENSOR)[0])
    return x


@refused(LastingChangeError, "'torch'")
def torch_numbers(x: FLOAT["N"]):
    return x * float(torch.rand(1)[0])  # here


@runs(vector(1, 2, 3))
@runs(vector(-1, -2, -3))
def torch_tensor_is_read(x: FLOAT["N"]):
    if x.sum() > 0:
        x = x + float(TENSOR[0])
    return x * float(TENSOR[0])
