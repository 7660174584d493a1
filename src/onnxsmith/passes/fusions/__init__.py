"""Several nodes as one that ONNX has, where ONNX Runtime's CPU was measured to run the one no slower.

Most are rules as users write them, with `onnxsmith.passes.rules`: a pattern, a replacement, a condition. Where one is
written by hand, its module says why.
"""
