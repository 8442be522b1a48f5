"""Many byte strings in one buffer, and the form in which host calls return results for one, a list or packed ones.

``Messages`` holds byte strings on a device: the bytes as words, and for each message its first byte and its length.
``taken`` makes one of any data that such a host call accepts, and remembers in which form the results go back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import vyre
from vyre import Array, Device, In, Out, _core, _values, u32
from vyre._arrays.dlpack import numpy_of
from vyre._arrays.graph import is_recording
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be, must_have, no_memory
from vyre._default import place
from vyre.errors import BindingError
from vyre.std._calls.declared import At, argument, at_of
from vyre.std._calls.host import bytes_of, elements, place_of, refuse_descent, refuse_in_body

__all__ = ["Messages", "Taken", "octets", "one_resident", "taken"]

_MOST_BYTES = 2**32 - 1  # positions of bytes are u32
_WORD = 4  # bytes
_QUAD = 16  # bytes of the widest load
_LONG = 1 << 16  # bytes of a message from which on its padding is not made on the host
_FEW = 1 << 16  # messages up to which their lengths are made on the host
_PADS = [bytes(-k % _QUAD) for k in range(_QUAD)]  # what follows a message, by its bytes modulo 16


@vyre.kernel(workgroup_size=256)
def _subtract(offsets: In[u32], lengths: Out[u32]) -> None:
    i = vyre.gid(0)
    if i < len(lengths):
        lengths[i] = offsets[i + 1] - offsets[i]


@vyre.procedure(name="std.lengths")
def _lengths_of(offsets: In[u32]) -> vyre.ProcedureArray:
    """Make the lengths between offsets: for many messages that takes a device less time than to receive them."""
    lengths = vyre.scratch(u32, offsets.length - 1, name="lengths")
    _subtract(offsets, lengths, grid=offsets.length - 1)
    return lengths


class Messages:
    """Byte strings on a device, packed once and read by as many calls as wanted.

    Args:
        data: the bytes of all messages: bytes-like, a uint8 array of one axis, or a resident one (which is not copied
            if its length is a multiple of 4).
        offsets: one integer more than there are messages, ascending: message i is ``data[offsets[i]:offsets[i + 1]]``.
            Resident ones are read by the host, which waits for them.
        backend, device: where; a resident ``data`` stays where it is.

    The bytes are 2^32 - 1 at most. Messages that begin at multiples of 16 bytes are read fastest, then those at
    multiples of 4; ``Messages.pack`` uses multiples of 16.

    Attributes:
        words: the bytes as a resident uint32 array, little-endian, zeros after the last byte.
        starts, lengths: the first byte and the number of bytes of each message, resident uint32 arrays.
        alignment: the largest of 1, 2, 4, 8 and 16 of which the starts of all messages are multiples, so that whole
            elements of this many bytes can be loaded from there; at most 4 if the words are no multiple of 16 bytes.
        aligned: whether every message begins at a multiple of 4 bytes.
        shortest, longest: the least and the largest length in bytes, 0 without messages.
        backend, device: where the arrays are, as ``vyre.run`` takes them.

    Raises: ArgumentError, BindingError (an array of another type), CapabilityError, DeviceMemoryError, DeviceError.

    >>> greetings = Messages(b"hellohi", [0, 5, 5, 7], backend="cpu")
    >>> len(greetings), greetings.longest
    (3, 5)
    >>> greetings.lengths.numpy()
    array([5, 0, 2], dtype=uint32)
    """

    __slots__ = ("alignment", "backend", "device", "lengths", "longest", "shortest", "starts", "words")

    words: Array
    starts: Array
    lengths: Array
    alignment: int
    shortest: int
    longest: int
    backend: str
    device: int

    def __init__(
        self, data: Any, offsets: Any, *, backend: str | None = None, device: int | Device | None = None
    ) -> None:
        function = "vyre.std.Messages"
        resident = isinstance(data, vyre.Array)
        if resident:
            place_of(at_of(function, backend, device), data)
            size = elements(data, f"argument `data` of {function}", ["uint8"]).size
        else:
            data = octets(data, f"argument `data` of {function}")
            size = len(data)
        _check_total(size, f"argument `data` of {function}")
        where = f"argument `offsets` of {function}"
        given = offsets.numpy() if isinstance(offsets, vyre.Array) else numpy_of(offsets, where, BindingError)
        bounds = _bounds(given, size, where)
        words = _resident_words(data) if resident else _words(data, backend, device)
        few = len(bounds) if is_recording() else _FEW  # a graph would record the call, and run it later
        copied, lengths, bits, shortest, longest = _core._strings_between(bounds, words, few)
        self._take(words, copied[:-1], _lengths_of(copied) if lengths is None else lengths, shortest, longest, bits)

    @classmethod
    def pack(
        cls, messages: Sequence[Any], *, backend: str | None = None, device: int | Device | None = None
    ) -> Messages:
        """Copy byte strings to a device, each to a multiple of 16 bytes.

        Args:
            messages: a list or tuple of bytes-likes or uint8 arrays of one axis, which together have at most
                2^32 - 1 bytes, each rounded up to a multiple of 16. The list, and each element, may be empty.
            backend, device: where.

        Raises: ArgumentError, BindingError, CapabilityError, DeviceMemoryError, DeviceError.

        >>> Messages.pack([b"hello", b"", b"hi"], backend="cpu").starts.numpy()
        array([ 0, 16, 16], dtype=uint32)
        """
        return cls._packed(messages, "argument `messages` of vyre.std.Messages.pack", backend, device)

    @classmethod
    def _packed(cls, messages: Sequence[Any], where: str, backend: str | None, device: int | Device | None) -> Messages:
        if not isinstance(messages, (list, tuple)):
            raise must_be(where, "a list of bytes-likes", type(messages).__name__)
        refuse_in_body(messages, where)
        try:
            # Other threads, and the code of elements, may change a list meanwhile.
            messages = tuple(messages)
        except MemoryError:
            raise no_memory("the host", f"a copy of {where}") from None
        made = cls.__new__(cls)
        if len(messages) == 1 and len(only := octets(messages[0], f"element 0 of {where}")) >= _LONG:
            _check_total(-(-len(only) // _QUAD) * _QUAD, where)
            made._set(_words(only, backend, device), np.zeros(1, np.int64), np.array([len(only)]))
            return made
        made._take(
            *_core._pack(
                messages,
                lambda each, index: octets(each, f"element {index} of {where}"),
                where,
                *place(backend, device),
                "vyre.array",
            ),
            _QUAD,
        )
        return made

    def _set(self, words: Array, starts: np.ndarray, lengths: np.ndarray) -> None:
        self._take(
            words,
            vyre.array(starts.astype(np.uint32), backend=words.backend, device=words.device),
            vyre.array(lengths.astype(np.uint32), backend=words.backend, device=words.device),
            int(lengths.min(initial=_MOST_BYTES)) if len(lengths) else 0,
            int(lengths.max(initial=0)),
            int(np.bitwise_or.reduce(starts, initial=0)),
        )

    def _take(self, words: Array, starts: Array, lengths: Array, shortest: int, longest: int, bits: int) -> None:
        """Take the arrays; ``bits`` are those of all starts, combined by bitwise or."""
        self.words, self.starts, self.lengths = words, starts, lengths
        self.backend, self.device = words.backend, words.device
        self.shortest, self.longest = shortest, longest
        # A load of 16 bytes needs an array of whole such elements, which a resident one need not be.
        bits |= _QUAD if words.size % 4 == 0 else _WORD
        self.alignment = bits & -bits

    @property
    def aligned(self) -> bool:
        return self.alignment >= _WORD

    def __len__(self) -> int:
        return len(self.starts)

    def __repr__(self) -> str:
        lengths = f"of {self.shortest} to {self.longest} bytes " if len(self) else ""
        return f"<vyre.std.Messages: {len(self)} messages {lengths}on {self.backend}>"


class Taken:
    """The messages of a call, and the form in which its results go back.

    Attributes:
        messages: what the call was given, as Messages.
        one: whether it was a single message, so that there is a single result.
        resident: whether the results stay on the device.
    """

    __slots__ = ("messages", "one", "resident")

    def __init__(self, messages: Messages, one: bool, resident: bool) -> None:
        self.messages, self.one, self.resident = messages, one, resident

    def rows(self, words: Array, size: int) -> Any:
        """Digests of ``size`` bytes, from a resident array of their words, one after the other, little-endian.

        Returns: bytes for one message; uint8 of shape (n, size) for several, or (size,) for one resident array.
        """
        shape = (size,) if self.one else (len(self.messages), size)
        if self.resident:
            return words.view(vyre.u8).reshape(*shape)
        return words.tobytes() if self.one else words.numpy().view(np.uint8).reshape(shape)

    def numbers(self, values: Array) -> Any:
        """One number for each message, from a resident array of them.

        Returns: an int for one message, an array for several, and a resident array for resident data.
        """
        if self.resident:
            return values
        host = values.numpy()
        return int(host[0]) if self.one else host


def taken(data: Any, at: At, name: str = "data") -> Taken:
    """The messages that a host call got as an argument.

    Args:
        data: one bytes-like, a uint8 array of one axis (numpy's or resident), a list of bytes-likes, or Messages.
        at: of the call. Data of the host goes there; what is resident stays where it is.
        name: the argument's name, for messages.

    >>> from vyre.std._calls.declared import at_of
    >>> taken([b"hello", b"hi"], at_of("vyre.std.sha256", "cpu")).messages
    <vyre.std.Messages: 2 messages of 2 to 5 bytes on cpu>
    """
    where, backend, device = argument(at, name), at["backend"], at["device"]
    if isinstance(data, Messages):
        place_of(at, data.words)
        return Taken(data, one=False, resident=True)
    if isinstance(data, vyre.Array):
        place_of(at, data)
        elements(data, where, ["uint8"])
        _check_total(data.size, where)
        return Taken(Messages(data, [0, data.size]), one=True, resident=True)
    if isinstance(data, (list, tuple)):
        return Taken(Messages._packed(data, where, backend, device), one=False, resident=False)
    return Taken(Messages._packed([octets(data, where)], where, backend, device), one=True, resident=False)


def one_resident(data: Any, least: int, at: At) -> tuple[Array, int] | None:
    """The words and the bytes of a resident array of at least ``least`` bytes; None for all else.

    Messages needs arrays beside it, and making them would take longer than a call on one message.
    """
    if not isinstance(data, vyre.Array) or data.size < least:
        return None
    where = argument(at, "data")
    place_of(at, data)
    elements(data, where, ["uint8"])
    _check_total(data.size, where)
    return _resident_words(data), data.size


def octets(data: Any, where: str) -> Any:
    """Bytes of the host, as bytes or an array of uint8."""
    refuse_in_body(data, where)
    if type(data) is bytes:
        return data
    if isinstance(data, vyre.Array):
        raise must_be(where, "bytes of the host", "a vyre.Array", BindingError)
    return bytes_of(data, where)


def _words(data: Any, backend: str | None, device: int | Device | None) -> Array:
    """Bytes of the host as little-endian words, with zeros to the end of the last vector of four.

    A long message is not copied on the host: that would take longer than the way to a GPU.
    """
    rest = len(data) % _QUAD
    if rest and len(data) >= _LONG:
        words = vyre.empty((len(data) - rest + _QUAD) // _WORD, backend=backend, device=device)
        words.view(vyre.u8)[: len(data)] = np.frombuffer(data, np.uint8)
        return words
    host = np.frombuffer(b"".join((data, _PADS[rest])) if rest else data, "<u4")
    return vyre.array(host.astype(np.uint32, copy=False), backend=backend, device=device)


def _resident_words(data: Array) -> Array:
    """A resident uint8 array as words: the same memory, or a padded copy if it is no whole words."""
    if data.size % _WORD == 0:
        try:
            return data.view(vyre.u32)
        except BindingError:  # a slice that begins within a word
            pass
    padded = vyre.empty((data.size + (_WORD - 1)) // _WORD * _WORD, np.uint8, backend=data.backend, device=data.device)
    padded[: data.size] = data
    return padded.view(vyre.u32)


def _bounds(offsets: Any, size: int, where: str) -> np.ndarray:
    """The offsets, ascending from 0 or later to at most ``size``."""
    bounds = _values.exact(offsets, np.dtype(np.uint32), where)
    if bounds.ndim != 1 or not len(bounds):
        raise must_have(where, "one axis and one element more than there are messages", f"shape {bounds.shape}")
    bounds = np.ascontiguousarray(bounds)
    refuse_descent(bounds, where)
    if bounds[-1] > size:
        raise must_have(where, f"a last element of at most {size}", bounds[-1])
    return bounds


def _check_total(size: int, where: str) -> None:
    if size > _MOST_BYTES:
        raise must_have(where, "at most 4294967295 bytes", size)


explain_calls(globals())
