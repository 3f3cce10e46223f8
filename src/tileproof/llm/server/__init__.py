"""`tileproof serve`: the engine as an HTTP server with the APIs of OpenAI and Anthropic."""
