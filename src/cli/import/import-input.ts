import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { reasonOf } from '../../lib/message-text.ts';
import { CommandStop } from '../terminal/command-line.ts';

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
