"""The source of a script: where its functions stand, and their syntax trees."""
