"""The two modules that graders written elsewhere import by name."""
