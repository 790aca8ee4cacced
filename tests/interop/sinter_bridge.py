"""sinter's arrays in Python, as far as tests need them: __dlpack__ and from_dlpack over ctypes."""
import ctypes
from ctypes import c_char_p, c_double, c_int, c_int64, c_void_p, py_object

NO_STREAM = -(2 ** 63)
CPU, CUDA, PINNED, MANAGED = 1, 2, 3, 13   # types of DLPack's
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]

python = ctypes.pythonapi
python.PyCapsule_New.restype, python.PyCapsule_New.argtypes = py_object, [c_void_p, c_char_p, c_void_p]
python.PyCapsule_GetPointer.restype, python.PyCapsule_GetPointer.argtypes = c_void_p, [py_object, c_char_p]
python.PyCapsule_IsValid.restype, python.PyCapsule_IsValid.argtypes = c_int, [py_object, c_char_p]
python.PyCapsule_SetName.restype, python.PyCapsule_SetName.argtypes = c_int, [py_object, c_char_p]
# A destructor gets a capsule that is being taken apart: no reference to it may be made.
dying_is_valid = ctypes.PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", python))
dying_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", python))
Destructor = ctypes.PYFUNCTYPE(None, c_void_p)

VERSIONED, USED_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned"
LEGACY, USED_LEGACY = b"dltensor", b"used_dltensor"


class Error(Exception):
    pass


class Bridge:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        signatures = {
            "error": (c_char_p, []), "gpu_count": (c_int, []), "own_stream": (c_int, [c_int]),
            "make": (c_void_p, [c_int] * 5), "free": (None, [c_void_p]),
            "export": (c_void_p, [c_void_p, c_int64, c_int, c_int, c_int]),
            "export_legacy": (c_void_p, [c_void_p, c_int64, c_int, c_int, c_int]),
            "delete": (None, [c_void_p]), "delete_legacy": (None, [c_void_p]),
            "import": (c_void_p, [c_void_p, c_int]), "import_legacy": (c_void_p, [c_void_p, c_int]),
            "stream": (c_int64, [c_int, c_int]), "device": (c_int, [c_void_p, ctypes.POINTER(c_int)]),
            "describe": (c_char_p, [c_void_p]), "transpose": (c_void_p, [c_void_p]), "compute": (c_void_p, [c_void_p]),
            "add_in_place": (c_int, [c_void_p, c_double]),
            "elements": (c_int64, [c_void_p, ctypes.POINTER(c_double), c_int64]),
            "save": (c_int, [c_void_p, c_char_p]), "load": (c_void_p, [c_char_p]),
            "savez": (c_int, [c_void_p, c_char_p, c_int, c_int]), "load_npz": (c_void_p, [c_char_p, c_char_p]),
        }
        for name, (result, arguments) in signatures.items():
            f = getattr(self.lib, "sinter_" + name)
            f.restype, f.argtypes = result, arguments
        self.destroyed = 0
        self.destructors = {VERSIONED: self.destructor(VERSIONED, self.lib.sinter_delete),
                            LEGACY: self.destructor(LEGACY, self.lib.sinter_delete_legacy)}

    def destructor(self, name, delete):
        def destroy(capsule):
            if dying_is_valid(capsule, name):   # nobody has taken it
                delete(dying_pointer(capsule, name))
                self.destroyed += 1
        return Destructor(destroy)

    def call(self, name, *arguments):
        """A bridge function; what it throws is an Error."""
        result = getattr(self.lib, "sinter_" + name)(*arguments)
        text = self.lib.sinter_error().decode()
        if text:
            raise Error(text)
        return result

    def gpus(self):
        return self.lib.sinter_gpu_count()

    def own_stream(self, wanted):
        """Whether this thread works on a stream of its own from here on."""
        self.call("own_stream", int(wanted))

    def make(self, rows, columns, dtype, device=(CPU, 0)):
        return Array(self, self.call("make", rows, columns, DTYPES.index(dtype), *device))

    def load(self, path):
        return Array(self, self.call("load", path.encode()))

    def load_npz(self, path, name):
        return Array(self, self.call("load_npz", path.encode(), name.encode()))

    def from_dlpack(self, producer, copy=False, versioned=True):
        """An array over the memory of anything with __dlpack__."""
        device = tuple(int(d) for d in producer.__dlpack_device__())
        stream = self.lib.sinter_stream(*device)
        given = {} if stream == NO_STREAM else {"stream": stream}
        if versioned:
            try:
                capsule = producer.__dlpack__(max_version=(1, 0), **given)
            except TypeError:   # from before 1.0
                capsule = producer.__dlpack__(**given)
        else:
            capsule = producer.__dlpack__(**given)
        if python.PyCapsule_IsValid(capsule, VERSIONED):
            handle = self.call("import", python.PyCapsule_GetPointer(capsule, VERSIONED), copy)
            python.PyCapsule_SetName(capsule, USED_VERSIONED)
        else:
            handle = self.call("import_legacy", python.PyCapsule_GetPointer(capsule, LEGACY), copy)
            python.PyCapsule_SetName(capsule, USED_LEGACY)
        return Array(self, handle)


class Array:
    def __init__(self, bridge, handle):
        self.bridge, self.handle = bridge, handle

    def __del__(self):
        self.bridge.lib.sinter_free(self.handle)

    def __dlpack_device__(self):
        number = c_int()
        return self.bridge.call("device", self.handle, ctypes.byref(number)), number.value

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        versioned = max_version is not None and max_version[0] >= 1
        name = VERSIONED if versioned else LEGACY
        pointer = self.bridge.call("export" if versioned else "export_legacy", self.handle,
                                   NO_STREAM if stream is None else stream, -1 if copy is None else int(copy),
                                   *(int(d) for d in (dl_device or (0, 0))))
        return python.PyCapsule_New(pointer, name, ctypes.cast(self.bridge.destructors[name], c_void_p))

    def describe(self):
        return self.bridge.call("describe", self.handle).decode()

    def elements(self):
        n = self.bridge.call("elements", self.handle, None, 0)
        room = (c_double * max(n, 1))()
        self.bridge.call("elements", self.handle, room, n)
        return list(room)[:n]

    def T(self):
        return Array(self.bridge, self.bridge.call("transpose", self.handle))

    def compute(self):
        return Array(self.bridge, self.bridge.call("compute", self.handle))

    def add_in_place(self, v):
        self.bridge.call("add_in_place", self.handle, float(v))

    def save(self, path):
        self.bridge.call("save", self.handle, path.encode())

    def savez(self, path, compressed, copies):
        self.bridge.call("savez", self.handle, path.encode(), compressed, copies)
