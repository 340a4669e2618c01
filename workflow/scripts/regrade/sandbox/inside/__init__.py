"""What runs inside a sandbox, before and beside the command: it must start fast, and imports nothing else of ours."""
