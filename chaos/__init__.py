"""Real processes, killed and frozen at random moments, and set arithmetic over what is left."""
