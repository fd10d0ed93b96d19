"""Pictures in prompts: attached, named by tokens, sent, and shown in cells."""
