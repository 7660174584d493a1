"""R1: what a runtime refuses, cannot do, or is not there for."""

from __future__ import annotations

from onnxsmith.errors.base import OnnxsmithError


class OperatorFailedError(OnnxsmithError, RuntimeError):
    """The runtime refused to run an operator or model on these inputs.

    The message carries what the runtime said: what can be told from types, shapes and attributes is another error, the
    same one as where a graph is made. In a model, the place shown is the line that made the node which
    failed; the line that called the model comes second.

    Wrong:

        op.ReverseSequence(x, np.array([9, 1]), time_axis=1, batch_axis=0)

    Right:

        op.ReverseSequence(x, np.array([3, 1]), time_axis=1, batch_axis=0)
    """

    code = "R101"


class NotRunnableError(OnnxsmithError, NotImplementedError):
    """Nothing installed can run this operator or model for these element types.

    The help says who was asked and what they answered. The model itself may be fine: it can be saved and run elsewhere.

    Wrong:

        from onnxsmith import Opset

        Opset("my.domain", 1).Frobnicate(x)

    Right:

        from onnxsmith import Opset

        trace(lambda a: Opset("my.domain", 1).Frobnicate(a), FLOAT["N"])
    """

    code = "R102"


class MissingDependencyError(OnnxsmithError, ImportError):
    """An optional package is needed. The message says what to install.

    Wrong:

        $ pip install onnxsmith
        $ python -c "import onnxsmith; onnxsmith.runtime.using(providers=['CUDAExecutionProvider'])"

    Right:

        $ pip install onnxsmith[ort]
    """

    code = "R103"


class ModelInputError(OnnxsmithError, TypeError):
    """A model was called with inputs that are not the ones it has.

    Wrong:

        model = trace(lambda a, b: a @ b, FLOAT[2, 3], FLOAT[3, 2])
        model(x)

    Right:

        model = trace(lambda a, b: a @ b, FLOAT[2, 3], FLOAT[3, 2])
        model(x, x.T)
    """

    code = "R104"


class ProcessEndedError(OnnxsmithError, RuntimeError):
    """The process of an isolated run ended before it gave an answer.

    The message says how: which signal ended it, or with which exit code it ended. Your own process is unharmed.

    Wrong:

        $ onnxsmith run stranger.onnx --random

    Right:

        $ onnxsmith run stranger.onnx --random --isolated
    """

    code = "R105"


class RunTimeoutError(OnnxsmithError, TimeoutError):
    """An isolated run took longer than it was given, and was ended.

    The time begins when the runtime is loaded, and covers loading the model and running it.

    Wrong:

        model = trace(lambda a: a + 1, FLOAT["N", 3])
        model.run(x, isolated=True, timeout=0.000001)

    Right:

        model = trace(lambda a: a + 1, FLOAT["N", 3])
        model.run(x, isolated=True, timeout=60)
    """

    code = "R106"


class MemoryLimitError(OnnxsmithError, MemoryError):
    """A result wants more memory than there is, or an isolated run more than it was allowed.

    What counts for an isolated run is what the model takes on top of the runtime itself: weights, inputs, and all that
    it computes. Weights in files are mapped, and do not count.

    Wrong:

        model = trace(lambda a: op.Expand(a, [20_000_000, 2, 3]), FLOAT[2, 3])
        model.run(x, isolated=True, memory="100 MB")

    Right:

        model = trace(lambda a: op.Expand(a, [20_000, 2, 3]), FLOAT[2, 3])
        model.run(x, isolated=True, memory="100 MB")
    """

    code = "R107"


class DivisionByZeroError(OnnxsmithError, ZeroDivisionError):
    """An integer is divided by zero, or its remainder is asked for: `a // b`, `a % b`, `divmod`, `op.Div`, `op.Mod`.

    Numbers of a script that a model works out, such as `len(x)`, give it as tensors do, whether the script runs
    eagerly or as a model. Floats are another matter: a tensor divided by zero is infinite, and so is a number of a
    model's own, where Python refuses to divide one.

    Wrong:

        @script
        def f(x: FLOAT["N"]):
            return x * (8 // len(x))

        f(np.zeros(0, np.float32))

    Right:

        @script
        def f(x: FLOAT["N"]):
            return x * (8 // max(len(x), 1))

        f(np.zeros(0, np.float32))
    """

    code = "R108"


