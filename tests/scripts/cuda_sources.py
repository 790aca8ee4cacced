#!/usr/bin/env python3
"""cuda_sources.py OLD NEW: what a change of the CUDA generator changes. The files are those that a run of tests writes
with SINTER_TEST_CUDA_SOURCES before the change and after it. Kernels whose text differs by more than the white space at
the beginning of lines and empty lines are compiled to PTX by NVRTC and compared again: it is the same, or it has the same
instructions, some of them in another place or in other registers, or others, which makes the result 1."""
import ctypes
import os
import re
import sys

TOGETHER = 40


def read(path):
    with open(path, encoding='utf-8') as f:
        text = f.read()
    starts = list(re.finditer(r'^namespace (sn_\w+)_ \{$', text, re.M))
    ends = [m.start() for m in starts[1:]] + [len(text)]
    prelude = text[:starts[0].start()] if starts else text
    return prelude, {m.group(1): text[m.start():end] for m, end in zip(starts, ends)}


def lines_of(text):
    return [line.strip() for line in text.split('\n') if line.strip()]


def ptx_of(source, arch):
    nvrtc = ctypes.CDLL(os.environ.get('NVRTC', 'libnvrtc.so'))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b'kernels.cu', 0, None, None)
    options = [o.encode() for o in (f'--gpu-architecture=compute_{arch}', '--std=c++17', '--fmad=false', '--minimal')]
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    get = 'ProgramLog' if failed else 'PTX'
    getattr(nvrtc, f'nvrtcGet{get}Size')(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f'nvrtcGet{get}')(program, text)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    if failed:
        sys.exit(text.value.decode())
    return text.value.decode()


def instructions_of(ptx):
    lines = [line for line in lines_of(ptx) if not line.startswith('.reg')]
    return sorted(re.sub(r'%[a-z]+\d+', '%', line) for line in lines)


def compare(names, old, new, arch='90'):
    """The names of those of the kernels that have the same instructions in another order, and of those with others."""
    if not names:
        return [], []
    codes = [ptx_of(prelude + ''.join(kernels[n] for n in names), arch) for prelude, kernels in (old, new)]
    if codes[0] == codes[1]:
        return [], []
    if len(names) == 1:
        same = instructions_of(codes[0]) == instructions_of(codes[1])
        return (names, []) if same else ([], names)
    middle = len(names) // 2
    first, second = compare(names[:middle], old, new, arch), compare(names[middle:], old, new, arch)
    return first[0] + second[0], first[1] + second[1]


def main():
    old, new = read(sys.argv[1]), read(sys.argv[2])
    missing = sorted(set(old[1]) ^ set(new[1]))
    both = sorted(set(old[1]) & set(new[1]))
    other = [n for n in both if lines_of(old[1][n]) != lines_of(new[1][n])]
    # Kernels that call users' functions lack the text of these here.
    unknown = [n for n in other if 'sn_user' in old[1][n]]
    known = [n for n in other if n not in unknown]
    moved, differ = [], []
    for k in range(0, len(known), TOGETHER):
        some = compare(known[k:k + TOGETHER], old, new)
        moved += some[0]
        differ += some[1]
    print(f'{len(both)} kernels, {len(both) - len(other)} with the same text, {len(known)} with other text')
    groups = (('the same instructions in another order', moved), ('other instructions', differ),
              ('other text that calls a user, not compiled', unknown), ('missing in one of the files', missing))
    for kind, names in groups:
        print(f'{kind}: {len(names)} {" ".join(names[:10])}')
    return 1 if differ or unknown or missing else 0


if __name__ == '__main__':
    sys.exit(main())
