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
"""What comes out: files of an identification, the HTML report, the summary in a terminal."""

from robot_identification.export.identified_urdf import identified_urdf, write_identified_urdf
from robot_identification.reporting.contents import contents
from robot_identification.reporting.report import write_report
from robot_identification.reporting.results_files import save_results
from robot_identification.reporting.stored_results import load_results, RESULTS, StoredResults
from robot_identification.reporting.summary import summary

__all__ = ['RESULTS', 'StoredResults', 'contents', 'identified_urdf', 'load_results',
           'save_results', 'summary', 'write_identified_urdf', 'write_report']
