/** Reads delivery requests (docs/reference/http.md "Delivery"). */
import { normalizeUrl } from '../../config/urls/url.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import {
  deliveryDepthMax,
  deliveryKeysMax,
  errorsListedMax,
  urlCodePointsMax,
} from '../../contract/limits.ts';
import { deliveryBodyShape } from '../../contract/shapes-read.ts';
import { hasMoreCodePoints } from '../../lib/code-points.ts';
import { QueryParameters } from '../request-parameters.ts';
import { validate } from '../routing/validate.ts';

export interface DeliveryRequest {
  /** Null if no URL is requested. */
  readonly url: string | null;
  readonly ids: readonly string[];
  readonly handles: readonly string[];
  readonly includeDuplicateViews: boolean;
  /** Null for the depth that is configured for the client. */
  readonly depth: number | null;
}

/** The request of a GET. @throws ProblemError 422 */
export function requestOfQuery(query: string): DeliveryRequest {
  const parameters = new QueryParameters(query);
  const urls = parameters.all('url');
  const request: DeliveryRequest = {
    url: urls[0] ?? null,
    ids: parameters.all('id'),
    handles: parameters.all('handle'),
    includeDuplicateViews: duplicatesFlag(parameters),
    depth: depthOf(parameters),
  };
  if (urls.length > 1) throw new ProblemError(problems.severalUrls);
  checkUrl(request.url);
  checkKeys(request);
  return request;
}

/** The request of a POST. @throws ProblemError 422 */
export function requestOfBody(query: string, body: Json): DeliveryRequest {
  const errors = validate(deliveryBodyShape, body, errorsListedMax);
  const request: DeliveryRequest = {
    url: null,
    ids: textsOf(body, 'ids'),
    handles: textsOf(body, 'handles'),
    includeDuplicateViews: duplicatesFlag(new QueryParameters(query)),
    depth: depthIn(body),
  };
  if (request.ids.length + request.handles.length > deliveryKeysMax) {
    throw new ProblemError(problems.tooManyKeys);
  }
  if (errors.length > 0) {
    throw new ProblemError(problems.deliveryBodyInvalid(errors.map(({ text }) => text)));
  }
  checkKeys(request);
  return request;
}

function textsOf(body: Json, name: string): string[] {
  const list = isJsonObject(body) ? getOwn(body, name) : undefined;
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

function duplicatesFlag(parameters: QueryParameters): boolean {
  const written = parameters.one('includeDuplicateViews')?.toLowerCase() ?? 'false';
  if (written === 'true' || written === 'false') return written === 'true';
  throw new ProblemError(problems.duplicatesFlagInvalid);
}

function depthOf(parameters: QueryParameters): number | null {
  const written = parameters.one('depth');
  if (written === null) return null;
  const depth = Number(written);
  if (!/^[0-9]+$/.test(written) || depth > deliveryDepthMax) throw new ProblemError(problems.depthInvalid);
  return depth;
}

/** `deliveryBodyShape` checks the value. */
function depthIn(body: Json): number | null {
  const depth = isJsonObject(body) ? getOwn(body, 'depth') : null;
  return typeof depth === 'number' ? depth : null;
}

function checkUrl(url: string | null): void {
  if (url === null) return;
  if (hasMoreCodePoints(url, urlCodePointsMax)) throw new ProblemError(problems.urlTooLong);
  if (normalizeUrl(url) === null) throw new ProblemError(problems.urlInvalid);
}

function checkKeys({ url, ids, handles }: DeliveryRequest): void {
  if (url === null && ids.length === 0 && handles.length === 0) {
    throw new ProblemError(problems.nothingAsked);
  }
  const known = new Set<string>();
  for (const handle of handles) {
    if (known.has(handle)) throw new ProblemError(problems.handleTwice(handle));
    known.add(handle);
  }
}
