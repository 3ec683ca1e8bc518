/** Reads a file that is one JSON array of entities. Only one item is held at a time. */
import { ArraySplitter, SplitError } from '../../lib/array-splitter.ts';
import { CommandStop } from '../terminal/command-stop.ts';
import { withoutByteOrderMarks } from './byte-order-marks.ts';
import { lineBytesMax } from './lines.ts';
import { type EntityRecord, type Failure, readRecord } from './records.ts';

export async function* readJsonArray(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<(EntityRecord | Failure)[]> {
  const place = new Place();
  let records: (EntityRecord | Failure)[] = [];
  let start = { line: 1, column: 1 };
  let piece: Buffer = Buffer.alloc(0);
  const splitter = new ArraySplitter(
    {
      begin: (at) => {
        start = place.in(piece, at);
      },
      element: (bytes, _, isWhole) =>
        records.push(readRecord({ bytes: Buffer.from(bytes.buffer), isTooLong: !isWhole, ...start })),
    },
    { elementsMax: Number.POSITIVE_INFINITY, elementBytesMax: lineBytesMax },
  );
  try {
    for await (const chunk of withoutByteOrderMarks(chunks)) {
      piece = chunk;
      splitter.push(piece);
      place.pass(piece);
      if (records.length > 0) yield records;
      records = [];
    }
    piece = Buffer.alloc(0);
    splitter.end();
  } catch (error) {
    if (error instanceof SplitError) throw mistakeOf(error, place.in(piece, error.at));
    throw error;
  }
}

function mistakeOf({ kind, expected }: SplitError, { line, column }: Position): CommandStop {
  const advice = kind === 'notArray' ? ' For one entity per line, add --format ndjson' : '';
  return new CommandStop(
    `The file is not a JSON array (line ${line}, column ${column}: expected ${expected}).${advice}`,
  );
}

interface Position {
  readonly line: number;
  readonly column: number;
}

const newline = 0x0a;

/** Counts lines, and columns in code points, over pieces of UTF-8. */
class Place {
  #line = 1;
  #column = 1;
  /** Bytes of the current piece that are counted. */
  #counted = 0;

  /** The place of a byte of the current piece; places must be asked for in order. */
  in(piece: Buffer, at: number): Position {
    for (; this.#counted < at; this.#counted += 1) {
      const byte = piece[this.#counted] ?? 0;
      if (byte === newline) {
        this.#line += 1;
        this.#column = 1;
      } else if ((byte & 0xc0) !== 0x80) this.#column += 1;
    }
    return { line: this.#line, column: this.#column };
  }

  /** The whole piece is read. */
  pass(piece: Buffer): void {
    this.in(piece, piece.length);
    this.#counted = 0;
  }
}
