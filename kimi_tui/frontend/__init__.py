"""Logic shared by the front ends, independent of Textual."""
