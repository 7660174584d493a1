"""Forms of models for training and after it: weights as initializers, which arrays are weights, the model in use."""
