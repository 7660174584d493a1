"""The graph target on onnx-ir: builder, names, functions, models, files."""
