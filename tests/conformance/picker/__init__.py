"""The endpoint picker of the inference extension, run with what is rendered for it: configuration, pool and rights."""
