"""Text files as NumPy reads and writes them: loadtxt, genfromtxt, savetxt."""
import io

import numpy as np

from golden_format import CODE, NO_DTYPE, Writer

LOAD = dict(dtype=None, comments="#", delimiter=None, skiprows=0, usecols=None, unpack=False, ndmin=0, max_rows=None,
            quotechar=None)
GENERATE = dict(dtype=None, comments="#", delimiter=None, skip_header=0, skip_footer=0, missing_values=[],
                filling_values=None,
                usecols=None, names=None, unpack=False, loose=True, invalid_raise=True, max_rows=None, ndmin=0)


class Readers:
    def __init__(self):
        self.w = Writer("text")

    def load(self, text, **given):
        o = {**LOAD, **given}
        call = dict(o, dtype=o["dtype"] or float)
        self.case(0, text, o, lambda: np.loadtxt(io.StringIO(text), **call))

    def generate(self, text, **given):
        o = {**GENERATE, **given}
        call = dict(o, dtype=o["dtype"] or float, missing_values=",".join(o["missing_values"]) or None)
        def run():
            a = np.genfromtxt(io.StringIO(text), **call)
            if isinstance(a, list):
                return np.stack(a)
            if a.dtype.names:   # a plain array, as without names
                a = np.stack([a[n] for n in a.dtype.names], -1)
                a = a if o["ndmin"] else np.squeeze(a)
            return a
        self.case(1, text, o, run)

    def case(self, kind, text, o, run):
        w = self.w
        w.case()
        w.u8(kind)
        w.text(text)
        w.u8(NO_DTYPE if o["dtype"] is None else CODE[np.dtype(o["dtype"])])
        w.text(o["comments"] or "")
        w.text(o["delimiter"] or "")
        w.varint(o.get("skiprows", o.get("skip_header")))
        w.varint(o.get("skip_footer", 0))
        missing = o.get("missing_values", [])
        w.varint(len(missing))
        for m in missing:
            w.text(m)
        w.u8(o.get("filling_values") is not None)
        w.f64(o.get("filling_values") or 0)
        cols = o["usecols"]
        cols = [] if cols is None else list(cols) if isinstance(cols, (tuple, list)) else [cols]
        named = bool(cols) and isinstance(cols[0], str)
        w.u8(named)
        w.varint(len(cols))
        for c in cols:
            w.text(c) if named else w.varint(c)
        for flag in ("names", "unpack"):
            w.u8(bool(o.get(flag)))
        for flag in ("loose", "invalid_raise"):
            w.u8(o.get(flag, True))
        w.varint(-1 if o["max_rows"] is None else o["max_rows"])
        w.varint(o["ndmin"])
        w.text(o.get("quotechar") or "")
        try:
            a = run()
        except ValueError:
            w.u8(1)
            return
        w.u8(0)
        w.array(a)


