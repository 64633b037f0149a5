"""The functions of the language, one module for each subject; `library` gathers them by version."""
