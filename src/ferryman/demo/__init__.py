"""A small crossing that shows retries, a kill, and that nothing is lost: `ferryman demo`."""
