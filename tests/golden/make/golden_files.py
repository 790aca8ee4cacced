"""Files as NumPy writes them: .npy in every form that can be read or must be refused, .npz archives."""
import io
import zipfile

import numpy as np

from golden_format import NUMPY_DTYPES, Writer

BFLOAT16 = 10   # its code; not a NumPy type


def sample(rng, dtype, shape):
    """Elements that show a wrong byte order, with special values where there are any."""
    n = int(np.prod(shape))
    if dtype.kind == "b":
        a = rng.integers(0, 2, n).astype(bool)
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        a = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    else:
        a = rng.standard_normal(n).astype(dtype)
        if dtype.kind == "c":
            a = a + 1j * rng.standard_normal(n).astype(a.real.dtype)
        a = a.astype(dtype)
        if n > 3:
            a[1], a[2] = np.inf, -0.0
    return a.reshape(shape)


def npy_bytes(a, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, a, version=version, allow_pickle=True)
    return out.getvalue()


def with_header(header, data, version=1):
    """A file with a header that NumPy would not write like that."""
    text = header.encode("latin1")
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(2 if version == 1 else 4, "little") + text + data


class Cases:
    def __init__(self, w):
        self.w = w

    def loads(self, name, data, expected, same=True, dtype=None):
        """`same`: saving what was loaded must give the same bytes again."""
        self.begin(name, data)
        self.w.u8(0)
        if dtype is None:
            self.w.array(expected)
        else:
            self.w.u8(dtype)
            self.w.dims(expected.shape)
            self.w.out += expected.tobytes()
        self.w.u8(same)

    def refused(self, name, data, says):
        self.begin(name, data)
        self.w.u8(1)
        self.w.text(says)

    def begin(self, name, data):
        self.w.case()
        self.w.text(name)
        self.w.varint(len(data))
        self.w.out += data


