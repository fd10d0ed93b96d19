"""Header, banner and status bar around the conversation."""
