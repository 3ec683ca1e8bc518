/** Requests that were found good before: what a front end asks again is neither read nor checked again. */
import type { ClientPrincipal } from '../../config/configuration.ts';
import type { AnswerableQuery } from './answer.ts';

export interface PreparedQuery extends AnswerableQuery {
  /** Full schemas whose views are asked for; null for none. */
  readonly aliases: readonly string[] | null;
  /** See `GoodOutcome`. */
  readonly labels: string | null;
  readonly subject: string;
}

export interface PreparedRequest {
  readonly queries: readonly PreparedQuery[];
  /** What the workers are asked, from `encodeAsks`. */
  readonly asks: string;
  /** `Progress.commits` by which auto-indexed fields were looked at; null where fields come from schemas alone. */
  readonly commits: readonly number[] | null;
}

/** Texts remembered of each client; the oldest is forgotten beyond this. */
const requestsRemembered = 1000;

export class PreparedRequests {
  /** A principal belongs to one configuration: another one has others. */
  readonly #byPrincipal = new WeakMap<ClientPrincipal, Map<string, PreparedRequest>>();

  /** @param commits as they are now: with each of them an auto-indexed field can have become visible */
  find(principal: ClientPrincipal, key: string, commits: readonly number[]): PreparedRequest | null {
    const known = this.#byPrincipal.get(principal)?.get(key);
    if (known === undefined) return null;
    return known.commits === null || known.commits === commits ? known : null;
  }

  keep(principal: ClientPrincipal, key: string, prepared: PreparedRequest): void {
    const kept = this.#byPrincipal.get(principal) ?? new Map<string, PreparedRequest>();
    this.#byPrincipal.set(principal, kept);
    kept.delete(key);
    const [oldest] = kept.keys();
    if (kept.size >= requestsRemembered && oldest !== undefined) kept.delete(oldest);
    kept.set(key, prepared);
  }
}
