"""Signal processing: Fourier transforms, signal windows, images and their decoding."""

from __future__ import annotations

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension

_AXIS_IS_INPUT_SINCE = 20


@rule("DFT")
def fourier_transform(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    if shape is None:
        return (tensor(dtype, None),)
    rank = len(shape)
    if call.op.since_version < _AXIS_IS_INPUT_SINCE:
        axis: Dimension = call.axis("axis", 1, 0, rank)
    else:
        axis = -2 if call.input(2) is None else call.entry(2)
        if isinstance(axis, int):
            axis = call.check_axes((axis,), 2, rank)[0]
    is_inverse, is_onesided = call.integer("inverse", 0) != 0, call.integer("onesided", 0) != 0
    last = 1 if is_inverse and is_onesided else 2
    if not isinstance(axis, int):
        if call.input(1) is None and not is_onesided:  # every axis keeps its length
            return (tensor(dtype, (*shape[:-1], last)),)
        return (tensor(dtype, (*(None,) * (rank - 1), last)),)
    length = shape[axis] if call.input(1) is None else call.entry(1)
    if is_onesided and is_inverse and call.input(1) is None:
        length = symbolic.mul(symbolic.sub(length, 1), 2)
    elif is_onesided and not is_inverse:
        length = symbolic.add(symbolic.floordiv(length, 2), 1)
    out = (*shape[:axis], length, *shape[axis + 1 :])
    return (tensor(dtype, (*out[:-1], last)),)


@rule("STFT")
def short_time_fourier_transform(call: Call) -> Result:
    shape, step, window = call.shape(0), call.entry(1), call.shape(2)
    if shape is not None and len(shape) != 3:
        raise call.shape_error(f"needs three axes (batch, signal, parts), not {call.described(0)}", 0)
    batch, signal = (None, None) if shape is None else shape[:2]
    if call.input(3) is not None:
        length = call.entry(3)
        if length is None and window:
            length = window[0]
    else:
        length = signal if call.input(2) is None else window[0] if window else None
    frames = symbolic.add(symbolic.floordiv(symbolic.sub(signal, length), step), 1)
    bins = symbolic.add(symbolic.floordiv(length, 2), 1) if call.integer("onesided", 1) else length
    return (tensor(call.dtype(0, 2), (batch, frames, bins, 2)),)


@rule("HannWindow", "HammingWindow", "BlackmanWindow")
def signal_window(call: Call) -> Result:
    return (tensor(_made_dtype(call), (call.entry(0),)),)


def _made_dtype(call: Call) -> DType:
    if "output_datatype" not in call.attributes:
        return DType.FLOAT
    dtype = call.given_dtype("output_datatype")
    if dtype is None:
        raise call.attribute_error("output_datatype", "needs an element type, not output_datatype=0")
    return dtype


@rule("MelWeightMatrix")
def mel_weight_matrix(call: Call) -> Result:
    rows = symbolic.add(symbolic.floordiv(call.entry(1), 2), 1)
    return (tensor(_made_dtype(call), (rows, call.entry(0))),)


@rule("ImageDecoder")
def image_decoder(call: Call) -> Result:
    channels = 1 if call.string("pixel_format", "RGB") == "Grayscale" else 3
    return (tensor(DType.UINT8, (None, None, channels)),)
