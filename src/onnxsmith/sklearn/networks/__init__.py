"""Estimators that train networks: `NeuralNetClassifier` and `NeuralNetRegressor`, over `onnxsmith.training`."""
