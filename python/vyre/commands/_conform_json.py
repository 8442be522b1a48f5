"""What ``vyre conform --json`` prints: what was run where, the verdicts, and what is not as it should be.

It has no hashes and no row for a case that passed: those are in the certificate, which ``--out`` writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from vyre.conformance import Certificate, ProcedureCertificate, Result, Verification

__all__ = ["of_levels", "of_procedure"]

_BAD = ("failed", "nondeterministic", "skipped")


def of_levels(
    chosen: argparse.Namespace, certificate: Certificate, verification: Verification[Any] | None, seen: list[Result]
) -> dict[str, Any]:
    """Return the outcome of the conformance cases."""
    levels = certificate.content["levels"]
    found: dict[str, Any] = {
        **_begin(chosen, certificate.passed, verification),
        "target": certificate.content["target"],
        "runs": certificate.runs,
        "levels": levels,
        "totals": {key: sum(row.get(key, 0) for row in levels.values()) for key in ("passed", "allowed", *_BAD)},
        "cases": [
            {key: row[key] for key in ("id", "status", "reason")} for row in certificate.cases if row["status"] in _BAD
        ],
    }
    if chosen.seen:
        found["seen"] = {each.case.id: dict(sorted(each.observed.items())) for each in seen if each.observed}
    return found


def of_procedure(
    chosen: argparse.Namespace, certificate: ProcedureCertificate | None, verification: Verification[Any] | None
) -> dict[str, Any]:
    """Return the outcome of the calls of a procedure; a certificate of another procedure ran nothing."""
    found = _begin(chosen, certificate is not None and certificate.passed, verification)
    if certificate is not None:
        content = certificate.content
        found |= {key: content[key] for key in ("target", "procedure", "runs", "verdict")}
        found["calls"] = len(content["calls"])
    return found


def _begin(chosen: argparse.Namespace, passed: bool, verification: Verification[Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = {"ok": passed and (verification is None or verification.agrees)}
    if verification is not None:
        found["verified"] = {
            "certificate": chosen.verify,
            "agrees": verification.agrees,
            "differences": list(verification.differences),
            "notes": list(verification.notes),
        }
    return found
