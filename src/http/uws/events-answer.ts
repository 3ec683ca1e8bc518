/** Answers that are server-sent events (the HTML standard, "Server-sent events"). */
import type { Answer } from '../answer.ts';
import type { OpenStream } from './event-streams.ts';

const eventStreamType = /(?:^|[\s,])text\/event-stream(?:$|[\s,;])/i;

/** Whether a client asks for server-sent events by its `Accept`. */
export function acceptsEvents(accept: string): boolean {
  return accept.length > 15 && eventStreamType.test(accept);
}

export function eventsAnswer(follow: OpenStream): Answer {
  return {
    status: 200,
    body: '',
    contentType: 'text/event-stream',
    // Proxies would hold events back until they have some kilobytes of them.
    headers: [
      ['Cache-Control', 'no-store'],
      ['X-Accel-Buffering', 'no'],
    ],
    follow,
  };
}
