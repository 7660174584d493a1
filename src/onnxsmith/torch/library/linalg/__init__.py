"""Linear algebra: factorisations and what they solve, as loops over columns; real and complex, batched, of any size."""
