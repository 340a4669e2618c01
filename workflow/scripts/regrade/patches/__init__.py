"""Patches: what a trial changed."""
