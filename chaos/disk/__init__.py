"""The file backend under crashes: death at every call, loss of power, and disks that fail."""
