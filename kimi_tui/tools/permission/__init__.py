"""What may be done without asking: commands read, rules, dangers."""
