import { csvReader } from './csv.ts';
import type { RowOptions } from './csv-columns.ts';
import { readJsonArray } from './json-array.ts';
import { readNdjson } from './ndjson.ts';
import type { RecordReader } from './records.ts';

export const importFormats = ['ndjson', 'json', 'csv'] as const;
export type ImportFormat = (typeof importFormats)[number];

/** The format that the name of a file says, packed or not; one entity per line when it says none. */
export function formatOf(file: string): ImportFormat {
  const [, ending = ''] = /\.(json|csv)(?:\.gz)?$/i.exec(file) ?? [];
  return importFormats.find((format) => format === ending.toLowerCase()) ?? 'ndjson';
}

export function readerOf(format: ImportFormat, rows: RowOptions): RecordReader {
  if (format === 'json') return readJsonArray;
  return format === 'csv' ? csvReader(rows) : readNdjson;
}
