"""Real servers for tests, started once a session on loopback and shared by its processes."""
