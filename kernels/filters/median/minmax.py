"""Straight-line programs of min and max: building them from sorts and merges, running them, writing them as C++."""


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


def run(program, outputs, read):
    values = {}
    for i in sorted(program.live(outputs.values())):
        node = program.nodes[i]
        if node[0] == 'in':
            values[i] = read(node[1])
        else:
            values[i] = (min if node[0] == 'min' else max)(values[node[1]], values[node[2]])
    return {key: values[node] for key, node in outputs.items()}
