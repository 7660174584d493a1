"""Translations of PyTorch operators to ONNX: small functions in modules by family, found by the overload's name.

The contract of a translation:

- It is registered for overloads: `@translates("aten.gelu.default")`. `tools/generate_torch_index.py` then writes
  which module has it, so that an export imports only the families that it needs.
- It takes a `Call` first, and then the arguments in the order of torch's schema, with the schema's defaults.
  Arguments that are positional there may have any name here; keyword-only ones have the schema's. Arguments about
  devices, layouts and the like are left out unless the function has a parameter for them.
- Tensors are tensors of the graph: `x.dtype` (a `DType`), `x.type.shape` (ints, names, None). Known numbers are
  Python's. Numbers that only the model knows are `Number`s, which compute with Python's operators. A complex tensor
  is a `Complex` pair, which only functions registered with `@translates_complex` see; a function that merely moves
  elements says `lifts=True` and is called once for each part.
- `call.output` is torch's fake result; `call.dtype`, `call.rank` and `call.output_shape()` are read off it.
- It calls operators through `op`, which casts around element types that ONNX Runtime's CPU has no kernel for. It
  returns a tensor, a list for several results, a `Number` for a symbolic number, or a `Complex`. A result of
  another element type than torch's is cast; one of another shape is an error.
- What it does not cover it refuses: `raise call.refuse("negative padding")`. torch's decomposition is tried then.
"""
