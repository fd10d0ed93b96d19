"""The Agent Client Protocol: sessions for editors, over the process's pipes."""
