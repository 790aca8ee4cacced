"""Round trips with Python's array libraries through DLPack, and through files with NumPy.

    python3 tests/interop/interop.py build/tests/libsinter_bridge.so

A library that is not there, or a GPU, is left out with one line that says so.
"""
import gc
import os
import sys
import tempfile

from sinter_bridge import CPU, CUDA, DTYPES, MANAGED, PINNED, Bridge, Error

passed = failed = skipped = 0


def check(name, held):
    global passed, failed
    passed, failed = passed + bool(held), failed + (not held)
    if not held:
        print("FAILED:", name)


def refuses(name, error, f):
    try:
        f()
    except error:
        return check(name, True)
    check(name, False)


def skip(why):
    global skipped
    skipped += 1
    print("left out:", why)


def library(name):
    try:
        return __import__(name)
    except Exception as e:   # some fail in ways of their own where there is no GPU
        skip(f"{name}: {type(e).__name__}: {e}")


def has(np, feature, since):
    """Whether this NumPy is of the version (major, minor) or newer; of an older one the feature is left out."""
    new = tuple(int(n) for n in np.__version__.split(".")[:2]) >= since
    if not new:
        skip(f"NumPy {np.__version__} has no {feature}")
    return new


def close(a, b):
    return len(a) == len(b) and all(x == y for x, y in zip(a, b))


def flat(a):
    """The elements of anybody's array as floats (of complex numbers the real part)."""
    return [float(getattr(v, "real", v)) for row in a for v in row]


COUNT = [float(k) for k in range(6)]


def with_numpy(np, bridge):
    for dtype in DTYPES:
        if dtype == "bfloat16" or (dtype == "bool" and not has(np, "bool in DLPack", (1, 25))):
            continue
        ours = bridge.make(2, 3, dtype)
        theirs = np.from_dlpack(ours)
        check(f"NumPy takes {dtype}",
              theirs.dtype == dtype and theirs.shape == (2, 3) and close(flat(theirs), ours.elements()))
        a = (np.arange(6) % 2 if dtype == "bool" else np.arange(6)).reshape(2, 3).astype(dtype)
        for versioned in (True, False):
            b = bridge.from_dlpack(a, versioned=versioned)
            check(f"NumPy gives {dtype}", b.describe() == f"{dtype} (2, 3)" and close(b.elements(), flat(a)))

    ours = bridge.make(2, 3, "float64")
    theirs = np.from_dlpack(ours)
    ours.add_in_place(10)
    check("NumPy sees what sinter writes", theirs[1, 2] == 15)
    if theirs.flags.writeable:
        theirs[0, 0] = -1
        check("sinter sees what NumPy writes", ours.elements()[0] == -1)
    del ours
    gc.collect()
    check("NumPy keeps sinter's memory", theirs[1, 2] == 15)

    a = np.arange(6.0).reshape(2, 3)
    b = bridge.from_dlpack(a)
    later = b.compute()
    a[0, 0] = 100
    b.add_in_place(1)
    check("both see both", a[0, 0] == 101 and b.elements()[0] == 101)
    check("an expression keeps what was there", later.elements() == [2 * v + 1 for v in COUNT])
    before = sys.getrefcount(a)
    c = bridge.from_dlpack(a)
    check("sinter keeps NumPy's array", sys.getrefcount(a) == before + 1)
    del c
    gc.collect()
    check("and lets it go", sys.getrefcount(a) == before)
    copy = bridge.from_dlpack(a, copy=True)
    check("of a copy nothing is kept", sys.getrefcount(a) == before)
    a[:] = 0
    check("a copy is its own", copy.elements()[1] == 2)

    a = np.arange(24.0).reshape(4, 6)
    for name, view in (("transposed", a.T), ("sliced", a[1:3, ::2]), ("backwards", a[::-1, ::-1]),
                       ("one column", a[:, 2:3])):
        b = bridge.from_dlpack(view)
        check(f"a {name} view comes over", b.elements() == flat(view))
        back = np.from_dlpack(b)
        check(f"a {name} view goes back", (back == view).all() and back.strides == view.strides)
    turned = np.from_dlpack(bridge.make(2, 3, "int32").T())
    check("sinter's transposed array", turned.tolist() == [[0, 3], [1, 4], [2, 5]])
    if has(np, "read-only arrays in DLPack", (2, 1)):
        a.flags.writeable = False
        b = bridge.from_dlpack(a)
        refuses("a read-only array is not written", Error, lambda: b.add_in_place(1))
    check("an empty array", bridge.from_dlpack(np.zeros((0, 3))).describe() == "float64 (0, 3)")
    check("a number", bridge.from_dlpack(np.array(2.5)).elements() == [2.5])
    x = bridge.make(2, 3, "float32")
    if has(np, "from_dlpack(..., copy=True)", (2, 1)):
        check("a copy on request", np.from_dlpack(x, copy=True).flags.writeable)
        y = np.from_dlpack(x, copy=True)
        y[:] = 0
        check("a copy is apart", x.elements() == COUNT)
    destroyed = bridge.destroyed
    capsule = x.__dlpack__(max_version=(1, 0))
    legacy = x.__dlpack__()
    del capsule, legacy
    gc.collect()
    check("capsules that nobody takes delete their tensors", bridge.destroyed == destroyed + 2)
    refuses("structured elements", Exception, lambda: bridge.from_dlpack(np.zeros(2, "i4,f8")))
    if bridge.gpus() > 0:
        ours = bridge.make(2, 3, "float64", (PINNED, 0))
        check("pinned memory says so", ours.__dlpack_device__() == (PINNED, 0))
        theirs = np.from_dlpack(ours)
        ours.add_in_place(10)
        check("NumPy takes pinned memory", flat(theirs) == [v + 10 for v in COUNT])
    with_files(np, bridge)


