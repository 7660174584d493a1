"""One module per family of operators; importing this package enters all their rules."""

from __future__ import annotations

from onnxsmith.schema.inference.rules import attention as attention
from onnxsmith.schema.inference.rules import casts as casts
from onnxsmith.schema.inference.rules import control_flow as control_flow
from onnxsmith.schema.inference.rules import elementwise as elementwise
from onnxsmith.schema.inference.rules import generators as generators
from onnxsmith.schema.inference.rules import indexing as indexing
from onnxsmith.schema.inference.rules import joining as joining
from onnxsmith.schema.inference.rules import machine_learning as machine_learning
from onnxsmith.schema.inference.rules import matmul as matmul
from onnxsmith.schema.inference.rules import microsoft as microsoft
from onnxsmith.schema.inference.rules import normalisation as normalisation
from onnxsmith.schema.inference.rules import recurrent as recurrent
from onnxsmith.schema.inference.rules import reduction as reduction
from onnxsmith.schema.inference.rules import reshaping as reshaping
from onnxsmith.schema.inference.rules import resizing as resizing
from onnxsmith.schema.inference.rules import sequences as sequences
from onnxsmith.schema.inference.rules import shapes as shapes
from onnxsmith.schema.inference.rules import signal as signal
from onnxsmith.schema.inference.rules import training as training
from onnxsmith.schema.inference.rules import windows as windows
