"""Goals: the agent works until a check passes with the original tests."""
