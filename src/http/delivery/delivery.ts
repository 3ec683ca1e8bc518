/** `GET /v2`, `POST /v2` and `GET /v1`: the delivery interface (docs/reference/http.md "Delivery"). */
import type { ClientPrincipal } from '../../config/configuration.ts';
import { problems } from '../../contract/errors.ts';
import { smallBodyBytesMax } from '../../contract/limits.ts';
import type { Version } from '../../store/visibility/version.ts';
import { type Answer, acceptsEvents, eventsAnswer, type HeaderField, notStored } from '../answer.ts';
import type { AnswerCache, AnswerKey } from '../cache/answer-cache.ts';
import { FinishedAnswer, namesTag } from '../cache/finished-answer.ts';
import type { Call, Handler } from '../call.ts';
import { codingFor } from '../content-coding.ts';
import { bodyJson } from '../json-body.ts';
import { requestedVersion, waitForRequestedVersion, waitForVersion } from '../request-parameters.ts';
import type { Services } from '../services.ts';
import { headLines } from '../uws/reply.ts';
import { type Delivered, type DeliveryForm, deliver } from './deliver.ts';
import { type DeliveryRequest, requestOfBody, requestOfQuery } from './delivery-request.ts';
import type { ReadAnswer } from './live-answers.ts';
import { readInOrder } from './read-in-order.ts';
import { plainReferences, wrappedReferences } from './render.ts';
import { ClaimsToRead } from './served-claim.ts';

/** Each kind of cached answer with its format. */
const forms = {
  delivery: { withRoute: true, references: plainReferences },
  deliveryV1: { withRoute: true, references: wrappedReferences },
} as const satisfies Record<string, DeliveryForm>;

/** The API key determines the answer, so shared caches must not store it unless the client configures otherwise. */
const privateCaching: HeaderField = ['Cache-Control', 'private, no-cache'];

const notStoredLines = headLines([notStored]);
const privateCachingLines = headLines([privateCaching]);

const keysForm: DeliveryForm = { withRoute: false, references: plainReferences };

/**
 * `GET /v2` and `GET /v1`.
 * @throws ProblemError 422, `answerTooLarge`, `tooManyReferences`, `versionNotReached`; StoreUnavailableError
 */
export function deliverByQuery(services: Services, kind: keyof typeof forms): Handler {
  return (call) => {
    const version = requestedVersion(call, 422);
    if (kind === 'delivery' && acceptsEvents(call.header('accept')))
      return followAnswer(services, call, version);
    return version === null
      ? answerOfQuery(services, call, kind)
      : answerOfVersion(services, call, kind, version);
  };
}

// Steps that only some requests need are separate functions: a closure on the path of a cached answer would be allocated for
// every request.
async function answerOfVersion(
  services: Services,
  call: Call,
  kind: keyof typeof forms,
  version: Version,
): Promise<Answer> {
  await waitForVersion(services, call.client.tenant.alias, version);
  return answerOfQuery(services, call, kind);
}

/** Sends the answer now, and again whenever it changes. */
async function followAnswer(services: Services, call: Call, version: Version | null): Promise<Answer> {
  const { client: principal } = call;
  const request = requestOfQuery(call.query);
  if (version !== null) await waitForVersion(services, principal.tenant.alias, version);
  const live = await services.liveAnswers.open({ principal, text: JSON.stringify(request) }, async () => {
    const toRead = claimsToRead(services, principal, request);
    return computedAnswer(await deliveredInOrder(services, toRead, forms.delivery), principal);
  });
  return eventsAnswer((stream) => live.follow(stream));
}

/**
 * Returns a cached answer without a promise. Otherwise computes it, and caches it if nothing that it read changed meanwhile.
 */
function answerOfQuery(services: Services, call: Call, kind: keyof typeof forms): Answer | Promise<Answer> {
  const { cache } = services;
  const key: AnswerKey = { kind, principal: call.client, text: call.query };
  const kept = cache.find(key);
  if (kept !== null) return negotiated(call, kept, cache, key);
  return computed(services, key, forms[kind]).then((answer) => negotiated(call, answer, cache, key));
}

function computed(services: Services, key: AnswerKey, form: DeliveryForm): Promise<FinishedAnswer> {
  // Errors are thrown synchronously and not in a promise. So of many pipelined invalid requests, the later ones wait for the
  // next turn (`uws/connection-limits.ts`).
  const request = requestOfQuery(key.text);
  return services.cache.answerTo(key, async () => {
    const toRead = claimsToRead(services, key.principal, request);
    return computedAnswer(await deliveredInOrder(services, toRead, form), key.principal);
  });
}

function computedAnswer(delivered: Delivered, client: ClientPrincipal): ReadAnswer {
  return { answer: finished(delivered, client), reads: () => delivered.reads() };
}

function finished(delivered: Delivered, client: ClientPrincipal): FinishedAnswer {
  return new FinishedAnswer(delivered.body, cachingLines(client, delivered));
}

function deliveredInOrder(services: Services, toRead: ClaimsToRead, form: DeliveryForm): Promise<Delivered> {
  return readInOrder(services, (sources) => deliver(sources, toRead, form));
}

/** `POST /v2`. @throws as `deliverByQuery` */
export function deliverByBody(services: Services): Handler {
  return async (call) => {
    const body = await bodyJson(call.body, smallBodyBytesMax, problems.bodyTooLarge, (reason) =>
      problems.deliveryBodyInvalid([reason]),
    );
    const request = requestOfBody(call.query, body);
    await waitForRequestedVersion(services, call, call.client.tenant.alias);
    const toRead = claimsToRead(services, call.client, request);
    const delivered = await deliveredInOrder(services, toRead, keysForm);
    return negotiated(call, finished(delivered, call.client));
  };
}

function claimsToRead(
  { store, configuration }: Services,
  principal: ClientPrincipal,
  request: DeliveryRequest,
): ClaimsToRead {
  const { read } = configuration.layouts.urlFormsOf(principal.tenant.alias);
  return new ClaimsToRead(store, principal, request, read);
}

/**
 * The answer in the form that the client requested: 304, compressed, or uncompressed.
 * @param cache may hold the answer under this key
 */
function negotiated(
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
    if (key !== undefined) cache?.updateSize(key, answer, bytes);
  });
}

/**
 * Headers for the caches in front of Millrace (docs/guide/caches.md). Cache tags are computed only for clients that configure
 * them.
 */
function cachingLines({ cacheControl, cacheTags }: ClientPrincipal, delivered: Delivered): string {
  const control = delivered.status === 404 ? notStoredLines : controlLines(cacheControl);
  if (cacheTags === null) return control;
  return control + headLines([[cacheTags.name, delivered.tags().join(cacheTags.separator)]]);
}

function controlLines(cacheControl: string | null): string {
  return cacheControl === null ? privateCachingLines : headLines([['Cache-Control', cacheControl]]);
}
