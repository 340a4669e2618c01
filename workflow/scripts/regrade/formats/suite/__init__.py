"""YAML task suites: a file holds many tasks, each with a prompt and a way of scoring."""

from regrade.formats.suite.task import SuiteTask

__all__ = ["SuiteTask"]
