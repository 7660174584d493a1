"""Images: everyday numpy functions, written without a thought of ONNX."""

import numpy as np


def bilinear_resize(image, height=5, width=7):
    rows = np.linspace(0, image.shape[0] - 1, height)
    columns = np.linspace(0, image.shape[1] - 1, width)
    r0 = np.floor(rows).astype(int)
    c0 = np.floor(columns).astype(int)
    r1 = np.minimum(r0 + 1, image.shape[0] - 1)
    c1 = np.minimum(c0 + 1, image.shape[1] - 1)
    dr = (rows - r0)[:, np.newaxis]
    dc = (columns - c0)[np.newaxis, :]
    top = image[r0][:, c0] * (1 - dc) + image[r0][:, c1] * dc
    bottom = image[r1][:, c0] * (1 - dc) + image[r1][:, c1] * dc
    return top * (1 - dr) + bottom * dr


def convolve2d(image, kernel):
    """The same size, with zeros around the image."""
    kh, kw = kernel.shape
    h, w = image.shape
    padded = np.pad(image, ((kh // 2, kh // 2), (kw // 2, kw // 2)))
    flipped = kernel[::-1, ::-1]
    out = np.zeros((h, w))
    for i in range(h):
        for j in range(w):
            out[i, j] = np.sum(padded[i : i + kh, j : j + kw] * flipped)
    return out


def sobel(image):
    """Strength and direction of edges."""
    p = np.pad(image, 1, mode="edge")
    gx = (p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[1:-1, :-2] + p[2:, :-2])
    gy = (p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[:-2, 1:-1] + p[:-2, 2:])
    return np.hypot(gx, gy), np.arctan2(gy, gx)


def otsu_threshold(image, bins=16):
    counts, edges = np.histogram(image, bins=bins, range=(0.0, 1.0))
    centres = (edges[:-1] + edges[1:]) / 2
    total = counts.sum()
    weighted = (counts * centres).sum()
    best, threshold = -1.0, 0.0
    below, below_sum = 0, 0.0
    for i in range(bins):
        below += counts[i]
        if below == 0:
            continue
        above = total - below
        if above == 0:
            break
        below_sum += counts[i] * centres[i]
        between = below * above * (below_sum / below - (weighted - below_sum) / above) ** 2
        if between > best:
            best = between
            threshold = edges[i + 1]
    return threshold, image > threshold


def histogram_equalise(image):
    """Of whole grey values from 0 to 255."""
    histogram = np.bincount(image.ravel(), minlength=256)
    cdf = histogram.cumsum()
    lowest = cdf[cdf > 0].min()
    table = np.clip(np.round((cdf - lowest) / max(image.size - lowest, 1) * 255), 0, 255)
    return table.astype(np.uint8)[image]


def box_blur(image, radius=1):
    """Means over squares, from an integral image; squares end at the border."""
    h, w = image.shape
    integral = np.zeros((h + 1, w + 1))
    integral[1:, 1:] = image.cumsum(axis=0).cumsum(axis=1)
    r0 = np.clip(np.arange(h) - radius, 0, h)
    r1 = np.clip(np.arange(h) + radius + 1, 0, h)
    c0 = np.clip(np.arange(w) - radius, 0, w)
    c1 = np.clip(np.arange(w) + radius + 1, 0, w)
    sums = (
        integral[np.ix_(r1, c1)]
        - integral[np.ix_(r0, c1)]
        - integral[np.ix_(r1, c0)]
        + integral[np.ix_(r0, c0)]
    )
    return sums / np.outer(r1 - r0, c1 - c0)


def label_components(mask):
    """Connected parts of a mask: labels spread to neighbours until nothing changes."""
    h, w = mask.shape
    labels = np.where(mask, np.arange(1, h * w + 1).reshape(h, w), 0)
    changed = True
    while changed:
        before = labels.copy()
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            padded = np.pad(labels, 1)
            shifted = padded[1 + dy : 1 + dy + h, 1 + dx : 1 + dx + w]
            labels = np.where(mask, np.maximum(labels, shifted), 0)
        changed = np.any(labels != before)
    return labels, len(np.unique(labels[labels > 0]))