def write_named(r):
    load, generate = r.load, r.generate
    for text in ("1 2\n3 4", "1 2 # c\n\n3 4\n", "", "# only\n\n", "5", "1 2 3", "1\n2\n3\n", " 1\t 2 \r\n3 4\r",
                 "1 2#3\n", "1 x", "nan -inf\n+infinity NaN",
                 "1e400 -1e-400\n1e-320 -0", "1_000", "0x10", "1 2\n3", "1.5e3 .5\n5. 0.1e-5", "+1 -2", "1e", "--1",
                 "+-1", "nan(1)", "1.2.3",
                 "1" * 400 + " 0." + "0" * 400 + "1",
                 "123456789012345678901234567890 0.1000000000000000055511151231257827"):
        for ndmin in (0, 1, 2):
            load(text, ndmin=ndmin)
    load("1 2\n3 4\n5 6", max_rows=2)
    load("1 2\n\n3 4\n5 6", max_rows=2, skiprows=1)
    load("1 2", max_rows=0)
    load("a b\n1 2", skiprows=1)
    load("a b\n1 2", skiprows=5)
    for cols in ((-1, 0), 1, [1], (1, 1, 0)):
        load("1 2 3\n4 5 6", usecols=cols)
        load("1 2 3\n4 5 6", usecols=cols, ndmin=2)
    load("1 2 3\n4 5", usecols=(0, 1))
    load("1 2 3\n4 5", usecols=2)
    load("1 2\n3 4", usecols=-3)
    load("", usecols=(0, 1))
    load("", usecols=(0, 1), ndmin=2)
    load("1 2 3\n4 5 6", unpack=True)
    load("1,2\n3,4", delimiter=",")
    load("1,2,\n3,4,5", delimiter=",")
    load("1,2\n3,4,5", delimiter=",")
    load(" 1 , 2 \n3,4", delimiter=",")
    load("1\t2\n3\t4", delimiter="\t")
    load("1//2\n3", comments="//")
    load("1#2\n3", comments=None)
    load("1;2!3\n4;5", comments="!", delimiter=";")
    load('"1","2"\n3,4', delimiter=",", quotechar='"')
    load('1,"2"\n', delimiter=",", quotechar='"')
    load('1,"2,3"\n', delimiter=",", quotechar='"', usecols=0)
    load('"1\n" 2', quotechar='"')
    load("'1' '2'\n", quotechar="'")
    for t, text in ((int, "1 2\n-3 +4"), (int, "1.5 2"), (int, "1e5"), (int, "inf"), (np.uint8, "0 255"),
                    (np.uint8, "256"), (np.uint8, "-1"),
                    (np.int8, "-128 127"), (np.int8, "128"), (np.int8, "-129"), (np.int16, "32768"),
                    (np.uint32, "4294967295"),
                    (np.uint32, "4294967296"), (np.uint64, "18446744073709551615"),
                    (np.uint64, "18446744073709551616"),
                    (np.int64, "9223372036854775807 -9223372036854775808"), (np.int64, "9223372036854775808"),
                    (bool, "0 1 2 -1"),
                    (np.float16, "0.1 70000"), (np.float32, "0.1 1e39 1.00000005960464477540"),
                    (complex, "(1+2j) 3\n1-2j 2.5j"),
                    (np.complex64, "1+nanj inf"), (complex, "-j"), (complex, "1+2"), (complex, "1+2j3"),
                    (complex, "(1+2j")):
        load(text, dtype=t)
    for text in ("", "7", "1 2\n3 4\n5 6", "1 2 3\n4 x 6", "  1  2 ", "x", "1 2\n# a\n3 4", "1 2 #3\n#\n 4 5",
                 "1 2\n3", "1\n2\n3"):
        for ndmin in (0, 1, 2):
            generate(text, ndmin=ndmin)
    for text in ("1,,3\n4,x,6", "1,2\n3,4,5", "1,2\n3,4,5\n6,7", "1, 2 ,3\n", "1,,\n", ",\n,", "1,NA,3\n4,5,6",
                 "1.5,2", "1;2"):
        for o in (dict(), dict(loose=False), dict(invalid_raise=False), dict(filling_values=-9),
                  dict(loose=False, missing_values=["NA", "x"]),
                  dict(dtype=int), dict(dtype=complex), dict(dtype=int, filling_values=7, loose=False),
                  dict(unpack=True)):
            generate(text, delimiter=",", **o)
    generate("1 2\n3 4\n5 6", skip_header=1, skip_footer=1)
    generate("1 2\n3 4\n5 6\nfoo bar baz", skip_footer=1, invalid_raise=False)
    generate("1 2\n3 4\n5 6", max_rows=2)
    generate("1 2\n3 4\n5 6", max_rows=2, skip_footer=1)
    generate("1 2 3\n4 5 6", usecols=(2, 0))
    generate("1 2\n3", usecols=0)
    generate("1 2\n3", usecols=1)
    generate("1 2\n3", usecols=1, invalid_raise=False)
    generate("1::2::3\n4::5::6", delimiter="::")
    for o in (dict(), dict(usecols=("lon", "lat")), dict(usecols=(0,)), dict(unpack=True),
              dict(usecols=("lat", "size"), unpack=True)):
        generate("lat,lon,size\n1,2,3\n4,,6", delimiter=",", names=True, **o)
        generate("# lat, lon ,size\n\n1,2,3\n4,5,6", delimiter=",", names=True, **o)
        generate("comment\n#lat lon size\n1 2 3\n4 5 6", skip_header=1, names=True, **o)


def random_table(rng):
    rows, columns = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    delimiter = rng.choice([None, ",", ";", "\t"])
    lines = []
    for _ in range(rows):
        fields = []
        for _ in range(columns):
            x = rng.standard_normal() * 10.0 ** rng.integers(-20, 20)
            fields.append(rng.choice([repr(float(x)), "%g" % x, "%.3f" % x, "%d" % int(rng.integers(-99, 99)),
                                      "%E" % x]))
        blank = " " if delimiter != "\t" and rng.random() < 0.3 else ""
        line = ((" " if delimiter is None else delimiter) + blank).join(fields)
        lines.append(line + (" # " + line if rng.random() < 0.2 else ""))
        if rng.random() < 0.1:
            lines.append(rng.choice(["", "# nothing"]))
    text = str(rng.choice(["\n", "\r\n"])).join(lines) + ("\n" if rng.random() < 0.5 else "")
    return text, None if delimiter is None else str(delimiter)


