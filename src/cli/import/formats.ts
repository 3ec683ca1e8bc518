import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { getOwn, isJsonObject, type JsonObject, setOwn } from '../../contract/json.ts';
import { ArraySplitter, SplitError } from '../../lib/array-splitter.ts';
import { counted } from '../../lib/message-text.ts';
import { PositionCounter, type TextPosition } from '../../lib/text-position.ts';
import { CommandStop } from '../terminal/command-line.ts';
import { readNdjson, withoutByteOrderMarks } from './import-lines.ts';
import {
  type EntityRecord,
  type Failure,
  lineBytesMax,
  type RecordReader,
  readRecord,
  unreadable,
} from './records.ts';

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

/** Reads a CSV file (RFC 4180) whose first row names the columns. */
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

/** Entity members that a column can provide. */
export const mappedNames = ['originId', 'type', 'url'] as const;
export type MappedName = (typeof mappedNames)[number];

export interface RowOptions {
  /** Columns whose names differ from the entity members that they provide. */
  readonly map: ReadonlyMap<MappedName, string>;
  /** The type of all rows; null to read it from a column. */
  readonly type: string | null;
}

interface RowEntity {
  readonly originId: string;
  readonly type: string;
  readonly url?: string;
  readonly properties: JsonObject;
}

/** Maps the columns of a CSV file to members and properties of entities. */
class Columns {
  readonly count: number;
  readonly #type: string | null;
  readonly #columns: Readonly<Record<MappedName, number>>;
  readonly #properties: readonly { readonly path: readonly string[]; readonly at: number }[];

  /** @throws CommandStop if the column names cannot be used */
  constructor(firstRow: readonly string[], { map, type }: RowOptions) {
    const names = firstRow.map((name) => name.trim());
    this.count = names.length;
    this.#type = type;
    const columnOf = (name: MappedName) => names.indexOf(map.get(name) ?? name);
    this.#columns = {
      originId: columnOf('originId'),
      type: type === null ? columnOf('type') : -1,
      url: columnOf('url'),
    };
    checkNames(names);
    for (const name of mappedNames) {
      const isNeeded = name === 'originId' || (name === 'type' && type === null);
      if (this.#columns[name] < 0 && (isNeeded || map.has(name))) throw missing(name, map, names);
    }
    const taken = new Set(Object.values(this.#columns));
    this.#properties = names
      .map((name, at) => ({ path: name.split('.'), at }))
      .filter(({ at }) => !taken.has(at));
  }

  /** Every value is a string. An empty `url` cell means no URL. */
  entityOf(cells: readonly string[]): RowEntity {
    const cell = (at: number) => cells[at] ?? '';
    const properties: JsonObject = {};
    for (const { path, at } of this.#properties) setAt(properties, path, cell(at));
    const url = cell(this.#columns.url);
    return {
      originId: cell(this.#columns.originId),
      type: this.#type ?? cell(this.#columns.type),
      ...(url === '' ? {} : { url }),
      properties,
    };
  }
}

function checkNames(names: readonly string[]): void {
  const all = new Set(names);
  for (const [at, name] of names.entries()) {
    const steps = name.split('.');
    if (steps.includes(''))
      throw new CommandStop(`Column ${at + 1} of the first row needs a name, not '${name}'.`);
    if (names.indexOf(name) !== at) throw new CommandStop(`The first row has two columns '${name}'.`);
    for (let length = 1; length < steps.length; length += 1) {
      const outer = steps.slice(0, length).join('.');
      if (!all.has(outer)) continue;
      throw new CommandStop(
        `Column '${outer}' cannot be both a string and an object with '${name}'. Rename one.`,
      );
    }
  }
}

function missing(name: MappedName, map: RowOptions['map'], names: readonly string[]): CommandStop {
  const advice = `--map ${name}=COLUMN${name === 'type' ? ' or --type TYPE' : ''}`;
  return new CommandStop(
    `The first row has no column '${map.get(name) ?? name}', only ${names.join(', ')}. Choose one with ${advice}.`,
  );
}

function setAt(object: JsonObject, [name = '', ...rest]: readonly string[], value: string): void {
  if (rest.length === 0) {
    setOwn(object, name, value);
    return;
  }
  const known = getOwn(object, name);
  const inner: JsonObject = isJsonObject(known) ? known : {};
  setOwn(object, name, inner);
  setAt(inner, rest, value);
}
