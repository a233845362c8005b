"""Random pipelines under random crashes, each compared with what it must come to."""
