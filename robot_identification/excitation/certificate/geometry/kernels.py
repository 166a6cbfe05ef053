# Copyright 2026 The robot_identification authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""
Compiled distances between convex shapes, with derivatives; releases the GIL.

A shape is the convex hull of some vertices, given in the frame of the joint that carries it,
enlarged by a radius. Distances come from the iteration of E. Gilbert, D. Johnson, S. Keerthi, "A
fast procedure for computing the distance between complex objects in three-dimensional space",
1988, on the difference A - B = {a - b} of two hulls. The final direction at one time is the
starting direction at the next.
"""

from numba import njit
import numpy as np
from robot_identification.dynamics.kernels import OPTIONS, placements

ITERATIONS = 60    # ten suffice for 300 pairs of random hulls of 64 vertices


@njit(**OPTIONS)
def _support(points, d, sign):
    """Return the index i of the support vertex, argmax sign x_i . d."""
    best = -1e300
    index = 0
    for i in range(len(points)):
        value = sign * (points[i, 0] * d[0] + points[i, 1] * d[1] + points[i, 2] * d[2])
        if value > best:
            best = value
            index = i
    return index


@njit(**OPTIONS)
def _dot(a, b):
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(inline='always', **OPTIONS)
def _transform(R, p, x, out):
    """Fill `out` with the point p + R x."""
    for r in range(3):
        out[r] = p[r] + R[r, 0] * x[0] + R[r, 1] * x[1] + R[r, 2] * x[2]


@njit(inline='always', **OPTIONS)
def _combine(weights, points, members, count, out):
    """Fill `out` with the sum of weights_r points_(members_r), r < count."""
    for c in range(3):
        out[c] = 0.0
        for r in range(count):
            out[c] += weights[r] * points[members[r], c]


@njit(**OPTIONS)
def _weights(W, members, count, trial, edges, G, b):
    """
    Compute barycentric weights of the point nearest to the origin in some vertices' affine span.

    For vertices w_0 ... w_k with edges e_r = w_r - w_0 the weights minimise |sum of c_r w_r|^2:

        G (c_1 ... c_k) = b,    G_rs = e_r . e_s,    b_r = -e_r . w_0,    c_0 = 1 - c_1 ... - c_k.

    Up to three edges fill G (3, 3) and b (3,), which are completed by ones on the diagonal and by
    zeros. Returns whether the point lies in the hull of the vertices. `edges`, `G` and `b` are
    working memory.
    """
    o = W[members[0]]
    for r in range(3):
        used = r + 1 < count
        for c in range(3):
            edges[r, c] = W[members[r + 1], c] - o[c] if used else 0.0
        b[r] = -_dot(edges[r], o)
        for c in range(r + 1):
            G[r, c] = _dot(edges[r], edges[c])
            G[c, r] = G[r, c]
        if not used:
            G[r, r] = 1.0
    # Cramer's rule
    c00 = G[1, 1] * G[2, 2] - G[1, 2] * G[1, 2]
    c01 = G[0, 2] * G[1, 2] - G[0, 1] * G[2, 2]
    c02 = G[0, 1] * G[1, 2] - G[0, 2] * G[1, 1]
    det = G[0, 0] * c00 + G[0, 1] * c01 + G[0, 2] * c02
    if det <= 1e-13 * G[0, 0] * G[1, 1] * G[2, 2]:
        return False
    c11 = G[0, 0] * G[2, 2] - G[0, 2] * G[0, 2]
    c12 = G[0, 1] * G[0, 2] - G[0, 0] * G[1, 2]
    c22 = G[0, 0] * G[1, 1] - G[0, 1] * G[0, 1]
    trial[1] = (c00 * b[0] + c01 * b[1] + c02 * b[2]) / det
    trial[2] = (c01 * b[0] + c11 * b[1] + c12 * b[2]) / det
    trial[3] = (c02 * b[0] + c12 * b[1] + c22 * b[2]) / det
    trial[0] = 1.0 - trial[1] - trial[2] - trial[3]
    return trial.min() >= 0.0


@njit(**OPTIONS)
def _reduce(count, v, work):
    """
    Keep only the vertices whose hull contains the point nearest to the origin.

    The nearest point is v = argmin |x|^2 over the hull of w_0 ... w_k, where w_k is the new
    vertex. All subsets that contain w_k are tried. Of those whose weights c_r (see `_weights`) are
    not negative, the one with the smallest |sum of c_r w_r| is kept, and its size is returned.
    """
    W, A, edges, G, b, point, weights, trial, members = work
    best = 1e300
    keep = 1 << (count - 1)
    for subset in range(1 << (count - 1)):
        size = 0
        for i in range(count - 1):
            if subset >> i & 1:
                members[size] = i
                size += 1
        members[size] = count - 1
        size += 1
        if not _weights(W, members, size, trial, edges, G, b):
            continue
        _combine(trial, W, members, size, point)
        length = _dot(point, point)
        if length < best:
            best = length
            keep = subset | 1 << (count - 1)
            v[:] = point
            weights[:] = trial
    size = 0
    for i in range(count):
        if keep >> i & 1:
            if size != i:
                W[size], A[size] = W[i], A[i]
            size += 1
    return size


@njit(**OPTIONS)
def _gjk(first, second, cutoff, v, near, far, work):
    """
    Return the distance of the hulls of two sets of vertices, 0 if they intersect.

    min |a - b| over a in A, b in B (Gilbert, Johnson, Keerthi 1988). Each iteration adds the
    support point w = a - b of A - B in the direction -v to the simplex. The point of the simplex
    nearest to the origin is the next v (`_reduce`). For every v

        v . w / |v| <= distance,    and |v| is the distance where |v|^2 - v . w = 0,

    which is tested to 1e-9 of |v|^2. The nearest points are a = sum of c_r a_r and b = a - v.

    If the distance exceeds `cutoff`, a lower bound of at least `cutoff` is returned instead: the
    width of the gap along a direction v that separates the hulls. The nearest points are then not
    set.

    `v` is the starting direction and becomes the difference of the nearest points `near`, `far`.
    `work` is working memory, from `_scratch`.
    """
    W, A, w, weights, members = work[0], work[1], work[5], work[6], work[8]
    count = 0
    square = 1e300
    for _ in range(ITERATIONS):
        i = _support(first, v, -1.0)
        j = _support(second, v, 1.0)
        for r in range(3):
            w[r] = first[i, r] - second[j, r]
        along = _dot(v, w)
        length = np.sqrt(_dot(v, v))
        if along > cutoff * length:
            return along / length
        if count > 0 and square - along <= 1e-9 * square + 1e-18:
            break
        W[count], A[count] = w, first[i]
        old = square
        count = _reduce(count + 1, v, work)
        square = _dot(v, v)
        if count == 4 or square < 1e-16:
            return 0.0
        if square >= old:
            break
    for r in range(count):
        members[r] = r
    _combine(weights, A, members, count, near)
    far[:] = near - v
    return np.sqrt(square)


@njit(**OPTIONS)
def _scratch():
    """Return the arrays that `_gjk` changes: `v`, `near`, `far` (3,) and its working memory."""
    return (np.empty(3), np.empty(3), np.empty(3),
            (np.empty((4, 3)), np.empty((4, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty(3),
             np.empty(3), np.zeros(4), np.zeros(4), np.empty(4, np.int64)))


@njit(**OPTIONS)
def point_distances(points, vertices, out):
    """
    Fill `out` (N,) with the distances of points (N, 3) from the hull of vertices (m, 3).

    out_k = min |x_k - y| over y in the hull, by `_gjk` with a hull of one point.
    """
    v, near, far, work = _scratch()
    for k in range(len(points)):
        v[:] = points[k] - vertices[0]
        out[k] = _gjk(points[k:k + 1], vertices, 1e300, v, near, far, work)


@njit(**OPTIONS)
def _placed(vertices, first, last, R, p, out):
    """Return the vertices from `first` to `last` - 1 in the base frame, as a part of `out`."""
    for i in range(first, last):
        _transform(R, p, vertices[i], out[i - first])
    return out[:last - first]


@njit(**OPTIONS)
def _add_motion(world, origin, axes, prismatic, parents, link, point, normal, sign, gradient):
    """
    Add the derivative of the position of `point` along `normal` with respect to each joint.

    For each joint j between base and link, with axis z_j and origin p_j in the base frame, the
    column of the Jacobian of the point x along n is added to gradient_j times `sign`:

        n . (z_j x (x - p_j)) of a revolute joint,    n . z_j of a prismatic one.
    """
    axis = np.empty(3)
    j = link
    while j >= 0:
        for r in range(3):
            axis[r] = (world[j, r, 0] * axes[j, 0] + world[j, r, 1] * axes[j, 1]
                       + world[j, r, 2] * axes[j, 2])
        if prismatic[j]:
            gradient[j] += sign * _dot(axis, normal)
        else:
            x = point[0] - origin[j, 0]
            y = point[1] - origin[j, 1]
            z = point[2] - origin[j, 2]
            gradient[j] += sign * (normal[0] * (axis[1] * z - axis[2] * y)
                                   + normal[1] * (axis[2] * x - axis[0] * z)
                                   + normal[2] * (axis[0] * y - axis[1] * x))
        j = parents[j]


@njit(**OPTIONS)
def pair_distances(q, parents, rotations, translations, axes, prismatic, vertices, starts, links,
                   radii, centres, bounding, pairs, reach, cutoff, distances, gradients):
    """
    Fill `distances` (N, P) and their derivatives with respect to q, `gradients` (N, P, n).

    With the nearest points a, b of the hulls, n = (a - b) / |a - b| and the radii r, J the
    Jacobians of the links' points a and b:

        distance = |a - b| - r_a - r_b,    d distance / dq = n' (J_a - J_b).

    Distances beyond `cutoff` are returned as `cutoff`, with zero derivatives. If two hulls
    intersect, their distance is minus their radii. Link -1 is the base.

    From one row of q to the next, the distance of a pair changes by at most sum_j reach_j |dq_j|,
    with `reach` of shape (P, n). A pair that was further apart than the cutoff plus this bound is
    skipped. For the others the search starts with the direction that separated them before.
    """
    n = parents.size
    count = q.shape[0]
    world = np.empty((count, n + 1, 3, 3))    # the last frame is the base
    origin = np.zeros((count, n + 1, 3))
    placements(q, parents, rotations, translations, axes, prismatic, world, origin)
    world[:, n] = np.eye(3)
    v, near, far, work = _scratch()
    ours = np.empty_like(vertices)
    theirs = np.empty_like(vertices)
    normal = np.empty(3)
    gradients[:] = 0.0
    for p in range(pairs.shape[0]):
        a = pairs[p, 0]
        b = pairs[p, 1]
        la = links[a]
        lb = links[b]
        grown = radii[a] + radii[b]
        warm = False
        gap = -1.0      # lower bound of the hulls' distance at the previous row
        for k in range(count):
            if k > 0:
                for j in range(n):
                    gap -= reach[p, j] * abs(q[k, j] - q[k - 1, j])
                if gap >= cutoff + grown:
                    distances[k, p] = cutoff
                    continue
            Ra, pa = world[k, la], origin[k, la]
            Rb, pb = world[k, lb], origin[k, lb]
            _transform(Ra, pa, centres[a], near)
            _transform(Rb, pb, centres[b], far)
            normal[:] = near - far
            apart = np.sqrt(_dot(normal, normal)) - bounding[a] - bounding[b]
            if apart >= cutoff:
                distances[k, p] = cutoff
                gap = apart + grown
                continue
            if not warm:
                v[:] = normal
                if _dot(v, v) < 1e-12:
                    v[0] = 1.0
            d = _gjk(_placed(vertices, starts[a], starts[a + 1], Ra, pa, ours),
                     _placed(vertices, starts[b], starts[b + 1], Rb, pb, theirs),
                     cutoff + grown, v, near, far, work)
            warm = d > 0.0
            gap = d
            distances[k, p] = min(d - grown, cutoff)
            if not 0.0 < d < cutoff + grown:
                continue
            normal[:] = v / d
            _add_motion(world[k], origin[k], axes, prismatic, parents, la, near, normal, 1.0,
                        gradients[k, p])
            _add_motion(world[k], origin[k], axes, prismatic, parents, lb, far, normal, -1.0,
                        gradients[k, p])
