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
"""Files of an identification, the HTML pages and the summary for a terminal."""

from robot_identification.export.identified_urdf import identified_urdf, write_identified_urdf
from robot_identification.reporting.results_dict import results_to_dict, to_frame
from robot_identification.reporting.results_files import (
           load_results,
           RESULTS,
           save_results,
           StoredResults,
           write_report,
)

__all__ = ['RESULTS', 'StoredResults', 'identified_urdf', 'load_results', 'results_to_dict',
           'save_results', 'to_frame', 'write_identified_urdf', 'write_report']
