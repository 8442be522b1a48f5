"""The registry of operations: functions of values, which ``Expr.call`` names, and procedures, which ``invoke`` calls.

>>> get("primitive.bitwise.xor").signature
<vyre.OpSignature (U32, U32) -> U32>
"""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING

from vyre import _core
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be
from vyre._base.taken import COMPANIONS, Version, note_taken
from vyre._base.text import shown
from vyre._core import Convention, Expr, Node, OpLaw, OpSignature, OpSpec, Procedure, Program
from vyre.errors import ArgumentError, CallError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from vyre._kernel.typed import ElementType
    from vyre._procedure.loaded import LoadedFunction

__all__ = [
    "Convention",
    "OpLaw",
    "OpSignature",
    "OpSpec",
    "Operation",
    "call",
    "get",
    "ids",
    "invoke",
    "op",
    "register",
]


def get(id: str) -> OpSpec:
    """The operation of this id in its highest version; ``id@2`` is that version.

    Raises: ArgumentError when nothing is registered under it.

    >>> get("primitive.bitwise.xor@1").version
    1
    """
    spec = _core._op_get(id)
    if "@" not in id:
        note_taken([Version(spec)])
    return spec


def call(id: str, *args: Any) -> Expr:
    """The result of a registered operation for these arguments, in expressions and in kernels.

    ``id`` means the operation's highest version, ``id@2`` is that one. An integer takes the type of its parameter.

    >>> call("primitive.math.gcd", Expr.var("a"), 12)
    Expr(call(primitive.math.gcd, a, 12))
    """
    return Expr.call(id, args)


def invoke(id: str, /, *args: Any, **kwargs: Any) -> Any:
    """Call a registered procedure: in a function under ``@vyre.procedure`` it becomes a step, elsewhere it runs.

    The procedure of this id becomes part of the Procedure that is recorded. The function under
    ``@vyre.procedure`` is recorded anew at the first call after a higher version was registered.
    Parameters are its arrays, then its numbers, in the order of
    ``get(id).parameters``. Expressions and kernels cannot call it (V020).

    Args:
        id: means the operation's highest version; ``id@2`` is that one.
        args, kwargs: as for a call of the function under ``@vyre.procedure``, ``out=``, ``backend=`` and others too.

    Raises: ArgumentError when nothing is registered under the id, and for a function of values; else what a call of a
        procedure raises.

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.kernel
    ... def add_one(x: vyre.InOut[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     x[i] = x[i] + 1
    >>> @vyre.procedure
    ... def counted(x: vyre.InOut[vyre.u32], times: vyre.u32):
    ...     for _ in vyre.times(times):
    ...         add_one(x)
    >>> register(OpSpec("example.counted", procedure=counted.procedure))
    <vyre.OpSpec example.counted@1 procedure counted>
    >>> @vyre.procedure
    ... def twice(x: vyre.InOut[vyre.u32]):
    ...     invoke("example.counted", x, 2)
    ...     invoke("example.counted", x, times=x.length)
    >>> x = np.zeros(3, np.uint32)
    >>> twice(x, backend="cpu")
    >>> x
    array([5, 5, 5], dtype=uint32)
    """
    from vyre._kernel.mistakes import Mistake
    from vyre._kernel.recording import is_tracing

    if is_tracing():
        raise Mistake(
            "K005",
            "vyre.ops.invoke calls a procedure, which works on whole arrays, and a kernel is what one invocation does",
            "call it beside this kernel, in a function under @vyre.procedure or where the kernel is called",
        )
    if not isinstance(id, str) or "\0" in id:
        raise must_be("argument `id` of vyre.ops.invoke", "the id of a registered procedure", shown(id))
    spec = get(id)
    if spec.procedure is None:
        raise ArgumentError(
            f"operation `{spec.id}` is a function of values, which expressions call, and vyre.ops.invoke calls "
            f'procedures. Fix: write vyre.ops.call("{spec.id}", ...) in a kernel, and call the kernel here.'
        )
    return _function(spec)(*args, **kwargs)


# The functions of the procedures that were invoked, by operation.
_FUNCTIONS: dict[OpSpec, LoadedFunction] = {}


def _function(spec: OpSpec) -> LoadedFunction:
    from vyre._procedure.loaded import LoadedFunction  # when one is asked for: it is made on top of much

    known = _FUNCTIONS.get(spec)
    if known is None:
        assert spec.procedure is not None
        known = _FUNCTIONS.setdefault(spec, LoadedFunction(spec.procedure, spec))
    return known


def ids() -> list[str]:
    """The ids of all registered operations, in order; an id with several versions is listed once.

    >>> "primitive.bitwise.xor" in ids()
    True
    """
    return list(dict.fromkeys(spec.id for spec in _core._op_all()))


def register(spec: OpSpec) -> OpSpec:
    """Register an operation for this process and return it; the same one again is no change.

    A pickled Program, Procedure, Expr or Node takes the operations that it calls with it, and they are registered where
    it is unpickled.

    Raises: ValidationError when its body breaks a rule (V034: it sees its arguments and constants only), or its
        procedure does; ArgumentError when another body is registered under this id and version.

    >>> from vyre import DataType
    >>> a = Expr.var("a")
    >>> spec = OpSpec("example.next", OpSignature([DataType.U32], DataType.U32), parameters=["a"], result=a + 1)
    >>> register(spec)
    <vyre.OpSpec example.next@1 (U32) -> U32>
    """
    _core._op_register(spec)
    if not _OWN:
        # Until now pickles needed nothing beside their bytes.
        for kind in (Program, Procedure, Expr, Node):
            copyreg.pickle(kind, _reduced)
        COMPANIONS.append(_called)
    _OWN.setdefault((spec.id, spec.version), spec)
    if spec.procedure is not None:
        _function(spec)  # it keeps the recording, which has the lines of its steps
    return spec


