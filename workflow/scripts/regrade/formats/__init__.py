"""Task formats: one package each, which turns manifests into tasks and says what is wrong with them."""
