"""Run a whole model: ONNX Runtime on it as it is, on the same with lower opset versions, or the reference evaluator.

Takes and gives what operators take and give. What the inputs should be called, and which types they have, is
checked by whoever holds the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import onnx

from onnxsmith.diagnostics import clipped
from onnxsmith.errors import InvalidModelError, NotRunnableError, OnnxsmithError, OperatorFailedError
from onnxsmith.errors.boundary import boundary
from onnxsmith.graphs.diagnosis import Explanations
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.model import ModelLike, model_of
from onnxsmith.graphs.model_runtime import Explain, FindNode, Objection
from onnxsmith.graphs.opsets import OPSET_REMEDY
from onnxsmith.graphs.run_values import Run, RunValue, session_value
from onnxsmith.graphs.soundness import newer_opset_of
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.blocked import Chain, elementwise_chain
from onnxsmith.runtime.device_arrays import bound_runner
from onnxsmith.runtime.failure import (
    FailedNode,
    NoReference,
    described_value,
    failed_node,
    plain_reason,
    says_not_supported,
    unknown_operator,
    unmade_value,
)
from onnxsmith.runtime.fallback_forms import open_as_it_can, opener, threads_for
from onnxsmith.runtime.faster_forms import quicker
from onnxsmith.runtime.feeds import runner_over
from onnxsmith.runtime.kernel_models import KernelModel
from onnxsmith.runtime.kernels_in_python import KernelKey, kernels_in
from onnxsmith.runtime.opening import make_session
from onnxsmith.runtime.reference_trust import warned_of_model
from onnxsmith.runtime.settings import Settings, current
from onnxsmith.source import caller_span
from onnxsmith.types.value_types import parse_onnx_type

if TYPE_CHECKING:
    #: A model in any form that users give, or with its weights apart.
    LoadableModel: TypeAlias = SessionModel | ModelLike


#: No runtime has its operators.
_TRAINING_DOMAIN = "ai.onnx.preview.training"
_LONGEST_NAME = 60


class ModelSession:
    """A loaded model: call it on a list of inputs in the order of `input_names`.

    `run` does the same for arrays in the byte order of the machine.

    >>> from onnx import parser
    >>> text = '<ir_version: 8, opset_import: ["" : 14]> g (float[N] x) => (float[N] y) { y = Add(x, x) }'
    >>> session = load_session(parser.parse_model(text))
    >>> import numpy as np
    >>> session([np.float32([1, 2])])
    [array([2., 4.], dtype=float32)]
    >>> session.input_names, session.output_names
    (('x',), ('y',))
    """

    __slots__ = ("input_names", "output_names", "run", "source")

    def __init__(
        self, run: Run, input_names: Sequence[str], output_names: Sequence[str], source: str
    ) -> None:
        self.run = run
        self.input_names: tuple[str, ...] = tuple(input_names)
        self.output_names: tuple[str, ...] = tuple(output_names)
        self.source = source

    def __call__(self, inputs: Sequence[RunValue]) -> list[RunValue]:
        return self.run([session_value(each) for each in inputs])


@boundary
def load_session(
    model: LoadableModel,
    *,
    find_node: FindNode | None = None,
    objection: Objection | None = None,
    explain: Explain | None = None,
) -> ModelSession:
    """Load a model in any form, under the settings of this context.

    Raises NotRunnableError when nothing installed can run it. When it cannot run on its inputs, the session raises
    OperatorFailedError, placed at the node's origin where `find_node` knows it, or what `explain` makes of that error.
    The reference evaluator overlooks much that ONNX does not allow: `objection` is asked before it is.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, trace
    >>> from onnxsmith.runtime import load_session
    >>> session = load_session(trace(lambda x: x + 1.0, FLOAT["N"]))
    >>> session([np.float32([1, 2])])
    [array([2., 3.], dtype=float32)]
    """
    settings = current()
    tried: list[tuple[str, str]] = []
    given = _apart(model)
    refuse_newer_opsets(given.proto)
    keys = kernels_in(given.proto) if settings.kernels else frozenset[KernelKey]()
    if keys and settings.stays_on is not None:
        raise _kernels_take_numpy()
    if keys:
        return _with_kernels(given, keys, find_node)
    if settings.runtime == "onnxruntime":
        try:
            # Blocks fit the cache of a CPU; other devices, and values of the runtime's own, take the arrays whole.
            whole = settings.providers or settings.stays_on is not None
            chain = None if whole else elementwise_chain(given.proto)
            session = _opened(given, settings, objection, chain)
            # The reference evaluator computes on arrays of numpy.
            spare = given if settings.stays_on is None else None
            return _run_on(session, spare, find_node, objection, explain, chain)
        except OnnxsmithError:
            raise
        except Exception as error:  # ONNX Runtime's own classes, one for each reason
            tried.append(("ONNX Runtime", plain_reason(error)))
    else:
        _raise(objection, "", None)
    try:
        if settings.stays_on is None:
            return _on_reference(given, find_node, objection, explain)
    except Exception as error:  # it has no such operator, or the model cannot even be read
        tried.append(("the reference evaluator", plain_reason(error)))
    raise refused("\n".join(f"{who}: {why}" for who, why in tried), find_node)


def _with_kernels(
    model: SessionModel, keys: frozenset[KernelKey], find_node: FindNode | None
) -> ModelSession:
    made = KernelModel(model, keys, lambda part: load_session(part, find_node=find_node).run, find_node)
    return ModelSession(made.run, made.input_names, made.output_names, "kernels")


def _kernels_take_numpy() -> NotRunnableError:
    return NotRunnableError(
        "the model has kernels in Python, which take arrays of numpy",
        help="call the model itself, on arrays; or using(kernels=False) runs the functions' bodies",
    )


def _opened(
    given: SessionModel, settings: Settings, objection: Objection | None, chain: Chain | None = None
) -> onnxruntime_api.Session:
    form = given if chain is None else SessionModel(quicker(given.proto), given.weights)
    opens = opener(settings, threads=None if chain is None else 1)
    return open_as_it_can(form, opens, lambda said: _raise(objection, str(said), None)).session


def open_model(model: SessionModel, explained: Explanations) -> onnxruntime_api.Session:
    """ONNX Runtime's own session of a model, in the first form that it takes; NotRunnableError where there is none."""
    refuse_newer_opsets(model.proto)
    if current().runtime != "onnxruntime":
        raise NotRunnableError(
            f"a session is ONNX Runtime's, and models run on the runtime {current().runtime!r} here",
            help="call the model itself",
        )
    if current().kernels and kernels_in(model.proto):
        raise _kernels_take_numpy()
    try:
        return _opened(model, current(), explained.objection)
    except OnnxsmithError:
        raise
    except Exception as error:  # ONNX Runtime's own classes, one for each reason
        raise refused(f"ONNX Runtime: {plain_reason(error)}", explained.find_node) from error