def with_files(np, bridge):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x")
        rng = np.random.default_rng(0)
        for dtype in DTYPES:
            if dtype == "bfloat16":
                continue
            a = (rng.random((3, 5)) * 100).astype(dtype)
            for name, x in (("C", a), ("Fortran", np.asfortranarray(a)),
                            ("big-endian", a.astype(a.dtype.newbyteorder(">")))):
                np.save(path + ".npy", x)
                ours = bridge.load(path + ".npy")
                check(f"sinter loads {dtype} {name}", close(ours.elements(), flat(a)))
                ours.save(path + "2.npy")
                check(f"NumPy loads {dtype} {name}", np.array_equal(np.load(path + "2.npy"), a))
                if name != "big-endian":
                    check(f"{dtype} {name} to the byte",
                          open(path + ".npy", "rb").read() == open(path + "2.npy", "rb").read())
        a = rng.standard_normal((30, 40))
        for write in (np.savez, np.savez_compressed):
            write(path + ".npz", first=a, second=a[0])
            try:
                check("sinter loads NumPy's archive",
                      close(bridge.load_npz(path + ".npz", "second").elements(), list(a[0])))
            except Error as e:
                return skip(f"archives: {e}")
        ours = bridge.make(2, 3, "float32")
        for compressed in (0, 1):
            ours.savez(path + ".npz", compressed, 3)
            with np.load(path + ".npz") as z:
                check("NumPy loads sinter's archive",
                      z.files == ["arr_0", "arr_1", "arr_2"] and flat(z["arr_2"]) == COUNT)
        ours.savez(path + ".npz", 0, 66000)
        with np.load(path + ".npz") as z:
            check("NumPy loads an archive in the zip64 form", len(z.files) == 66000 and flat(z["arr_65999"]) == COUNT)


def devices(bridge):
    return [(CPU, 0)] + ([(CUDA, 0)] if bridge.gpus() > 0 else [])


def with_torch(torch, bridge):
    names = ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
             "complex128"]
    for device in devices(bridge):
        if device[0] == CUDA and not torch.cuda.is_available():
            skip("PyTorch has no GPU")
            continue
        where = "cpu" if device[0] == CPU else "cuda:0"
        for dtype in names:
            theirs = torch.from_dlpack(bridge.make(2, 3, dtype, device))
            check(f"PyTorch takes {dtype} on {where}",
                  str(theirs.dtype) == "torch." + dtype and str(theirs.device) == where and
                  flat(theirs.cpu().tolist()) == COUNT)
            t = torch.arange(6, device=where).reshape(2, 3).to(getattr(torch, dtype))
            ours = bridge.from_dlpack(t)
            check(f"PyTorch gives {dtype} on {where}",
                  ours.describe() == f"{dtype} (2, 3)" and ours.elements() == COUNT)
        t = torch.arange(6, device=where, dtype=torch.float32).reshape(2, 3)
        ours = bridge.from_dlpack(t)
        later = ours.compute()
        t += 10
        if device[0] == CUDA:
            torch.cuda.synchronize()
        check(f"PyTorch and sinter see each other on {where}", ours.elements() == [v + 10 for v in COUNT])
        check(f"an expression keeps what was there on {where}", later.elements() == [2 * v + 1 for v in COUNT])
        ours.add_in_place(1)
        check(f"sinter's writes on {where}", flat(torch.from_dlpack(ours).cpu().tolist()) == [v + 11 for v in COUNT])
        check(f"PyTorch's transposed tensor on {where}",
              bridge.from_dlpack(t.T).elements() == [11, 14, 12, 15, 13, 16])
        for _ in range(200):   # memory that PyTorch reuses at once
            a = torch.full((1000, 100), 3.0, device=where)
            b = bridge.from_dlpack(a).compute()
            del a
            torch.zeros((1000, 100), device=where)
            if b.elements()[0] != 7:
                check(f"memory is kept until it has been read on {where}", False)
                break
        else:
            check(f"memory is kept until it has been read on {where}", True)
    if bridge.gpus() > 0 and torch.cuda.is_available():
        ours = bridge.make(2, 3, "float32", (CUDA, 0))
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            theirs = torch.from_dlpack(ours.compute())
            check("PyTorch on a stream of its own", flat((theirs + 1).cpu().tolist()) == [2 * v + 2 for v in COUNT])
        bridge.own_stream(True)
        wanted = [2 * (2 * v + 1) for v in range(20000)]
        right = True
        for _ in range(50):   # each side on a stream of its own, nobody waits by hand
            with torch.cuda.stream(side):
                theirs = torch.from_dlpack(bridge.make(20, 1000, "float32", (CUDA, 0)).compute()) * 2
                back = bridge.from_dlpack(theirs)
                del theirs
                right = right and back.elements() == wanted
        bridge.own_stream(False)
        check("PyTorch and sinter each on a stream of its own", right)
        plain = bridge.make(2, 3, "float32", (MANAGED, 0)).__dlpack__(stream=1, dl_device=(CUDA, 0))
        check("PyTorch takes managed memory by the GPU's name", flat(torch.from_dlpack(plain).cpu().tolist()) == COUNT)


