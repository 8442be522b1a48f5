"""Every form that a kernel and its calls have."""

import numpy as np

import vyre
from vyre import In, InOut, Out, boolean, const, i32, u32, u64


@vyre.kernel
def saxpy(a: vyre.In[vyre.u32], x: vyre.In[vyre.u32], k: vyre.u32, y: vyre.Out[vyre.u32]) -> None:
    i = vyre.gid(0)
    if i < len(y):
        y[i] = a[i] * k + x[i]


def at(a: In[u32, 2], y: u32, x: u32) -> u32:
    return u32(a[y, x])


def larger(a: u32, b: u32) -> u32:
    return a if a > b else b


@vyre.kernel(workgroup_size=64)
def forms(a: In[u32, 2], wide: In[u64], k: u32, s: i32, on: boolean, n: const, y: Out[u32, 2], z: InOut[u64]) -> None:
    i, j = vyre.gid(0), vyre.gid(1)
    mine = vyre.shared(u32, 64)
    tile = vyre.shared(u32, (8, 8))
    few = vyre.local(u32, [1, 2, 3])
    wide_few = vyre.local(u64, 4)
    total = 0
    for r in range(a.shape[0]):
        total += a[r, i] * 2 + r
    for t in vyre.unroll(range(8)):
        few[t % 3] += t
        tile[t, t] = total
    _ = mine.atomic_add(vyre.lid(0), k)
    old = vyre.atomic_max(mine, 0, k + 1)
    vyre.barrier()
    w = u64(i) * 6364136223846793005 + wide[i]
    y[j, i] = w.lo ^ w.hi ^ old
    v = vyre.vec4u32(i, j, k, 1)
    y[j, 0] = v.x + v.w + vyre.popcount(k) + vyre.min(k, 3).rotl(2) + larger(k, i) + at(a, j, i)
    y[j, 1] = u32(s >> 3) if s < -5 else k.rotl(7)
    wide_few[0] = w
    z[i] = wide_few[0] + 1
    if on and not (i == 0 or j >= a.size) and 0 < k < 10:
        z[0] = u64(n)
    while total != 0:
        total = total >> 1
        if total == 5:
            break
    _ = y.atomic_add((0, 0), 1)
    other = few.copy()
    y[0, 0] = other[0] + mine[0] + min(k, 4) + u32(abs(s - 2)) + max(i, j)
    y[0, 1] = 1 << k | ~k & (k - 1)
    y[0, 2] = vyre.select(on, k, 1) + (i < j).select(k, 2)


@vyre.kernel
def defaults(
    a: In[u32], y: Out[u32], k: u32 = u32(3), s: i32 = i32(-2), w: u64 = u64(1 << 40), on: boolean = boolean(True)
) -> None:
    i = vyre.gid(0)
    y[i] = a[i] * k + w.hi if on and s < 0 else u32(0)


a = np.arange(8, dtype=np.uint32)
y = saxpy(a, a, 3)
assert defaults(a).tolist() == (a * 3 + 256).tolist()
assert defaults(a, k=2, w=0).tolist() == (a * 2).tolist()
assert not defaults(a, on=False).any()
print(y.astype(np.uint64), saxpy(a, a, 3, out=np.zeros(8, np.uint32), grid=8, backend="cpu").sum())
resident = vyre.array(a)
print(saxpy(resident, resident, np.uint32(3), grid=8).numpy())
two, three = forms(a.reshape(2, 4), a.astype(np.uint64), 1, -1, True, 4, workgroups=(1, 2), z=np.zeros(4, np.uint64))
print(saxpy.program.workgroup_size, saxpy.text, forms.specialize(n=8).program)


@vyre.procedure
def twice(x: In[u32], k: u32, y: InOut[u32]) -> vyre.ProcedureArray:
    made = vyre.scratch(u32, x.length)
    saxpy(x, x, k, made, grid=x.length)
    saxpy(made, made, 1, y, workgroups=vyre.ceil_div(x.length, 256))
    largest, _ = vyre.std.topk(x, 3)
    saxpy(largest, largest, k, made[:3])
    sums: vyre.ProcedureArray = vyre.std.cumsum(made)
    return sums


a = np.arange(8, dtype=np.uint32)
print(twice(a, 3, np.zeros(8, np.uint32), backend="reference"))
