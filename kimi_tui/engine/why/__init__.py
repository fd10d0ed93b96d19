"""Explanation of lines: the prompt and step that wrote them."""
