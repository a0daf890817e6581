"""The planner from Python, by ctypes: python3 plan.py path/to/libarenac_plan.so

Plans twelve buffers, makes one of them larger, and plans again from where the others lie.
"""
import ctypes
import sys
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p

# The structures of arenac_plan.h, field by field.


class Buffer(Structure):
    _fields_ = [("size", c_int64), ("align", c_int64), ("begin", c_int64), ("end", c_int64), ("pools", c_void_p),
                ("pool_count", c_size_t), ("gaps", c_void_p), ("gap_count", c_size_t), ("fixed_offset", c_void_p),
                ("group", c_int32)]


class Problem(Structure):
    _fields_ = [("buffers", POINTER(Buffer)), ("buffer_count", c_size_t), ("pools", c_void_p), ("pool_count", c_size_t),
                ("overlaps", c_void_p), ("overlap_count", c_size_t)]


class Placement(Structure):
    _fields_ = [("pool", c_int32), ("offset", c_int64)]


class PoolUse(Structure):
    _fields_ = [("size", c_int64), ("lower_bound", c_int64)]


Report = CFUNCTYPE(None, c_void_p, c_int64, c_int64)
IsCancelled = CFUNCTYPE(c_int, c_void_p)


class Options(Structure):
    _fields_ = [("struct_size", c_size_t), ("planner", c_char_p), ("seconds", c_double), ("effort", c_double),
                ("seed", c_uint64), ("any_fit", c_int), ("report", Report), ("is_cancelled", IsCancelled),
                ("user", c_void_p), ("warm_start", POINTER(Placement))]


class Certificate(Structure):
    _fields_ = [("pool", c_int32), ("bound", c_int64), ("buffers", POINTER(c_int32)), ("buffer_count", c_size_t),
                ("has_time", c_int), ("time", c_int64)]


def needs(library, buffers, bound):
    """Why the buffers need so many bytes: in words, checked."""
    ids = (c_int32 * len(buffers))()
    why, problem = Certificate(bound=bound, buffers=ids), Problem(buffers=buffers, buffer_count=len(buffers))
    if library.arenac_plan_certify(byref(problem), None, byref(why), None, c_size_t(0)) != 0:
        return "no certificate was found"
    assert library.arenac_plan_check_certificate(byref(problem), byref(why), None, c_size_t(0)) == 0
    when = f"at time {why.time}" if why.has_time else "in whatever order they lie"
    return f"buffers {list(ids[:why.buffer_count])} {when}"


def plan(library, buffers, warm_start=None):
    """Placements of the buffers, and the pool's size and lower bound."""
    reported = []
    options = Options(
        struct_size=ctypes.sizeof(Options),
        report=Report(lambda user, size, bound: reported.append(size)),
        is_cancelled=IsCancelled(lambda user: len(reported) > 100),  # that many plans will do
        warm_start=warm_start)
    placements, use, message = (Placement * len(buffers))(), PoolUse(), ctypes.create_string_buffer(256)
    problem = Problem(buffers=buffers, buffer_count=len(buffers))
    if library.arenac_plan(byref(problem), byref(options), placements, byref(use), message, c_size_t(len(message))) != 0:
        sys.exit(message.value.decode())
    assert reported[-1] == use.size
    assert library.arenac_plan_verify(byref(problem), placements, None, c_size_t(0)) == 0
    return placements, use


def main():
    library = ctypes.CDLL(sys.argv[1])
    buffers = (Buffer * 12)(*[Buffer(size=16 * (1 + k % 5), begin=k, end=k + 3 + k % 4) for k in range(12)])
    before, use = plan(library, buffers)
    print(f"{use.size} bytes, at least {use.lower_bound}: {needs(library, buffers, use.lower_bound)}")
    buffers[7].size += 16
    _, use = plan(library, buffers, warm_start=before)
    print(f"{use.size} bytes, at least {use.lower_bound}, after an edit")


main()
