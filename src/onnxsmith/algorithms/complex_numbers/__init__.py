"""Complex numbers as pairs of real tensors: ONNX computes with neither as one."""
