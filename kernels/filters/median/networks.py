#!/usr/bin/env python3
"""Generates the selection networks of the data-oblivious median: for a K x K window, the C++ that a CUDA block runs.

Sugy, "A Fast Parallel Median Filtering Algorithm Using Hierarchical Tiling" (SIGGRAPH 2025): neighbouring outputs share
the intersection of their windows, the core, as one sorted list; a tile is halved until one output is left, and at every
step the lists grow by the rows and columns that the halves do not share, while ranks that can no longer be the wanted
one are dropped (the crop rule below). All merges are Batcher's odd-even merges with their unused ends left out, so a
program is a straight line of min and max, and nodes that reach no output are removed from the whole of it.

Ours: the columns of a tile row are sorted once, and merged into sorted pairs, fours and eights once, for all tiles of
the row that contain them; blocks keep these in shared memory. A thread filters a tile of 4 x 2 outputs.

    networks.py K OUTPUT.inc    writes the networks for K x K (odd, 5 or more)
    networks.py --check [K...]  runs the networks on random, tied and adversarial footprints against a sort
    networks.py --count [K...]  prints min/max operations per output
"""
import sys

TILE_W, TILE_H = 4, 2


class Program:
    """Straight-line min/max code. A value is an index into `nodes`: ('in', name) or ('min'|'max', a, b)."""

    def __init__(self):
        self.nodes = []
        self.inputs = {}

    def read(self, *name):
        if name not in self.inputs:
            self.inputs[name] = len(self.nodes)
            self.nodes.append(('in', name))
        return self.inputs[name]

    def op(self, kind, a, b):
        self.nodes.append((kind, a, b))
        return len(self.nodes) - 1

    def exchange(self, a, b):
        return self.op('min', a, b), self.op('max', a, b)

    def live(self, outputs):
        keep = set(outputs)
        for i in range(len(self.nodes) - 1, -1, -1):
            if i in keep and self.nodes[i][0] != 'in':
                keep.update(self.nodes[i][1:])
        return keep

    # Batcher's merge exchange: Knuth, TAOCP 3, 5.2.2, algorithm M.
    def sort(self, values):
        v, n = list(values), len(values)
        if n < 2:
            return v
        top = 1 << ((n - 1).bit_length() - 1)
        p = top
        while p > 0:
            q, r, d = top, 0, p
            while True:
                for i in range(n - d):
                    if i & p == r:
                        v[i], v[i + d] = self.exchange(v[i], v[i + d])
                if q == p:
                    break
                d, q, r = q - p, q // 2, p
            p //= 2
        return v

    # Batcher's odd-even merge of any two lengths.
    def merge(self, a, b):
        if not a or not b:
            return list(a or b)
        if len(a) == len(b) == 1:
            return list(self.exchange(a[0], b[0]))
        even, odd = self.merge(a[0::2], b[0::2]), self.merge(a[1::2], b[1::2])
        out, i = [even[0]], 0
        while len(out) < len(a) + len(b):
            if i < len(odd) and i + 1 < len(even):
                out.extend(self.exchange(odd[i], even[i + 1]))
            else:
                out.append(odd[i] if i < len(odd) else even[i + 1])
            i += 1
        return out

    def merge_ranks(self, a, b, low, high):
        """Ranks low..high of the union; of either list only what can be among them takes part."""
        a0, a1 = max(0, low - len(b)), min(len(a), high + 1)
        b0, b1 = max(0, low - len(a)), min(len(b), high + 1)
        a, b, low, high = a[a0:a1], b[b0:b1], low - a0 - b0, high - a0 - b0
        if low == high and a and b:
            return [self.select(a, b, low)]
        return self.merge(a, b)[low:high + 1]

    def select(self, a, b, rank):
        """The element of that rank: the least, over the ways to take rank + 1 elements, of the largest taken."""
        result = None
        for i in range(rank + 2):
            j = rank + 1 - i
            if i > len(a) or j > len(b):
                continue
            largest = b[j - 1] if i == 0 else a[i - 1] if j == 0 else self.op('max', a[i - 1], b[j - 1])
            result = largest if result is None else self.op('min', result, largest)
        return result

    def merge_all(self, lists, low, high):
        """Ranks low..high of the union of sorted lists, shortest first; partial lists are cropped as they can be."""
        total = sum(map(len, lists))
        heap = [(list(values), len(values), 0) for values in lists]  # values, size before crops, dropped below
        while len(heap) > 1:
            heap.sort(key=lambda e: -len(e[0]))
            (a, size_a, below_a), (b, size_b, below_b) = heap.pop(), heap.pop()
            size, below = size_a + size_b, below_a + below_b
            first = max(0, max(0, low - (total - size)) - below)
            last = min(len(a) + len(b) - 1, min(size - 1, high) - below)
            heap.append((self.merge_ranks(a, b, first, last), size, below + first))
        values, _, below = heap[0]
        return values[low - below:high - below + 1]


