#!/usr/bin/env python3
"""What a user reads who typed something wrong, in gst-launch-1.0 and in the quickstart: it fails, names the thing and
what would do.

usage: bad_input.py QUICKSTART CUDA    CUDA: yes when the CUDA backend was built
"""
import os
import subprocess
import sys
import tempfile
import unittest

QUICKSTART, CUDA = sys.argv[1], sys.argv[2] == 'yes'


def run(*words):
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=60)
    return done.returncode, done.stdout


class BadInput(unittest.TestCase):
    def says(self, words, *texts):
        status, output = run(*words)
        self.assertNotEqual(status, 0, output)
        for text in texts:
            self.assertIn(text, output)

    def launch(self, line, *texts):
        self.says(['gst-launch-1.0', *line.split()], *texts)

    def quickstart(self, line, *texts):
        self.says([QUICKSTART, '--backend', 'cpu', '--frames', '2', '--filter', 'median', *line.split()], *texts)

    def test_unknown_filter_lists_the_known(self):
        self.launch('videotestsrc num-buffers=1 ! videodenoise filter=medain ! fakesink', 'medain',
                    'none, gaussian, median, bilateral, nlm, wavelet')

    def test_unknown_wavelet_lists_the_known(self):
        self.launch('videotestsrc num-buffers=1 ! videodenoise wavelet-basis=db9 ! fakesink', 'db9',
                    'haar, db4, sym4, coif2, bior4.4')

    def test_format_that_is_not_taken(self):
        self.launch('videotestsrc num-buffers=1 ! video/x-raw,format=NV16 ! videodenoise ! fakesink', 'NV16')

    def test_window_larger_than_the_image_works(self):
        for settings in ('filter=median median-radius=37', 'filter=nlm nlm-search-radius=16 nlm-patch-radius=6',
                         'filter=gaussian gaussian-sigma=10', 'filter=bilateral bilateral-sigma-space=10',
                         'filter=wavelet wavelet-levels=5'):
            status, output = run('gst-launch-1.0', *('videotestsrc num-buffers=2 ! video/x-raw,format=GRAY8,width=5,height=4 ! '
                                                     f'videodenoise backend=cpu {settings} ! fakesink').split())
            self.assertEqual(status, 0, output)

    def test_truncated_raw_file(self):
        with tempfile.NamedTemporaryFile(suffix='.raw') as raw:
            raw.write(bytes(64 * 48 * 3 - 1000))
            raw.flush()
            caps = 'video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1'
            self.launch(f'filesrc location={raw.name} blocksize=3072 ! {caps} ! videodenoise backend=cpu ! fakesink',
                        'The buffer has 2072 bytes, a frame of 64x48 GRAY8 has 3072', 'cut short')
            with tempfile.TemporaryDirectory() as folder:
                _, output = run(QUICKSTART, raw.name, caps, '--backend', 'cpu', '--filter', 'median', '--output', folder)
            self.assertIn('the last one is truncated', output)

    @unittest.skipIf(CUDA, 'CUDA was built')
    def test_cuda_without_cuda(self):
        self.launch('videotestsrc num-buffers=1 ! videodenoise backend=cuda ! fakesink', 'backend=cuda cannot be used',
                    'no CUDA support', 'backend=cpu')

    def test_quickstart_without_its_source(self):
        missing = next(f'/dev/video{n}' for n in range(99) if not os.path.exists(f'/dev/video{n}'))
        self.quickstart(missing, f"Cannot identify device '{missing}'", 'No such file or directory')
        self.quickstart('/no/such/clip.mp4', 'there is no file /no/such/clip.mp4')
        with tempfile.NamedTemporaryFile(suffix='.raw') as raw:
            raw.write(bytes(3072))
            raw.flush()
            self.quickstart(raw.name + ' video/x-raw,format=GRAY9,width=64,height=48', 'GRAY9')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
