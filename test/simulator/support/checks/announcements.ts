/**
 * Every write that requests can see must be announced in the changes of its partition, because fronts would otherwise keep
 * stale answers in their caches.
 */
import assert from 'node:assert/strict';
import { unpackServed } from '../../../../src/store/claims/claim-records.ts';
import { fieldOfCompetingClaim } from '../../../../src/store/claims/competing-claims.ts';
import { digestBytes } from '../../../../src/store/codec/digest.ts';
import {
  claimSubject,
  itemsSubject,
  subjectKey,
  viewSubject,
} from '../../../../src/store/derived/subjects.ts';
import { keys } from '../../../../src/store/keys.ts';
import { decodeAnnouncement } from '../../../../src/store/streams/changes-stream.ts';
import type { Keyspace } from '../redis/keyspace.ts';

const visibleParts = new Set(['views', 'items', 'claims']);

export class Announcements {
  /** Fields of each key at the last check. */
  readonly #seen = new Map<string, ReadonlyMap<string, string>>();
  readonly #readTo = new Map<string, number>();

  constructor(
    private readonly keyspace: Keyspace,
    private readonly tags: readonly string[],
    /** False if claims that a commit changes are announced in the partition of the commit. */
    private readonly claimsAreApart: boolean,
  ) {}

  /** Checks the keys written since the last check. @throws AssertionError */
  check(): void {
    const announced = new Map(this.tags.map((tag) => [tag, this.#announced(tag)]));
    for (const key of this.keyspace.written) {
      const [tag = '', part = ''] = key.split(':', 2);
      if (!visibleParts.has(part)) continue;
      const now = new Map(this.keyspace.hash(key));
      for (const subject of changedSubjects(key, this.#seen.get(key) ?? new Map(), now)) {
        const isAnywhere = part === 'claims' && !this.claimsAreApart;
        const heard = isAnywhere ? [...announced.values()] : [announced.get(tag)];
        const digest = subjectKey(subject);
        assert.ok(
          heard.some((digests) => digests?.has(digest)),
          `${subject} changed and was not announced`,
        );
      }
      this.#seen.set(key, now);
    }
  }

  /** Digests announced since the last check. */
  #announced(tag: string): Set<string> {
    const digests = new Set<string>();
    const readTo = this.#readTo.get(tag) ?? 0;
    const entries = this.keyspace.stream(keys.changes(tag))?.entries ?? [];
    for (const { id, fields } of entries) {
      if (id[0] <= readTo) continue;
      this.#readTo.set(tag, id[0]);
      const joined = digestsOf(fields);
      for (let at = 0; at < joined.length; at += digestBytes) digests.add(joined.slice(at, at + digestBytes));
    }
    return digests;
  }
}

function digestsOf([kind, value = '']: readonly string[]): string {
  return kind === 'd' ? value : decodeAnnouncement(Buffer.from(value, 'latin1')).digests.toString('latin1');
}

/** What requests see of the record of a claim field, without competing claims. */
function servedIn(records: ReadonlyMap<string, string>, field: string): string {
  const record = records.get(field);
  return JSON.stringify(
    unpackServed(field, record === undefined ? null : Buffer.from(record, 'latin1')).claims,
  );
}

function changedSubjects(
  key: string,
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): string[] {
  const [, part, tenant = '', environmentId = '', sourceId = '', ...index] = key.split(':');
  const scope = { tenant, environmentId };
  const fields = [...new Set([...before.keys(), ...now.keys()])].filter(
    (field) => before.get(field) !== now.get(field),
  );
  if (part === 'items') return fields.length === 0 ? [] : [itemsSubject(scope, index.join(':'))];
  if (part === 'claims') {
    return fields
      .filter(
        (field) => fieldOfCompetingClaim(field) === null && servedIn(before, field) !== servedIn(now, field),
      )
      .map((field) => claimSubject(scope, field));
  }
  return fields.map((field) => {
    const [alias = '', originId = ''] = field.split(':');
    return viewSubject(scope, { sourceId, alias, originId });
  });
}
