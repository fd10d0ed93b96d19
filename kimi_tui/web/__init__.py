"""The app in a browser: a web server on loopback that shows a terminal to the holder of a token."""
