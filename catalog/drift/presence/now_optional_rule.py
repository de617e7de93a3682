"""The rule of "now optional": a property was in every one of enough objects, and is now missing in some (pure).

Consumers rely on what was so without exception this often. The same number therefore decides whether they rely on a
value that was always null, and whether a property came too late to be another one's new name.
"""

from __future__ import annotations

ENOUGH = 20  # observations without exception
