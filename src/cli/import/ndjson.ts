/** Reads a file that has one entity a line. */
import { withoutByteOrderMarks } from './byte-order-marks.ts';
import { readLineGroups } from './import-lines.ts';
import { type EntityRecord, type Failure, isFailure, readRecord } from './records.ts';

const openBracket = 0x5b;

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