def refuse_newer_opsets(model: onnx.ModelProto) -> None:
    """Raise NotRunnableError for an opset that the installed onnx does not have: its operators may mean anything."""
    newer = newer_opset_of(model)
    if newer is not None:
        raise NotRunnableError(f"nothing installed can run this model: {newer}", help=OPSET_REMEDY)


def _raise(objection: Objection | None, said: str, feeds: Sequence[RunValue] | None) -> None:
    found = None if objection is None else objection(said, feeds)
    if found is not None:
        raise found


def refused(told: str, find_node: FindNode | None) -> NotRunnableError:
    """Nothing installed can run the model: `told` says who was asked and what they answered."""
    if _TRAINING_DOMAIN in told:
        told += "\nonnxsmith.grad.expand_training(model) is the model in standard operators"
    unknown = unknown_operator(told)
    if unknown is not None and _TRAINING_DOMAIN not in told:
        told = (
            f"no runtime here knows the operator {unknown}: to_model(functions=[…]) or a rewrite rule says what it "
            "computes, onnxsmith.runtime.kernel makes a Python function its kernel, and register_custom_ops loads a "
            "library that has it; or run the model where it is known"
        )
    error = NotRunnableError("nothing installed can run this model", help=told)
    origin = None if unknown is None or find_node is None else find_node(unknown)
    if origin is not None:
        error.locate(origin).also(caller_span(), "the model is run here")
    return error


