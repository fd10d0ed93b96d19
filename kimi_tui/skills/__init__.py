"""Skills and custom commands that users write in Markdown."""
