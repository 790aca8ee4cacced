#!/usr/bin/env python3
"""cuda_sources.py OLD NEW: what a change of the CUDA generator changes. The files are those that a run of tests writes
with SINTER_TEST_CUDA_SOURCES before the change and after it. Kernels whose text differs by more than the white space at
the beginning of lines and empty lines are compiled to PTX by NVRTC and compared again. The result is 1 where a kernel is
missing or its PTX differs; with --ptxas ptxas compiles those kernels, and the result is 1 where the machine code differs."""
import ctypes
import os
import re
import subprocess
import sys
import tempfile

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


def machine_code(ptx, arch):
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/x.ptx', 'w', encoding='utf-8') as f:
            f.write(ptx)
        subprocess.run(['ptxas', f'-arch=sm_{arch}', f'{folder}/x.ptx', '-o', f'{folder}/x.cubin'], check=True)
        return subprocess.run(['cuobjdump', '-sass', f'{folder}/x.cubin'], check=True, capture_output=True).stdout


def same_code(names, old, new, ptxas, arch='90'):
    """The names of those of the kernels whose code differs."""
    if not names:
        return []
    pair = [prelude + ''.join(kernels[n] for n in names) for prelude, kernels in (old, new)]
    codes = [ptx_of(source, arch) for source in pair]
    if codes[0] == codes[1]:
        return []
    if len(names) == 1:
        return [] if ptxas and machine_code(codes[0], arch) == machine_code(codes[1], arch) else names
    middle = len(names) // 2
    return same_code(names[:middle], old, new, ptxas) + same_code(names[middle:], old, new, ptxas)


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith('--')]
    old, new = read(arguments[0]), read(arguments[1])
    missing = sorted(set(old[1]) ^ set(new[1]))
    both = sorted(set(old[1]) & set(new[1]))
    other = [n for n in both if lines_of(old[1][n]) != lines_of(new[1][n])]
    # Kernels that call users' functions lack the text of these here.
    unknown = [n for n in other if 'sn_user' in old[1][n]]
    known = [n for n in other if n not in unknown]
    differ = []
    for k in range(0, len(known), TOGETHER):
        differ += same_code(known[k:k + TOGETHER], old, new, '--ptxas' in sys.argv)
    print(f'{len(both)} kernels, {len(both) - len(other)} with the same text, {len(known)} with other text, '
          f'{len(differ)} of them with other code, {len(unknown)} of users with other text, {len(missing)} missing')
    for kind, names in (('other code', differ), ('not compiled', unknown), ('missing', missing)):
        for n in names[:10]:
            print(f'  {n}: {kind}')
    return 1 if differ or unknown or missing else 0


if __name__ == '__main__':
    sys.exit(main())
