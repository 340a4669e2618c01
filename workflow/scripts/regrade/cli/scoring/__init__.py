"""The lines that `regrade score` takes and gives, a module a format, and the judges that both may ask."""
