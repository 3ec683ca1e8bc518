/**
 * Answers of queries in the front's cache: front ends ask the same listings and facets again and again. An answer
 * hangs on the items of its indexes, any change of which drops it; the rows of `aliases` hang on more and are not kept.
 */
import type { GoodOutcome } from '../../query/query-service.ts';
import { subjectKey } from '../../store/derived/subjects.ts';
import { type Answer, jsonType } from '../answer.ts';
import type { Call } from '../call.ts';
import { FinishedAnswer } from '../delivery/finished-answer.ts';
import type { Services } from '../services.ts';
import { headLines, headOf } from '../uws/reply.ts';

/** Longer ones are not likely to be asked again. */
const bodyBytesMax = 4096;

export interface MadeAnswer {
  readonly answer: Answer;
  /** Of the queries that were answered; none: the answer is not kept. */
  readonly outcomes: readonly GoodOutcome[];
}

/**
 * Text that, with the principal, decides the answer of a query; null for one that is not kept.
 * @param body as text, a character a byte
 */
export function keyOfQuery(call: Call, body: string): string | null {
  if (body.length > bodyBytesMax) return null;
  // A query string of the delivery interface has no line break.
  return `${call.parameters.join('/')}\n${body}`;
}

/** Whether a text of the cache is a key of a query; else it is the query string of a delivery. */
export function isKeyOfQuery(text: string): boolean {
  return text.includes('\n');
}

/** The kept answer; else it is made, and kept if nothing that it hangs on changed meanwhile. */
export function keptOrMade(
  services: Services,
  call: Call,
  key: string | null,
  make: () => Promise<MadeAnswer>,
): Answer | Promise<Answer> {
  if (key === null) return make().then(({ answer }) => answer);
  const kept = services.cache.find(call.client, key);
  return kept === null ? made(services, call, key, make) : answerOf(kept.body);
}

const head = headOf(200, headLines([['Content-Type', jsonType]]));

export function answerOf(body: Uint8Array): Answer {
  return { status: 200, body, contentType: jsonType, head };
}

async function made(
  { cache, configuration }: Services,
  call: Call,
  key: string,
  make: () => Promise<MadeAnswer>,
): Promise<Answer> {
  const computation = cache.begin();
  try {
    const { answer, outcomes } = await make();
    if (typeof answer.body === 'string') return answer;
    if (!isLasting(outcomes, configuration.current.digest)) return answer;
    const subjects = () => outcomes.map(({ subject }) => subjectKey(subject));
    const finished = new FinishedAnswer(answer.body);
    cache.store(computation, call.client, key, finished, subjects);
    return answer;
  } finally {
    cache.end(computation);
  }
}

/** A worker that has not followed a new configuration yet will do so without a change of any item. */
function isLasting(outcomes: readonly GoodOutcome[], current: string): boolean {
  return (
    outcomes.length > 0 &&
    outcomes.every(({ result, configuration }) => result.kind === 'text' && configuration === current)
  );
}