# The operations that this process has registered, in that order, by id and version.
_OWN: dict[tuple[str, int], OpSpec] = {}


def _called(data: bytes) -> list[Operation]:
    """The user's operations that the bytes of a pickle call."""
    from vyre._pickle import called  # when it is asked for: `import vyre` does without

    return [Operation(spec) for spec in called(data, tuple(_OWN.values()))]


def _reduced(value: Any) -> tuple[Any, ...]:
    """Reduce a Program, a Procedure, an Expr or a Node for pickle; the user's operations that it calls travel along."""
    rebuild, (data,) = value.__reduce__()
    operations = _called(data)
    return (_with_operations, (rebuild, data, *operations)) if operations else (rebuild, (data,))


def _with_operations(rebuild: Callable[[bytes], Any], data: bytes, *operations: Operation) -> Any:
    """Rebuild the object of these bytes; the operations that it calls are registered, since they were unpickled."""
    return rebuild(data)


def _operation(spec: OpSpec) -> Operation:
    """The operation, registered where its pickle is read.

    Raises: ArgumentError when another operation is registered under its id and version.
    """
    from vyre._base import log as _log

    _log.debug("operation %s@%d came with a pickle", spec.id, spec.version)
    return Operation(register(spec))


class Operation:
    """A registered operation as a function: of expressions, or, where it is a procedure, of arrays and numbers.

    Attributes:
        spec: its OpSpec.
    """

    def __init__(self, spec: OpSpec) -> None:
        if type(spec) is not OpSpec:
            raise must_be("argument `spec` of Operation", "an OpSpec", shown(spec))
        self.spec: OpSpec = spec
        self.__name__: str = spec.id
        self.__doc__ = spec.summary

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = f"{self.spec.id}@{self.spec.version}"
        if self.spec.procedure is not None:
            return invoke(name, *args, **kwargs)
        if kwargs:
            raise CallError(
                f"operation `{name}` takes expressions by position, got argument `{next(iter(kwargs))[:80]}`. "
                f"Fix: write them in the order {', '.join(self.spec.parameters) or 'of its signature'}."
            )
        return Expr.call(name, args)

    def __copy__(self) -> Operation:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Operation:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _operation, (self.spec,)

    def __repr__(self) -> str:
        return f"<vyre operation {self.spec.id}@{self.spec.version}>"

    def _repr_html_(self) -> str:
        from vyre._html.programs import operation

        return operation(self.spec)


def op(
    id: str,
    *,
    inputs: Sequence[ElementType],
    output: ElementType,
    version: int = 1,
    laws: Iterable[OpLaw] = (),
    examples: Iterable[tuple[Sequence[Any], Any]] = (),
) -> Callable[[Callable[..., Any]], Operation]:
    """Register the decorated function as an operation: it gets one expression an input and returns the result.

    It runs once, at decoration. Statements (let, if_, loop) need an OpSpec with a ``body``; see OpSpec.

    Args:
        id: a dotted name.
        inputs: the types of the parameters.
        output: the type of the result.
        version, laws, examples: as in OpSpec.

    Raises: as OpSpec and register do.

    >>> from vyre import DataType
    >>> @op("example.mix", inputs=[DataType.U32, DataType.U32], output=DataType.U32)
    ... def mix(a, b):
    ...     "Mixes two words."
    ...     return (a ^ b) * 0x9E3779B1
    >>> mix(Expr.var("x"), 7)
    Expr(call(example.mix@1, x, 7))
    """
    signature = OpSignature(inputs, output)

    def decorate(function: Callable[..., Any]) -> Operation:
        import inspect

        parameters = _parameters(function, len(signature.inputs))
        result = function(*(Expr.var(name) for name in parameters))
        if result is None:
            raise ArgumentError(f"the function of `{id}` returned None. Fix: return the expression of its result.")
        summary = (inspect.getdoc(function) or "").split("\n", 1)[0]
        spec = OpSpec(
            id,
            signature,
            parameters=parameters,
            result=result,
            version=version,
            summary=summary,
            laws=laws,
            examples=examples,
        )
        return Operation(register(spec))

    return decorate


def _parameters(function: Callable[..., Any], count: int) -> list[str]:
    import inspect

    if not callable(function):
        raise ArgumentError(
            f"@vyre.op decorates a function, got an object of type {type(function).__name__}. "
            "Fix: write it above a def with one parameter an input."
        )
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ArgumentError("@vyre.op decorates a Python function. Fix: wrap it in a def.") from None
    if (
        inspect.iscoroutinefunction(function)
        or inspect.isasyncgenfunction(function)
        or inspect.isgeneratorfunction(function)
    ):
        raise ArgumentError(
            f"`{function.__name__}` is written with `async` or `yield`, and @vyre.op calls it once. "
            "Fix: leave them out, and return the expression of its result."
        )
    positional = [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) != count or len(positional) != len(found):
        raise ArgumentError(
            f"`{getattr(function, '__name__', function)}` has {len(found)} parameters, `inputs` has {count} types. "
            "Fix: give the function one plain parameter an input."
        )
    return positional


explain_calls(globals())
