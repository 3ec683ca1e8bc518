/** Reads a file that has one entity a line. */
import { withoutByteOrderMarks } from './byte-order-marks.ts';
import { readLineGroups } from './lines.ts';
import { type EntityRecord, type Failure, readRecord } from './records.ts';

export async function* readNdjson(chunks: AsyncIterable<Buffer>): AsyncGenerator<(EntityRecord | Failure)[]> {
  for await (const lines of readLineGroups(withoutByteOrderMarks(chunks))) {
    yield lines.map(({ number, bytes, isTooLong }) =>
      readRecord({ bytes, isTooLong, line: number, column: 1 }),
    );
  }
}
