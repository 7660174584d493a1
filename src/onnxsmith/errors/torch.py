"""C7: what keeps a PyTorch module from becoming a model."""

from __future__ import annotations

from onnxsmith.errors.base import OnnxsmithError


class UntranslatedOperatorError(OnnxsmithError, NotImplementedError):
    """The module calls PyTorch operators that have no translation to ONNX. The message lists all of them.

    A translation can be given with the export: a Python function on tensors, or a script.

    Wrong:

        import torch

        @torch.library.custom_op("my::twice", mutates_args=())
        def twice(x: torch.Tensor) -> torch.Tensor:
            return 2 * x

        twice.register_fake(torch.empty_like)

        class Model(torch.nn.Module):
            def forward(self, x):
                return twice(x)

        onnxsmith.torch.export(Model(), (torch.ones(3),))

    Right:

        import torch

        @torch.library.custom_op("my::twofold", mutates_args=())
        def twofold(x: torch.Tensor) -> torch.Tensor:
            return 2 * x

        twofold.register_fake(torch.empty_like)

        class Model(torch.nn.Module):
            def forward(self, x):
                return twofold(x)

        onnxsmith.torch.export(Model(), (torch.ones(3),), translations={twofold: lambda x: x + x})
    """

    code = "C701"


class TranslationError(OnnxsmithError, RuntimeError):
    """A translation of a PyTorch operator gives something else than PyTorch does: another shape, say.

    Wrong:

        import torch

        class Model(torch.nn.Module):
            def forward(self, x):
                return torch.relu(x)

        translations = {torch.ops.aten.relu.default: lambda x: x.sum()}
        onnxsmith.torch.export(Model(), (torch.ones(3),), translations=translations)

    Right:

        import torch

        class Model(torch.nn.Module):
            def forward(self, x):
                return torch.relu(x)

        translations = {torch.ops.aten.relu.default: lambda x: op.Max(x, 0.0)}
        onnxsmith.torch.export(Model(), (torch.ones(3),), translations=translations, opset_version=21)
    """

    code = "C702"


class ExportError(OnnxsmithError, TypeError, ValueError):
    """The module, its example arguments or what is said of them cannot be exported.

    Wrong:

        import torch

        onnxsmith.torch.export(torch.nn.Linear(3, 3), (torch.ones(2, 3),), input_names=["a", "b"])

    Right:

        import torch

        onnxsmith.torch.export(torch.nn.Linear(3, 3), (torch.ones(2, 3),), input_names=["a"])
    """

    code = "C703"


class VerificationError(OnnxsmithError, AssertionError):
    """A model does not compute what it was made of computes; raised by what takes `verify=True`.

    Of an exported module the message has the largest difference of each output, and the first operator that deviates.
    For `optimize`, `rewrite` and `convert_version` it names the change that made the difference, for
    `onnxsmith.numpy.to_model` the output, the sizes and how far the model and the code are apart.

    Wrong:

        import torch

        class Model(torch.nn.Module):
            def forward(self, x):
                return torch.relu(x) + 1

        translations = {torch.ops.aten.relu.default: lambda x: x}
        onnxsmith.torch.export(Model(), (-torch.ones(3),), translations=translations, verify=True)

    Right:

        import torch

        class Model(torch.nn.Module):
            def forward(self, x):
                return torch.relu(x) + 1

        onnxsmith.torch.export(Model(), (-torch.ones(3),), verify=True)
    """

    code = "C704"


class SpecialisedDimensionWarning(UserWarning):
    """A dimension that was asked to stay open has a fixed size in the model; the text says which, and why."""


class TrainingModeWarning(UserWarning):
    """A module was exported in training: dropout is random in the model, say. Call `eval()` first."""


class NarrowedDimensionWarning(UserWarning):
    """A dimension that was asked to stay open has fewer sizes in the model than were asked for.

    The module decides by the size, and the model has only the way that the example takes. The text says which
    dimension, which sizes are left, and which line decides. `Model` refuses other sizes; so does no other runtime.
    """
