"""What users write in Markdown for their agents: skills and commands."""
