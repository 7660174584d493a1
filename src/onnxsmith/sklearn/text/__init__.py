"""Text as the vectorisers of scikit-learn read it: lower case, accents, tokens, n-grams, and bags of them."""
