/** Follows the changes of an environment. It uses fetch, because `EventSource` cannot send a key. */
import type { Change } from '../api/answers.ts';
import { RequestError, send, withParameters } from '../api/request.ts';

export interface Follower {
  onChange(change: Change): void;
  /** Called when the connection is open. */
  onOpen(): void;
  /** Called when the connection fails or is closed. It is retried, except after a 4xx response. */
  onError(error: RequestError): void;
}

const reconnectMs = 3000;

/** Follows from now on until the signal is aborted. After a reconnect, missed changes are delivered. */
export async function follow(environment: string, follower: Follower, signal: AbortSignal): Promise<void> {
  let since = 'now';
  while (!signal.aborted) {
    try {
      const path = withParameters('/changes', { environment, live: 'sse', since });
      const response = await send(path, { signal });
      follower.onOpen();
      for await (const { id, event, data } of eventsOf(response)) {
        if (id !== '') since = id;
        if (event === 'change') follower.onChange(JSON.parse(data));
      }
      throw new RequestError(0, 'The connection was closed.');
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof RequestError ? error : new RequestError(0, 'The connection broke.');
      follower.onError(failure);
      if (failure.status === 410) since = 'now';
      else if (failure.status >= 400 && failure.status < 500) return;
    }
    await new Promise((resolve) => setTimeout(resolve, reconnectMs));
  }
}

interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Server-sent events of a body (HTML standard, "Server-sent events"), in the subset that Millrace writes. */
async function* eventsOf(response: Response): AsyncGenerator<ServerEvent> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const field = (name: string) =>
        block
          .split('\n')
          .filter((line) => line.startsWith(`${name}: `))
          .map((line) => line.slice(name.length + 2))
          .join('\n');
      yield { id: field('id'), event: field('event'), data: field('data') };
    }
  }
}
