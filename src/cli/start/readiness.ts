import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject } from '../../contract/json.ts';

const pollMs = 200;
const requestTimeoutMs = 2_000;

/**
 * Waits until `GET /health/ready` says yes (contract section 1).
 * @param onWaiting told what is waited for, each time that this changes
 */
export async function waitUntilReady(
  baseUrl: string,
  signal: AbortSignal,
  onWaiting: (what: string) => void,
): Promise<void> {
  let shown = '';
  for (;;) {
    const waitingFor = await askReady(baseUrl);
    if (waitingFor === null) return;
    const what = waitingFor.join(', ');
    if (what !== shown) onWaiting(what);
    shown = what;
    await sleep(pollMs, undefined, { signal });
  }
}

/** What is still missing, or null when the platform is ready. */
async function askReady(baseUrl: string): Promise<string[] | null> {
  try {
    const response = await fetch(`${baseUrl}/health/ready`, {
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    const body: unknown = await response.json();
    if (response.status === 200) return null;
    if (isJsonObject(body) && Array.isArray(body.waitingFor)) return body.waitingFor.map(String);
    return [`status ${response.status}`];
  } catch {
    return ['the web process'];
  }
}
