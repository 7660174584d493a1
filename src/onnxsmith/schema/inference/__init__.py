"""Types, shapes and shape arithmetic of one operator call: `infer`.

Does not bind arguments, check element types against the schema, or know where in the source a call stands.
"""

from __future__ import annotations

from onnxsmith.schema.inference.infer import infer as infer
from onnxsmith.schema.inference.known import BodyOutputs as BodyOutputs
from onnxsmith.schema.inference.known import Data as Data
from onnxsmith.schema.inference.known import Known as Known
