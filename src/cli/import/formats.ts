import { ArraySplitter, SplitError } from '../../lib/array-splitter.ts';
import { PositionCounter, type TextPosition } from '../../lib/text-position.ts';
import { CommandStop } from '../terminal/command-line.ts';
import { csvReader } from './csv.ts';
import type { RowOptions } from './csv-columns.ts';
import { readNdjson, withoutByteOrderMarks } from './import-lines.ts';
import { type EntityRecord, type Failure, lineBytesMax, type RecordReader, readRecord } from './records.ts';

export const importFormats = ['ndjson', 'json', 'csv'] as const;
export type ImportFormat = (typeof importFormats)[number];

/** The format by the extension of a file, with or without `.gz`; NDJSON by default. */
export function formatOf(file: string): ImportFormat {
  const [, ending = ''] = /\.(json|csv)(?:\.gz)?$/i.exec(file) ?? [];
  return importFormats.find((format) => format === ending.toLowerCase()) ?? 'ndjson';
}

export function readerOf(format: ImportFormat, rows: RowOptions): RecordReader {
  if (format === 'json') return readJsonArray;
  return format === 'csv' ? csvReader(rows) : readNdjson;
}

/** Reads a file that is one JSON array of entities, without holding all of it in memory. */
export async function* readJsonArray(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<(EntityRecord | Failure)[]> {
  const position = new PositionCounter();
  let records: (EntityRecord | Failure)[] = [];
  let start = { line: 1, column: 1 };
  let piece: Buffer = Buffer.alloc(0);
  const splitter = new ArraySplitter(
    {
      begin: (at) => {
        start = position.in(piece, at);
      },
      element: (bytes, _, isComplete) =>
        records.push(readRecord({ bytes: Buffer.from(bytes.buffer), isTooLong: !isComplete, ...start })),
    },
    { elementsMax: Number.POSITIVE_INFINITY, elementBytesMax: lineBytesMax },
  );
  try {
    for await (const chunk of withoutByteOrderMarks(chunks)) {
      piece = chunk;
      splitter.push(piece);
      position.pass(piece);
      if (records.length > 0) yield records;
      records = [];
    }
    piece = Buffer.alloc(0);
    splitter.end();
  } catch (error) {
    if (error instanceof SplitError) throw stopFor(error, position.in(piece, error.at));
    throw error;
  }
}

function stopFor({ kind, expected }: SplitError, { line, column }: TextPosition): CommandStop {
  const advice = kind === 'notArray' ? ' For one entity per line, add --format ndjson' : '';
  return new CommandStop(
    `The file is not a JSON array (line ${line}, column ${column}: expected ${expected}).${advice}`,
  );
}
