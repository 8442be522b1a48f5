"""Keyed digests: HMAC of messages, and keys derived from passwords with PBKDF2."""

from __future__ import annotations

from typing import Any

import vyre
from vyre._base.refused import must_be_one_of, must_have
from vyre.std._calls.declared import At, Unpack, argument, at_of, call, name_of
from vyre.std._calls.host import count_of, place_of
from vyre.std._calls.messages import Messages, octets, taken
from vyre.std._hashing.algorithm import Algorithm
from vyre.std._hashing.block_hashes import form_of
from vyre.std._hashing.hmac_kernels import hmac_digests, keyed_states
from vyre.std._hashing.pbkdf2 import COUNTER, MOST_ITERATIONS, pbkdf2
from vyre.std.hashes import ALGORITHMS

__all__ = ["hmac", "pbkdf2_hmac"]


def _algorithm(name: Any, at: At) -> Algorithm:
    if isinstance(name, str) and name in ALGORITHMS:
        return ALGORITHMS[name]
    raise must_be_one_of(argument(at, "algorithm"), ALGORITHMS, name)


@call
def hmac(key: Any, data: Any, algorithm: str = "sha256", **at: Unpack[At]) -> Any:
    """HMAC of one message or of many, with one key.

    Args:
        key: a bytes-like or a uint8 array of one axis, of any length.
        data: one message, a list of them or Messages, as for ``vyre.std.sha256``.
        algorithm: the name of a digest of vyre.std: md5, sha1, sha224, sha256, sha384, sha512, sha3_224, sha3_256,
            sha3_384 or sha3_512.

    Returns: for one message bytes of the digest's size; for a list a uint8 array of shape (n, size), resident for
    Messages; for one resident array of uint8 a resident one of shape (size,).

    Source: RFC 2104, FIPS 198-1. The states after the key's two blocks are computed once for all messages.

    >>> hmac(b"Jefe", b"what do ya want for nothing?", "sha256", backend="cpu").hex()
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
    """
    chosen, given = _algorithm(algorithm, at), taken(data, at)
    messages = given.messages
    octets_ = octets(key, argument(at, "key"))
    keys = Messages.pack([octets_], backend=messages.backend, device=messages.device)
    inner, outer = keyed_states(chosen, form_of(chosen, keys))(keys.words, keys.starts, keys.lengths, keys.longest)
    found = hmac_digests(chosen, form_of(chosen, messages))(
        inner, outer, 0, messages.words, messages.starts, messages.lengths, messages.longest
    )
    return given.rows(found, chosen.digest)


@call
def pbkdf2_hmac(
    algorithm: str,
    passwords: Any,
    salts: Any,
    iterations: int,
    dklen: int | None = None,
    **at: Unpack[At],
) -> Any:
    """Keys derived from passwords and salts with PBKDF2 and HMAC, as ``hashlib.pbkdf2_hmac`` derives one.

    Args:
        algorithm: the name of a digest, as for ``vyre.std.hmac``.
        passwords, salts: each a bytes-like, a list of them or Messages. Password i goes with salt i; one alone goes
            with all of the others.
        iterations: 1 to 2^31 - 1.
        dklen: the bytes of each key, 1 to 2^32 - 1; None for the digest's size.

    Returns: bytes for one password and one salt; otherwise a uint8 array of shape (n, dklen), resident if either of
    them is Messages. One resident array beside no list gives a resident array of shape (dklen,).

    Raises: BindingError for what is no bytes; ArgumentError for lists of different lengths, for numbers out of range,
    and when the salts, each padded to the longest and repeated for each digest of a key, have over 2^32 - 1 bytes.

    Source: RFC 8018, section 5.2. The iterations are split over dispatches; many passwords are what a GPU is for.

    >>> pbkdf2_hmac("sha1", b"password", b"salt", 4096, backend="cpu").hex()
    '4b007901b765489abead49d926f721d065a429c1'
    """
    function, chosen = name_of(at), _algorithm(algorithm, at)
    turns = count_of(iterations, argument(at, "iterations"), 1, MOST_ITERATIONS)
    size = chosen.digest if dklen is None else count_of(dklen, argument(at, "dklen"), 1, 2**32 - 1)
    resident = [
        each.words if isinstance(each, Messages) else each
        for each in (passwords, salts)
        if isinstance(each, (Messages, vyre.Array))
    ]
    place = place_of(at, *resident)
    there = at_of(function, *place[:2])
    one, salt = (
        taken(each, at if isinstance(each, (Messages, vyre.Array)) else there, name)
        for name, each in (("passwords", passwords), ("salts", salts))
    )
    count = _pairs(one, salt, function)
    p, s = one.messages, salt.messages
    items = count * -(-size // chosen.digest)
    _check_bytes(items * chosen.digest, f"the keys of {function}, in whole digests,")
    slots = items * (-(-(s.longest + COUNTER) // 4) * 4)
    _check_bytes(slots, f"the salts of {function}, one for each digest of a key,")
    derive = pbkdf2(chosen, form_of(chosen, p))
    found = derive(p.words, p.starts, p.lengths, p.longest, s.words, s.starts, s.lengths, s.longest, turns, size)
    shape = (size,) if one.one and salt.one else (count, size)
    if not place.on_host:
        return found.reshape(*shape)
    return found.tobytes() if one.one and salt.one else found.numpy().reshape(shape)


def _pairs(passwords: Any, salts: Any, function: str) -> int:
    """How many keys are derived."""
    counts = [len(each.messages) for each in (passwords, salts)]
    if passwords.one or salts.one:
        return counts[1] if passwords.one else counts[0]
    if counts[0] != counts[1]:
        raise must_have(f"the salts of {function}", f"one for each of the {counts[0]} passwords", counts[1])
    return counts[0]


def _check_bytes(total: int, what: str) -> None:
    if total > 2**32 - 1:
        raise must_have(what, "at most 4294967295 bytes", total)
