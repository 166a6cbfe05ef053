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
"""Recordings of robot motions: reading, checking, conversion to joint positions and torques."""

from robot_identification.recording.bag.read import read_bag
from robot_identification.recording.load import load_pieces, load_recording, READERS
from robot_identification.recording.recording import Recording

__all__ = ['READERS', 'Recording', 'load_pieces', 'load_recording', 'read_bag']
