"""What Python's own functions do with tensors."""

import math

from onnxsmith import FLOAT, INT64, tensor

x = tensor([1.0, 2.0, 3.0])
i = tensor([0, 1, 2])
words = ["zero", "one", "two"]

print(len(x), list(x), [row * 2 for row in x], tuple(i), sum(x), sorted(x))
print(bool(x[0] > 0), int(i[1]), float(x[1]), complex(x[0]), words[i[2]], range(i[2]), math.sqrt(x[0]))
print(abs(x), round(x), round(x, 1), -x, +x, max(x[0], x[1]), min(i[0], i[1]), 2.0 in x, hash(x[0]))
print(f"{x} {i!r}", str(x))

first, second, third = x
total: FLOAT = first + second + third
for value in x:
    total += value
for number in i:
    print([0] * number, total, number + 1)

pairs: list[tuple[FLOAT, INT64]] = list(zip(x, i, strict=True))
for position, (value, number) in enumerate(pairs):
    print(position, value, number, any(x > 2), all(x > 0))
