"""Mistakes that type checkers see. The comment of a line says who sees it: both, or pyright alone."""

import numpy as np

import vyre
from vyre import In, Out, const, i32, u32, u64


@vyre.kernel
def wrong(a: In[u32], b: In[u32, 2], k: u32, s: i32, n: const, y: Out[u32]) -> None:
    i = vyre.gid(0)
    y[i] = k + s  # both
    y[i] = u64(k) * k  # both
    y[i] = k / 2  # pyright
    y[i] = vyre.gidd(0)  # both
    y[i] = k.rotate(3)  # both
    a[i] = k  # pyright
    y[i] = 1.5  # pyright
    y[i] = "one"  # pyright
    y[i] = a  # pyright
    y[i] = a + 1  # pyright
    a.atomic_add(i, 1)  # pyright
    for _ in b:  # pyright
        pass
    vyre.shared(u32, "64")  # both
    mine = vyre.shared(u32, 64)
    mine[i] = 0.5  # both
    y[i] = vyre.shared(u32, 64)[i] + i32(1)  # both
    vyre.barrier(1)  # both
    y[i] = u32(a[i], k)  # both


@vyre.kernel
def with_default(y: Out[u32], k: u32 = i32(3)) -> None:  # both
    y[0] = k


@vyre.kernel(workgroup=64)  # both
def unknown_size(y: Out[u32]) -> None:
    y[0] = 1


@vyre.kernel
def doubled(a: In[u32], y: Out[u32]) -> None:
    y[vyre.gid(0)] = a[vyre.gid(0)] * 2


@vyre.procedure
def twice(x: In[u32], y: Out[u32]) -> None:
    doubled(x, vyre.scratch(u32, x.lenght))  # pyright
    doubled(x, y, timeout=1.0)  # pyright


host = np.zeros(3, np.uint32)
doubled([1, 2, 3])  # pyright
doubled(host, grid="3")  # pyright
doubled(host, vyre.array(host))  # pyright
doubled(vyre.array(host), timeout=1.0)  # pyright
doubled(host).numpy()  # pyright
print(doubled.programm)  # both
doubled.specialize(3)  # both
print(vyre.DataType.U23)  # both
print(vyre.u23)  # both
