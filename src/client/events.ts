/** Server-sent events of a response (WHATWG HTML, "Server-sent events"). */

export interface ServerEvent {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/**
 * The events of a stream. Ends when the stream ends, or when nothing was received for a while, because dead connections are not
 * always closed.
 * @param silenceMs longest time without a byte
 */
export async function* eventsOf(
  stream: ReadableStream<Uint8Array>,
  silenceMs: number,
): AsyncGenerator<ServerEvent> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const piece = await withinTime(reader.read(), silenceMs);
      if (piece === null || piece.done) return;
      text += decoder.decode(piece.value, { stream: true });
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = eventOf(block);
        if (event !== null) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Null for a block without data, such as a comment. */
function eventOf(block: string): ServerEvent | null {
  let [event, id] = ['message', ''];
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') event = value;
    else if (field === 'id') id = value;
    else if (field === 'data') data.push(value);
  }
  return data.length === 0 ? null : { event, id, data: data.join('\n') };
}

/** Null after a timeout. */
export function withinTime<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
