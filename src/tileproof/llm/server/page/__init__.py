"""The web page of the server: a chat, and the engine at work. Plain files, served as they are."""
