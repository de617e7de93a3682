"""How many observations without an exception are enough for consumers to rely on what they show (pure).

A property that was in every one of so many objects, and is missing in a later one, is "now optional". The number also
decides whether consumers rely on a value that was always null, and whether a property came too late to be another one's
new name.
"""

from __future__ import annotations

ENOUGH = 20  # observations without exception
