"""What a careful forger of certificates does: the hash is made anew after an edit."""

import hashlib
import json
from typing import Any


def sealed(content: dict[str, Any]) -> str:
    """The content as a file with the hash of this content."""
    body = {key: value for key, value in content.items() if key != "sha256"}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return json.dumps({**body, "sha256": hashlib.sha256(text.encode()).hexdigest()})
