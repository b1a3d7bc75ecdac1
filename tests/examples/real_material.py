#!/usr/bin/env python3
"""Real clips through gst-launch-1.0 with every filter on the CPU: as many frames come out as go in, and not the same.

usage: real_material.py DATA    DATA: the folder of real material; exit status 77 where it is not there
An ultrasound clip of 820x616 GRAY8 (Plus toolkit's BoneUltrasound_L14) and a camera's dark frame of 1024x1024 GRAY16.
"""
import os
import subprocess
import sys
import tempfile

FILTERS = ('gaussian', 'median', 'bilateral', 'nlm', 'wavelet')


def launch(line):
    done = subprocess.run(['gst-launch-1.0', '-q', *line.split()], text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=200)
    if done.returncode or done.stderr:
        sys.exit(f'{line}\n{done.stdout}{done.stderr}')


def main(data):
    bone = os.path.join(data, 'ultrasound/plus/BoneUltrasound_L14.igs.mha')
    dark = os.path.join(data, 'camera/andor16/AndorTestBias.png')
    if not os.path.exists(bone) or not os.path.exists(dark):
        print('the real material is not there')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        raw = os.path.join(folder, 'bone.raw')
        subprocess.run([sys.executable, os.path.join(data, 'mha_to_raw.py'), bone, raw], check=True, stdout=subprocess.DEVNULL)
        still = f'filesrc location={dark} ! pngdec ! videoconvert ! video/x-raw,format=GRAY16_LE'
        clip = (f'filesrc location={raw} blocksize={820 * 616} num-buffers=4 ! '
                'rawvideoparse format=gray8 width=820 height=616 framerate=12/1')
        for name, source, size in (('ultrasound', clip, 4 * 820 * 616), ('camera', still, 2 * 1024 * 1024)):
            outputs = {}
            for f in ('none', *FILTERS):
                out = os.path.join(folder, f)
                # smoothed: the masked sector's zeros do not read as a clean frame.
                launch(f'{source} ! videodenoise backend=cpu filter={f} noise-estimate=smoothed ! filesink location={out}')
                with open(out, 'rb') as file:
                    outputs[f] = file.read()
                if len(outputs[f]) != size:
                    sys.exit(f'{name}, {f}: {len(outputs[f])} bytes came out, not {size}')
                if f != 'none' and outputs[f] == outputs['none']:
                    sys.exit(f'{name}, {f}: nothing changed')
            print(f'{name}: {", ".join(FILTERS)}: all frames came out')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
