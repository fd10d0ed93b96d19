"""Goals: the agent works until a check passes with the tests as they were at the start."""
