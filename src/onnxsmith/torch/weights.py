"""Tensors of a torch module as arrays that share their memory."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import torch

#: torch's types that numpy lacks: the torch type of the same size that numpy has, and ml_dtypes' type.
_VIEWED: dict[torch.dtype, tuple[torch.dtype, Any]] = {
    torch.bfloat16: (torch.int16, ml_dtypes.bfloat16),
    torch.float8_e4m3fn: (torch.uint8, ml_dtypes.float8_e4m3fn),
    torch.float8_e4m3fnuz: (torch.uint8, ml_dtypes.float8_e4m3fnuz),
    torch.float8_e5m2: (torch.uint8, ml_dtypes.float8_e5m2),
    torch.float8_e5m2fnuz: (torch.uint8, ml_dtypes.float8_e5m2fnuz),
}


def as_array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """The tensor as an array; the memory is shared wherever the tensor is on the CPU and dense."""
    plain = tensor.detach()
    if plain.layout is not torch.strided:
        plain = plain.to_dense()
    plain = plain.cpu().resolve_conj().resolve_neg()
    viewed = _VIEWED.get(plain.dtype)
    if viewed is None:
        return plain.numpy()
    return plain.view(viewed[0]).numpy().view(viewed[1])


def as_tensor(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """The array as a tensor."""
    for kind, (_, viewed) in _VIEWED.items():
        if array.dtype == viewed:
            return torch.as_tensor(array.view(f"i{array.itemsize}")).view(kind)
    return torch.as_tensor(array)


def identity(tensor: torch.Tensor) -> tuple[Any, ...] | None:
    """The key that two tensors share when they are the same memory seen the same way; None for empty ones."""
    if tensor.numel() == 0 or tensor.layout is not torch.strided:
        return None
    return (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tuple(tensor.stride()), str(tensor.device))


def initializer_names(tensor: torch.Tensor, name: str) -> tuple[str, ...]:
    """The names of the initializers of a tensor: one, or two for complex numbers."""
    return (f"{name}.real", f"{name}.imag") if tensor.is_complex() else (name,)
