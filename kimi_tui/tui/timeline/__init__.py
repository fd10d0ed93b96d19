"""The timeline: the pane with the tree of checkpoints, the dialogs that show plans, and what links them."""
