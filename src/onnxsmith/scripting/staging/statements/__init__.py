"""The kinds of statements, one class each, entered by the class of the tree's node that they stage."""
