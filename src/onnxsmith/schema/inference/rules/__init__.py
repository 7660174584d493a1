"""The rules, one module for each family of operators. A family is imported when one of its operators is called."""
