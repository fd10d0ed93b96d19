"""What a user of Kimi CLI brings along: reading its share dir, and copying from it into ours."""
