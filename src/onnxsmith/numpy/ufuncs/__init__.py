"""What each universal function computes, on tensors of the element types that numpy chose."""
