"""How much memory a process of its own has taken at most."""

from __future__ import annotations

from typing import Final

PEAK_MIB: Final = """\
next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:")) \
// 1024"""
"""An expression for the program of the process. ``ru_maxrss`` does not tell it: a process that was
started begins with the peak of the one that started it, here that of all tests before."""