def with_jax(jax, bridge):
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
    for device in devices(bridge):
        kind = "cpu" if device[0] == CPU else "cuda"
        try:
            place = jax.devices(kind)[0]
        except RuntimeError as e:
            skip(f"JAX has no {kind}: {e}")
            continue
        for dtype in ["int8", "int32", "int64", "uint8", "uint32", "float16", "bfloat16", "float32", "float64",
                      "complex64"]:
            theirs = jnp.from_dlpack(bridge.make(2, 3, dtype, device))
            check(f"JAX takes {dtype} on {kind}", str(theirs.dtype) == dtype and flat(theirs.tolist()) == COUNT)
            a = jax.device_put(jnp.arange(6).reshape(2, 3).astype(dtype), place)
            ours = bridge.from_dlpack(a.block_until_ready())
            check(f"JAX gives {dtype} on {kind}", ours.describe() == f"{dtype} (2, 3)" and ours.elements() == COUNT)
            check(f"JAX and back on {kind}", ours.compute().elements() == [2 * v + 1 for v in COUNT])


def with_cupy(cupy, bridge):
    if bridge.gpus() == 0:
        return skip("CuPy: there is no GPU")
    for dtype in DTYPES:
        if dtype in ("bfloat16", "bool"):
            continue
        ours = bridge.make(2, 3, dtype, (CUDA, 0))
        theirs = cupy.from_dlpack(ours)
        check(f"CuPy takes {dtype}", theirs.dtype == dtype and flat(theirs.get()) == COUNT)
        a = cupy.arange(6).reshape(2, 3).astype(dtype)
        ours = bridge.from_dlpack(a)
        check(f"CuPy gives {dtype}", ours.describe() == f"{dtype} (2, 3)" and ours.elements() == COUNT)
    a = cupy.arange(6.0).reshape(2, 3)
    ours = bridge.from_dlpack(a)
    a += 5
    ours.add_in_place(1)
    check("CuPy and sinter see each other",
          ours.elements() == [v + 6 for v in COUNT] and flat(a.get()) == ours.elements())
    check("CuPy's transposed array", bridge.from_dlpack(a.T).elements() == [6, 9, 7, 10, 8, 11])
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        theirs = cupy.from_dlpack(bridge.make(2, 3, "float32", (CUDA, 0)).compute())
        check("CuPy on a stream of its own", flat((theirs + 1).get()) == [2 * v + 2 for v in COUNT])
    cupy.cuda.set_allocator(cupy.cuda.malloc_managed)
    try:
        ours = bridge.from_dlpack(cupy.arange(6.0).reshape(2, 3))
        check("CuPy's managed memory", ours.__dlpack_device__()[0] == MANAGED and ours.elements() == COUNT)
    finally:
        cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)
    theirs = cupy.from_dlpack(bridge.make(2, 3, "float32", (MANAGED, 0)))
    check("CuPy takes managed memory", flat((theirs * 2).get()) == [2 * v for v in COUNT])


def main():
    bridge = Bridge(sys.argv[1])
    for name, test in (("numpy", with_numpy), ("torch", with_torch), ("jax", with_jax), ("cupy", with_cupy)):
        if found := library(name):
            test(found, bridge)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
