/** `GET /v2` and `POST /v2`: the delivery interface (specification endpoints 4 and 5, contract section 5). */
import type { ClientPrincipal } from '../config/types.ts';
import { ProblemError, problems } from '../contract/errors.ts';
import { smallBodyBytesMax } from '../contract/limits.ts';
import type { VersionVector } from '../store/types.ts';
import { type Answer, type HeaderField, jsonType } from './answer.ts';
import type { Call } from './call.ts';
import { coded } from './content-coding.ts';
import { deliver } from './deliver.ts';
import { type DeliveryRequest, requestOfBody, requestOfQuery } from './delivery-request.ts';
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
    return answer(services, call, requestOfQuery(call.query), version, true);
  };
}

export function deliverByBody(services: Services): Handler {
  return async (call) => {
    const bytes = await call.body.bytes(smallBodyBytesMax, tooLarge);
    const body = parseJson(bytes);
    if (body === undefined) throw new ProblemError(problems.deliveryBodyInvalid(['It is no JSON in UTF-8']));
    return answer(services, call, requestOfBody(call.query, body), askedVersion(call, 422), false);
  };
}

async function answer(
  services: Services,
  call: Call,
  request: DeliveryRequest,
  version: VersionVector | null,
  withRoute: boolean,
): Promise<Answer> {
  const principal: ClientPrincipal = call.client;
  if (version !== null) await waitForVersion(services, principal.tenant.alias, version);
  const { body } = await deliver(services.store, principal, request, withRoute);
  const etag = etagOf(body);
  const headers: HeaderField[] = [['ETag', etag], vary];
  if (namesTag(call.header('if-none-match'), etag)) {
    return { status: 304, body: '', contentType: jsonType, headers };
  }
  const written = await coded(body, call.header('accept-encoding'));
  return {
    status: 200,
    body: written.body,
    contentType: jsonType,
    headers: [...headers, ...written.headers],
  };
}
