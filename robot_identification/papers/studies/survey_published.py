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
"""Printed tables 5, 6, 8, 9, 11, 12 of Zhang et al. 2018, and their guide to the methods."""

import numpy as np
from robot_identification.papers.studies.study import PAPER, Table
from robot_identification.papers.studies.survey_parameters import NAMES, principal_moments

PUBLISHED_LINEAR = Table(
    'Published Table 8, linear friction (other inertias, not comparable in value)',
    ('method', 'e_d', 'e_f', 'J_e', 'J_e with noise', 'Delta J_e'),
    (('pseudo-inverse', 279.8642, 0.0, 279.8642, 289.3216, 0.0338),
     ('Kalman', 256.6049, 0.0135, 256.6191, 261.2945, 0.0182),
     ('exponential forgetting', 255.1294, 0.0080, 255.1380, 260.1460, 0.0196),
     ('gradient descent', 0.3839, 0.0032, 0.3879, 1.0610, 1.7352),
     ('genetic algorithm', 0.8657, 0.0061, 0.8736, 1.1951, 0.3680),
     ('particle filter', 0.6336, 0.0185, 0.6532, 1.1225, 0.7184)), PAPER)
PUBLISHED_NONLINEAR = Table(
    'Published Table 9, Stribeck friction (other inertias, not comparable in value)',
    ('method', 'e_d', 'e_f', 'J_e', 'J_e with noise', 'Delta J_e'),
    (('extended Kalman', 71.7454, 3.0663, 74.8180, 122.4827, 0.6371),
     ('exponential forgetting', 72.6643, 3.4116, 76.0820, 129.1102, 0.6970),
     ('gradient descent', 0.2243, 0.0681, 0.2956, 0.9737, 2.2936),
     ('genetic algorithm', 0.8152, 0.0376, 0.8541, 1.0343, 0.2110),
     ('particle filter', 0.7340, 0.0182, 0.7530, 1.0135, 0.3459)), PAPER)
PUBLISHED_JOINT = Table(
    'Published Table 5: joint 3, linear friction, without noise (another arm)',
    ('parameter', 'set', 'pseudo-inverse', 'Kalman', 'exponential forgetting', 'gradient descent',
     'genetic algorithm', 'particle filter'),
    (('mass [kg]', 25.6083, 17.7803, 17.7782, 17.7793, 24.5913, 24.5699, 24.5250),
     ('centre x [m]', 0.0938, -0.1811, -0.1807, -0.1809, 0.0672, 0.0994, 0.1208),
     ('centre y [m]', 0.1383, -0.1121, -0.1140, -0.1132, 0.1107, 0.1657, 0.1384),
     ('centre z [m]', 0.1164, 0.0085, 0.0082, 0.0083, 0.0970, 0.1159, 0.1148),
     ('I_xx [kg m^2]', 0.1706, 3.3342, 3.3206, 3.3262, 0.1287, 0.1783, 0.2189),
     ('I_xy [kg m^2]', -0.1498, 0.5166, 0.5146, 0.5151, -0.2175, -0.1258, -0.1829),
     ('I_yy [kg m^2]', 0.3493, -3.5211, -3.5359, -3.5298, 0.4161, 0.2925, 0.4160),
     ('I_xz [kg m^2]', 0.2140, 0.6943, 0.6915, 0.6928, 0.1790, 0.1615, 0.2486),
     ('I_yz [kg m^2]', -0.1320, -0.2403, -0.2808, -0.2641, -0.1994, -0.0933, -0.1646),
     ('I_zz [kg m^2]', 0.2363, -0.3693, -0.3691, -0.3693, 0.3062, 0.3046, 0.3063),
     ('F_c [N m]', 50.0, 50.0, 49.7802, 49.8704, 50.2227, 50.2716, 50.4040),
     ('F_v [N m s/rad]', 40.0, 40.0, 40.0250, 40.0161, 39.7539, 39.6028, 39.8216)), PAPER)
PRODUCTS = 0.2
"""Fraction of the printed products of inertia that the URDF of the ER20-C10 has."""


def compare_inertia() -> Table:
    """Return the inertia of joint 3's link as printed in Table 5 beside that of the URDF."""
    printed = [float(row[1]) for row in PUBLISHED_JOINT.rows[4:10]]
    used = [value * (1.0 if k in (0, 2, 5) else PRODUCTS) for k, value in enumerate(printed)]
    rows: list[tuple[str | float, ...]] = [
        (name, *values, 'equal' if values[0] == values[1] else 'no: 20 % of the printed value')
        for name, *values in zip(NAMES[4:10], printed, used)]
    moments = []
    for values in principal_moments(np.pad([printed, used], ((0, 0), (4, 0)))):
        moments.append((float(values[0]), float(values[0] + values[1] - values[2])))
    rows += [(label, *pair, 'no: a body needs a positive value') for label, pair in zip(
        ('smallest principal moment [kg m^2]', 'sum of the smaller two minus the largest'),
        zip(*moments))]
    return Table(
        'Inertia of joint 3 as printed in Table 5 and as used here',
        ('value', 'printed', 'here', 'equal'), tuple(rows), note='About the centre of mass. The '
        'printed matrix belongs to no body, so the simulated arm cannot have it; all results of '
        'this study are for the corrected one.')


