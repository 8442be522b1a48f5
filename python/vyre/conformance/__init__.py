"""Whether a backend gives the bytes that the documents say: cases, levels, certificates.

``vyre conform`` on the command line, ``pytest --pyargs vyre.conformance``, or from Python:

>>> certificate = certify("reference", levels=["L4"])
>>> certificate.levels["L4"]
'passed'

Levels
    L1 parity: every operator, cast, memory rule, statement, barrier and atomic gives the documents' bytes.
    L2 laws: every registered operation does what its examples, its laws and a model of it in Python say.
    L3 composition: calls, the optimiser and workgroup sizes change no byte.
    L4 programs: sequences of dispatches give what hashlib, zlib and numpy give.
    Each case of every level runs three times, with others between; a difference between two runs is a verdict of its
    own.
    L1f to L4f: the same for floats. This version has no floats and claims none of them.

``docs/conformance.md`` beside this package says what is promised, and how to read a certificate.
"""

from vyre._base.calls import explain_calls
from vyre.conformance import coverage
from vyre.conformance.case import LEVELS, Case, Judgement, Level, Step
from vyre.conformance.catalogue import cases
from vyre.conformance.certificate import Certificate, certify, verify
from vyre.conformance.format import AnyCertificate, CertificateError, Verification
from vyre.conformance.procedures import Elements, ProcedureCertificate, certify_procedure, verify_procedure
from vyre.conformance.runner import RUNS, Result, Target, run_case, run_cases, target, usable_targets

__all__ = [
    "LEVELS",
    "RUNS",
    "AnyCertificate",
    "Case",
    "Certificate",
    "CertificateError",
    "Elements",
    "Judgement",
    "Level",
    "ProcedureCertificate",
    "Result",
    "Step",
    "Target",
    "Verification",
    "cases",
    "certify",
    "certify_procedure",
    "coverage",
    "run_case",
    "run_cases",
    "target",
    "usable_targets",
    "verify",
    "verify_procedure",
]

explain_calls(globals())
