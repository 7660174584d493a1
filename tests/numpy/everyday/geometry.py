"""Geometry: everyday numpy functions, written without a thought of ONNX."""

import numpy as np

EARTH_RADIUS = 6371.0088


def haversine(a, b):
    """Kilometres between points that are given as latitude and longitude in degrees."""
    lat1, lon1 = np.radians(a[:, 0]), np.radians(a[:, 1])
    lat2, lon2 = np.radians(b[:, 0]), np.radians(b[:, 1])
    h = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS * np.arcsin(np.sqrt(h))


def polygon_area_and_centroid(points):
    x, y = points.T
    xn, yn = np.roll(x, -1), np.roll(y, -1)
    cross = x * yn - xn * y
    area = cross.sum() / 2
    if abs(area) < 1e-12:
        return 0.0, points.mean(axis=0)
    cx = ((x + xn) * cross).sum() / (6 * area)
    cy = ((y + yn) * cross).sum() / (6 * area)
    return abs(area), np.array([cx, cy])


def point_in_polygon(point, polygon):
    """Whether a ray from the point crosses the outline an odd number of times."""
    px, py = point
    inside = False
    n = len(polygon)
    j = n - 1
    for i in range(n):
        xi, yi = polygon[i]
        xj, yj = polygon[j]
        if (yi > py) != (yj > py) and px < (xj - xi) * (py - yi) / (yj - yi) + xi:
            inside = not inside
        j = i
    return inside


def rotate_about_axis(points, axis, angle):
    """Rodrigues' rotation of points about an axis, by degrees."""
    axis = axis / np.linalg.norm(axis)
    theta = np.deg2rad(angle)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    rotation = np.eye(3) + np.sin(theta) * k + (1 - np.cos(theta)) * (k @ k)
    return points @ rotation.T


def k_nearest(points, queries, k=2):
    """Places of and distances to the k points next to each query."""
    differences = queries[:, None, :] - points[None, :, :]
    distances = np.sqrt((differences**2).sum(axis=-1))
    nearest = np.argsort(distances, axis=1)[:, :k]
    return nearest, np.take_along_axis(distances, nearest, axis=1)


def distance_to_segment(point, a, b):
    ab = b - a
    length = np.dot(ab, ab)
    if length == 0:
        return np.linalg.norm(point - a)
    t = np.dot(point - a, ab) / length
    t = max(0.0, min(1.0, t))
    return np.linalg.norm(point - (a + t * ab))


def convex_hull(points):
    """Gift wrapping: places of the corners, from the leftmost point on."""
    n = len(points)
    hull = np.empty(n, dtype=int)
    start = np.argmin(points[:, 0])
    current = start
    count = 0
    while True:
        hull[count] = current
        count += 1
        candidate = (current + 1) % n
        for i in range(n):
            u = points[candidate] - points[current]
            v = points[i] - points[current]
            if u[0] * v[1] - u[1] * v[0] < 0:
                candidate = i
        current = candidate
        if current == start or count == n:
            break
    return hull[:count]
