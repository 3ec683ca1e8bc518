import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject } from '../../contract/json.ts';
import type { Trust } from '../platform/own-certificate.ts';
import { askFront } from './front-answer.ts';

const pollMs = 200;
/** Loads change what is missing with every poll; nobody reads as fast. */
const tellEveryMs = 1_000;
const requestTimeoutMs = 2_000;

/**
 * Waits until `GET /health/ready` answers 200 (docs/reference/http.md "Health, metrics and the OpenAPI document").
 * @param onWaiting called with what is missing when this has changed, at most once a second
 */
export async function waitUntilReady(
  baseUrl: string,
  signal: AbortSignal,
  onWaiting: (what: string) => void,
  trust: Trust = {},
): Promise<void> {
  let shown = '';
  let shownMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    const waitingFor = await askReady(baseUrl, trust);
    if (waitingFor === null) return;
    const what = waitingFor.join('; ');
    if (what !== shown && performance.now() - shownMs >= tellEveryMs) {
      onWaiting(what);
      shown = what;
      shownMs = performance.now();
    }
    await sleep(pollMs, undefined, { signal });
  }
}

/** What is still missing; null when the platform is ready. */
async function askReady(baseUrl: string, trust: Trust): Promise<string[] | null> {
  try {
    const { status, text } = await askFront(`${baseUrl}/health/ready`, trust, {}, requestTimeoutMs);
    if (status === 200) return null;
    const body: unknown = JSON.parse(text);
    if (isJsonObject(body) && Array.isArray(body.waitingFor)) return body.waitingFor.map(String);
    return [`status ${status}`];
  } catch {
    return ['the web process'];
  }
}
