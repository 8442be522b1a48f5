"""Hashes of what a certificate depends on: the core's tables and the registered operations."""

from __future__ import annotations

import hashlib
import json
import re

from vyre import _core

__all__ = ["canonical", "operation_hashes", "table_hashes"]


def table_hashes() -> dict[str, str]:
    """SHA-256 of each table of the core: what types, casts, operators and rules there are, and what they mean.

    >>> sorted(table_hashes())
    ['casts', 'operators', 'rules', 'types']
    """
    parts = {
        "types": ["types"],
        "casts": ["casts"],
        "operators": ["binary", "unary", "atomic"],
        "rules": ["rules", "messages"],
    }
    return {
        name: hashlib.sha256(canonical([[list(row) for row in _core._tables[key]] for key in keys])).hexdigest()
        for name, keys in parts.items()
    }


def operation_hashes() -> dict[str, str]:
    """SHA-256 of every registered operation with the bodies of all that it calls: id@version -> hash.

    >>> "primitive.u64.mul@1" in operation_hashes()
    True
    """
    specs = {f"{spec.id}@{spec.version}": spec for spec in _core._op_all()}
    newest = {spec.id: name for name, spec in specs.items()}  # _op_all is in ascending order of versions
    hashes: dict[str, str] = {}
    entered: set[str] = set()
    for name in specs:
        # Callees are hashed before callers, without recursion: a name stays on the stack until its callees are hashed.
        waiting = [(name, False)]
        while waiting:
            current, ready = waiting.pop()
            if current in hashes or (not ready and current in entered):
                continue
            entered.add(current)
            spec = specs[current]
            body = spec.body if spec.procedure is None else spec.procedure
            text = body.to_text() if body is not None else ""
            called = re.findall(r'\bcall\("([^"\\]+)"', text)
            callees = sorted({newest.get(id, id) for id in called} & specs.keys())
            if not ready:
                waiting.append((current, True))
                waiting += [(callee, False) for callee in callees]
                continue
            # A procedure's binary form has its arrays and numbers in it.
            signature = spec.signature and [[kind.name for kind in spec.signature.inputs], spec.signature.output.name]
            digest = hashlib.sha256(body.to_bytes()).hexdigest() if body is not None else ""
            # Operations may be registered in a cycle, which no program may call (V017): there a name stands for itself.
            resolved = [[callee, hashes.get(callee, "")] for callee in callees]
            hashes[current] = hashlib.sha256(
                canonical([current, signature, list(spec.parameters), digest, resolved])
            ).hexdigest()
    return dict(sorted(hashes.items()))


def canonical(value: object) -> bytes:
    """Return the one JSON text of a value that its hash is taken of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()
