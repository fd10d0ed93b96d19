"""Hooks: commands of the user's and subscriptions of a client's that run at moments of a session."""
