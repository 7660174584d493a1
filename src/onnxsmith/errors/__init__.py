"""Every mistake a user can make, one class and one code each.

The docstring of a class is its page in the manual: what happened, an example that is wrong, the same made right.
Codes: C1 source and syntax, C2 names, C3 operator calls, C4 types and shapes, C5 staging, C6 functions and models,
C7 PyTorch, R1 running, F1 files.
"""

from onnxsmith.errors.base import Culprit as Culprit
from onnxsmith.errors.base import ModelWarning as ModelWarning
from onnxsmith.errors.base import OnnxsmithError as OnnxsmithError
from onnxsmith.errors.base import boundary as boundary
from onnxsmith.errors.base import combined as combined
from onnxsmith.errors.files import DecompileError as DecompileError
from onnxsmith.errors.files import ExternalDataError as ExternalDataError
from onnxsmith.errors.files import InvalidModelError as InvalidModelError
from onnxsmith.errors.files import ModelWriteError as ModelWriteError
from onnxsmith.errors.files import UnreadableModelError as UnreadableModelError
from onnxsmith.errors.files import WeightError as WeightError
from onnxsmith.errors.functions import AttributeParameterError as AttributeParameterError
from onnxsmith.errors.functions import CallError as CallError
from onnxsmith.errors.functions import FunctionError as FunctionError
from onnxsmith.errors.functions import MissingReturnError as MissingReturnError
from onnxsmith.errors.functions import OpsetConflictError as OpsetConflictError
from onnxsmith.errors.functions import RecursiveFunctionError as RecursiveFunctionError
from onnxsmith.errors.functions import ReturnTypeError as ReturnTypeError
from onnxsmith.errors.functions import TraceError as TraceError
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
from onnxsmith.errors.running import MissingDependencyError as MissingDependencyError
from onnxsmith.errors.running import ModelInputError as ModelInputError
from onnxsmith.errors.running import NotRunnableError as NotRunnableError
from onnxsmith.errors.running import OperatorFailedError as OperatorFailedError
from onnxsmith.errors.staging import BranchTypeError as BranchTypeError
from onnxsmith.errors.staging import ConditionError as ConditionError
from onnxsmith.errors.staging import DynamicPythonValueError as DynamicPythonValueError
from onnxsmith.errors.staging import LeakedValueError as LeakedValueError
from onnxsmith.errors.staging import LoopTypeError as LoopTypeError
from onnxsmith.errors.staging import MutationError as MutationError
from onnxsmith.errors.staging import NestingError as NestingError
from onnxsmith.errors.staging import TensorAssignmentError as TensorAssignmentError
from onnxsmith.errors.staging import TracedValueError as TracedValueError
from onnxsmith.errors.staging import UnpackError as UnpackError
from onnxsmith.errors.tensors import AnnotationError as AnnotationError
from onnxsmith.errors.tensors import DTypeNotAllowedError as DTypeNotAllowedError
from onnxsmith.errors.tensors import InferenceError as InferenceError
from onnxsmith.errors.tensors import LiteralError as LiteralError
from onnxsmith.errors.tensors import MixedDTypesError as MixedDTypesError
from onnxsmith.errors.tensors import ShapeError as ShapeError
from onnxsmith.errors.tensors import TensorIndexError as TensorIndexError
from onnxsmith.errors.tensors import UnknownMethodError as UnknownMethodError
from onnxsmith.errors.tensors import UnknownRankError as UnknownRankError
from onnxsmith.errors.torch import ExportError as ExportError
from onnxsmith.errors.torch import SpecialisedDimensionWarning as SpecialisedDimensionWarning
from onnxsmith.errors.torch import TranslationError as TranslationError
from onnxsmith.errors.torch import UntranslatedOperatorError as UntranslatedOperatorError
from onnxsmith.errors.torch import VerificationError as VerificationError
