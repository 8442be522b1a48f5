"""Running programs: ``run``, ``lower``, and bytes as words. The work is done in C++ with the GIL released."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast, overload

from vyre import _core
from vyre._base.calls import explain_calls
from vyre._base.refused import IN_CHECK, must_be, no_memory, no_place
from vyre._base.text import shown, type_of
from vyre._core import Procedure
from vyre._default import place
from vyre.errors import BindingError, CheckError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any

    import numpy as np

    from vyre._core import Program
    from vyre._devices import Device

__all__ = ["lower", "pack_bytes", "run", "unpack_bytes"]

_run_program: Callable[..., dict[str, np.ndarray]] = _core._run  # _tools/watch.py puts another function in its place


def run(
    program: Program | Procedure,
    inputs: Mapping[str, Any],
    workgroups: int | Sequence[int] | None = None,
    *,
    backend: str | None = None,
    device: int | Device | None = None,
    timeout: float | None = None,
    schedule: str | None = None,
    optimize: bool | Collection[str] | None = None,
    check: str | Iterable[str] | None = None,
) -> dict[str, np.ndarray]:
    """Run a program once and return its ReadWrite buffers.

    Args:
        program: a valid Program, or a Procedure that is a value, from Procedure.parse for instance: then `inputs` are
            its arrays and numbers by name, the result has its in_outs and outputs, and of what follows only `backend`
            and `device` have a place.
        inputs: name -> array, one for each buffer that is neither Workgroup nor Private. U32 takes uint32, I32 int32,
            U64 uint64, Vec2U32 and Vec4U32 uint32 of shape (..., 2) and (..., 4), Bool bool or uint32, Bytes uint8 or
            bytes; any C-contiguous shape. An array of another library that speaks DLPack (torch, jax, pyarrow) is taken
            as numpy's are. For a Uniform buffer of one element an integer, or True or False for Bool, is its value. For
            a ReadWrite buffer a number or a shape (a tuple) stands for that many zero elements; one with a count may
            be left out. Inputs are never written.
        workgroups: counts along x, y, z (not invocations): an int or up to three of them, also a numpy array.
        backend: "reference", "cpu", "vulkan", "cuda", or None for that of vyre.default_device, else the best one here.
        device: an index into vyre.devices(), or one of its elements; either names the backend too. With `backend` an
            index counts that backend's devices. None lets the backend choose.
        timeout: seconds that the call may take once the program is prepared, and that a driver's compiler may take for
            it on its own; None waits for ever. A compiler goes on, and a later call takes what it made.
        schedule: in which order the reference takes invocations: "in-order" (None), "reversed", or "random:<seed>",
            which interleaves them. A program without races gives the same bytes in all of them.
        optimize: what lowering does for speed: True (what pays), False (nothing), or a list of names of the
            reference's table, "passes", "coarsening" and so on (these wherever they apply, and no others). None lets
            the backend choose (the reference runs the program as written). The bytes are always the same.
        check: "all", or names as vyre.check takes them: runs on the reference, as written, and raises CheckError when
            the program does something wrong.

    Returns: name -> new array of each ReadWrite buffer, same shape and dtype as given.

    Raises: ValidationError (all broken rules), BindingError (arrays that do not fit), ArgumentError, CapabilityError (a
        limit of the device), CheckError (what ``check`` found), DispatchTimeoutError, DeviceError (why no device fits),
        KeyboardInterrupt on Ctrl-C.

    Source: execution model, "Dispatch lifecycle".

    >>> import numpy as np
    >>> import vyre
    >>> from vyre import BufferDecl, Expr, Node
    >>> i = Expr.gid_x()
    >>> doubler = vyre.Program([BufferDecl.output("data", 0, vyre.u32)], (2, 1, 1),
    ...                        [Node.store("data", i, Expr.load("data", i) * 2)])
    >>> run(doubler, {"data": np.array([1, 2], np.uint32)}, (1, 1, 1), backend="reference")["data"]
    array([2, 4], dtype=uint32)
    """
    if type(program) is Procedure:
        _refuse_options(workgroups=workgroups, schedule=schedule, optimize=optimize, check=check)
        from vyre._procedure.by_name import run_by_name

        return run_by_name(program, inputs, backend, device, timeout)
    if check is None:
        backend, device = place(backend, device)
        try:
            return _run_program(program, inputs, workgroups, backend, device, timeout, schedule, optimize)
        except BindingError:
            # The core knows no arrays of other libraries. Calls without one do not pay for the question.
            from vyre._arrays.inputs import of_other_libraries

            taken = of_other_libraries(_core._inputs(inputs, "vyre.run"))
            if taken is None:
                raise
        return _run_program(program, taken, workgroups, backend, device, timeout, schedule, optimize)
    if not (backend is None or (isinstance(backend, str) and backend == "reference")):
        raise must_be("argument `backend` of vyre.run", "the reference beside `check`", shown(backend))
    if device is not None:
        raise no_place("argument `device` of vyre.run", IN_CHECK)
    if optimize is not None and not _is_empty(optimize):
        raise no_place("argument `optimize` of vyre.run", IN_CHECK)
    from vyre._arrays.checked import checked

    result = checked(
        "vyre.run", program, inputs, workgroups, schedule=schedule, checks=check, max_reports=100, timeout=timeout
    )
    if result.reports:
        raise CheckError(result)
    return result.outputs


def _refuse_options(**options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise no_place(f"argument `{name}` of vyre.run", "for a procedure")


def _is_empty(optimize: object) -> bool:
    return isinstance(optimize, (bool, list, tuple, set, frozenset)) and not optimize


@overload
def lower(program: Program, target: Literal["spirv"] = ..., *, optimize: bool | Collection[str] = ...) -> bytes: ...
@overload
def lower(
    program: Program, target: Literal["spirv-asm", "wgsl", "ptx"], *, optimize: bool | Collection[str] = ...
) -> str: ...
@overload
def lower(
    program: Program,
    target: Literal["asm"],
    *,
    optimize: bool | Collection[str] = ...,
    instructions: Literal["sse41", "avx2", "avx512"] | None = ...,
) -> str: ...
def lower(
    program: Program,
    target: str = "spirv",
    *,
    optimize: bool | Collection[str] = True,
    instructions: str | None = None,
) -> bytes | str:
    """Lower a valid program to target code.

    Args:
        target: "spirv" (bytes: the little-endian words of a module), "spirv-asm", "wgsl", "ptx" or "asm" (str). PTX is
            of version 7.0 for compute capability 7.5 and higher, and says in its first lines what a loader binds. "asm"
            is the machine code of the cpu backend, each instruction below the one of the lowered program that it is
            for, with the line of the program; it needs capstone: ``pip install 'vyre[asm]'``.
        optimize: as ``vyre.run`` takes it; calls are inlined in any case. Coarsening, which is for large grids, is left
            out. "asm" has the row "compilation", without which programs are interpreted.
        instructions: for "asm", "sse41", "avx2" or "avx512", also those that this processor lacks; None takes those
            of `cpu`: what VYRE_INSTRUCTIONS names, or else the processor's best.

    Raises: ValidationError, LoweringError, ArgumentError.

    >>> import vyre
    >>> lower(vyre.Program(), "spirv")[:4].hex()
    '03022307'
    >>> from vyre import BufferDecl, Expr, Node
    >>> i = Expr.gid_x()
    >>> double = vyre.Program([BufferDecl.read_write("data", 0, vyre.u32)], (64, 1, 1),
    ...                       [Node.store("data", i, Expr.load("data", i) * 2)])
    >>> print(lower(double, "asm", instructions="avx2"))
    ; avx2: 8 lanes in a vector, 32 at a time; ... bytes of instructions, ... of constants
    ...
    ; bounded store_buffer b0 %0 %3   ; line 7: data[%0] = __bound0 * 2
    ...
    """
    if isinstance(program, _core.Procedure):
        raise must_be("argument `program` of vyre.lower", "a vyre.Program", f"the procedure {shown(program.name)}")
    if issubclass(type(target), str) and target == "asm":
        from vyre._arrays.machine_code import listing  # when it is asked for: `import vyre` does without

        return listing(program, optimize, instructions)
    if instructions is not None:
        _core._check_target(target)
        raise no_place("argument `instructions` of vyre.lower", f"with target {shown(target)}")
    lowered: bytes | str = _core._lower(program, target, optimize)
    return lowered


def pack_bytes(data: bytes | bytearray | memoryview | np.ndarray) -> np.ndarray:
    """Bytes as the little-endian u32 words of a U32 buffer, zero-padded to a whole word.

    The length in bytes travels separately.

    >>> pack_bytes(b"abcde")
    array([1684234849,        101], dtype=uint32)
    """
    import numpy as np

    if _core._is_masked(data):
        raise must_be("argument `data` of pack_bytes", "an array without a mask", "a masked array")
    if issubclass(type(data), np.ndarray):
        array = cast("np.ndarray", data)
        if array.dtype != np.uint8 or not array.flags.c_contiguous:
            raise must_be(
                "argument `data` of pack_bytes",
                "bytes or a C-contiguous uint8 array",
                f"{array.dtype} with shape {array.shape}",
            )
        raw = array.tobytes()
    elif issubclass(type(data), (bytes, bytearray, memoryview)):
        try:
            raw = bytes(data)
        except ValueError:
            raise must_be("argument `data` of pack_bytes", "bytes", "a memoryview that was released") from None
    else:
        raise must_be("argument `data` of pack_bytes", "bytes or a uint8 array", type(data).__name__)
    return np.frombuffer(raw + bytes(-len(raw) % 4), dtype="<u4").astype(np.uint32)


def unpack_bytes(words: np.ndarray, length: int | None = None) -> bytes:
    """The bytes of little-endian u32 words: the inverse of pack_bytes.

    Args:
        words: a uint32 array.
        length: how many bytes to keep; None keeps all, padding included.

    >>> unpack_bytes(pack_bytes(b"abcde"), 5)
    b'abcde'
    """
    import numpy as np

    if _core._is_masked(words):
        raise must_be("argument `words` of unpack_bytes", "an array without a mask", "a masked array")
    if not issubclass(type(words), np.ndarray) or words.dtype != np.uint32:
        got = f"an array of {words.dtype}" if issubclass(type(words), np.ndarray) else type_of(words)
        raise must_be("argument `words` of unpack_bytes", "an array of uint32", got)
    try:
        raw = np.ascontiguousarray(words).astype("<u4").tobytes()
    except MemoryError as error:
        raise no_memory("the host", f"the bytes of argument `words` of unpack_bytes: {error}") from None
    if length is None:
        return raw
    if isinstance(length, bool) or not isinstance(length, (int, np.integer)) or not 0 <= length <= len(raw):
        raise must_be("argument `length` of unpack_bytes", f"an integer from 0 to {len(raw)}", shown(length))
    return raw[:length]


explain_calls(globals())
