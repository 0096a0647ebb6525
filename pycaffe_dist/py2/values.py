"""Names for types of what belongs to a script."""

from __future__ import annotations

from typing import Any

# A value of the script, or of a module that it imports: only the script knows its type.
Value = Any

Names = dict[str, Any]  # the names of a module, and what they stand for
