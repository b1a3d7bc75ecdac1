#!/usr/bin/env python3
"""Times the medians of NPP and CuPy at 3840x2160 in the columns of median-sweep, so that one plot shows all of them.

    median_peers.py [FIRST LAST STEP] >peers.csv

Needs a GPU, CuPy and libnppif; a peer that is not there is left out with a word on stderr. Each time is the median of
runs between CUDA events over rotating buffers of random samples; a peer's windows end with the first that takes more than
SLOWEST microseconds, for they only get slower. NPP does not touch the border: it has the smaller task."""
import ctypes
import sys

import cupy
from cupyx.scipy import ndimage

WIDTH, HEIGHT, BUFFERS, SLOWEST = 3840, 2160, 4, 60000
TYPES = {'u8': (cupy.uint8, '8u'), 'u16': (cupy.uint16, '16u'), 'f32': (cupy.float32, '32f')}


class Size(ctypes.Structure):
    _fields_ = [('width', ctypes.c_int), ('height', ctypes.c_int)]


class StreamContext(ctypes.Structure):
    """NppStreamContext of nppdefs.h."""
    _fields_ = [('stream', ctypes.c_void_p), ('device', ctypes.c_int), ('multiprocessors', ctypes.c_int),
                ('threads_per_multiprocessor', ctypes.c_int), ('threads_per_block', ctypes.c_int),
                ('shared_per_block', ctypes.c_size_t), ('major', ctypes.c_int), ('minor', ctypes.c_int),
                ('stream_flags', ctypes.c_uint), ('reserved', ctypes.c_int)]


class Npp:
    """nppiFilterMedian of the interior of a frame."""
    name = 'NPP'

    def __init__(self):
        self.lib = None
        for name in ('libnppif.so', 'libnppif.so.13', 'libnppif.so.12', '/usr/local/cuda/lib64/libnppif.so.13'):
            try:
                self.lib = ctypes.CDLL(name)
                break
            except OSError:
                pass
        if not self.lib:
            raise RuntimeError('libnppif was not found')
        p = cupy.cuda.runtime.getDeviceProperties(0)
        self.context = StreamContext(cupy.cuda.get_current_stream().ptr, 0, p['multiProcessorCount'],
                                     p['maxThreadsPerMultiProcessor'], p['maxThreadsPerBlock'], p['sharedMemPerBlock'],
                                     p['major'], p['minor'], 0, 0)
        self.scratch = None

    def prepare(self, kind, k):
        code = TYPES[kind][1]
        self.run_it = getattr(self.lib, f'nppiFilterMedian_{code}_C1R_Ctx')
        self.region, self.mask = Size(WIDTH - k + 1, HEIGHT - k + 1), Size(k, k)
        size = ctypes.c_uint(0)
        query = getattr(self.lib, f'nppiFilterMedianGetBufferSize_{code}_C1R_Ctx')
        self.done(query(self.region, self.mask, ctypes.byref(size), self.context))
        self.scratch = None
        self.scratch = cupy.empty(max(1, size.value), cupy.uint8)
        self.k = k

    def run(self, source, target):
        at = (self.k // 2) * (source.strides[0] + source.itemsize)
        pitch = ctypes.c_int(source.strides[0])
        middle = Size(self.k // 2, self.k // 2)  # an NppiPoint is two ints as well
        self.done(self.run_it(ctypes.c_void_p(source.data.ptr + at), pitch, ctypes.c_void_p(target.data.ptr + at), pitch,
                              self.region, self.mask, middle, ctypes.c_void_p(self.scratch.data.ptr), self.context))

    @staticmethod
    def done(status):
        if status != 0:
            raise RuntimeError(f'NPP status {status}')


class CuPy:
    """cupyx.scipy.ndimage.median_filter, borders replicated."""
    name = 'CuPy'

    def prepare(self, _kind, k):
        self.k = k

    def run(self, source, target):
        ndimage.median_filter(source, size=self.k, output=target, mode='nearest')


def microseconds(peer, sources, targets):
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    peer.run(sources[0], targets[0])  # compiles, loads
    times = []
    for n in range(5):
        start.record()
        runs = 1 if times and times[0] > 5000 else BUFFERS
        for i in range(runs):
            peer.run(sources[i], targets[i])
        stop.record()
        stop.synchronize()
        times.append(1e3 * cupy.cuda.get_elapsed_time(start, stop) / runs)
        if times[-1] > SLOWEST:
            break
    return sorted(times)[len(times) // 2]


def main(arguments):
    first, last, step = map(int, arguments) if arguments else (3, 75, 2)
    print('k,type,method,us,gpix_per_s,chosen')
    for make in (Npp, CuPy):
        try:
            peer = make()
        except (RuntimeError, AttributeError) as error:
            print(f'{make.name} left out: {error}', file=sys.stderr)
            continue
        for kind, (dtype, _) in TYPES.items():
            sources = [(cupy.random.random_sample((HEIGHT, WIDTH), dtype=cupy.float32)
                        * (255 if kind == 'f32' else cupy.iinfo(dtype).max))
                       .astype(dtype) for _ in range(BUFFERS)]
            targets = [cupy.empty_like(s) for s in sources]
            for k in range(first, last + 1, step):
                try:
                    peer.prepare(kind, k)
                    us = microseconds(peer, sources, targets)
                except (RuntimeError, cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.memory.OutOfMemoryError) as error:
                    print(f'{peer.name} {kind} {k}x{k}: {error}', file=sys.stderr)
                    break
                print(f'{k},{kind},{peer.name},{us:.2f},{WIDTH * HEIGHT / us * 1e-3:.3f},0', flush=True)
                if us > SLOWEST:
                    break


if __name__ == '__main__':
    main(sys.argv[1:])
