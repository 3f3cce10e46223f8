"""A step of the model as data: operations, passes over them, their memory, and their capture as a graph."""
