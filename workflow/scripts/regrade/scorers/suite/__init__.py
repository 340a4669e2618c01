"""The scoring types of task suites: one module each, with `score(task, response, tools) -> Score`."""
