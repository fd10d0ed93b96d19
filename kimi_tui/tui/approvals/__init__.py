"""What the agent asks the user."""