def write_text(path, rng):
    r = Readers()
    write_named(r)
    for _ in range(150):
        text, delimiter = random_table(rng)
        dtype = rng.choice([None, np.float32, np.float64, np.complex128])
        r.load(text, delimiter=delimiter, dtype=dtype)
        r.generate(text, delimiter=delimiter, dtype=dtype)
    return r.w.save(path)


def write_savetxt(path, rng):
    w = Writer("savetxt")

    def save(a, fmt="%.18e", delimiter=" ", newline="\n", header="", footer="", comments="# "):
        a = np.asarray(a)
        w.case()
        w.array(a)
        several = not isinstance(fmt, str)
        w.u8(several)
        w.varint(len(fmt) if several else 1)
        for f in fmt if several else [fmt]:
            w.text(f)
        for t in (delimiter, newline, header, footer, comments):
            w.text(t)
        out = io.StringIO()
        try:
            np.savetxt(out, a, fmt, delimiter, newline, header, footer, comments)
        except (ValueError, TypeError, AttributeError, OverflowError):
            w.u8(1)
            return
        w.u8(0)
        w.text(out.getvalue())

    specials = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 1e300, 5e-324, 123456789.123456789])
    finite = np.array([0.0, -0.0, 1.5, -2.5, -0.5, 1e15, 123456789.123])
    for conversion in "eEfFgG":
        for spec in ("", "+", " ", "010.3", "-12.3", "+.0", "25.17", ".12", "012"):
            save(specials, "%" + spec + conversion)
    for conversion in "diu":
        for spec in ("", "5", "-5", "05", "+", " ", ".3", "06.3", "+06", "l"):
            save(finite, "%" + spec + conversion)
            save(np.array([0, -7, 123], np.int16), "%" + spec + conversion)
    for spec in ("", "#", "X", "#X", "8", "-8", "08", "#08", ".4"):
        text = "%" + spec.replace("X", "") + ("X" if "X" in spec else "x")
        save(np.array([0, 255, -255, 2**62], np.int64), text)
    save(np.array([2**64 - 1, 1], np.uint64), "%d")
    save(np.array([2**64 - 1, 1], np.uint64), "%x")
    save([True, False], "%d")
    save([True, False])
    save([True, False], "%s")
    for t in ("f2", "f4", "f8"):
        save(np.array([0.1, 1, 2.5, 1e4]).astype(t), "%s")
        save(np.array([0.1, 1, 2.5, 1e4]).astype(t), "%8s|")
        save(np.array([0.1, 1, 2.5, 1e4]).astype(t), "%-8.2s|")
        save(np.array([0.1, 1, 2.5, 1e4]).astype(t))
    table = np.arange(6).reshape(2, 3)
    save(table)
    save(table, "%d", ",", "\r\n", "a\nb", "end", "// ")
    save(table, "%d-%.1f (%s)")
    save(table, ["%d", "%.2f", "%5d"], ";")
    save(table, ["%d", "%d"])
    save(table, "%d %d")
    save(table, "%d %d %d %d")
    save(table, "abc")
    save(table.T, "%d", header="one line")
    save(table / 4, "%x")
    save([np.nan], "%d")
    save([np.inf], "%d")
    save(5.0)
    save(np.zeros((2, 2, 2)))
    save(np.zeros(0))
    save(np.zeros((2, 0)))
    save(np.zeros((0, 2)), "%d", header="h")
    z = np.array([[1 + 2j, -3.5 - 1j], [complex(0, -0.0), complex(np.nan, np.inf)]])
    save(z)
    save(z, "%.2f", ", ")
    save(z, "%.1f%+.1fj %g %g")
    save(z, ["%.1f%+.1fj", "%g|%g"])
    save(z.astype("c8"), "%s")
    save(z[:, 0], "%.3e")
    for _ in range(60):
        parts = ["", "12", "-9", "+", "015"], ["", ".0", ".3", ".10", ".18"], list("efgG")
        table = rng.standard_normal((2, 3)) * 10.0 ** rng.integers(-9, 9, (2, 3))
        save(table, "%" + "".join(str(rng.choice(p)) for p in parts))
    return w.save(path)