def write_npy(path, rng):
    w = Writer("npy")
    c = Cases(w)
    for dtype in NUMPY_DTYPES:
        a = sample(rng, dtype, (2, 3))
        c.loads(f"{dtype} C", npy_bytes(a), a)
        c.loads(f"{dtype} Fortran", npy_bytes(np.asfortranarray(a)), a)
        if dtype.itemsize > 1:
            c.loads(f"{dtype} big-endian", npy_bytes(a.astype(dtype.newbyteorder(">"))), a, same=False)
    f8 = np.dtype("float64")
    for shape in [(), (0,), (1,), (7,), (0, 3), (3, 0), (1, 1), (1, 5), (5, 1), (2, 3, 4), (2, 1, 3),
                  (1, 2, 3, 2, 1, 2)]:
        a = sample(rng, f8, shape)
        c.loads(f"shape {shape}", npy_bytes(a), a)
        c.loads(f"shape {shape}, reversed strides", npy_bytes(a.T), a.T)
    a = sample(rng, f8, (4, 3, 2))
    c.loads("neither order", npy_bytes(a.transpose(1, 0, 2)), a.transpose(1, 0, 2))
    c.loads("version 2.0", npy_bytes(a, (2, 0)), a, same=False)
    c.loads("version 3.0", npy_bytes(a, (3, 0)), a, same=False)
    b = sample(rng, np.dtype("c8"), (3, 2))
    c.loads("big-endian Fortran complex", npy_bytes(np.asfortranarray(b).astype(">c8")), b, same=False)
    raw = np.array([0x3f80, 0xc000, 0x7fc0], "<u2")
    c.loads("bfloat16", npy_bytes(raw.view("V2")).replace(b"'|V2'", b"'<V2'"), raw, dtype=BFLOAT16)
    i4 = np.arange(3, dtype="<i4")
    data = i4.tobytes()
    c.loads("long integers of Python 2",
            with_header("{'descr': '<i4', 'fortran_order': False, 'shape': (3L,), }", data),
            i4, same=False)
    c.loads("other quotes, order and blanks",
            with_header('{ "shape":( 3 ,) ,"fortran_order" : False, "descr":"<i4"}', data), i4, same=False)
    c.loads("native byte order", with_header("{'descr': '=i4', 'fortran_order': False, 'shape': (3,), }", data), i4,
            same=False)
    c.loads("bytes after the elements", npy_bytes(i4) + b"more", i4, same=False)
    c.loads("bools of other values",
            with_header("{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }", b"\0\1\2\xff"),
            np.array([0, 1, 1, 1], bool), same=False)

    structured = np.zeros(2, [("a", "<i4"), ("b", "<f8")])
    c.refused("structured", npy_bytes(structured), "structured elements [('a', '<i4'), ('b', '<f8')]")
    c.refused("nested structured", npy_bytes(np.zeros(2, [("a", [("b", "<i4")]), ("c", "<f8", (2,))])),
              "structured elements")
    c.refused("objects", npy_bytes(np.array([1, "a"], object)), "(pickled Python objects)")
    c.refused("bytes", npy_bytes(np.array([b"ab"])), "'S2' (text)")
    c.refused("text", npy_bytes(np.array(["ab"])), "'U2' (text)")
    c.refused("dates", npy_bytes(np.array(["2026-01-01"], "M8[D]")), "(dates and times)")
    c.refused("durations", npy_bytes(np.array([1], "m8[s]")), "(dates and times)")
    c.refused("long double", npy_bytes(np.zeros(2, np.longdouble)), "(extended precision)")
    c.refused("complex long double", npy_bytes(np.zeros(2, np.clongdouble)), "(extended precision)")
    c.refused("raw", npy_bytes(np.zeros(2, "V5")), "(raw bytes)")
    c.refused("two raw bytes", npy_bytes(np.zeros(2, "V2")), "{.dtype = bfloat16}")
    good = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }"

    def bad(name, header, says, payload=data):
        c.refused(name, with_header(header, payload), says)
    bad("negative extent", good.replace("(3,)", "(-3,)"), "negative extent -3")
    bad("two negative extents", good.replace("(3,)", "(-1, -3)"), "negative extent -1")
    bad("extent beyond 64 bits", good.replace("(3,)", "(99999999999999999999,)"), "beyond 64 bits")
    bad("product beyond 64 bits", good.replace("(3,)", "(4294967296, 4294967296)"), "more elements than any array has")
    bad("product beyond 64 bits, and zero", good.replace("(3,)", "(0, 4294967296, 4294967296)"), "more elements")
    bad("more than there is", good.replace("(3,)", "(4,)"), "cut short")
    bad("far more than there is", good.replace("(3,)", "(1000000000000000,)"), "cut short")
    bad("65 axes", good.replace("(3,)", "(" + "1," * 65 + ")"), "more than 64 axes")
    bad("an integer for a shape", good.replace("(3,)", "(3)"), "tuple")
    bad("a list for a shape", good.replace("(3,)", "[3]"), "no '('")
    bad("a fraction", good.replace("(3,)", "(3.0,)"), "no ')'")
    bad("no shape", "{'descr': '<i4', 'fortran_order': False, }", "lacks one of")
    bad("a key too much", good.replace("}", "'more': 1, }"), "the key 'more' too much")
    bad("a key twice", good.replace("}", "'shape': (3,), }"), "the key 'shape' too much")
    bad("no dictionary", "(3,)", "no '{'")
    bad("more than a dictionary", good + " + 1", "continues after")
    bad("order that is no truth value", good.replace("False", "0"), "neither True nor False")
    bad("unknown type", good.replace("<i4", "<q9"), "type 'q9'")
    bad("empty type", good.replace("<i4", ""), "type ''")
    bad("code in the header", good.replace("(3,)", "__import__('os')"), "no '('")
    c.refused("version 4.0", with_header(good, data, version=4), "format version 4.0")
    c.refused("version 0.0", with_header(good, data, version=0), "format version 0.0")
    whole = npy_bytes(i4)
    for n in (0, 1, 7, 9, 10, 40, 127, 128, 129, 139):
        c.refused(f"first {n} bytes", whole[:n], "")
    c.refused("header longer than the file", whole[:8] + b"\xff\xff" + whole[10:], "takes 65535 bytes")
    c.refused("header of 4 GiB", npy_bytes(i4, (2, 0))[:8] + b"\xff\xff\xff\xff" + whole[12:],
              "takes 4294967295 bytes")
    c.refused("text file", b"1 2 3\n4 5 6\n", "no .npy file")
    archive = io.BytesIO()
    np.savez(archive, x=i4)
    c.refused("archive", archive.getvalue(), "load_npz")
    return w.save(path)


