"""The `ferryman` command: data on standard output, talk on standard error."""
