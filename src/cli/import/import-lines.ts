import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { reasonOf } from '../../lib/message-text.ts';
import { CommandStop } from '../terminal/command-line.ts';
import { type EntityRecord, type Failure, isFailure, lineBytesMax, readRecord } from './records.ts';

const newline = 0x0a;

export interface Line {
  /** From 1, with empty lines counted. */
  readonly number: number;
  /** The line without its line feed, truncated if `isTooLong`. */
  readonly bytes: Buffer;
  readonly isTooLong: boolean;
}

/** The lines of a byte stream, without blank ones, in bounded memory. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes = lineBytesMax,
): AsyncGenerator<Line> {
  for await (const lines of readLineGroups(chunks, maxBytes)) yield* lines;
}

/**
 * As `readLines`, but yields all lines that end in one chunk together, because awaiting each line would cost more than reading
 * it.
 */
async function* readLineGroups(
  chunks: AsyncIterable<Buffer>,
  maxBytes = lineBytesMax,
): AsyncGenerator<Line[]> {
  const open = new OpenLine(maxBytes);
  let number = 0;
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      open.append(chunk.subarray(start, end));
      number += 1;
      const line = open.close(number);
      if (!isBlank(line.bytes)) lines.push(line);
      start = end + 1;
    }
    open.append(chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  const last = open.close(number + 1);
  if (!isBlank(last.bytes)) yield [last];
}

/** The incomplete line. Its pieces are joined once, so that long lines take linear time. */
class OpenLine {
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  #isTooLong = false;

  constructor(private readonly maxBytes: number) {}

  append(piece: Buffer): void {
    if (piece.length === 0) return;
    const room = this.maxBytes - this.#heldBytes;
    if (piece.length > room) this.#isTooLong = true;
    const kept = piece.length > room ? piece.subarray(0, room) : piece;
    this.#pieces.push(kept);
    this.#heldBytes += kept.length;
  }

  close(number: number): Line {
    const [only] = this.#pieces;
    const bytes = this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
    const line = { number, bytes, isTooLong: this.#isTooLong };
    this.#pieces = [];
    this.#heldBytes = 0;
    this.#isTooLong = false;
    return line;
  }
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) {
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}

const mark = Buffer.from([0xef, 0xbb, 0xbf]);
const lineFeed = Buffer.from('\n');
const markedLine = Buffer.concat([lineFeed, mark]);

/** Removes byte order marks at the beginning of any line, because concatenated files have several. */
export async function* withoutByteOrderMarks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // Treats the stream as if it began with a line feed.
  let held: Buffer = lineFeed;
  let skipped = lineFeed.length;
  for await (const chunk of chunks) {
    const data = withoutMarks(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
    const end = data.length - unfinished(data);
    held = data.subarray(end);
    if (end > skipped) yield data.subarray(skipped, end);
    skipped = Math.max(0, skipped - end);
  }
  if (held.length > skipped) yield held.subarray(skipped);
}

function withoutMarks(data: Buffer): Buffer {
  let left = data;
  for (let at = left.indexOf(markedLine); at !== -1; at = left.indexOf(markedLine, at)) {
    const lineStart = at + lineFeed.length;
    left = Buffer.concat([left.subarray(0, lineStart), left.subarray(lineStart + mark.length)]);
  }
  return left;
}

/** Number of bytes at the end that may be the beginning of a marked line. */
function unfinished(data: Buffer): number {
  for (let length = Math.min(markedLine.length - 1, data.length); length > 0; length -= 1) {
    if (data.subarray(data.length - length).equals(markedLine.subarray(0, length))) return length;
  }
  return 0;
}

const openBracket = 0x5b;

/** Reads a file with one entity per line. */
export async function* readNdjson(chunks: AsyncIterable<Buffer>): AsyncGenerator<(EntityRecord | Failure)[]> {
  for await (const lines of readLineGroups(withoutByteOrderMarks(chunks))) {
    yield lines.map(({ number, bytes, isTooLong }) => {
      const record = readRecord({ bytes, isTooLong, line: number, column: 1 });
      return number === 1 && bytes[0] === openBracket && isFailure(record) ? asArray(record) : record;
    });
  }
}

function asArray({ errors, ...failure }: Failure): Failure {
  return { ...failure, errors: errors.map((error) => `${error}. For one JSON array, add --format json`) };
}

/** The bytes to import, and how many have been read. */
export interface ImportInput {
  readonly stream: Readable;
  /** Size of the file in bytes; null for standard input. */
  readonly totalBytes: number | null;
  readonly readBytes: () => number;
}

/** Opens the input. @throws CommandStop if the file does not exist or cannot be read */
export async function openInput(file: string): Promise<ImportInput> {
  if (file === '-') return counted(process.stdin, null, (stream) => stream);
  const totalBytes = await fileBytes(file);
  const unpack = (stream: Readable) =>
    // An error in one stream destroys the other, and is thrown where the importer reads.
    file.endsWith('.gz') ? pipeline(stream, createGunzip(), () => {}) : stream;
  return counted(createReadStream(file, { highWaterMark: 256 * 1024 }), totalBytes, unpack);
}

async function fileBytes(file: string): Promise<number> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw new CommandStop(`${file} is a folder, not a file.`);
    return found.size;
  } catch (error) {
    if (error instanceof CommandStop) throw error;
    throw new CommandStop(`${file} cannot be read: ${reasonOf(error)}`);
  }
}

/** Counts bytes before decompression, to compare them with the size of the file. */
function counted(
  source: Readable,
  totalBytes: number | null,
  unpack: (stream: Readable) => Readable,
): ImportInput {
  let bytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return {
    stream: unpack(pipeline(source, meter, () => {})),
    totalBytes,
    readBytes: () => bytes,
  };
}
