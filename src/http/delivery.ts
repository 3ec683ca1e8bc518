/** `GET /v2` and `POST /v2`: the delivery interface (specification endpoints 4 and 5, contract section 5). */
import { ProblemError, problems } from '../contract/errors.ts';
import { smallBodyBytesMax } from '../contract/limits.ts';
import { type Answer, type HeaderField, jsonType } from './answer.ts';
import type { CachedAnswer } from './answer-cache.ts';
import type { Call } from './call.ts';
import { codingFor, compressed } from './content-coding.ts';
import { deliver } from './deliver.ts';
import { requestOfBody, requestOfQuery } from './delivery-request.ts';
import { parseJson } from './entity-reading.ts';
import { etagOf, namesTag } from './etag.ts';
import type { Handler } from './handler.ts';
import { askedVersion, waitForVersion } from './min-version.ts';
import type { Services } from './services.ts';

/** The API key is part of what decides an answer, so shared caches must not mix clients. */
const vary: HeaderField = ['Vary', 'Accept-Encoding, X-Api-Key'];
const tooLarge = new ProblemError(
  problems.deliveryBodyInvalid([`It may have at most ${smallBodyBytesMax} bytes`]),
);

export function deliverByQuery(services: Services): Handler {
  return (call) => {
    const version = askedVersion(call, 422);
    if (version === null) return cachedAnswer(services, call);
    return waitForVersion(services, call.client.tenant.alias, version).then(() =>
      cachedAnswer(services, call),
    );
  };
}

/** From the cache at once; else computed, and kept if nothing that it read changed meanwhile. */
function cachedAnswer(services: Services, call: Call): Answer | Promise<Answer> {
  const cached = services.cache.find(call.client, call.query);
  return cached === null ? computedAnswer(services, call) : answerWith(services, call, cached);
}

async function computedAnswer(services: Services, call: Call): Promise<Answer> {
  const { cache, store } = services;
  const request = requestOfQuery(call.query);
  const computation = cache.begin();
  try {
    const { body, reads } = await deliver(store, call.client, request, true);
    const answer: CachedAnswer = { etag: etagOf(body), identity: body, br: null, gzip: null };
    cache.store(computation, call.client, call.query, answer, reads);
    return await answerWith(services, call, answer);
  } finally {
    cache.end(computation);
  }
}

function answerWith(services: Services, call: Call, answer: CachedAnswer): Answer | Promise<Answer> {
  const { etag, identity } = answer;
  if (namesTag(call.header('if-none-match'), etag)) return notModified(etag);
  const coding = codingFor(identity, call.header('accept-encoding'));
  if (coding === 'identity') return found(etag, identity, []);
  const known = answer[coding];
  if (known !== null) return found(etag, known, [['Content-Encoding', coding]]);
  return compressed(identity, coding).then((body) => {
    services.cache.addCoded(call.client, call.query, answer, coding, body);
    return found(etag, body, [['Content-Encoding', coding]]);
  });
}

export function deliverByBody(services: Services): Handler {
  return async (call) => {
    const bytes = await call.body.bytes(smallBodyBytesMax, tooLarge);
    const body = parseJson(bytes);
    if (body === undefined) throw new ProblemError(problems.deliveryBodyInvalid(['It is no JSON in UTF-8']));
    const request = requestOfBody(call.query, body);
    const version = askedVersion(call, 422);
    if (version !== null) await waitForVersion(services, call.client.tenant.alias, version);
    const delivered = await deliver(services.store, call.client, request, false);
    const etag = etagOf(delivered.body);
    if (namesTag(call.header('if-none-match'), etag)) return notModified(etag);
    const coding = codingFor(delivered.body, call.header('accept-encoding'));
    if (coding === 'identity') return found(etag, delivered.body, []);
    return found(etag, await compressed(delivered.body, coding), [['Content-Encoding', coding]]);
  };
}

function found(etag: string, body: Uint8Array, headers: readonly HeaderField[]): Answer {
  return { status: 200, body, contentType: jsonType, headers: [['ETag', etag], vary, ...headers] };
}

function notModified(etag: string): Answer {
  return { status: 304, body: '', contentType: jsonType, headers: [['ETag', etag], vary] };
}
