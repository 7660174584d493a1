"""Metrics: everyday numpy functions, written without a thought of ONNX."""

import numpy as np


def confusion_matrix(actual, predicted, classes=3):
    matrix = np.zeros((classes, classes), dtype=int)
    for a, p in zip(actual, predicted):
        matrix[a, p] += 1
    return matrix


def precision_recall_f1(actual, predicted):
    tp = np.sum((actual == 1) & (predicted == 1))
    fp = np.sum((actual == 0) & (predicted == 1))
    fn = np.sum((actual == 1) & (predicted == 0))
    if tp == 0:
        return {"precision": 0.0, "recall": 0.0, "f1": 0.0}
    precision = tp / (tp + fp)
    recall = tp / (tp + fn)
    return {"precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall)}


def roc_auc(labels, scores):
    """By the trapezes under the curve; nan where there is one class only."""
    order = np.argsort(-scores, kind="mergesort")
    labels = labels[order]
    scores = scores[order]
    distinct = np.where(np.diff(scores))[0]
    ends = np.r_[distinct, labels.size - 1]
    tps = np.cumsum(labels)[ends]
    fps = 1 + ends - tps
    if tps[-1] == 0 or fps[-1] == 0:
        return np.nan
    tpr = np.r_[0, tps] / tps[-1]
    fpr = np.r_[0, fps] / fps[-1]
    return np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2)


def average_precision(labels, scores):
    order = np.argsort(scores)[::-1]
    hits = 0
    total = 0.0
    for rank, place in enumerate(order):
        if labels[place]:
            hits += 1
            total += hits / (rank + 1)
    return total / hits if hits else 0.0


def ndcg(relevance, scores, k=5):
    def dcg(values):
        values = values[:k]
        return np.sum((2**values - 1) / np.log2(np.arange(2, len(values) + 2)))

    ideal = dcg(np.sort(relevance)[::-1])
    if ideal == 0:
        return 0.0
    return dcg(relevance[np.argsort(-scores)]) / ideal


def _box_iou(a, b):
    """Intersection over union of each box of a with each of b; boxes are x1, y1, x2, y2."""
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    top_left = np.maximum(a[:, None, :2], b[None, :, :2])
    bottom_right = np.minimum(a[:, None, 2:], b[None, :, 2:])
    sides = np.clip(bottom_right - top_left, 0, None)
    overlap = sides[..., 0] * sides[..., 1]
    return overlap / (area_a[:, None] + area_b[None, :] - overlap)


def non_maximum_suppression(boxes, scores, threshold=0.5):
    """Places of the boxes that are kept, best first."""
    order = scores.argsort()[::-1]
    keep = []
    while order.size > 0:
        best = order[0]
        keep.append(best)
        rest = order[1:]
        overlaps = _box_iou(boxes[best : best + 1], boxes[rest])[0]
        order = rest[overlaps <= threshold]
    return np.array(keep, dtype=np.int64)


def silhouette(points, labels):
    """The mean silhouette of a clustering."""
    n = len(points)
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    clusters = np.unique(labels)
    values = np.zeros(n)
    for i in range(n):
        own = labels == labels[i]
        if own.sum() == 1:
            continue
        a = distances[i, own].sum() / (own.sum() - 1)
        b = np.inf
        for cluster in clusters:
            if cluster != labels[i]:
                b = min(b, distances[i, labels == cluster].mean())
        values[i] = (b - a) / max(a, b)
    return values.mean()
