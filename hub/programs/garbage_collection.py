"""When the programs of the hub collect garbage."""

import atexit
import gc


def collect_seldom() -> None:
    """Let Python's collector run seldom, and neither at the start nor at the end. Each program of the hub begins so.

    Nearly all objects that are made while modules are loaded stay in use, so the collector would traverse them for
    nothing. It is enabled again when the program is loaded: by hub.apps, hub.asgi and hub.programs.beat. With Python's
    own threshold, it would traverse the objects of a body of 4 MiB, which may become millions, again and again. At its
    end, a process would traverse all objects three times, for 0.2 seconds, although the system frees its memory anyway.
    """
    gc.disable()
    gc.set_threshold(50_000, 20, 100)
    atexit.register(gc.freeze)
