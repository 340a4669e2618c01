"""Scoring answers: a package a format, because the formats' rules differ, and what both need.

bounded     running somebody's pattern or schema within a time limit
benchpack   the modes of benchpacks
suite       the scoring types of task suites
"""
