"""Structured output: grammars, and the masks of tokens that they allow."""
