/**
 * `GET /health/live`, `/health/ready` and `/metrics` (docs/reference/http.md "Health, metrics and the OpenAPI document").
 */

import { platformVersion } from '../../config/settings/platform-version.ts';
import { problems } from '../../contract/errors.ts';
import { oneFlight } from '../../lib/one-flight.ts';
import { type Answer, jsonAnswer } from '../answer.ts';
import type { Handler } from '../handler.ts';
import type { Services } from '../services.ts';

const alive = jsonAnswer(200, { status: 200, version: platformVersion });

export const live: Handler = () => alive;

export function ready({ readiness }: Services): Handler {
  return oneFlight(async () => {
    const { waitingFor, faults } = await readiness();
    if (waitingFor.length > 0) return notReady(waitingFor);
    const degraded = faults.map(({ reason }) => reason);
    if (degraded.length > 0) return jsonAnswer(200, { status: 'degraded', degraded });
    return jsonAnswer(200, { status: 200, waitingFor });
  });
}

function notReady(waitingFor: readonly string[]): Answer {
  const { name, status } = problems.notReady;
  const body = { status, waitingFor, code: name };
  return { ...jsonAnswer(status, body), problem: name, problemBody: body };
}

export function metricsText({ metrics }: Services): Handler {
  return oneFlight(
    async (): Promise<Answer> => ({
      status: 200,
      body: await metrics.textOfAll(),
      contentType: metrics.contentType,
    }),
  );
}
