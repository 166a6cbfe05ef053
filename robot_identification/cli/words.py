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
"""The words of a command line, put in order before they are read: lists, and how loud to be."""

from __future__ import annotations

from collections.abc import Sequence

SEVERAL = ('--window', '--held-out-window', '--centre')
"""Options of several words; commas between them are as good."""
JOINED = ('--payload', '--noise', '--start', '--box', '--workspace')
"""Options of one word with commas in it; spaces are as good."""
EFFORT = '--effort'
LOUDNESS = ('--quiet', '--verbose')


def in_order(words: Sequence[str]) -> list[str]:
    """
    Return the words as the parser wants them.

    Lists may be given with commas or with spaces, and --quiet and --verbose anywhere.

    Parameters
    ----------
    words
        Words of the command line.

    """
    found: list[str] = []
    front: list[str] = []
    k = 0
    while k < len(words):
        word = words[k]
        k += 1
        if word == '--':
            found += [word, *words[k:]]
            break
        if word in LOUDNESS:
            front.append(word)
            continue
        found.append(word)
        if word in SEVERAL and k < len(words) and ',' in words[k]:
            found += [part for part in words[k].replace(' ', '').split(',') if part]
            k += 1
        elif word in JOINED:
            values, k = _values(words, k)
            found += values
        elif word == EFFORT and k < len(words):
            values = [part for part in words[k:k + 4] if ',' not in part]
            if len(values) == 4:
                found.append(','.join(values))
                k += 4
    return [*front, *found]


def _values(words: Sequence[str], k: int) -> tuple[list[str], int]:
    """Return one word out of a list of numbers, of which the first may be a name."""
    values: list[str] = []
    while k < len(words) and (not values or _are_numbers(words[k])):
        values += words[k].replace(',', ' ').split() or [words[k]]
        k += 1
    return [','.join(values)] if values else [], k


def _are_numbers(word: str) -> bool:
    try:
        return bool([float(part) for part in word.replace(',', ' ').split()])
    except ValueError:
        return False
