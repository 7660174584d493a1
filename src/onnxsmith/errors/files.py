"""F1: models that cannot be read, written or accepted."""

from __future__ import annotations

from onnxsmith.errors.base import OnnxsmithError


class UnreadableModelError(OnnxsmithError, ValueError):
    """A file is not there, is not an ONNX model, or is only part of one.

    A download that was cut off is the usual cause. Reading a model runs nothing that is in it.

    Wrong:

        from pathlib import Path

        Path("half.onnx").write_bytes(b"not a model")
        onnxsmith.load("half.onnx")

    Right:

        trace(lambda a: a + 1.0, FLOAT["N"]).save("whole.onnx")
        onnxsmith.load("whole.onnx")
    """

    code = "F101"


class ExternalDataError(OnnxsmithError, ValueError):
    """A model's external data is missing, too short, or points outside the model's folder.

    Large weights lie in a file beside the model, and both must be moved together. A path that leads out of the
    model's folder is refused, so that a stranger's model cannot read your files.

    Wrong:

        import os

        weight = np.ones((64, 64), np.float32)
        trace(lambda a: a @ weight, FLOAT["N", 64]).save("m.onnx", external_data="m.data")
        os.remove("m.data")
        onnxsmith.load("m.onnx")

    Right:

        weight = np.ones((64, 64), np.float32)
        trace(lambda a: a @ weight, FLOAT["N", 64]).save("m.onnx", external_data="m.data")
        onnxsmith.load("m.onnx")
    """

    code = "F102"


class ModelWriteError(OnnxsmithError, OSError):
    """A model could not be written. What was at that place before is still there, whole.

    Wrong:

        trace(lambda a: a + 1.0, FLOAT["N"]).save("no/such/folder/m.onnx")

    Right:

        trace(lambda a: a + 1.0, FLOAT["N"]).save("m.onnx")
    """

    code = "F103"


class InvalidModelError(OnnxsmithError, ValueError):
    """A model does not keep ONNX's rules; the message carries what ONNX's checker said.

    Wrong:

        from onnx import parser

        text = '<ir_version: 8, opset_import: ["": 17]> g (float[N] a) => (float[N] b) { b = Relu(c) }'
        onnxsmith.Model.from_proto(parser.parse_model(text)).check()

    Right:

        from onnx import parser

        text = '<ir_version: 8, opset_import: ["": 17]> g (float[N] a) => (float[N] b) { b = Relu(a) }'
        onnxsmith.Model.from_proto(parser.parse_model(text)).check()
    """

    code = "F104"


class WeightError(OnnxsmithError, KeyError):
    """Weights cannot be read, or there is none of that name.

    A module that was made by `onnxsmith.decompile_to` finds its weights in a file beside it, and both must be moved
    together.

    Wrong:

        weights = onnxsmith.Weights({"bias": (FLOAT[2], [0.5, 1.5])})
        weights["bais"]

    Right:

        weights = onnxsmith.Weights({"bias": (FLOAT[2], [0.5, 1.5])})
        weights["bias"]
    """

    code = "F105"

    # KeyError shows its argument's repr; the message is for people.
    __str__ = OnnxsmithError.__str__


class DecompileError(OnnxsmithError, ValueError):
    """A model cannot be written as Python: it breaks a rule of ONNX that the code would need.

    A function that calls itself, nodes that wait for each other, or graphs that are nested without end have no
    program that computes them.

    Wrong:

        from onnx import parser

        text = '<ir_version: 8, opset_import: ["": 17]> g (float[N] a) => (float[N] b) { b = Add(a, c) c = Relu(b) }'
        onnxsmith.decompile(parser.parse_model(text))

    Right:

        from onnx import parser

        text = '<ir_version: 8, opset_import: ["": 17]> g (float[N] a) => (float[N] b) { c = Relu(a) b = Add(a, c) }'
        onnxsmith.decompile(parser.parse_model(text))
    """

    code = "F106"


class VersionConversionError(OnnxsmithError, ValueError):
    """A model cannot be said in the version of an opset that is wanted: a node of it means nothing there.

    The operator, its types or what it is told came with a later version, and it has no function that defines it by
    older operators; or an older version could say what newer ones cannot. The message names the nodes, and nothing is
    converted by halves.

    Wrong:

        model = trace(lambda a: op.GridSample(a, np.zeros((1, 2, 2, 2), np.float32)), FLOAT[1, 1, 4, 4])
        model.convert_version(13)

    Right:

        model = trace(lambda a: op.GridSample(a, np.zeros((1, 2, 2, 2), np.float32)), FLOAT[1, 1, 4, 4])
        model.convert_version(16)
    """

    code = "F107"
