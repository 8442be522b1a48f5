"""ChaCha20 (RFC 8439): sixty-four bytes of keystream an invocation."""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre
from vyre import In, u32, vec4u32
from vyre.std._calls.declared import At, Unpack, argument, call
from vyre.std._calls.host import count_of
from vyre.std._calls.host_words import HostWords
from vyre.std._hashing.ciphers import Cipher, Rows, encrypted, rows_of, words_of

__all__ = ["chacha20"]

CONSTANTS = np.frombuffer(b"expand 32-byte k", "<u4").tolist()
COLUMNS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
DIAGONALS = [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
COUNTER = 12  # the word of the state that counts blocks
ROW = 8  # vectors of a row of parameters


def quarter(v: list[Any], a: int, b: int, c: int, d: int) -> None:
    """Mix four words of the state (section 2.1)."""
    v[a] = v[a] + v[b]
    v[d] = (v[d] ^ v[a]).rotl(16)
    v[c] = v[c] + v[d]
    v[b] = (v[b] ^ v[c]).rotl(12)
    v[a] = v[a] + v[b]
    v[d] = (v[d] ^ v[a]).rotl(8)
    v[c] = v[c] + v[d]
    v[b] = (v[b] ^ v[c]).rotl(7)


def load(parameters: In[vec4u32]) -> list[u32]:
    """The state of block 0, and the one after the first round's columns that have no counter."""
    return [word for k in range(ROW) for word in words_of(parameters[k])]


def load_each(keys: In[vec4u32], key: u32, blocks: In[vec4u32], message: u32) -> list[u32]:
    """The same for a message of a list.

    Its columns are not made on the host: a counter block is smaller than they are.
    """
    state = [u32(word) for word in CONSTANTS]
    state += words_of(keys[key]) + words_of(keys[key + 1]) + words_of(blocks[message])
    v = list(state)
    for k in vyre.unroll(range(1, 4)):
        quarter(v, *COLUMNS[k])
    return state + v


def keystream(memory: Any, loaded: list[u32], unit: u32) -> list[u32]:
    """Make the block of this number (section 2.3)."""
    state, v = loaded[:16], loaded[16:]
    state[COUNTER] = state[COUNTER] + unit
    for k in COLUMNS[0]:
        v[k] = state[k]
    for turn in vyre.unroll(range(10)):
        for k in vyre.unroll(range(4)):
            # The first round's other columns are the same in all blocks.
            if turn > 0 or k == 0:
                quarter(v, *COLUMNS[k])
        for k in vyre.unroll(range(4)):
            quarter(v, *DIAGONALS[k])
    return [v[k] + state[k] for k in range(16)]


def _row(key: bytes, block: bytes) -> np.ndarray:
    """Make what ``load`` reads."""
    words = [*CONSTANTS, *np.frombuffer(key + block, "<u4").tolist()]
    rows = [HostWords(words[k : k + 4]) for k in range(0, 16, 4)]
    quarter(rows, 0, 1, 2, 3)  # of all columns; kernels do the first one, which has the counter, for each block
    return np.array([*words, *(word for row in rows for word in row.words())], np.uint32)


def _keys(key: Rows) -> np.ndarray:
    return np.frombuffer(key.data, "<u4").astype(np.uint32).reshape(-1, 8)


CHACHA20 = Cipher(
    name="chacha20",
    start="nonce",
    own="one of its own for each message",
    block=64,
    order=(1, 2, 3, 0),  # a nonce is left by no message, and the counter is below it
    lanes=128,
    words="<u4",
    row=_row,
    keys=_keys,
    prepare=lambda: None,
    load=load,
    load_each=load_each,
    keystream=keystream,
)


@call
def chacha20(key: Any, nonce: Any, data: Any, counter: int = 0, **at: Unpack[At]) -> Any:
    """Encrypt or decrypt with ChaCha20, which are the same.

    Args:
        key: 32 bytes; for a list of n messages also a list of n keys, or a uint8 array of shape
            (n, 32).
        nonce: 12 bytes; for a list of n messages a list of n nonces, or a uint8 array of shape
            (n, 12). A key and a nonce belong to one message: two that share both can be read
            without the key.
        data: a bytes-like or a uint8 array of one axis (numpy's or resident), or a list of these on
            the host.
        counter: the number of the first block of 64 bytes, from 0 to 2^32 - 1.

    Returns: bytes, or a list of bytes for a list; for a resident array a resident one of uint8.

    There is no authentication: a change of the encrypted data changes the decrypted bits at the same places.

    Raises: ArgumentError, also for a list with one nonce, or two equal ones under one key, and where the counter would
        pass 2^32; BindingError, CapabilityError, DeviceMemoryError, DeviceError.

    Source: RFC 8439, section 2.4.

    >>> key, nonce = bytes(range(32)), bytes(12)
    >>> secret = chacha20(key, nonce, b"attack at dawn", backend="cpu")
    >>> chacha20(key, nonce, secret, backend="cpu")
    b'attack at dawn'
    """
    counter = count_of(counter, argument(at, "counter"), 0, 2**32 - 1)
    keys = rows_of(key, [32], argument(at, "key"))
    nonces = rows_of(nonce, [12], argument(at, "nonce"))
    # A counter block is the counter and the nonce (section 2.3).
    blocks = np.empty((len(nonces.sizes), 16), np.uint8)
    blocks[:, :4] = np.frombuffer(counter.to_bytes(4, "little"), np.uint8)
    blocks[:, 4:] = np.frombuffer(nonces.data, np.uint8).reshape(-1, 12)
    starts = nonces._replace(data=blocks.tobytes(), sizes=[16] * len(blocks))
    return encrypted(CHACHA20, data, keys, starts, 2**32 - counter, at)
