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
Program that converts Feather and Arrow to Parquet: python feather_to_parquet.py IN OUT LIMIT.

A table with columns of text is written as CSV instead, with the extension `.csv`. Columns of more
than LIMIT bytes are not read.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow
from pyarrow import csv, ipc, parquet, types
from robot_identification.log_formats.program import run_program

MAGIC = b'ARROW1'    # of a file; a stream has none


def main(source: str, target: str, limit: int) -> int | None:
    """Convert a file, or return its size if it is too large."""
    size, batches = 0, []
    with open(source, 'rb') as file:
        head = file.read(6)
        file.seek(0)
        if head[:4] == b'FEA1':
            raise ValueError('it is Feather of version 1, which current programs do not write; '
                             'write it with the present pandas or pyarrow')
        if head == MAGIC:
            reader = ipc.open_file(file)
            stream = map(reader.get_batch, range(reader.num_record_batches))
        else:
            reader = ipc.open_stream(file)
            stream = iter(reader)
        for batch in stream:
            size += batch.nbytes
            if size > limit:
                return size
            batches.append(batch)
    table = pyarrow.Table.from_batches(batches, reader.schema)
    texts = [field.name for field in table.schema if types.is_dictionary(field.type)
             or types.is_string(field.type) or types.is_large_string(field.type)]
    lists = [field.name for field in table.schema if types.is_nested(field.type)]
    if texts and not lists:
        path = Path(target).with_suffix('.csv')
        columns = [column.dictionary_decode() if types.is_dictionary(column.type) else column
                   for column in (chunk.combine_chunks() for chunk in table.columns)]
        csv.write_csv(pyarrow.table(columns, names=table.column_names), path,
                      csv.WriteOptions(quoting_style='none'))
    else:
        parquet.write_table(table, target)
    return None


if __name__ == '__main__':
    run_program(main)
