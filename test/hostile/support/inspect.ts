/** Lists the errors in the response to a hostile request (docs/reference/http.md "Bad input and slow clients"). */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Json } from '../../../src/contract/json.ts';
import type { Shape } from '../../../src/contract/shape.ts';
import { plainProblemShape } from '../../../src/contract/shapes-problems.ts';
import type { RouteDefinition } from '../../../src/http/route-definition.ts';
import {
  bodyStatuses,
  commonStatuses,
  problemShape,
} from '../../../src/http/routing/openapi/openapi-document.ts';
import { validate } from '../../../src/http/routing/validate.ts';
import type { HostileRequest } from './requests.ts';
import type { WireAnswer } from './wire.ts';

/** Statuses that uWebSockets.js itself sends for anything that is not HTTP/1.1. */
const libraryStatuses: ReadonlySet<number> = new Set([0, 400, 431, 505]);
const stackPattern = /\bat .{1,200}\.(ts|js|mjs|lua):\d+|node_modules|file:\/\/|user_script|ioredis|ECONN/;

export interface Inspection {
  readonly errors: readonly string[];
  /** Undefined if the body is not JSON. */
  readonly json: Json | undefined;
}

/** @param secrets strings that no response may contain */
export function inspect(request: HostileRequest, answer: WireAnswer, secrets: readonly string[]): Inspection {
  const { status, headers, isCut } = answer;
  const body = decoded(answer);
  const text = body.toString('utf8');
  const errors: string[] = [];
  const sent = request.bytes.toString('utf8');
  for (const secret of secrets) {
    // The client's own input may be returned, such as the name of an entity.
    if (text.includes(secret) && !bodyOf(sent).includes(secret)) errors.push(`it shows ${secret}`);
  }
  if (status >= 400 && stackPattern.test(withoutSent(text, sent))) errors.push('it shows our insides');
  if (status >= 500 && status !== 503 && !(status === 505 && !request.isFramed))
    errors.push(`status ${status}`);
  if (status === 503 && headers.get('retry-after') === undefined && request.route.name !== 'ready') {
    errors.push('503 without Retry-After');
  }
  if (isCut) errors.push('it was cut off');
  const json = jsonOf(text);
  if (request.isFramed) errors.push(...shapeErrors(request, status, json));
  else if (
    json === undefined &&
    status >= 200 &&
    !libraryStatuses.has(status) &&
    !saysOtherThanJson(headers)
  ) {
    errors.push('no JSON');
  }
  return { errors, json };
}

/** Probes and metrics are plain text, and files of the console have other types. */
function saysOtherThanJson(headers: WireAnswer['headers']): boolean {
  const type = headers.get('content-type');
  if (type === undefined) return headers.get('content-length') === '0';
  return /^(text\/|image\/svg\+xml)/.test(type);
}

function shapeErrors(request: HostileRequest, status: number, json: Json | undefined): string[] {
  if (status === 0) return ['the connection was closed without an answer'];
  const shape = documentedShape(request.route, status);
  if (shape === undefined) {
    const isElsewhere = !request.isRouted && json !== undefined;
    if (isElsewhere && validate(plainProblemShape, json, 1).length === 0) return [];
    return isElsewhere ? [] : [`the status ${status} is not documented`];
  }
  if (shape === null) return [];
  if (json === undefined) return ['the body is no JSON'];
  return request.isRouted ? validate(shape, json, 5).map(({ text }) => text) : [];
}

/** Undefined if the route table does not have the status, null if it promises no JSON. */
function documentedShape(route: RouteDefinition, status: number): Shape | null | undefined {
  const answer = route.answers[status];
  if (answer !== undefined) return answer.shape ?? null;
  if ([...commonStatuses, ...bodyStatuses, ...route.problemStatuses].includes(status))
    return problemShape(route, status);
  return undefined;
}

function bodyOf(request: string): string {
  return request.slice(request.indexOf('\r\n\r\n'));
}

/** An error may repeat words of its request. */
function withoutSent(text: string, sent: string): string {
  return sent.includes('node_modules') || sent.includes('file://') ? '' : text;
}

function decoded({ headers, body }: WireAnswer): Buffer {
  const coding = headers.get('content-encoding');
  if (coding === 'br') return brotliDecompressSync(body);
  return coding === 'gzip' ? gunzipSync(body) : body;
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
