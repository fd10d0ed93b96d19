"""Images in the conversation: kitty graphics and half-block thumbnails."""
