#!/usr/bin/env python3
"""Writes docs/reference.md from the element as it is registered: pads, caps, properties, presets, messages.

usage: reference.py FILE          writes it
       reference.py FILE --check  exits with 1 when it is not what would be written, with 77 without PyGObject
"""
import sys

try:
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import GObject, Gst
except (ImportError, ValueError):
    sys.exit(77)

HEAD = """# Element reference: videodenoise

Written by `docs/reference.py` from the registered element; do not edit. `gst-inspect-1.0 videodenoise` prints the same.

{longname}. Class {klass}, rank none. {description}.

"""
TAIL = """## Messages

Every `stats-interval` milliseconds, while frames arrive, the element posts an element message whose structure is named
`videodenoise` and has the fields of `stats`. Elsewhere it posts QOS for frames it drops, LATENCY when its latency
changes, and ERROR with a text that says what to do.

## Fields of `stats`

| field | type | meaning |
|---|---|---|
| `backend` | string | cuda, cpu or none |
| `frames-in`, `frames-out`, `frames-dropped` | uint64 | since the element started |
| `memory-path` | string | how the samples of the last frame travelled: [memory.md](memory.md) |
| `cpu-copied-bytes` | uint64 | copied by the CPU into and out of staging memory |
| `registered-bytes` | uint64 | foreign memory that was page-locked where it lies, in the whole process |
| `upload-…`, `kernel-…`, `download-…`, `total-…` with `p50-us`, `p99-us`, `max-us` | double | microseconds, of the last 1024 frames; `total` from a frame's arrival until it is done. Nothing but `total` is known before `stats` was read once |
| `noise-sigma`, `noise-sigma-chroma` | double | levels; what the last frame was filtered with, where its filter asks for it |
"""


def number(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


def nicks(spec):
    return {v.value_nick: v for v in spec.enum_class.__enum_values__.values()}


def nick_of(spec, value):
    return next((n for n, v in nicks(spec).items() if int(v) == int(value)), str(value))


def show(spec, value):
    if hasattr(spec, "enum_class"):
        return nick_of(spec, value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number(round(value, 6))
    if spec.value_type.name == "GstValueArray":
        return "<0, 0, 0, 0>"
    return "" if value is None else str(value)


def values(spec):
    if hasattr(spec, "enum_class"):
        return ", ".join(nicks(spec))
    if spec.value_type.name == "GstValueArray":
        return "four integers"
    if hasattr(spec, "minimum"):
        return f"{number(spec.minimum)} … {number(round(spec.maximum, 6))}"
    return spec.value_type.name.replace("gboolean", "true, false").replace("gchararray", "text")


def flags(spec):
    words = []
    if not spec.flags & GObject.ParamFlags.WRITABLE:
        return "read-only"
    if int(spec.flags) & Gst.PARAM_CONTROLLABLE:
        words.append("controllable")
    words.append("playing" if int(spec.flags) & Gst.PARAM_MUTABLE_PLAYING else "null, ready")
    return ", ".join(words)


def cell(text):
    return text.replace("|", "\\|")


def properties(element):
    return [s for s in element.list_properties() if s.owner_type.name == "GstVideoDenoise"]


def property_table(element):
    yield "## Properties\n\n"
    yield "*Settable*: in which states; controllable ones take a GstController. Amplitudes are in levels, 0 to 255, whatever\nthe depth.\n\n"
    yield "| property | default | values | settable | |\n|---|---|---|---|---|\n"
    for s in properties(element):
        default = "" if s.name == "stats" else show(s, element.get_property(s.name) if s.name != "roi" else None)
        yield f"| `{s.name}` | {cell(default)} | {cell(values(s))} | {flags(s)} | {cell(s.blurb)} |\n"
    yield "\n"


def choices(element):
    yield "## Values of enumerations\n\n| property | value | |\n|---|---|---|\n"
    for s in properties(element):
        if not hasattr(s, "enum_class"):
            continue
        for nick, v in nicks(s).items():
            yield f"| `{s.name}` | {nick} | {cell(v.value_name)} |\n"
    yield "\n"


def preset_table(element):
    yield "## Presets\n\nWhat a preset does not name it sets to its default (not `preview`, and none of the element's own properties:\n"
    yield "backend, device, depth, region, mask). Changing one of them afterwards makes `preset` custom.\n\n| preset | sets | |\n|---|---|---|\n"
    specs = properties(element)
    preset = element.find_property("preset")
    default = {s.name: element.get_property(s.name) for s in specs if hasattr(s, "default_value") and s.name != "stats"}
    for nick, v in nicks(preset).items():
        if nick == "custom":
            continue
        Gst.util_set_object_arg(element, "preset", nick)
        different = [s for s in specs if s.name not in ("preset", "stats", "roi") and element.get_property(s.name) != default[s.name]]
        sets = ["filter=" + show(element.find_property("filter"), element.get_property("filter"))]
        sets += [f"{s.name}={show(s, element.get_property(s.name))}" for s in different if s.name != "filter"]
        yield f"| {nick} | {', '.join('`' + t + '`' for t in sets)} | {cell(v.value_name)} |\n"
    yield "\n"


def pads(factory):
    yield "## Pads\n\n`sink` and `src`, always; format and size are the same on both:\n\n"
    caps = factory.get_static_pad_templates()[0].get_caps()
    for i in range(caps.get_size()):
        s = caps.get_structure(i)
        if caps.get_features(i).is_any() or caps.get_features(i).contains("memory:CUDAMemory"):
            continue  # below: the latter depends on the machine
        yield f"- `{s.get_name()}({caps.get_features(i).to_string()})`\n"
        for j in range(s.n_fields()):
            field = s.nth_field_name(j)
            yield f"  - {field}: {Gst.value_serialize(s.get_value(field)) if not hasattr(s, 'get_list') else field_text(s, field)}\n"
    yield "- `video/x-raw(memory:CUDAMemory)`, where GStreamer's CUDA library and a driver are: [memory.md](memory.md)\n"
    yield "- `video/x-raw(ANY)`, of any format and interlaced too, while frames pass untouched (`filter=none` or `strength=0`)\n\n"


def field_text(structure, field):
    text = structure.to_string()
    start = text.index(f" {field}=(") + len(field) + 3
    start = text.index(")", start) + 1
    depth, end = 0, start
    while end < len(text) and (depth > 0 or text[end] not in ",;"):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(text[end], 0)
        end += 1
    return text[start:end].strip()


def main():
    Gst.init(None)
    factory = Gst.ElementFactory.find("videodenoise")
    if not factory:
        sys.exit("videodenoise is not registered: is GST_PLUGIN_PATH set?")
    element = factory.create(None)
    text = HEAD.format(longname=factory.get_longname(), klass=factory.get_klass(), description=factory.get_description())
    text += "".join(pads(factory)) + "".join(property_table(element)) + "".join(preset_table(element))
    text += "".join(choices(factory.create(None))) + TAIL
    path = sys.argv[1]
    if "--check" not in sys.argv:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    with open(path, encoding="utf-8") as file:
        if file.read() != text:
            sys.exit(f"{path} is not what the element says of itself; write it anew: docs/reference.py {path}")


if __name__ == "__main__":
    main()
