"""Putting back what decides how a repository's tests come out: configuration of runners, and test files.

Needs the standard library alone, and nothing else of Regrade: a Harbor bundle's script carries these files inside and
runs them there.

imports.py   which files Python loads unasked, by their names
names.py     which files decide, by their names
sections.py  the parts about tests in files that hold other things beside
trees.py     `restore`
"""
