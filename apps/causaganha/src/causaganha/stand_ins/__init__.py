"""The services that CausaGanha uses, on loopback, in their wire formats. All names are invented."""
