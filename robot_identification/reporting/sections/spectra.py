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
"""At which frequencies something is left over."""

from __future__ import annotations

import numpy as np
from robot_identification.reporting.figures import (
    axis,
    Figure,
    layout,
    MEASURED,
    RESIDUAL,
    trace,
)
from robot_identification.reporting.markup import join, tag
from robot_identification.reporting.sections.section import card, legend, Section
from robot_identification.reporting.stored_results import StoredResults

FEWEST = 8
"""Frequencies below which a spectrum shows nothing."""


def spectra(results: StoredResults) -> Section | None:
    """
    Return amplitude densities of torque and residual; None when there is nothing to see.

    Parameters
    ----------
    results
        What was stored.

    """
    held_out = results.content['verdict']['held_out']
    fresh = [k for k, h in enumerate(held_out) if not h['repeat']]
    name = f'held_out_{fresh[0]}' if fresh else 'fit_0'
    spectrum = results.arrays[f'{name}_spectrum']
    if spectrum.shape[1] < FEWEST:
        return None
    cards, figures = [], []
    for j, (joint, unit) in enumerate(zip(results.joints, results.units('torque'))):
        figure = _figure(spectrum[0], spectrum[1 + 2 * j], spectrum[2 + 2 * j], unit, j)
        figures.append(figure)
        cards.append(card(joint, figure.place))
    key = legend(('measured torque', 'line thick', 'measured'), ('residual', 'line', 'residual'))
    motion = 'held-out' if fresh else 'training'
    lead = (f'Amplitude densities on the {motion} motion, up to the low-pass. A residual that is '
            'flat and far below the torque is noise. Peaks where the torque has peaks are '
            'dynamics that the model lacks, often friction; others are vibration or the drive.')
    return Section('spectra', 'What is left over, by frequency', lead,
                   join(key, tag('div', *cards, class_='grid three')), tuple(figures), 'Spectra')


def _figure(frequency: np.ndarray, measured: np.ndarray, residual: np.ndarray, unit: str,
            j: int) -> Figure:
    floor = 1e-6 * max(float(measured.max()), 1e-300)
    data = [trace(frequency, np.maximum(measured, floor), MEASURED, name='measured', width=3),
            trace(frequency, np.maximum(residual, floor), RESIDUAL, name='residual', width=1.6)]
    return Figure(f'spectrum_{j}', data,
                  layout(xaxis=axis('frequency [Hz]'),
                         yaxis=axis(f'[{unit}/\u221aHz]', type='log', nticks=5)),
                  height=230, link='spectra', label='amplitude density over frequency')