def crop(window, rank, candidates, smaller, larger):
    """Which of the sorted candidates can still be of the wanted rank, when so many samples are known to be smaller and
    larger than all of them and the rest of the window is unseen."""
    return max(0, candidates + larger - (window - rank)), min(candidates - 1, rank - smaller)


class Tile:
    """A node of the tree: a w x h tile with its core and what its halves will need.

    Of the columns and rows that some outputs see and others do not, `columns` are sorted over the core's rows and
    `rows` over the core's columns, left (top) ones first; `corners[row][column]` are single samples."""

    def __init__(self, w, h, core, smaller, larger, columns, rows, corners):
        self.w, self.h, self.core, self.smaller, self.larger = w, h, core, smaller, larger
        self.columns, self.rows, self.corners = columns, rows, corners

    def transposed(self):
        corners = [list(c) for c in zip(*self.corners)] if self.corners else [[] for _ in self.columns]
        return Tile(self.h, self.w, self.core, self.smaller, self.larger, self.rows, self.columns, corners)


class Median:
    def __init__(self, k):
        self.k = k
        self.core_w, self.core_h = k - TILE_W + 1, k - TILE_H + 1
        self.program = Program()
        self.results = {}
        self.build()

    def column(self, c):
        return [self.program.read('single', c, i) for i in range(self.core_h)]

    def group(self, c, size):
        """Sorted columns c .. c + size - 1, as the block shares them."""
        name = {2: 'pair', 4: 'four', 8: 'eight'}[size]
        return [self.program.read(name, c, i) for i in range(size * self.core_h)]

    def core_groups(self):
        """The core is columns 3 .. k-1: shared groups begin at 3 modulo 4."""
        c, groups = TILE_W - 1, []
        while c < self.k:
            left = self.k - c
            # An eight pays where two tiles use it: at its place from the left and from the right.
            size = 8 if left >= 8 and self.k >= 19 and USE_EIGHTS else 4 if left >= 4 else 2
            groups.append((c, size))
            c += size
        return groups

    def core_list(self, low, high):
        """Ranks low..high of the core. The eights go first: what is left of them is short, and so is the rest."""
        p, groups = self.program, self.core_groups()
        eights = [self.group(c, size) for c, size in groups if size == 8]
        others = [self.group(c, size) for c, size in groups if size != 8]
        if len(eights) < 2:
            return p.merge_all(eights + others, low, high)
        rest = sum(map(len, others))
        below = max(0, low - rest)
        core = p.merge_all(eights, below, min(sum(map(len, eights)) - 1, high))
        return p.merge_all([core] + others, low - below, high - below)

    def build(self):
        p, k = self.program, self.k
        window, rank = k * k, (k * k - 1) // 2
        count = self.core_w * self.core_h
        low, high = crop(window, rank, count, 0, 0)
        core = self.core_list(low, high)
        # Pairs of extra columns that the first halving merges are shared as pairs: see `extra_pair`.
        columns = [self.column(c) for c in (*range(TILE_W - 1), *range(k, k + TILE_W - 1))]
        rows = [p.sort([p.read(name, c) for c in range(TILE_W - 1, k)]) for name in ('top', 'bottom')]
        corners = [[p.read(name, c) for c in (*range(TILE_W - 1), *range(k, k + TILE_W - 1))]
                   for name in ('top', 'bottom')]
        self.solve([(Tile(TILE_W, TILE_H, core, low, count - 1 - high, columns, rows, corners), 0, 0, False)])

    def solve(self, tiles):
        """Breadth first: both halves are made before either is descended into, which needs fewer registers."""
        for tile, x, y, turned in tiles:
            if tile.w == tile.h == 1:
                self.results[(y, x) if turned else (x, y)] = tile.core[0]
                continue
            if tile.w < tile.h:
                tile, x, y, turned = tile.transposed(), y, x, not turned
            self.solve([(self.half(tile, i), x + i * tile.w // 2, y, turned) for i in (0, 1)])

    def extra_list(self, tile, first, last):
        p = self.program
        if tile.w == TILE_W and last - first == 2:  # columns 1, 2 or k, k + 1
            return self.group(1 if first == 1 else self.k, 2)
        lists = tile.columns[first:last]
        return p.merge_all(lists, 0, sum(map(len, lists)) - 1)

    def half(self, t, which):
        p, half = self.program, t.w // 2
        window, rank = self.k * self.k, (self.k * self.k - 1) // 2
        first, last = half * (which + 1) - 1, half * (which + 2) - 1
        added = self.extra_list(t, first, last)
        count = len(t.core) + len(added)
        low, high = crop(window, rank, count, t.smaller, t.larger)
        core = p.merge_ranks(t.core, added, low, high)
        rows = [p.merge(row, p.sort(corner[first:last])) for row, corner in zip(t.rows, t.corners)]
        kept = [*range(half * which, half * which + half - 1),
                *range(half * which + t.w - 1, half * which + t.w - 1 + half - 1)]
        return Tile(half, t.h, core, t.smaller + low, t.larger + count - 1 - high, [t.columns[i] for i in kept],
                    rows, [[corner[i] for i in kept] for corner in t.corners])


USE_EIGHTS = True


def used_inputs(program, outputs):
    """{(list, column): set of elements} that reach the outputs."""
    used = {}
    for i in program.live(outputs):
        node = program.nodes[i]
        if node[0] == 'in' and len(node[1]) == 3:
            used.setdefault(node[1][:2], set()).add(node[1][2])
    return used


class Networks:
    """Every stage of a block for one window, from the last to the first: a stage makes what later ones use."""

    SIZES = {'pair': 2, 'four': 4, 'eight': 8}

    def __init__(self, k):
        self.k = k
        self.median = Median(k)
        self.height = self.median.core_h
        used = used_inputs(self.median.program, self.median.results.values())
        self.merges = {}  # list name -> (program, {element: node})
        for name in ('eight', 'four', 'pair'):
            wanted = set()
            for (list_name, _), elements in used.items():
                if list_name == name:
                    wanted |= elements
            if not wanted:
                continue
            p, half = Program(), self.SIZES[name] // 2
            n = half * self.height
            merged = p.merge([p.read('a', i) for i in range(n)], [p.read('b', i) for i in range(n)])
            self.merges[name] = (p, {i: merged[i] for i in sorted(wanted)})
            part = {'eight': 'four', 'four': 'pair', 'pair': 'single'}[name]
            for node in p.live(self.merges[name][1].values()):
                if p.nodes[node][0] == 'in':
                    used.setdefault((part, -1), set()).add(p.nodes[node][1][1])
        p = Program()
        self.sort = (p, dict(enumerate(p.sort([p.read('v', i) for i in range(self.height)]))))

    def stages(self):
        """(program, outputs, how often it runs for a tile)"""
        yield (*self.sort, TILE_W)
        for name, (p, outputs) in self.merges.items():
            yield p, outputs, 2 if name == 'pair' else 1
        yield self.median.program, self.median.results, 1

    def operations(self):
        total = 0
        for p, outputs, times in self.stages():
            total += times * sum(p.nodes[i][0] != 'in' for i in p.live(outputs.values()))
        return total / (TILE_W * TILE_H)


def emit(program, outputs, read, write):
    """C++ statements, a definition each; an output is written right after its value."""
    live, lines = program.live(outputs.values()), []
    writes = {}
    for key, node in outputs.items():
        writes.setdefault(node, []).append(key)
    read_already = set()

    def value(i):
        node = program.nodes[i]
        if node[0] == 'in' and i not in read_already:
            read_already.add(i)
            lines.append(f'    const Word v{i} = {read(node[1])};')
        return f'v{i}'

    for i in sorted(live):
        node = program.nodes[i]
        if node[0] != 'in':
            a, b = value(node[1]), value(node[2])
            lines.append(f'    const Word v{i} = Ops::{node[0]}({a}, {b});')
        elif i in writes:
            value(i)
        for key in writes.get(i, []):
            lines.append(f'    {write(key, f"v{i}")};')
    return lines


def generate(k):
    n = Networks(k)
    name_of_part = {'pair': 'single', 'four': 'pair', 'eight': 'four'}
    out = [f'// Made by networks.py: selection networks for {k}x{k}, {n.operations():.1f} min/max an output.',
           f'template <class Ops>\nstruct Network<{k}, Ops> {{',
           '  using Word = typename Ops::Word;',
           f'  static constexpr int window = {k}, column_height = {n.height};',
           f'  static constexpr bool fours = {str("four" in n.merges).lower()};',
           f'  static constexpr bool eights = {str("eight" in n.merges).lower()};',
           '', '  static __device__ __forceinline__ void sort_column(Word (&column)[column_height]) {']
    out += emit(*n.sort, lambda name: f'column[{name[1]}]', lambda key, v: f'column[{key}] = {v}')
    out.append('  }')
    for name, (p, outputs) in n.merges.items():
        out += ['', f'  /// A sorted {name} from two sorted {name_of_part[name]}s.',
                '  template <class A, class B, class Out>',
                f'  static __device__ __forceinline__ void merge_{name}(const A& a, const B& b, const Out& out) {{']
        out += emit(p, outputs, lambda x: f'{x[0]}({x[1]})', lambda key, v: f'out({key}, {v})')
        out.append('  }')
        if name == 'eight':
            out += ['  /// Calls f for every element of an eight that is used.', '  template <class F>',
                    '  static __device__ __forceinline__ void for_eight(const F& f) {',
                    '#pragma unroll', f'    for (int i = {min(outputs)}; i <= {max(outputs)}; ++i) f(i);', '  }']
    out += ['', '  template <class Lists>', '  static __device__ __forceinline__ void filter_tile(const Lists& lists) {']
    out += emit(n.median.program, n.median.results,
                lambda x: f'lists.{x[0]}({", ".join(map(str, x[1:]))})',
                lambda key, v: f'lists.result({key[0]}, {key[1]}, {v})')
    out += ['  }', '};', '']
    return '\n'.join(out)


def run(program, outputs, read):
    values = {}
    for i in sorted(program.live(outputs.values())):
        node = program.nodes[i]
        if node[0] == 'in':
            values[i] = read(node[1])
        else:
            values[i] = (min if node[0] == 'min' else max)(values[node[1]], values[node[2]])
    return {key: values[node] for key, node in outputs.items()}


def check(k, trials=4):
    """The stages together, on footprints of K+3 x K+1 samples, against a sort of every window."""
    import random
    n, rng = Networks(k), random.Random(k)
    width, height = k + TILE_W - 1, k + TILE_H - 1
    for trial in range(trials):
        span = (2, 16, 256, 1 << 30)[trial % 4]
        image = [[rng.randrange(span) for _ in range(width)] for _ in range(height)]
        lists = {}
        for c in range(width):
            lists['single', c] = run(*n.sort, lambda x, c=c: image[x[1] + TILE_H - 1][c])
        for name in ('pair', 'four', 'eight'):
            if name not in n.merges:
                continue
            size = Networks.SIZES[name]
            part = {'pair': 'single', 'four': 'pair', 'eight': 'four'}[name]
            for c in range(1 if name == 'pair' else 3, width - size + 1, 2 if name == 'pair' else 4):
                lists[name, c] = run(*n.merges[name], lambda x, c=c, part=part, half=size // 2:
                                     lists[part, c + (half if x[0] == 'b' else 0)][x[1]])
        rows = {'top': image[0], 'bottom': image[height - 1]}
        got = run(n.median.program, n.median.results,
                  lambda x: rows[x[0]][x[1]] if len(x) == 2 else lists[x[:2]][x[2]])
        for (x, y), value in got.items():
            window = sorted(image[y + j][x + i] for j in range(k) for i in range(k))
            if value != window[(k * k - 1) // 2]:
                raise SystemExit(f'{k}x{k}: wrong median at ({x}, {y}), trial {trial}')


def main(arguments):
    if arguments[:1] in (['--check'], ['--count']):
        windows = [int(a) for a in arguments[1:]] or list(range(5, 22, 2))
        for k in windows:
            if arguments[0] == '--check':
                check(k)
            else:
                print(k, f'{Networks(k).operations():.1f}')
        if arguments[0] == '--check':
            print('exact for', *windows)
    elif len(arguments) == 2:
        with open(arguments[1], 'w', encoding='utf-8') as f:
            f.write(generate(int(arguments[0])))
    else:
        raise SystemExit(__doc__)


if __name__ == '__main__':
    main(sys.argv[1:])
