"""Property tests here are many and tiny: a slow machine must not fail them by the clock."""

from hypothesis import settings

settings.register_profile("interpreter", deadline=None)
settings.load_profile("interpreter")
