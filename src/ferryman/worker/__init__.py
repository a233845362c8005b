"""One process that claims jobs and runs them."""
