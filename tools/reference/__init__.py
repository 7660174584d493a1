"""Makes the reference pages of the documentation: one for each operator, and one for each group of public names.

The pages are written when the documentation is built (`docs/conf.py` calls `pages.write`), so none can be out of date.
Their examples run then, and whatever has no text, no example or a wrong result is an error of the build.
"""