PUBLISHED_LEVELS = Table(
    'Published Table 11',
    ('method', 'e_d', 'e_f', 'e_T', 'J_e', 'anti-interference', 'follows changes',
     'solution time'),
    (('pseudo-inverse', 'C', 'A', 'A', 'C', 'A', 'C', 'A, offline'),
     ('Kalman', 'C', 'A', 'A', 'C', 'A', 'B', 'online'),
     ('extended Kalman', 'C', 'B', 'A', 'C', 'B', 'B', 'online'),
     ('exponential forgetting', 'C', 'B', 'A', 'C', 'B', 'A', 'online'),
     ('gradient descent', 'B', 'A', 'A', 'A', 'C', 'C', 'B, offline'),
     ('genetic algorithm', 'B', 'A', 'A', 'A', 'B', 'C', 'C, offline'),
     ('particle filter', 'B', 'A', 'A', 'A', 'B', 'C', 'B, offline')), PAPER,
    'Means over linear and Stribeck friction. IDIM-IV is not listed.')
PUBLISHED_FRICTIONS = Table(
    'Published Table 12: torque errors on the real ER20-C10 [N m]',
    ('friction', 'equation', 'mean', 'standard deviation'),
    (('coulomb_viscous', '(7)', 0.4478, 44.7068), ('cube_root', '(8)', 0.0469, 30.8389),
     ('load_dependent', '(9)', 0.4509, 44.417), ('stribeck', '(4)', 0.4085, 19.1073),
     ('bompos', '(5)', 2.7903, 51.8087), ('sech_tanh', '(6)', 1.2232, 25.5865)), PAPER)
PUBLISHED_STRIBECK_JOINT = Table(
    'Published Table 6: joint 3, Stribeck friction, without noise (another arm)',
    ('parameter', 'set', 'extended Kalman', 'exponential forgetting', 'gradient descent',
     'genetic algorithm', 'particle filter'),
    (*((name, *values) for name, values in zip(NAMES, (
        (25.6083, 18.0803, 18.0862, 25.5425, 29.5065, 29.1977),
        (0.0938, -0.1405, -0.1401, 0.075, 0.0964, 0.1141),
        (0.1383, -0.0374, -0.0377, 0.1107, 0.1156, 0.1526),
        (0.1164, 0.0179, 0.0175, 0.0931, 0.1143, 0.1158),
        (0.1706, 3.9916, 4.0685, 0.2302, 0.1447, 0.2406),
        (-0.1498, 0.2146, 0.2089, -0.0886, -0.2168, -0.097),
        (0.3493, -3.1141, -3.0855, 0.4044, 0.2933, 0.2909),
        (0.214, 0.5786, 0.595, 0.265, 0.2368, 0.1683),
        (-0.132, -0.2575, -0.2548, -0.1994, -0.1421, -0.0809),
        (0.2363, 0.5709, 0.5297, 0.2828, 0.302, 0.2335)))),
     ('F_c [N m]', 50.0, 51.7727, 52.183, 50.625, 49.9266, 50.2767),
     ('F_s [N m]', 60.0, 52.1061, 52.2013, 60.0, 59.8052, 60.0016),
     ('v_s [rad/s]', 0.1, 5.5823, 6.3761, 0.08, 0.1142, 0.0996),
     ('F_v [N m s/rad]', 40.0, 38.2327, 38.1439, 39.8125, 39.8125, 39.7704)), PAPER)
GUIDE = Table(
    'Method for each requirement (section 6.6 and Table 11), and the estimator here',
    ('requirement', "the survey's method", 'estimator here'),
    (('only torques matter, offline, linear friction', 'pseudo-inverse', '`wls`'),
     ('only torques matter, while the arm moves', 'Kalman; extended Kalman for nonlinear '
      'friction', '`kalman`, `extended_kalman`'),
     ('friction changes while the arm moves', 'exponential forgetting',
      '`exponential_forgetting`'),
     ('noisy positions, control law known', 'IDIM-IV', '`idim_iv`'),
     ('reasonable inertial parameters, J_e small', 'particle filter (gradient descent if '
      'initial values are good)', '`wls`, whose model is physically consistent and near the '
      'URDF; `bounded` if ranges are known'),
     ('unknown friction', 'fit each model with the chosen method, take the smallest std',
      '`auto`')), PAPER,
    'As in the survey, first choose the method by the requirements, then the friction model by '
    'the torque errors of that method. The last column is ours.')
