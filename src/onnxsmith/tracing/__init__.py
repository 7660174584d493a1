"""Functions of tensors traced into models."""
