"""The prompt: editor, history, completion, drafts."""
