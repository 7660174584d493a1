"""Several nodes as one that ONNX has, where ONNX Runtime's CPU was measured to run the one no slower."""
