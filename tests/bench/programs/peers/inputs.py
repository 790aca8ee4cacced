"""Inputs of the programs: inputs.py FOLDER [NAME...] leaves them in the files NAME.in.npz, all without names."""

import os
import sys

import numpy as np


def moving_inputs():
    g = np.random.default_rng(1)
    return dict(
        x=g.standard_normal(2000000).cumsum(), table=g.standard_normal((400, 5000)).astype(np.float32), w=np.int64(25)
    )


def resize_inputs():
    g = np.random.default_rng(2)
    return dict(image=g.integers(0, 256, (480, 640, 3)).astype(np.uint8), size=np.array([1000, 1500]))


def rle_inputs():
    g = np.random.default_rng(3)
    return dict(
        x=np.repeat(g.integers(0, 5, 300000), g.integers(1, 9, 300000)).astype(np.int16), bits=g.random(100003) < 0.1
    )


def kfold_inputs():
    g = np.random.default_rng(4)
    X = g.standard_normal((20000, 32)) * np.arange(1, 33) + 5
    return dict(X=X, y=X @ g.standard_normal(32) + g.standard_normal(20000), order=g.permutation(20000), k=np.int64(5))


def life_inputs():
    g = np.random.default_rng(5)
    return dict(board=(g.random((512, 512)) < 0.3).astype(np.uint8))


def levenshtein_inputs():
    g = np.random.default_rng(6)
    return dict(a=g.integers(0, 4, 600), b=g.integers(0, 4, 500))


def sliding_inputs():
    g = np.random.default_rng(7)
    return dict(x=g.standard_normal(200000), w=np.int64(50))


def confusion_inputs():
    g = np.random.default_rng(8)
    C = 12
    y = g.integers(0, C - 1, 200000)
    p = np.where(g.random(200000) < 0.7, y, g.integers(0, C, 200000))
    return dict(y=y, p=p, logits=g.standard_normal((20000, C)).astype(np.float32), C=np.int64(C))


def hsv_inputs():
    g = np.random.default_rng(9)
    return dict(rgb=g.random((600, 800, 3)).astype(np.float32))


def interp_inputs():
    g = np.random.default_rng(10)
    xp = np.sort(g.random(2000))
    return dict(
        xp=xp,
        fp=np.sin(20 * xp),
        x=g.random(1000000) * 1.2 - 0.1,
        lut=g.random((64, 64, 64)).astype(np.float32),
        q=g.random((200000, 3)),
    )


def kalman_inputs():
    g = np.random.default_rng(11)
    return dict(z=g.standard_normal((60, 500, 2)).cumsum(0))


def spectrogram_inputs():
    t = np.arange(400000) / 16000
    g = np.random.default_rng(12)
    return dict(x=(np.sin(2 * np.pi * (200 + 300 * t) * t) + 0.1 * g.standard_normal(400000)).astype(np.float32))


def gramschmidt_inputs():
    g = np.random.default_rng(13)
    return dict(A=g.standard_normal((400, 80)))


def sinkhorn_inputs():
    g = np.random.default_rng(14)
    return dict(x=g.random((400, 2)), y=g.random((500, 2)) + 0.2)


def pagerank_inputs():
    g = np.random.default_rng(15)
    n = 3000
    return dict(src=g.integers(0, n - 100, 40000), dst=(g.random(40000) ** 3 * n).astype(np.int64), n=np.int64(n))


def clip_inputs():
    g = np.random.default_rng(16)
    x = g.standard_normal((5000, 200))
    x[g.random(x.shape) < 0.05] = np.nan
    x[7] = np.nan
    return dict(x=x, big=g.standard_normal(3000000))


def fields_inputs():
    return dict(n=np.int64(600))


def polyfit_inputs():
    g = np.random.default_rng(18)
    x = np.sort(g.random(5000) * 4 - 2)
    return dict(x=x, y=3 - 2 * x + 0.5 * x**3 + 0.1 * g.standard_normal(5000), many=g.standard_normal((1000, 50)))


def csv_inputs():
    g = np.random.default_rng(19)
    return dict(key=g.integers(0, 50, 50000), value=g.standard_normal(50000).round(4), w=g.integers(1, 10, 50000))


def paths_inputs():
    g = np.random.default_rng(20)
    n = 250
    D = np.where(g.random((n, n)) < 0.03, g.random((n, n)), np.inf)
    np.fill_diagonal(D, 0)
    return dict(D=D)


def main(folder, names):
    os.makedirs(folder, exist_ok=True)
    for name in names or [f[: -len("_inputs")] for f in globals() if f.endswith("_inputs")]:
        np.savez(f"{folder}/{name}.in.npz", **globals()[f"{name}_inputs"]())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
