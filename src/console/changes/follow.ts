/** Follows the changes of an environment. `EventSource` sends no key, so the events are read from a request. */
import type { Change } from '../api/answers.ts';
import { RequestError, send, withParameters } from '../api/request.ts';

export interface Follower {
  onChange(change: Change): void;
  /** The connection is open. */
  onOpen(): void;
  /** It is broken, and tried again. */
  onError(error: RequestError): void;
}

const againMs = 3000;

/** From now on, until the signal aborts. What happens while the connection is broken is told afterwards. */
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
    } catch (error) {
      if (signal.aborted) return;
      const told = error instanceof RequestError ? error : new RequestError(0, 'The connection broke.');
      follower.onError(told);
      if (told.status === 410) since = 'now';
      else if (told.status >= 400 && told.status < 500) return;
    }
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}

interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Server-sent events of a body (HTML standard, "Server-sent events"), as Millrace writes them. */
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
