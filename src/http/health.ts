/** `GET /health/live`, `/health/ready` and `/metrics` (contract section 1). */
import { type Answer, jsonAnswer } from './answer.ts';
import type { Handler } from './handler.ts';
import type { Services } from './services.ts';

const alive = jsonAnswer(200, { status: 200 });

export const live: Handler = () => alive;

export function ready({ waitingFor }: Services): Handler {
  return async () => {
    const reasons = await waitingFor();
    const status = reasons.length === 0 ? 200 : 503;
    return jsonAnswer(status, { status, waitingFor: reasons });
  };
}

export function metricsText({ metrics }: Services): Handler {
  return async (): Promise<Answer> => ({
    status: 200,
    body: await metrics.text(),
    contentType: metrics.contentType,
  });
}
