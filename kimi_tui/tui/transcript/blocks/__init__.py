"""What the conversation is made of: one kind of block a module."""
