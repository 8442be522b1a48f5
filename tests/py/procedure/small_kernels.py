"""Kernels that procedures of several tests have as their steps."""

import vyre
from vyre import In, Out, i32, u32


@vyre.kernel
def copied(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i]


@vyre.kernel
def doubled(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * 2


@vyre.kernel
def evens(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y) and i % 2 == 0:
        y[i] = x[i]


@vyre.kernel
def plus(x: In[u32], y: Out[u32], n: u32):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] + n


@vyre.kernel
def plus_signed(x: In[u32], y: Out[u32], n: i32):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] + u32(n)
