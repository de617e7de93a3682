"""The event loop of an ASGI app: a call needs one of asyncio, and a `def` view must not wait on it."""

import asyncio


def find_loop() -> asyncio.AbstractEventLoop | None:
    """Return the running event loop of asyncio; None if there is none, as under trio."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def require_asyncio() -> asyncio.AbstractEventLoop:
    """Return the running event loop. Raises RuntimeError if it is not one of asyncio."""
    loop = find_loop()
    if loop is None:
        raise RuntimeError(
            "IntentMiddleware needs the event loop of asyncio, and the server runs another, such as trio's. "
            "No call is verified, and none passes: choose a worker of asyncio."
        )
    return loop


def require_thread_of_its_own() -> None:
    """Raise RuntimeError on an event loop: the view would block the loop, and the verification would never end."""
    if find_loop() is None:
        return
    raise RuntimeError(
        "intent_required: this view is a `def` that runs on the event loop, where it cannot wait for verification. "
        "Make it `async def`, or have the framework run it in a thread (in Litestar: sync_to_thread=True)."
    )
