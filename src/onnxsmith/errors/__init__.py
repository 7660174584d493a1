"""Every mistake a user can make, one class and one code each.

The docstring of a class is its page in the manual: what happened, an example that is wrong, the same made right.
Codes: C1 source and syntax, C2 names, C3 operator calls, C4 types and shapes, C5 staging, C6 functions and models,
C7 PyTorch, C8 scikit-learn, R1 running, F1 files.
"""

from onnxsmith.errors.base import Culprit as Culprit
from onnxsmith.errors.base import FallbackWarning as FallbackWarning
from onnxsmith.errors.base import GivenCulprit as GivenCulprit
from onnxsmith.errors.base import ModelWarning as ModelWarning
from onnxsmith.errors.base import OnnxsmithError as OnnxsmithError
from onnxsmith.errors.base import RuntimeSupportWarning as RuntimeSupportWarning
from onnxsmith.errors.base import combined as combined
from onnxsmith.errors.boundary import boundary as boundary
from onnxsmith.errors.boundary import refusals_raised as refusals_raised
from onnxsmith.errors.checkpoints import CheckpointError as CheckpointError
from onnxsmith.errors.files import DecompileError as DecompileError
from onnxsmith.errors.files import ExternalDataError as ExternalDataError
from onnxsmith.errors.files import InvalidModelError as InvalidModelError
from onnxsmith.errors.files import ModelWriteError as ModelWriteError
from onnxsmith.errors.files import UnreadableModelError as UnreadableModelError
from onnxsmith.errors.files import VersionConversionError as VersionConversionError
from onnxsmith.errors.files import WeightError as WeightError
from onnxsmith.errors.functions import AttributeParameterError as AttributeParameterError
from onnxsmith.errors.functions import CallError as CallError
from onnxsmith.errors.functions import ConvertedModelWarning as ConvertedModelWarning
from onnxsmith.errors.functions import FunctionError as FunctionError
from onnxsmith.errors.functions import MissingReturnError as MissingReturnError
from onnxsmith.errors.functions import OpsetConflictError as OpsetConflictError
from onnxsmith.errors.functions import RecursiveFunctionError as RecursiveFunctionError
from onnxsmith.errors.functions import ReturnTypeError as ReturnTypeError
from onnxsmith.errors.functions import RuleError as RuleError
from onnxsmith.errors.functions import TraceError as TraceError
from onnxsmith.errors.gradients import LossError as LossError
from onnxsmith.errors.gradients import NotDifferentiableError as NotDifferentiableError
from onnxsmith.errors.gradients import UnreachedError as UnreachedError
from onnxsmith.errors.language import SourceNotFoundError as SourceNotFoundError
from onnxsmith.errors.language import UnassignedVariableError as UnassignedVariableError
from onnxsmith.errors.language import UndefinedNameError as UndefinedNameError
from onnxsmith.errors.language import UnsupportedSyntaxError as UnsupportedSyntaxError
from onnxsmith.errors.operators import AttributeTypeError as AttributeTypeError
from onnxsmith.errors.operators import AttributeValueError as AttributeValueError
from onnxsmith.errors.operators import InputTypeError as InputTypeError
from onnxsmith.errors.operators import MissingAttributeError as MissingAttributeError
from onnxsmith.errors.operators import MissingInputError as MissingInputError
from onnxsmith.errors.operators import OperatorNotInOpsetError as OperatorNotInOpsetError
from onnxsmith.errors.operators import OutputCountError as OutputCountError
from onnxsmith.errors.operators import TooManyInputsError as TooManyInputsError
from onnxsmith.errors.operators import UnknownAttributeError as UnknownAttributeError
from onnxsmith.errors.operators import UnknownOperatorError as UnknownOperatorError
from onnxsmith.errors.running import DeviceError as DeviceError
from onnxsmith.errors.running import DivisionByZeroError as DivisionByZeroError
from onnxsmith.errors.running import KernelError as KernelError
from onnxsmith.errors.running import LibraryError as LibraryError
from onnxsmith.errors.running import MemoryLimitError as MemoryLimitError
from onnxsmith.errors.running import MissingDependencyError as MissingDependencyError
from onnxsmith.errors.running import MissingProviderError as MissingProviderError
from onnxsmith.errors.running import ModelInputError as ModelInputError
from onnxsmith.errors.running import NotRunnableError as NotRunnableError
from onnxsmith.errors.running import OperatorFailedError as OperatorFailedError
from onnxsmith.errors.running import ProcessEndedError as ProcessEndedError
from onnxsmith.errors.running import RuntimeOptionError as RuntimeOptionError
from onnxsmith.errors.running import RunTimeoutError as RunTimeoutError
from onnxsmith.errors.running import SessionInUseError as SessionInUseError
from onnxsmith.errors.running import SessionStateError as SessionStateError
from onnxsmith.errors.sklearn import PipelineError as PipelineError
from onnxsmith.errors.sklearn import UnconvertedStepError as UnconvertedStepError
from onnxsmith.errors.staging import BranchTypeError as BranchTypeError
from onnxsmith.errors.staging import ConditionError as ConditionError
from onnxsmith.errors.staging import DynamicPythonValueError as DynamicPythonValueError
from onnxsmith.errors.staging import LastingChangeError as LastingChangeError
from onnxsmith.errors.staging import LeakedValueError as LeakedValueError
from onnxsmith.errors.staging import LoopTypeError as LoopTypeError
from onnxsmith.errors.staging import MutationError as MutationError
from onnxsmith.errors.staging import NestingError as NestingError
from onnxsmith.errors.staging import TensorAssignmentError as TensorAssignmentError
from onnxsmith.errors.staging import TracedValueError as TracedValueError
from onnxsmith.errors.staging import UnpackError as UnpackError
from onnxsmith.errors.staging import UnseenStateError as UnseenStateError
from onnxsmith.errors.surgery import CutError as CutError
from onnxsmith.errors.surgery import DuplicateNameError as DuplicateNameError
from onnxsmith.errors.surgery import JoinError as JoinError
from onnxsmith.errors.surgery import UnknownNameError as UnknownNameError
from onnxsmith.errors.tensors import AnnotationError as AnnotationError
from onnxsmith.errors.tensors import AxisError as AxisError
from onnxsmith.errors.tensors import DTypeNotAllowedError as DTypeNotAllowedError
from onnxsmith.errors.tensors import InferenceError as InferenceError
from onnxsmith.errors.tensors import LinearAlgebraError as LinearAlgebraError
from onnxsmith.errors.tensors import LiteralError as LiteralError
from onnxsmith.errors.tensors import MixedDTypesError as MixedDTypesError
from onnxsmith.errors.tensors import OutOfBoundsError as OutOfBoundsError
from onnxsmith.errors.tensors import ShapeError as ShapeError
from onnxsmith.errors.tensors import TensorIndexError as TensorIndexError
from onnxsmith.errors.tensors import UnknownMethodError as UnknownMethodError
from onnxsmith.errors.tensors import UnknownRankError as UnknownRankError
from onnxsmith.errors.torch import ExportError as ExportError
from onnxsmith.errors.torch import NarrowedDimensionWarning as NarrowedDimensionWarning
from onnxsmith.errors.torch import SpecialisedDimensionWarning as SpecialisedDimensionWarning
from onnxsmith.errors.torch import TrainingModeWarning as TrainingModeWarning
from onnxsmith.errors.torch import TranslationError as TranslationError
from onnxsmith.errors.torch import UntranslatedOperatorError as UntranslatedOperatorError
from onnxsmith.errors.torch import VerificationError as VerificationError
from onnxsmith.errors.training import MetricError as MetricError
from onnxsmith.errors.training import NonFiniteLossError as NonFiniteLossError
from onnxsmith.errors.training import TrainingDataError as TrainingDataError
from onnxsmith.errors.wrong_calls import wrong_call as wrong_call


def __dir__() -> list[str]:
    return sorted(
        name for name, each in globals().items() if isinstance(each, type) and issubclass(each, Exception)
    )
