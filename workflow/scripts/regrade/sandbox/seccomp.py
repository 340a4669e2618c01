"""A filter of system calls: what would get around the other bounds.

Refused are new user namespaces (inside one, a process may mount as much memory as it likes), files in memory that no
process's size shows, key rings (which the user shares with everything else of theirs), sockets to the machine below a
virtual one, and settings of process 1, the supervisor.
"""

import functools
import platform
import struct
from typing import NamedTuple

_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_CLONE_NEWUSER = 0x10000000
_AF_ALG, _AF_VSOCK = 38, 40
_X32 = 0x40000000

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_NUMBERS = {
    "add_key": (248, 217),
    "bpf": (321, 280),
    "clone": (56, 220),
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "ioprio_set": (251, 30),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "perf_event_open": (298, 241),
    "prlimit64": (302, 261),
    "request_key": (249, 218),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "setpriority": (141, 140),
    "socket": (41, 198),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}


class _Rule(NamedTuple):
    call: str
    error: int
    argument: int | None = None
    equals: int = 0
    has_bit: int = 0


# clone3 takes its flags through a pointer, where no filter can look; without it libraries fall back to clone.
_NEVER = ("bpf", "clone3", "io_uring_setup", "memfd_create", "memfd_secret", "perf_event_open", "userfaultfd")
_RULES = (
    *(_Rule(call, _ENOSYS) for call in _NEVER),
    *(_Rule(call, _EPERM) for call in ("add_key", "keyctl", "request_key")),
    *(_Rule(call, _EPERM, argument=0, has_bit=_CLONE_NEWUSER) for call in ("clone", "unshare")),
    *(_Rule("socket", _EAFNOSUPPORT, argument=0, equals=family) for family in (_AF_ALG, _AF_VSOCK)),
    *(_Rule(call, _EPERM, argument=1, equals=1) for call in ("ioprio_set", "setpriority")),
    *(
        _Rule(call, _EPERM, argument=0, equals=1)
        for call in ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")
    ),
)

_LOAD, _EQUAL, _AT_LEAST, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_CALL_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16


@functools.cache
def program() -> bytes | None:
    """The filter for this machine, as the kernel wants it; None on a machine whose call numbers are not known."""
    if platform.machine() not in _ARCHITECTURES:
        return None
    architecture, column = _ARCHITECTURES[platform.machine()]
    lines = [
        _line(_LOAD, _ARCHITECTURE_OFFSET),
        _line(_EQUAL, architecture, if_true=1),
        _line(_RETURN, _ERROR | _ENOSYS),
        _line(_LOAD, _CALL_OFFSET),
        _line(_AT_LEAST, _X32, if_false=1),
        _line(_RETURN, _ERROR | _ENOSYS),
    ]
    for rule in _RULES:
        lines += _compile(rule, _NUMBERS[rule.call][column])
    return b"".join([*lines, _line(_RETURN, _ALLOW)])


def _compile(rule: _Rule, number: int) -> list[bytes]:
    refuse = _line(_RETURN, _ERROR | rule.error)
    if rule.argument is None:
        return [_line(_EQUAL, number, if_false=1), refuse]
    test = _line(_BITS, rule.has_bit, if_false=1) if rule.has_bit else _line(_EQUAL, rule.equals, if_false=1)
    return [
        _line(_EQUAL, number, if_false=4),
        _line(_LOAD, _ARGUMENTS_OFFSET + 8 * rule.argument),
        test,
        refuse,
        _line(_LOAD, _CALL_OFFSET),
    ]


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
