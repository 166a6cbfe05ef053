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
Readers of log formats that few need: HDF5, Excel, Feather, JSON, ROS 1 bags, unusual text tables.

`log_formats.readers` adds them to those of `recording`, which does not know this package: it
calls `registry.load_log_formats` when it meets an extension that it does not read itself. Formats
that are decoded by large libraries are converted by helper processes, which have limits of time
and memory, into files that `recording` reads.
"""
