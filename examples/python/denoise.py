#!/usr/bin/env python3
"""Plays a video through videodenoise and changes the filter while it plays (needs python3-gi and GStreamer's typelibs).

usage: denoise.py [FILE] [--filter NAME] [--headless] [--seconds N]
Type a filter's name, or PROPERTY=VALUE, and Enter; an empty line ends it.
"""
import argparse
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", help="video to play (default: a test picture)")
    parser.add_argument("--filter", default="wavelet")
    parser.add_argument("--headless", action="store_true")
    parser.add_argument("--seconds", type=float, help="end after so long")
    options = parser.parse_args()

    Gst.init(None)
    sink = "fakesink sync=true" if options.headless else "videoconvert ! autovideosink"
    source = "filesrc name=file ! decodebin ! videoconvert" if options.file else \
        "videotestsrc is-live=true ! video/x-raw,format=NV12,width=640,height=480,framerate=30/1"
    pipeline = Gst.parse_launch(f"{source} ! videodenoise name=denoise filter={options.filter} ! {sink}")
    if options.file:
        pipeline.get_by_name("file").props.location = options.file
    denoise = pipeline.get_by_name("denoise")
    loop = GLib.MainLoop()
    failed = []

    def on_message(_bus, message):
        if message.type == Gst.MessageType.ERROR:
            error, details = message.parse_error()
            failed.append(f"{error.message}\n{details}")
        if message.type in (Gst.MessageType.ERROR, Gst.MessageType.EOS):
            loop.quit()

    def on_line(_channel, condition):
        line = sys.stdin.readline() if condition & GLib.IOCondition.IN else ""
        if not line.strip():
            if sys.stdin.isatty():
                loop.quit()
            return False
        name, _, value = line.strip().partition("=")
        Gst.util_set_object_arg(denoise, name if value else "filter", value or name)
        return True

    def report():
        stats = denoise.props.stats
        print(f"filter {denoise.props.filter.value_nick}: "
              f"{stats.get_uint64('frames-out')[1]} frames, {denoise.props.active_backend}, "
              f"p99 {stats.get_double('total-p99-us')[1] / 1000:.2f} ms", flush=True)
        return True

    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message", on_message)
    GLib.io_add_watch(GLib.IOChannel.unix_new(0), 0, GLib.IOCondition.IN | GLib.IOCondition.HUP, on_line)
    GLib.timeout_add(1000, report)
    if options.seconds:
        GLib.timeout_add(int(options.seconds * 1000), loop.quit)
    pipeline.set_state(Gst.State.PLAYING)
    loop.run()
    report()
    pipeline.set_state(Gst.State.NULL)
    sys.exit(failed[0] if failed else 0)


if __name__ == "__main__":
    main()
