"""Print mode and the daemon. Both use only the Wire."""
