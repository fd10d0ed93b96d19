"""The app in a browser: a web server on loopback that shows a terminal to whoever has a token."""
