"""Losses: everyday numpy functions, written without a thought of ONNX."""

import numpy as np


def cross_entropy(logits, labels, smoothing=0.0):
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    picked = log_probs[np.arange(len(labels)), labels]
    loss = -(1 - smoothing) * picked - smoothing * log_probs.mean(axis=1)
    return loss.mean()


def huber(predicted, target, delta=1.0, reduction="mean"):
    error = np.abs(predicted - target)
    loss = np.where(error <= delta, 0.5 * error**2, delta * (error - 0.5 * delta))
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    return loss


def focal_loss(probabilities, labels, gamma=2.0, alpha=0.25):
    eps = np.finfo(probabilities.dtype).eps
    p = np.clip(probabilities, eps, 1 - eps)
    pt = np.where(labels == 1, p, 1 - p)
    weight = np.where(labels == 1, alpha, 1 - alpha)
    return float(np.mean(-weight * (1 - pt) ** gamma * np.log(pt)))


def triplet_loss(anchors, positives, negatives, margin=0.5):
    near = np.linalg.norm(anchors - positives, axis=1)
    far = np.linalg.norm(anchors - negatives, axis=1)
    losses = np.maximum(near - far + margin, 0)
    active = losses > 0
    if not active.any():
        return 0.0, 0
    return losses[active].mean(), int(active.sum())


def multiclass_hinge(scores, labels):
    """The loss and its gradient."""
    n = scores.shape[0]
    correct = scores[np.arange(n), labels]
    margins = np.maximum(0, scores - correct[:, None] + 1)
    margins[np.arange(n), labels] = 0
    gradient = (margins > 0).astype(scores.dtype)
    gradient[np.arange(n), labels] -= gradient.sum(axis=1)
    return margins.sum() / n, gradient / n
