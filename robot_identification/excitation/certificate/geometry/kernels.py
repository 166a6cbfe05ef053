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

A shape is the convex hull of some vertices, given in the frame of the joint that carries it, grown
by a radius. Distances come from the iteration of E. Gilbert, D. Johnson, S. Keerthi, "A fast
procedure for computing the distance between complex objects in three-dimensional space", 1988, on
the difference A - B = {a - b} of two hulls; the direction found at one time starts the search at
the next.
"""

from __future__ import annotations

from numba import njit
import numpy as np
from robot_identification.dynamics.kernels import OPTIONS, placements

ITERATIONS = 60


@njit(**OPTIONS)
def _support(vertices, first, last, d):
    """Return the index i of the support vertex, argmax x_i . d, first <= i < last."""
    best = -1e300
    index = first
    for i in range(first, last):
        value = vertices[i, 0] * d[0] + vertices[i, 1] * d[1] + vertices[i, 2] * d[2]
        if value > best:
            best = value
            index = i
    return index


@njit(**OPTIONS)
def _dot(a, b):
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(**OPTIONS)
def _weights(W, members, count, part, edges, G, b):
    """
    Barycentric weights of the point nearest to the origin on the span of some vertices.

    For vertices w_0 ... w_k with edges e_r = w_r - w_0 the weights minimise |sum of c_r w_r|^2:

        G (c_1 ... c_k) = b,    G_rs = e_r . e_s,    b_r = -e_r . w_0,    c_0 = 1 - c_1 ... - c_k.

    Returns whether that point lies in their hull. `edges`, `G` (3, 3) and `b` (3,) are scratch.
    """
    if count == 1:
        part[0] = 1.0
        return True
    # Gram matrix of the edges from vertex 0, solved by Cramer's rule
    o = W[members[0]]
    for r in range(count - 1):
        for c in range(3):
            edges[r, c] = W[members[r + 1], c] - o[c]
        b[r] = -_dot(edges[r], o)
        for c in range(r + 1):
            G[r, c] = _dot(edges[r], edges[c])
            G[c, r] = G[r, c]
    if count == 2:
        det = G[0, 0]
        if det <= 1e-24:
            return False
        part[1] = b[0] / det
    elif count == 3:
        det = G[0, 0] * G[1, 1] - G[0, 1] * G[0, 1]
        if det <= 1e-13 * G[0, 0] * G[1, 1]:
            return False
        part[1] = (b[0] * G[1, 1] - b[1] * G[0, 1]) / det
        part[2] = (G[0, 0] * b[1] - G[0, 1] * b[0]) / det
    else:
        c00 = G[1, 1] * G[2, 2] - G[1, 2] * G[1, 2]
        c01 = G[0, 2] * G[1, 2] - G[0, 1] * G[2, 2]
        c02 = G[0, 1] * G[1, 2] - G[0, 2] * G[1, 1]
        det = G[0, 0] * c00 + G[0, 1] * c01 + G[0, 2] * c02
        if det <= 1e-13 * G[0, 0] * G[1, 1] * G[2, 2]:
            return False
        c11 = G[0, 0] * G[2, 2] - G[0, 2] * G[0, 2]
        c12 = G[0, 1] * G[0, 2] - G[0, 0] * G[1, 2]
        c22 = G[0, 0] * G[1, 1] - G[0, 1] * G[0, 1]
        part[1] = (c00 * b[0] + c01 * b[1] + c02 * b[2]) / det
        part[2] = (c01 * b[0] + c11 * b[1] + c12 * b[2]) / det
        part[3] = (c02 * b[0] + c12 * b[1] + c22 * b[2]) / det
    part[0] = 1.0
    inside = True
    for r in range(1, count):
        part[0] -= part[r]
        if part[r] < 0.0:
            inside = False
    return inside and part[0] >= 0.0


@njit(**OPTIONS)
def _reduce(W, A, B, count, weights, v, members, part, edges, G, rest):
    """
    Keep the vertices whose hull holds the point nearest to the origin; the last is new.

    v = argmin |x|^2 over the hull of w_0 ... w_k: of all subsets with w_k whose weights c_r (see
    `_weights`) are not negative, the one with the smallest |sum of c_r w_r|. Returns its size.
    """
    best = 1e300
    keep = 1 << (count - 1)
    b = rest[0]
    point = rest[1]
    for subset in range(1 << (count - 1)):
        size = 0
        for i in range(count - 1):
            if subset >> i & 1:
                members[size] = i
                size += 1
        members[size] = count - 1
        size += 1
        if not _weights(W, members, size, part, edges, G, b):
            continue
        point[:] = 0.0
        for r in range(size):
            for c in range(3):
                point[c] += part[r] * W[members[r], c]
        length = _dot(point, point)
        if length < best:
            best = length
            keep = subset | 1 << (count - 1)
            for c in range(3):
                v[c] = point[c]
            for r in range(size):
                weights[r] = part[r]
    size = 0
    for i in range(count):
        if keep >> i & 1:
            if size != i:
                for c in range(3):
                    W[size, c] = W[i, c]
                    A[size, c] = A[i, c]
                    B[size, c] = B[i, c]
            size += 1
    return size


@njit(**OPTIONS)
def _gjk(vertices, first, last, Ra, pa, other_first, other_last, Rb, pb, cutoff, v, near, far,
         work, weights, part, members):
    """
    Distance of two hulls, 0 where they meet.

    min |a - b| over a in A, b in B (Gilbert, Johnson, Keerthi 1988). From v the iteration adds the
    support point w = a - b of A - B in the direction -v and takes for v the point nearest to the
    origin of the simplex (`_reduce`). For every v

        v . w / |v| <= distance,    and |v| is the distance where |v|^2 - v . w = 0,

    to 1e-9 of |v|^2 here. Near and far points are sum of c_r a_r and sum of c_r b_r.

    Beyond `cutoff` it is only a bound from below, at least `cutoff`: the extent of the gap along
    a direction that separates the hulls, v, and there are no nearest points.

    `v` is the starting direction and becomes the difference of the nearest points `near`, `far`.
    `work` (24, 3), `weights`, `part` and `members` (4,) are scratch.
    """
    W = work[0:4]
    A = work[4:8]
    B = work[8:12]
    edges = work[12:15]
    G = work[15:18]
    rest = work[18:20]
    d = work[20]
    a = work[21]
    b = work[22]
    w = work[23]
    count = 0
    square = 1e300
    for _ in range(ITERATIONS):
        for c in range(3):
            d[c] = -(Ra[0, c] * v[0] + Ra[1, c] * v[1] + Ra[2, c] * v[2])
        i = _support(vertices, first, last, d)
        for c in range(3):
            d[c] = Rb[0, c] * v[0] + Rb[1, c] * v[1] + Rb[2, c] * v[2]
        j = _support(vertices, other_first, other_last, d)
        for r in range(3):
            a[r] = (pa[r] + Ra[r, 0] * vertices[i, 0] + Ra[r, 1] * vertices[i, 1]
                    + Ra[r, 2] * vertices[i, 2])
            b[r] = (pb[r] + Rb[r, 0] * vertices[j, 0] + Rb[r, 1] * vertices[j, 1]
                    + Rb[r, 2] * vertices[j, 2])
            w[r] = a[r] - b[r]
        along = _dot(v, w)
        length = np.sqrt(_dot(v, v))
        if along > cutoff * length:
            return along / length
        if count > 0 and square - along <= 1e-9 * square + 1e-18:
            break
        if count == 4:
            return 0.0
        for c in range(3):
            W[count, c] = w[c]
            A[count, c] = a[c]
            B[count, c] = b[c]
        old = square
        count = _reduce(W, A, B, count + 1, weights, v, members, part, edges, G, rest)
        square = _dot(v, v)
        if count == 4 or square < 1e-16:
            return 0.0
        if square >= old:
            break
    near[:] = 0.0
    far[:] = 0.0
    for r in range(count):
        for c in range(3):
            near[c] += weights[r] * A[r, c]
            far[c] += weights[r] * B[r, c]
    for c in range(3):
        v[c] = near[c] - far[c]
    return np.sqrt(_dot(v, v))


@njit(**OPTIONS)
def point_distances(points, vertices, out):
    """
    Fill `out` (N,) with the distances of points (N, 3) from the hull of vertices (m, 3).

    out_k = min |x_k - y| over y in the hull, by `_gjk` with a hull of one point.
    """
    work = np.empty((24, 3))
    weights = np.zeros(4)
    part = np.zeros(4)
    members = np.empty(4, np.int64)
    both = np.concatenate((points, vertices))
    first, last = len(points), len(both)
    identity = np.eye(3)
    zero = np.zeros(3)
    v = np.empty(3)
    near = np.empty(3)
    far = np.empty(3)
    for k in range(len(points)):
        for c in range(3):
            v[c] = points[k, c] - vertices[0, c]
        if _dot(v, v) < 1e-18:
            out[k] = 0.0
            continue
        out[k] = _gjk(both, k, k + 1, identity, zero, first, last, identity, zero, 1e300, v, near,
                      far, work, weights, part, members)


@njit(**OPTIONS)
def _add_motion(world, origin, axes, prismatic, parents, link, point, normal, sign, gradient):
    """
    Add how fast `point` of a link moves along `normal` by each joint's motion.

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
    Fill `distances` (N, P) and their derivatives by q, `gradients` (N, P, n).

    With the nearest points a, b of the hulls, n = (a - b) / |a - b| and the radii r, J the
    Jacobians of the links' points a and b:

        distance = |a - b| - r_a - r_b,    d distance / dq = n' (J_a - J_b).

    Distances beyond `cutoff` are `cutoff`, with zero derivatives; those of shapes that meet are
    minus their radii. Link -1 is the base.

    No point of a pair moves by more than sum_j reach_j |dq_j| from one row of q to the next, with
    `reach` (P, n) how far a unit of each joint carries it. So a pair that was further apart than
    the cutoff and this together is not looked at, which is cheap where pairs are far. The others
    are separated first along the direction that separated them before.
    """
    n = parents.size
    count = q.shape[0]
    world = np.empty((count, n, 3, 3))
    origin = np.empty((count, n, 3))
    placements(q, parents, rotations, translations, axes, prismatic, world, origin)
    identity = np.eye(3)
    zero = np.zeros(3)
    v = np.empty(3)
    near = np.empty(3)
    far = np.empty(3)
    normal = np.empty(3)
    work = np.empty((24, 3))
    weights = np.zeros(4)
    part = np.zeros(4)
    members = np.empty(4, np.int64)
    gradients[:] = 0.0
    for p in range(pairs.shape[0]):
        a = pairs[p, 0]
        b = pairs[p, 1]
        la = links[a]
        lb = links[b]
        grown = radii[a] + radii[b]
        warm = False
        gap = -1.0      # bound from below of the distance without radii at the row before
        for k in range(count):
            if k > 0:
                for j in range(n):
                    gap -= reach[p, j] * abs(q[k, j] - q[k - 1, j])
                if gap >= cutoff + grown:
                    distances[k, p] = cutoff
                    continue
            Ra = world[k, la] if la >= 0 else identity
            pa = origin[k, la] if la >= 0 else zero
            Rb = world[k, lb] if lb >= 0 else identity
            pb = origin[k, lb] if lb >= 0 else zero
            for r in range(3):
                normal[r] = (pa[r] + Ra[r, 0] * centres[a, 0] + Ra[r, 1] * centres[a, 1]
                             + Ra[r, 2] * centres[a, 2]
                             - pb[r] - Rb[r, 0] * centres[b, 0] - Rb[r, 1] * centres[b, 1]
                             - Rb[r, 2] * centres[b, 2])
            apart = np.sqrt(_dot(normal, normal)) - bounding[a] - bounding[b]
            if apart >= cutoff:
                distances[k, p] = cutoff
                gap = apart + grown
                continue
            if not warm:
                for r in range(3):
                    v[r] = normal[r]
                if _dot(v, v) < 1e-12:
                    v[0] = 1.0
            d = _gjk(vertices, starts[a], starts[a + 1], Ra, pa, starts[b], starts[b + 1], Rb, pb,
                     cutoff + grown, v, near, far, work, weights, part, members)
            warm = d > 0.0
            gap = d
            distances[k, p] = min(d - grown, cutoff)
            if not 0.0 < d < cutoff + grown:
                continue
            for r in range(3):
                normal[r] = v[r] / d
            _add_motion(world[k], origin[k], axes, prismatic, parents, la, near, normal, 1.0,
                        gradients[k, p])
            _add_motion(world[k], origin[k], axes, prismatic, parents, lb, far, normal, -1.0,
                        gradients[k, p])
