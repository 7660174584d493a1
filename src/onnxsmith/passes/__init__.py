"""Model to model: optimising, rewriting, converting versions, cutting and joining.

A pass never changes the model that it is given: it returns a new one that shares the weights, with a log of what became
what. `Editor` is the model that is being changed, `Worklist` applies rules to it to a fixed point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxsmith.registry import exports

if TYPE_CHECKING:
    from onnxsmith.graphs.edits import Edit as Edit
    from onnxsmith.graphs.edits import NodeNote as NodeNote
    from onnxsmith.graphs.report import PassedModel as PassedModel
    from onnxsmith.graphs.report import Report as Report
    from onnxsmith.passes.optimizing import optimize as optimize
    from onnxsmith.passes.optimizing import polish as polish
    from onnxsmith.passes.optimizing import tidy as tidy
    from onnxsmith.passes.surgery import extract as extract
    from onnxsmith.passes.surgery import rename as rename
    from onnxsmith.passes.surgery import with_metadata as with_metadata
    from onnxsmith.passes.surgery import with_outputs as with_outputs
    from onnxsmith.passes.surgery import with_shapes as with_shapes
    from onnxsmith.passes.surgery.shaping import with_tried_shapes as with_tried_shapes
    from onnxsmith.passes.training.in_use import form_in_use as form_in_use
    from onnxsmith.passes.training.lifting import arrays_of as arrays_of
    from onnxsmith.passes.training.lifting import with_initializers as with_initializers
    from onnxsmith.passes.training.roles import roles_of as roles_of
    from onnxsmith.passes.versions import convert_version as convert_version

#: Public name -> the module it lives in. Who needs one pass, as the decompiler does, does not wait for the others.
_LAZY = {
    "Edit": "onnxsmith.graphs.edits",
    "NodeNote": "onnxsmith.graphs.edits",
    "PassedModel": "onnxsmith.graphs.report",
    "Report": "onnxsmith.graphs.report",
    "arrays_of": "onnxsmith.passes.training.lifting",
    "convert_version": "onnxsmith.passes.versions",
    "extract": "onnxsmith.passes.surgery",
    "form_in_use": "onnxsmith.passes.training.in_use",
    "optimize": "onnxsmith.passes.optimizing",
    "polish": "onnxsmith.passes.optimizing",
    "rename": "onnxsmith.passes.surgery",
    "roles_of": "onnxsmith.passes.training.roles",
    "tidy": "onnxsmith.passes.optimizing",
    "with_initializers": "onnxsmith.passes.training.lifting",
    "with_metadata": "onnxsmith.passes.surgery",
    "with_outputs": "onnxsmith.passes.surgery",
    "with_shapes": "onnxsmith.passes.surgery",
    "with_tried_shapes": "onnxsmith.passes.surgery.shaping",
}

__getattr__, __dir__ = exports(__name__, _LAZY)
