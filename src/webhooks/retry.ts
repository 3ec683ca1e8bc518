/** When a webhook is retried (docs/reference/webhooks.md "Retries"). */
import {
  webhookRetryAfterMaxMs,
  webhookRetryFirstMs,
  webhookRetryJitter,
  webhookRetryMaxMs,
} from '../contract/limits.ts';

const retryAfterMinMs = 1000;

/**
 * Milliseconds from now on.
 * @param failures attempts that failed one after another, at least 1. @param retryAfter header of the last answer
 * @param chance 0 to 1
 */
export function retryDelay(
  failures: number,
  retryAfter: string | null,
  nowMs: number,
  chance: number,
): number {
  const usual = Math.min(webhookRetryMaxMs, webhookRetryFirstMs * 2 ** Math.min(failures - 1, 30));
  const asked = retryAfter === null ? null : retryAfterMs(retryAfter, nowMs);
  return Math.round((asked ?? usual) * (1 + webhookRetryJitter * chance));
}

/** RFC 9110, section 10.2.3: seconds or a date. Null for anything else. */
function retryAfterMs(text: string, nowMs: number): number | null {
  const ms = /^[0-9]{1,12}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  if (Number.isNaN(ms)) return null;
  return Math.min(webhookRetryAfterMaxMs, Math.max(retryAfterMinMs, ms));
}