def load_on_onnxruntime(model: LoadableModel) -> ModelSession:
    """Load a model on ONNX Runtime as it is, without any other way around; raises what ONNX Runtime raises."""
    return _run_on(make_session(_apart(model), current(), threads=threads_for(current())), None, None)


def _apart(model: LoadableModel) -> SessionModel:
    if isinstance(model, SessionModel):
        return model
    if isinstance(model, onnx.ModelProto):
        return SessionModel(model)  # as it is: what is wrong in it, the runtime says
    return model_of(model, "load_session").handed_over()


def _run_on(
    session: onnxruntime_api.Session,
    model: SessionModel | None,
    find_node: FindNode | None,
    objection: Objection | None = None,
    explain: Explain | None = None,
    chain: Chain | None = None,
) -> ModelSession:
    """Runs a session; on what ONNX Runtime does not support the reference evaluator runs `model`, unless it is None."""
    inputs = onnxruntime_api.input_types(session)
    names = [name for name, _ in inputs]

    def recover(error: Exception, values: Sequence[RunValue]) -> list[RunValue]:
        if model is not None and says_not_supported(error):
            _raise(objection, str(error), values)
            try:
                return _on_reference(model, find_node, None, None).run(values)
            except (NoReference, InvalidModelError, OperatorFailedError):
                pass  # what ONNX Runtime said is nearer to what the user can change
        raise run_error(names, values, error, find_node, explain) from error

    types = [parse_onnx_type(text) for _, text in inputs]
    device = current().stays_on
    if device is not None:
        run = bound_runner(session, names, types, device, recover)
    else:
        run = runner_over(session, names, types, recover)
    if chain is not None and chain.inputs == names:
        run = chain.blocked(run, threads_for(current()))
    return ModelSession(
        run, names, [name for name, _ in onnxruntime_api.output_types(session)], "onnxruntime"
    )


def _on_reference(
    model: SessionModel, find_node: FindNode | None, objection: Objection | None, explain: Explain | None
) -> ModelSession:
    from onnxsmith.runtime.reference import ReferenceSession  # heavy: where ONNX Runtime cannot run

    whole = model.whole()
    session = ReferenceSession(whole)
    names = session.input_names

    def run(inputs: Sequence[RunValue]) -> list[RunValue]:
        _raise(objection, "", inputs)
        try:
            return session.run(names, inputs)
        except Exception as error:
            unmade = unmade_value(error)
            if unmade is not None:
                raise InvalidModelError(
                    f"the model is not valid: nothing makes {clipped(unmade, _LONGEST_NAME)!r} before a node reads it",
                    help="an ONNX graph has no cycles, and its nodes stand in the order in which they run",
                ) from error
            if says_not_supported(error):
                raise refused(f"the reference evaluator: {plain_reason(error)}", find_node) from error
            raise run_error(names, inputs, error, find_node, explain) from error

    told = run if current().runtime == "reference" else warned_of_model(whole, run)
    return ModelSession(told, names, session.output_names, "reference")


def failed(
    names: Sequence[str],
    values: Sequence[RunValue],
    node: FailedNode | None,
    reason: str,
    find_node: FindNode | None,
) -> OperatorFailedError:
    """The model does not run on these values, for a reason given in plain words; `node` is the one that failed."""
    described = ", ".join(
        f"{name}: {described_value(value)}" for name, value in zip(names, values, strict=False)
    )
    origin = find_node(node.name) if node is not None and find_node is not None else None
    where = "" if node is None else f" in {node.operator}" + (f" '{node.name}'" if node.name else "")
    if origin is not None:  # the line says more than the name that the runtime gave the node
        where = ""
    error = OperatorFailedError(f"the model cannot run on ({described}){where}: {reason}")
    error.node = node
    if origin is not None:
        error.locate(origin).also(caller_span(), "the model is run here")
    return error


def run_error(
    names: Sequence[str],
    values: Sequence[RunValue],
    error: Exception,
    find_node: FindNode | None,
    explain: Explain | None,
) -> OnnxsmithError:
    """The error of a run of these values that ONNX Runtime, or the reference evaluator, ended with `error`."""
    found = failed(names, values, failed_node(error), plain_reason(error), find_node)
    return found if explain is None else explain(found, values)