class DeviceError(OnnxsmithError, RuntimeError):
    """A device is not there, or a call has tensors on several.

    A call runs where its tensors are. Python numbers, arrays without dimensions and short vectors of whole numbers
    (shapes, axes) go where the other tensors are; nothing else moves by itself.

    Wrong:

        from onnxsmith import tensor

        tensor([1.0, 2.0]).to_device("cuda")  # on a machine without one

    Right:

        from onnxsmith import tensor

        tensor([1.0, 2.0]).to_device("cpu")
    """

    code = "R109"


class SessionStateError(OnnxsmithError, ValueError):
    """The state of a session does not fit the model: an input that it does not have, or one without its output.

    State is what a run gives and the next run takes. The output of an input is found by name: `w_next` for `w`, the
    name with `present` for `past`, that with `_out` for `_in`; or `pairs` says it.

    Wrong:

        model = trace(lambda x, h: op.Tanh(x + h), FLOAT["N"], FLOAT["N"], output_names=["y"])
        model.session(state={"h": np.zeros(2, np.float32)})

    Right:

        model = trace(lambda x, h: op.Tanh(x + h), FLOAT["N"], FLOAT["N"], output_names=["y"])
        model.session(state={"h": np.zeros(2, np.float32)}, pairs={"h": "y"})
    """

    code = "R110"


class SessionInUseError(OnnxsmithError, RuntimeError):
    """Two threads run one session at the same time. It has one set of buffers: a thread takes a session of its own.

    Wrong:

        from concurrent.futures import ThreadPoolExecutor

        session = trace(lambda a: a @ a, FLOAT["N", "N"]).session()
        images = [np.eye(800, dtype=np.float32)] * 16
        list(ThreadPoolExecutor(4).map(session, images))

    Right:

        from concurrent.futures import ThreadPoolExecutor

        model = trace(lambda a: a @ a, FLOAT["N", "N"])
        images = [np.eye(800, dtype=np.float32)] * 16
        list(ThreadPoolExecutor(4).map(model, images))
    """

    code = "R111"


class MissingProviderError(OnnxsmithError, ValueError):
    """The installed build of ONNX Runtime does not have an execution provider. The help says what to install.

    Wrong:

        $ pip install onnxruntime
        $ python -c "import onnxsmith; onnxsmith.runtime.using(providers='cuda')"

    Right:

        $ pip uninstall onnxruntime
        $ pip install onnxruntime-gpu
    """

    code = "R121"


class RuntimeOptionError(OnnxsmithError, ValueError):
    """An option of an execution provider, or of sessions, does not exist, or is not for what was chosen.

    Wrong:

        from onnxsmith.runtime import using

        using(session_options={"graph_optimisation": "all"})

    Right:

        from onnxsmith.runtime import using

        using(session_options={"graph_optimization_level": "all"})
    """

    code = "R122"


class LibraryError(OnnxsmithError, ImportError):
    """A library of operators, or of an execution provider, cannot be loaded into ONNX Runtime.

    Wrong:

        $ python -c "import onnxsmith; onnxsmith.runtime.register_custom_ops('no_such_library.so')"

    Right:

        $ pip install onnxruntime-extensions
        $ python -c "import onnxruntime_extensions; print(onnxruntime_extensions.get_library_path())"
    """

    code = "R123"


class KernelError(OnnxsmithError, TypeError):
    """A Python function that is the kernel of an operator gives something else than it, or the model, declares.

    Wrong:

        from onnxsmith import Opset, runtime

        @runtime.kernel("pages.kernels::Half")
        def half(x) -> FLOAT["N"]:
            return x / np.float64(2)

        Opset("pages.kernels", 1).Half(np.ones(3))

    Right:

        from onnxsmith import Opset, runtime

        @runtime.kernel("pages.kernels::Half")
        def half(x) -> FLOAT["N"]:
            return (x / 2).astype(np.float32)

        Opset("pages.kernels", 1).Half(np.ones(3))
    """

    code = "R124"
