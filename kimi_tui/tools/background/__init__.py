"""Work behind the conversation: tasks, their output on disk, and the tools to look at them."""
