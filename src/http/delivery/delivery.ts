/** `GET /v2` and `POST /v2`: the delivery interface (docs/reference/http.md "Delivery"). */
import { ProblemError, problems } from '../../contract/errors.ts';
import { announcementWaitMs, smallBodyBytesMax } from '../../contract/limits.ts';
import { type HighWaterMark, readHighWaterMark } from '../../store/visibility/high-water-mark.ts';
import type { VersionVector } from '../../store/visibility/version.ts';
import type { Answer } from '../answer.ts';
import type { AnswerCache, AnswerKey, ComputedAnswer } from '../cache/answer-cache.ts';
import type { Call } from '../call.ts';
import type { Handler } from '../handler.ts';
import { parseJson } from '../ingest/entity-reading.ts';
import type { Services } from '../services.ts';
import { codingFor } from './content-coding.ts';
import { type Delivered, deliver } from './deliver.ts';
import { namesTag } from './etag.ts';
import { FinishedAnswer } from './finished-answer.ts';
import { askedVersion, waitForVersion } from './min-version.ts';
import { DeliveryPlan } from './plan.ts';
import { requestOfBody, requestOfQuery } from './request.ts';

const tooLarge = new ProblemError(
  problems.deliveryBodyInvalid([`It may have at most ${smallBodyBytesMax} bytes`]),
);

/** `GET /v2`. @throws ProblemError 422, `answerTooLarge`, `tooManyReferences`, `versionNotReached`; StoreUnavailableError */
export function deliverByQuery(services: Services): Handler {
  return (call) => {
    const version = askedVersion(call, 422);
    return version === null ? answerOfQuery(services, call) : answerOfVersion(services, call, version);
  };
}

// Steps that only some requests need are functions of their own: a closure on the way of a cached answer would cost
// each request an allocation.
async function answerOfVersion(services: Services, call: Call, version: VersionVector): Promise<Answer> {
  await waitForVersion(services, call.client.tenant.alias, version);
  return answerOfQuery(services, call);
}

/** Answers from the cache at once. Else the answer is computed, and kept if nothing that it read changed meanwhile. */
function answerOfQuery(services: Services, call: Call): Answer | Promise<Answer> {
  const { cache } = services;
  const key: AnswerKey = { kind: 'delivery', principal: call.client, text: call.query };
  const kept = cache.find(key);
  if (kept !== null) return inItsForm(call, kept, cache, key);
  return computed(services, key).then((answer) => inItsForm(call, answer, cache, key));
}

function computed(services: Services, key: AnswerKey): Promise<FinishedAnswer> {
  // A mistake is thrown at once and not in a promise. Of many pipelined mistakes the later ones then wait for the next
  // turn (`uws/long-turns.ts`).
  const request = requestOfQuery(key.text);
  return services.cache.answerTo(key, async () => {
    const plan = new DeliveryPlan(services.store, key.principal, request);
    return new AnswerOfDelivery(await deliveredInOrder(services, plan, true));
  });
}

class AnswerOfDelivery implements ComputedAnswer {
  readonly answer: FinishedAnswer;

  constructor(private readonly delivered: Delivered) {
    this.answer = new FinishedAnswer(delivered.body);
  }

  reads(): readonly string[] {
    return this.delivered.reads();
  }
}

/**
 * An answer that was just read can show what the cache has not heard of. It is held back until the older answers are
 * out of the cache: a client that has seen the new one must not get an older one afterwards.
 */
function deliveredInOrder(services: Services, plan: DeliveryPlan, withRoute: boolean): Promise<Delivered> {
  const { store, cache, largeAnswers } = services;
  return cache.isOn
    ? deliveredOnceHeard(services, plan, withRoute)
    : deliver(store, largeAnswers, plan, withRoute);
}

async function deliveredOnceHeard(
  { store, cache, largeAnswers, progress }: Services,
  plan: DeliveryPlan,
  withRoute: boolean,
): Promise<Delivered> {
  let caughtUp: Promise<HighWaterMark | null> | null = null;
  const delivered = await deliver(store, largeAnswers, plan, withRoute, () => {
    caughtUp = progress.catchUp();
  });
  const highWaterMark = (await caughtUp) ?? (await readHighWaterMark(store, delivered.places()));
  if (!(await progress.waitUntilHeard(highWaterMark, announcementWaitMs))) cache.empty();
  return delivered;
}

/** `POST /v2`. @throws as `deliverByQuery` */
export function deliverByBody(services: Services): Handler {
  return async (call) => {
    const bytes = await call.body.bytes(smallBodyBytesMax, tooLarge);
    const body = parseJson(bytes);
    if (body === undefined) throw new ProblemError(problems.deliveryBodyInvalid(['It is no JSON in UTF-8']));
    const request = requestOfBody(call.query, body);
    const version = askedVersion(call, 422);
    if (version !== null) await waitForVersion(services, call.client.tenant.alias, version);
    const plan = new DeliveryPlan(services.store, call.client, request);
    const delivered = await deliveredInOrder(services, plan, false);
    return inItsForm(call, new FinishedAnswer(delivered.body));
  };
}

/**
 * The answer in the form that the client asked for: 304, compressed, or the body as it is.
 * @param cache may have kept the answer under this key
 */
function inItsForm(
  call: Call,
  answer: FinishedAnswer,
  cache?: AnswerCache,
  key?: AnswerKey,
): Answer | Promise<Answer> {
  const tags = call.header('if-none-match');
  if (tags !== '' && namesTag(tags, answer.etag)) return answer.notModified();
  const coding = codingFor(answer.body, call.header('accept-encoding'));
  if (coding === 'identity') return answer.identity();
  return answer.coded(coding, (bytes) => {
    if (key !== undefined) cache?.noteGrown(key, answer, bytes);
  });
}
