"""A model in another version of its opsets, up and down: `convert_version(model, 21)`.

`walk` moves every node from definition to definition, `up` and `down` have the adapters by what changed, `bodies` the
functions that define operators, `refusals` what could not be done. In which versions a node means the same is known
to `schema.equivalent_versions`.
"""

from onnxsmith.passes.versions.convert import convert_version as convert_version
