/** Reads a CSV file (RFC 4180) whose first row names the columns. */
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { counted } from '../../lib/message-text.ts';
import { CommandStop } from '../terminal/command-line.ts';
import { Columns, type RowOptions } from './csv-columns.ts';
import { withoutByteOrderMarks } from './import-lines.ts';
import { type EntityRecord, type Failure, lineBytesMax, type RecordReader, unreadable } from './records.ts';

/** A row from the parser with the option `info`. */
interface ParsedRow {
  readonly record: readonly string[];
  /** `lines` is the line number at the end of the row. */
  readonly info: { readonly lines: number };
}

interface Row {
  readonly cells: readonly string[];
  /** The first line of the row. */
  readonly line: number;
}

/** Rows per yielded group. */
const groupRows = 50;

export function csvReader(options: RowOptions): RecordReader {
  return async function* readCsv(chunks) {
    let columns: Columns | null = null;
    let group: (EntityRecord | Failure)[] = [];
    for await (const { cells, line } of rowsOf(chunks)) {
      if (columns === null) {
        columns = new Columns(cells, options);
        continue;
      }
      group.push(recordOf(columns, cells, line));
      if (group.length < groupRows) continue;
      yield group;
      group = [];
    }
    if (group.length > 0) yield group;
  };
}

async function* rowsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Row> {
  const parser = parse({
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: lineBytesMax,
  });
  // An error in one stream destroys the other, and is thrown by the loop below.
  pipeline(Readable.from(checkedUtf8(withoutByteOrderMarks(chunks))), parser, () => {});
  // The parser counts a CRLF in a cell as two line ends.
  let surplus = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<ParsedRow>) {
      const text = record.join(' ');
      surplus += count(text, /\r\n/g);
      yield { cells: record, line: info.lines - surplus - count(text, /\r\n|\n|\r/g) };
    }
  } catch (error) {
    if (error instanceof CsvError) throw new CommandStop(errorTextOf(error, surplus));
    throw error;
  }
}

async function* checkedUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isComplete = true;
  try {
    for await (const chunk of chunks) {
      isComplete = false;
      decoder.decode(chunk, { stream: true });
      isComplete = true;
      yield chunk;
    }
    isComplete = false;
    decoder.decode();
  } catch (error) {
    if (isComplete) throw error;
    throw new CommandStop('The file is not UTF-8 text. Save it as UTF-8 and import it again.');
  }
}

const errorTexts: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'the opening `"` of a cell has no closing `"`',
  CSV_INVALID_CLOSING_QUOTE: 'expected `,` or the end of the line after the closing `"` of a cell',
  INVALID_OPENING_QUOTE: 'a `"` in a cell without quotes. Put the cell in quotes and double the `"` in it',
  CSV_MAX_RECORD_SIZE: `the row is longer than ${lineBytesMax} bytes. Is a \`"\` missing?`,
};

function errorTextOf(error: CsvError, surplus: number): string {
  return `The file is not CSV (line ${Number(error.lines) - surplus}: ${errorTexts[error.code] ?? error.message})`;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function recordOf(columns: Columns, cells: readonly string[], line: number): EntityRecord | Failure {
  if (cells.length !== columns.count) {
    const counts = `The row has ${counted(cells.length, 'cell')}, but the first row has ${columns.count}`;
    return unreadable(line, Buffer.from(cells.join(',')), counts);
  }
  const { originId, ...rest } = columns.entityOf(cells);
  return { line, originId, bytes: Buffer.from(JSON.stringify({ originId, ...rest })) };
}
