"""The computation of each universal function, on tensors of the element types that numpy chose."""
