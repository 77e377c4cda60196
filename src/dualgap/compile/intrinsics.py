"""What a few functions are in kernels, where their Python form has no counterpart."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from dualgap.compile.elementary import from_bits, to_bits
from dualgap.compile.machine import RULE
from dualgap.compile.prefetch import prefetch
from dualgap.compile.scalar import at


@overload(at, strict=False, jit_options={"forceinline": True})
def _compiled_at(values: Any, j: Any) -> Any:
    if isinstance(values, types.Array):
        return lambda values, j: values[j]
    return lambda values, j: values


def _reinterpreted(target: Any, source: Any, kind: Any) -> Any:
    @intrinsic
    def cast(typing: Any, x: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], kind)

        return target(source), emit

    return cast


_cast_to_bits = _reinterpreted(types.int64, types.float64, ir.IntType(64))
_cast_to_float = _reinterpreted(types.float64, types.int64, ir.DoubleType())


@overload(to_bits, strict=False, jit_options=RULE)
def _compiled_bits(x: Any) -> Any:
    def cast(x: Any) -> Any:
        return _cast_to_bits(x)

    return cast


@overload(from_bits, strict=False, jit_options=RULE)
def _compiled_float(bits: Any) -> Any:
    def cast(bits: Any) -> Any:
        return _cast_to_float(bits)

    return cast


@overload(prefetch, strict=False, jit_options=RULE)
def _compiled_prefetch(array: Any, index: Any) -> Any:
    def hint(array: Any, index: Any) -> None:
        _hint(array, index)

    return hint


@intrinsic
def _hint(typing: Any, array: Any, index: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0])
        offset = context.cast(builder, args[1], signature.args[1], types.intp)
        stride = cgutils.unpack_tuple(builder, data.strides)[0]
        byte = ir.IntType(8).as_pointer()
        address = builder.gep(builder.bitcast(data.data, byte), [builder.mul(offset, stride)])
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [address, number(0), number(3), number(1)])  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, index), emit
