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

sys.dont_write_bytecode = True  # the build leaves the source tree as it is
from minmax import Program, emit, run

TILE_W, TILE_H = 4, 2


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
    """The program of a tile: `program` makes `results` by place, or, where `looped`, what both halves of the tile begin
    with, {(list, element)}; then `half_program` makes a half's results from that and the half's own lists.

    Both halves are one program on different lists. Run twice it takes half the room: beyond 19x19 straight-line code
    does not fit the GPU's instruction cache, and is three times as slow as its operations."""

    def __init__(self, k):
        self.k = k
        self.looped = k > LAST_STRAIGHT
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
        eights = self.k >= 19 and USE_EIGHTS
        while c < self.k:
            left = self.k - c
            # An eight pays where two tiles use it: at its place from the left and from the right. In a block's memory
            # eights take the place of fours, which a tile then has no more.
            size = 8 if eights and left >= 8 else 4 if not eights and left >= 4 else 2
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
        if self.looped:
            self.results = {('core', i): v for i, v in enumerate(core)}
            for name, row in zip(('top_row', 'bottom_row'), rows):
                self.results.update({(name, i): v for i, v in enumerate(row)})
            self.build_half(len(core), low, count - 1 - high)
            return
        self.solve([(Tile(TILE_W, TILE_H, core, low, count - 1 - high, columns, rows, corners), 0, 0, False)])

    # A half's lists: `pick` is the shared pair that joins the core, `left` and `right` are the columns beside it.
    def build_half(self, core_length, smaller, larger):
        shared, self.program = self.program, Program()
        shared_results, self.results = self.results, {}
        p, h = self.program, self.core_h
        core, pick = [p.read('core', i) for i in range(core_length)], [p.read('pick', i) for i in range(2 * h)]
        count = len(core) + len(pick)
        low, high = crop(self.k * self.k, (self.k * self.k - 1) // 2, count, smaller, larger)
        core = p.merge_ranks(core, pick, low, high)
        rows = [p.merge([p.read(f'{name}_row', i) for i in range(self.core_w)],
                        p.sort([p.read(name, 'pick'), p.read(name, 'pick + 1')])) for name in ('top', 'bottom')]
        columns = [[p.read(side, i) for i in range(h)] for side in ('left', 'right')]
        corners = [[p.read(name, side) for side in ('left', 'right')] for name in ('top', 'bottom')]
        self.solve([(Tile(2, TILE_H, core, smaller + low, larger + count - 1 - high, columns, rows, corners), 0, 0,
                     False)])
        self.half_program, self.half_results = self.program, self.results
        self.program, self.results = shared, shared_results

    def half_columns(self, half):
        """What pick, left and right are for a half."""
        return {'pick': self.k, 'left': 2, 'right': self.k + 2} if half else {'pick': 1, 'left': 0, 'right': self.k}

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


USE_EIGHTS, LAST_STRAIGHT = True, 19


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
        if self.median.looped:
            part = {'pick': 'pair', 'left': 'single', 'right': 'single'}
            p = self.median.half_program
            for node in (p.nodes[i] for i in p.live(self.median.half_results.values())):
                if node[0] == 'in' and node[1][0] in part:
                    used.setdefault((part[node[1][0]], node[1][0]), set()).add(node[1][1])
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
        if self.median.looped:
            yield self.median.half_program, self.median.half_results, 2

    def operations(self):
        total = 0
        for p, outputs, times in self.stages():
            total += times * sum(p.nodes[i][0] != 'in' for i in p.live(outputs.values()))
        return total / (TILE_W * TILE_H)


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
    m = n.median
    if m.looped:
        for name in ('core', 'top_row', 'bottom_row'):
            out.append(f'    Word {name}[{sum(key[0] == name for key in m.results)}];')
    out += emit(m.program, m.results, lambda x: f'lists.{x[0]}({", ".join(map(str, x[1:]))})',
                lambda key, v: f'{key[0]}[{key[1]}] = {v}' if m.looped else f'lists.result({key[0]}, {key[1]}, {v})')
    if m.looped:
        first, second = m.half_columns(0), m.half_columns(1)
        out += ['#pragma unroll 1', '    for (int half = 0; half < 2; ++half) {']
        out += [f'    const int {name} = half ? {second[name]} : {first[name]};' for name in first]
        list_of = {'pick': 'pair', 'left': 'single', 'right': 'single', 'top': 'top', 'bottom': 'bottom'}

        def read(x):
            if x[0] in ('core', 'top_row', 'bottom_row'):
                return f'{x[0]}[{x[1]}]'
            return f'lists.{list_of[x[0]]}({x[1]})' if x[0] in ('top', 'bottom') else f'lists.{list_of[x[0]]}({x[0]}, {x[1]})'
        out += emit(m.half_program, m.half_results, read,
                    lambda key, v: f'half ? lists.result({key[0] + 2}, {key[1]}, {v}) : lists.result({key[0]}, {key[1]}, {v})')
        out.append('    }')
    out += ['  }', '};', '']
    return '\n'.join(out)


def run_halves(median, shared, lists, rows):
    """The results of both halves of a tile."""
    results = {}
    for half in (0, 1):
        columns = median.half_columns(half)

        def read(x):
            if x in shared:
                return shared[x]
            if x[0] in rows:
                return rows[x[0]][columns['pick'] + 1 if x[1] == 'pick + 1' else columns[x[1]]]
            return lists['pair' if x[0] == 'pick' else 'single', columns[x[0]]][x[1]]
        for (x, y), value in run(median.half_program, median.half_results, read).items():
            results[x + 2 * half, y] = value
    return results


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
        if n.median.looped:
            got = run_halves(n.median, got, lists, rows)
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
