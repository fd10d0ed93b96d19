"""The Agent Client Protocol front end."""