def write_npz(path, rng):
    """Cases: name, the archive, then either its arrays by name or what the refusal says."""
    w = Writer("npz")

    def archive(name, data, arrays):
        w.case()
        w.text(name)
        w.varint(len(data))
        w.out += data
        w.u8(0)
        w.varint(len(arrays))
        for key, a in arrays.items():
            w.text(key)
            w.array(a)

    def refused(name, data, says):
        w.case()
        w.text(name)
        w.varint(len(data))
        w.out += data
        w.u8(1)
        w.text(says)

    arrays = {"x": sample(rng, np.dtype("f4"), (2, 3)), "weights/layer 1": np.zeros((40, 50), "<i2"),
              "scalar": np.array(2.5), "none": np.zeros((0, 2), bool),
              "Fortran": np.asfortranarray(rng.random((3, 2)))}
    for kind, write in (("stored", np.savez), ("deflated", np.savez_compressed)):
        out = io.BytesIO()
        write(out, **arrays)
        archive(kind, out.getvalue(), arrays)
    out = io.BytesIO()
    np.savez(out, arrays["x"], arrays["scalar"])
    archive("without names", out.getvalue(), {"arr_0": arrays["x"], "arr_1": arrays["scalar"]})
    out = io.BytesIO()
    np.savez(out)
    archive("empty", out.getvalue(), {})

    def zipped(method, data=npy_bytes(np.arange(4)), name="x.npy"):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as z:
            z.writestr(zipfile.ZipInfo(name), data, method)   # a ZipInfo: of 1980, not of today
        return out.getvalue()
    stored = zipped(zipfile.ZIP_STORED)
    archive("without zip64 fields", stored, {"x": np.arange(4)})
    refused("something in front", b"#!/bin/sh\n" + stored, "no archive")   # nor does NumPy take it for one
    refused("bzip2", zipped(zipfile.ZIP_BZIP2), "method 12")
    refused("LZMA", zipped(zipfile.ZIP_LZMA), "method 14")
    refused("no array", zipped(zipfile.ZIP_STORED, b"{}", "readme.txt"), "no .npy file")
    refused("wrong checksum", stored.replace(np.arange(4).tobytes(), np.arange(1, 5).tobytes()), "CRC")
    deflated = bytearray(zipped(zipfile.ZIP_DEFLATED, npy_bytes(np.zeros(1000))))
    deflated[70] ^= 0xff
    refused("damaged deflate stream", bytes(deflated), "")
    refused("cut short", stored[:-30], "")
    refused("not an archive", b"no archive, but more than 22 bytes", "no archive")
    refused("nothing", b"", "")
    # The central directory says that the member has a tebibyte.
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(zipfile.ZipInfo("x.npy"), npy_bytes(np.zeros(1000)), zipfile.ZIP_DEFLATED)
        z.filelist[0].file_size = 1 << 40
    refused("impossible size", out.getvalue(), "")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(zipfile.ZipInfo("x.npy"), npy_bytes(np.zeros(10)))
        z.filelist[0].file_size = z.filelist[0].compress_size = 1 << 40
    refused("impossible stored size", out.getvalue(), "")
    return w.save(path)
