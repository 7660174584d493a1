"""Attributes that went, were renamed, or have another type or default: the same node with other attributes."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.values import float_attribute, is_read, text_attribute
from onnxsmith.passes.versions.step import AS_IT_IS, Answer, Refusal, Step, up
from onnxsmith.types.dtypes import DType


@up(
    "Abs", "Add", "Ceil", "Clip", "Div", "Dropout", "Elu", "Exp", "Floor", "HardSigmoid", "InstanceNormalization",
    "LeakyRelu", "Log", "Max", "Mean", "Min", "Mul", "Neg", "PRelu", "Reciprocal", "Relu", "Sigmoid", "Sqrt", "Sub",
    "Sum", "Tanh", since=6,
)  # fmt: skip
def without_consumed_inputs(step: Step) -> Answer:
    """`consumed_inputs` was a hint to a runtime of long ago."""
    if "consumed_inputs" not in step.node.attributes:
        return AS_IT_IS
    return step.again(*step.node.inputs, without=["consumed_inputs"])


@up("Selu", since=6)
def exact_selu(step: Step) -> Answer:
    """The defaults got more digits."""
    return step.again(
        *step.node.inputs,
        without=["consumed_inputs"],
        alpha=step.node.attributes.get("alpha", 1.6732),
        gamma=step.node.attributes.get("gamma", 1.0507),
    )


@up("Cast", since=6)
def cast_by_code(step: Step) -> Answer:
    """The type was text before it was a number."""
    step.not_a_reference("to")
    name = text_attribute(step.node, "to", "")
    dtype = DType.__members__.get(name.upper())
    if dtype is None:
        raise Refusal(f"its attribute to is '{name}', which is no element type")
    return step.with_inputs(to=int(dtype))


@up("Concat", since=4)
def concat_along_an_axis(step: Step) -> Answer:
    """The axis had a default."""
    return AS_IT_IS if "axis" in step.node.attributes else step.with_inputs(axis=1)


@up("GlobalLpPool", "LpPool", since=2)
def whole_power(step: Step) -> Answer:
    """The power was a float before it was an int."""
    step.not_a_reference("p")
    power = float_attribute(step.node, "p", 2.0)
    if power != int(power):
        raise Refusal(f"its power p is {power:g}, and must be a whole number since opset 2")
    if step.node.op_type == "LpPool" and "kernel_shape" not in step.node.attributes:
        raise Refusal("its kernel_shape is left out, which must be given since opset 2")
    return step.with_inputs(p=int(power))


@up("GRU", since=3)
def gru_forward(step: Step) -> Answer:
    """The default of the direction had a slip of the pen."""
    if text_attribute(step.node, "direction", "") == "foward":
        return step.again(*step.node.inputs, without=["direction"])
    return AS_IT_IS


@up("GRU", "LSTM", "RNN", since=7)
def whole_sequence(step: Step) -> Answer:
    """True if the whole sequence is given is told by whether it is read."""
    if "output_sequence" not in step.node.attributes:
        return AS_IT_IS
    return step.again(*step.node.inputs, without=["output_sequence"])


@up("Dropout", since=7)
def dropout_in_a_test(step: Step) -> Answer:
    """Before opset 7 an attribute said whether a model is being trained, and that was so by default."""
    is_test = step.axis(0, "is_test")
    if is_test:
        return step.again(*step.node.inputs, without=["is_test"])
    if step.target < 12:
        raise Refusal(
            "it drops at random (is_test=0), which opsets 7 to 11 cannot say", "convert to opset 12"
        )
    step.at = 12
    ratio = float_attribute(step.node, "ratio", 0.5)
    return _dropped(step, ratio, training=True)


@up("Dropout", since=10)
def dropout_mask_of_bools(step: Step) -> Answer:
    """The mask had the type of the data."""
    if len(step.node.outputs) < 2 or not is_read(step.node.outputs[1]):
        return AS_IT_IS
    dtype = step.dtype_of(0, "and its mask is of that type")
    output, mask = step.with_inputs()
    return [output, step.op("Cast", mask, to=int(dtype))]


@up("Dropout", since=12)
def dropout_ratio_as_input(step: Step) -> Answer:
    """The ratio became an input; without training it says nothing."""
    ratio = float_attribute(step.node, "ratio", 0.5)
    ratio_value = step.as_input("ratio", ir.DataType.FLOAT)
    if ratio_value is None and ratio == 0.5:
        return AS_IT_IS
    return step.again(step.input(0), ratio_value, without=["ratio"])


def _dropped(step: Step, ratio: float, *, training: bool) -> Answer:
    output, *masks = step.again(
        step.input(0),
        step.constant(np.array(ratio, np.float32), "ratio"),
        step.constant(np.array(training), "training_mode"),
        without=["ratio", "is_test"],
    )
    if not masks or not is_read(step.node.outputs[1]):
        return [output, *masks]
    dtype = step.dtype_of(0, "and its mask is of that type")
    return [output, step.op("Cast", masks[0], to=int(dtype))]


@up("RoiAlign", since=16)
def roi_align_as_before(step: Step) -> Answer:
    """How coordinates are meant can be said, and is another by default."""
    return step.with_inputs(coordinate_transformation_mode="output_half_pixel")


@up("GridSample", since=20)
def grid_sample_modes(step: Step) -> Answer:
    """Modes are named without the number of dimensions."""
    step.not_a_reference("mode")
    mode = text_attribute(step.node, "mode", "bilinear")
    return step.with_inputs(mode={"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode))


@up("LabelEncoder", since=2, domain="ai.onnx.ml")
def label_encoder_tables(step: Step) -> Answer:
    """Labels were numbered in the order of one list; now there is a table with two sides."""
    classes = step.node.attributes.get("classes_strings")
    if classes is None or classes.is_ref():
        raise Refusal("its attribute classes_strings is not given")
    is_text = step.dtype_of(0, "which decides what is encoded") == ir.DataType.STRING
    labels, numbers = ("keys_strings", "values_int64s") if is_text else ("values_strings", "keys_int64s")
    texts = list(classes.as_strings())
    return step.again(
        *step.node.inputs,
        without=["classes_strings"],
        attributes={
            labels: ir.AttrStrings(labels, texts),
            numbers: ir.AttrInt64s(numbers, list(range(len(texts)))),
        },
    )
