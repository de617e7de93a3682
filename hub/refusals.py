"""What the server cannot start with: one clear line, never a traceback."""


class Refusal(Exception):
    """Starting was refused; the message says why and what to do."""
