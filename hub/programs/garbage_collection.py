"""When the programs of the hub collect garbage."""

import atexit
import gc


def collect_seldom() -> None:
    """Let Python's collector run seldom, and not at the end. Each program of the hub begins with this.

    Nearly all objects that are made while modules are loaded stay in use. With Python's own threshold, the collector
    would traverse them again and again; so it would the objects of a body of 4 MiB, which may become millions. At its
    end, a process would traverse all objects three times, for 0.2 seconds, although the system frees its memory anyway.
    """
    gc.set_threshold(50_000, 20, 100)
    atexit.register(gc.freeze)
