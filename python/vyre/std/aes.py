"""AES in counter mode (FIPS 197, NIST SP 800-38A): four blocks of 16 bytes an invocation, by a table of 256 words.

The table has a round's substitution and mixing of columns for the first byte of a column; the other bytes' are
rotations of it. Workgroup memory holds it sixteen times, so that few invocations meet in a bank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import vyre
from vyre import In, u32, vec4u32
from vyre.std._calls.declared import At, Unpack, argument, call
from vyre.std._hashing.ciphers import Cipher, Rows, encrypted, rows_of, words_of

__all__ = ["aes_ctr"]

COPIES = 16  # of the table: 16 KiB
LANES = 256
BLOCKS = 4  # of a unit

KEY_ROW = 16  # vectors of a key: the number of rounds, and up to fifteen round keys


def _doubled(x: int) -> int:
    return x << 1 ^ (0x11B if x & 0x80 else 0)


def _substitutions() -> list[int]:
    """Make the substitution of bytes: the inverse in GF(2^8), then an affine map (FIPS 197, section 5.1.1)."""
    powers, logs, x = [0] * 255, [0] * 256, 1
    for k in range(255):
        powers[k], logs[x] = x, k
        x ^= _doubled(x)  # times 3, a generator
    boxes = []
    for x in range(256):
        inverse = powers[-logs[x] % 255] if x else 0
        turned = inverse * 0x101
        boxes.append((inverse ^ turned >> 4 ^ turned >> 5 ^ turned >> 6 ^ turned >> 7) & 255 ^ 0x63)
    return boxes


SUBSTITUTION = _substitutions()
TABLE = np.array([_doubled(s) | s << 8 | s << 16 | (_doubled(s) ^ s) << 24 for s in SUBSTITUTION], np.uint32)


def round_keys(key: Sequence[Any], box: Any) -> list[Any]:
    """Expand a key (section 5.2), in words whose lowest byte is the first.

    Args:
        key: its words, as ints; of several keys arrays with one element for each.
        box: the substitution of bytes, as a list; for several keys as an array.
    """
    words = list(key)
    count, constant = len(words), 1

    def substituted(word: Any) -> Any:
        low = box[word & 255] | box[word >> 8 & 255] << 8
        return low | box[word >> 16 & 255] << 16 | box[word >> 24] << 24

    for k in range(count, 4 * (count + 7)):
        word = words[-1]
        if k % count == 0:
            word = substituted(word >> 8 | (word & 255) << 24) ^ constant
            constant = _doubled(constant)
        elif count == 8 and k % count == 4:
            word = substituted(word)
        words.append(words[k - count] ^ word)
    return words


def prepare() -> Any:
    """Make the copies of the table; word k of copy c is at ``[k * COPIES + c]``."""
    table = vyre.shared(u32, 256 * COPIES)
    t = vyre.lid(0)
    for k in vyre.unroll(range(256 * COPIES // LANES)):
        table[k * LANES + t] = TABLE[(k * LANES + t) // COPIES]
    vyre.barrier()
    return table


def looked_up(table: Any, copy: u32, byte: u32) -> u32:
    return table[byte * COPIES + copy]


def incremented(counter: list[u32], n: u32) -> list[u32]:
    """Add a number to a counter of 128 bits, its highest word first."""
    words = list(counter)
    carry = n
    for k in vyre.unroll(range(3, -1, -1)):
        words[k] = counter[k] + carry
        carry = u32(1 if words[k] < carry else 0)
    return words


def load(parameters: In[vec4u32]) -> tuple[Any, ...]:
    """Where the key and the counter block are. A key has more words than stay in registers."""
    return parameters, u32(1), parameters, u32(0)


def load_each(*places: Any) -> tuple[Any, ...]:
    return places


def keystream(table: Any, places: tuple[Any, ...], unit: u32) -> list[Any]:
    """Encrypt four blocks of the counter (section 5.1)."""
    copy = vyre.lid(0) % COPIES
    parameters, begin, blocks, message = places
    rounds, keys = parameters[begin].x, begin + 1
    counter, start = words_of(blocks[message]), words_of(parameters[keys])
    s = []
    for block in vyre.unroll(range(BLOCKS)):
        s += [vyre.byte_swap(word) for word in incremented(counter, unit * BLOCKS + block)]
    for k in vyre.unroll(range(4 * BLOCKS)):
        s[k] = s[k] ^ start[k % 4]
    for turn in range(1, rounds):
        key = words_of(parameters[keys + turn])
        before = list(s)
        for k in vyre.unroll(range(4 * BLOCKS)):
            block, column = k // 4 * 4, k % 4
            s[k] = (
                looked_up(table, copy, before[k] & 255)
                ^ looked_up(table, copy, before[block + (column + 1) % 4] >> 8 & 255).rotl(8)
                ^ looked_up(table, copy, before[block + (column + 2) % 4] >> 16 & 255).rotl(16)
                ^ looked_up(table, copy, before[block + (column + 3) % 4] >> 24).rotl(24)
                ^ key[column]
            )
    # The last round does not mix columns: the substitution alone is in the table's second and third bytes.
    key = words_of(parameters[keys + rounds])
    before = list(s)
    for k in vyre.unroll(range(4 * BLOCKS)):
        block, column = k // 4 * 4, k % 4
        s[k] = (
            (looked_up(table, copy, before[k] & 255) >> 8 & 255)
            ^ (looked_up(table, copy, before[block + (column + 1) % 4] >> 8 & 255) & 0xFF00)
            ^ (looked_up(table, copy, before[block + (column + 2) % 4] >> 16 & 255) << 8 & 0xFF0000)
            ^ (looked_up(table, copy, before[block + (column + 3) % 4] >> 24) << 16 & 0xFF000000)
            ^ key[column]
        )
    return s


def _row(key: bytes, block: bytes) -> np.ndarray:
    """Make the counter block and the row of the key."""
    words = round_keys(np.frombuffer(key, "<u4").tolist(), SUBSTITUTION)
    row = [*np.frombuffer(block, ">u4").tolist(), len(words) // 4 - 1, 0, 0, 0, *words]
    return np.array(row + [0] * (4 * KEY_ROW + 4 - len(row)), np.uint32)


def _keys(key: Rows) -> np.ndarray:
    made = np.zeros((len(key.sizes), 4 * KEY_ROW), np.uint32)
    octets, sizes, box = np.frombuffer(key.data, np.uint8), np.array(key.sizes), np.array(SUBSTITUTION, np.uint32)
    for size in set(key.sizes):
        given = octets[np.repeat(sizes == size, sizes)].view("<u4").astype(np.uint32)
        words = round_keys(given.reshape(-1, size // 4).T, box)
        rows = np.stack([np.full_like(words[0], len(words) // 4 - 1), *[np.zeros_like(words[0])] * 3, *words], axis=1)
        made[sizes == size, : rows.shape[1]] = rows
    return made


AES_CTR = Cipher(
    name="aes_ctr",
    start="counter_block",
    own="one of its own for each message, as many below the next one as the message has blocks of 16 bytes",
    block=16,
    order=(0, 1, 2, 3),
    lanes=LANES,
    words=">u4",
    row=_row,
    keys=_keys,
    prepare=prepare,
    load=load,
    load_each=load_each,
    keystream=keystream,
)


@call
def aes_ctr(key: Any, counter_block: Any, data: Any, **at: Unpack[At]) -> Any:
    """Encrypt or decrypt with AES in counter mode, which are the same.

    Args:
        key: 16 bytes (AES-128) or 32 (AES-256); for a list of n messages also a list of n keys, or
            a uint8 array of shape (n, 16) or (n, 32).
        counter_block: 16 bytes; for a list of n messages a list of n counter blocks, or a uint8
            array of shape (n, 16). It is the first block that is encrypted for the keystream. Each
            block of 16 bytes adds one to it as a number of 128 bits, the first byte the highest. No
            block may serve twice under a key: messages that share one can be read without the key.
        data: a bytes-like or a uint8 array of one axis (numpy's or resident), or a list of these on
            the host.

    Returns: bytes, or a list of bytes for a list; for a resident array a resident one of uint8.

    There is no authentication: a change of the encrypted data changes the decrypted bits at the same places. The time
    of the look-ups in tables depends on the key, and other users of the device could measure it.

    Raises: ArgumentError, also for a list with one counter_block, or two messages that share a block under one key;
        BindingError, CapabilityError, DeviceMemoryError, DeviceError.

    Source: FIPS 197; NIST SP 800-38A, section 6.5 and appendix B.1.

    >>> secret = aes_ctr(bytes(16), bytes(16), b"attack at dawn", backend="cpu")
    >>> aes_ctr(bytes(16), bytes(16), secret, backend="cpu")
    b'attack at dawn'
    """
    keys = rows_of(key, [16, 32], argument(at, "key"))
    blocks = rows_of(counter_block, [16], argument(at, "counter_block"))
    return encrypted(AES_CTR, data, keys, blocks, 2**32, at)
