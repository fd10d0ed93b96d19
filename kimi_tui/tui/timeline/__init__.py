"""Timeline: the pane with the checkpoint tree, the revert dialogs, and their controller."""
