"""Data frames: what a column is as an array, what a model says of the columns that it takes, and calls with a frame."""
