const mark = Buffer.from([0xef, 0xbb, 0xbf]);
const lineFeed = Buffer.from('\n');
const markedLine = Buffer.concat([lineFeed, mark]);

/** The bytes without byte order marks at the beginning of a line. Joined files have them in their midst. */
export async function* withoutByteOrderMarks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // The stream is read as if it began with a line feed.
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

/** How many bytes at the end may be the beginning of a marked line. */
function unfinished(data: Buffer): number {
  for (let length = Math.min(markedLine.length - 1, data.length); length > 0; length -= 1) {
    if (data.subarray(data.length - length).equals(markedLine.subarray(0, length))) return length;
  }
  return 0;
}
