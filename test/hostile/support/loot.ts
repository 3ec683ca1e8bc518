/** Tokens from responses, which an attacker sends again, changed or in the wrong place. */
import { isJsonObject, type Json } from '../../../src/contract/json.ts';
import type { Random } from '../../system/support/random.ts';

export type LootKind = 'cursor' | 'continuation' | 'page' | 'version' | 'etag';

const keptMax = 30;

export class Loot {
  readonly #kept = new Map<LootKind, string[]>();

  pick(random: Random, kind: LootKind): string {
    const kept = this.#kept.get(kind) ?? [];
    return kept.length === 0 ? '' : random.pick(kept);
  }

  take(json: Json, headers: ReadonlyMap<string, string>): void {
    this.#keep('version', headers.get('x-service-version'));
    this.#keep('etag', headers.get('etag'));
    for (const one of Array.isArray(json) ? json : [json]) {
      if (!isJsonObject(one)) continue;
      this.#keep('page', one.nextPageToken);
      this.#keep('continuation', one.continuationToken);
      const { pageInfo } = one;
      if (pageInfo === undefined || !isJsonObject(pageInfo)) continue;
      this.#keep('cursor', pageInfo.startCursor);
      this.#keep('cursor', pageInfo.endCursor);
    }
  }

  #keep(kind: LootKind, token: Json | undefined): void {
    if (typeof token !== 'string' || token === '') return;
    const kept = this.#kept.get(kind) ?? [];
    kept.push(token);
    if (kept.length > keptMax) kept.shift();
    this.#kept.set(kind, kept);
  }
}
