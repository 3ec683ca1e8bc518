/**
 * What a dry run would make active, and the claims that it would move, gathered by the URL or handle that they compete for.
 * They are more than fit into memory, and come in the order of entities, so they wait in sorted sets until all are there. A
 * move that is added twice is one: work that was broken off is done again.
 *
 * A member is the contest as JSON text, a zero byte, and the move as JSON text.
 */
import type { ConfigDocuments } from '../../config/configuration.ts';
import type { UrlForm } from '../../config/urls/url.ts';
import { groupBy } from '../../lib/lists.ts';
import type { Claim } from '../claims/claim-records.ts';
import { pack, unpack } from '../codec/pack.ts';
import { foldedField, keys, urlFormOfField } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

/** Documents that no jobs process takes up are gone after this. */
const documentsSeconds = 24 * 3600;

/** @param documents of one tenant or of all, keys hashed. @throws StoreUnavailableError */
export async function putDryRun(store: Store, token: string, documents: ConfigDocuments): Promise<void> {
  const key = keys.dryRun(token);
  const call = store.client.multi();
  call.hset(key, 'documents', pack([...documents]));
  call.expire(key, documentsSeconds);
  await answerOf(call.exec());
}

/** Null when they are gone. @throws StoreUnavailableError */
export async function readDryRun(store: Store, token: string): Promise<ConfigDocuments | null> {
  const documents = await answerOf(store.client.hgetBuffer(keys.dryRun(token), 'documents'));
  return documents === null ? null : new Map(unpack<[string, string][]>(documents));
}

/** Removes all that a dry run has stored. @throws StoreUnavailableError */
export async function forgetDryRun(store: Store, token: string): Promise<void> {
  await forgetMoves(store, token);
  await answerOf(store.client.del(keys.dryRun(token)));
}

/** Working data of an abandoned dry run expires after this. */
const workingDataSeconds = 24 * 3600;
const movesPerRead = 500;

/** The group in which claims compete: a claim field, or several that become one when URLs change their form. */
export interface Contest {
  readonly tenant: string;
  readonly environmentId: string;
  readonly name: string;
}

export interface ClaimMove {
  /** `drop`: the view gives the claim up; `put`: it makes it, or makes it again. */
  readonly action: 'drop' | 'put';
  /** From `claimField`. */
  readonly field: string;
  readonly claim: Claim;
}

/** Forms in which URLs are compared before and after. */
export interface UrlForms {
  readonly before: UrlForm;
  readonly after: UrlForm;
}

/** The name of a contest. Where URLs change their form, fields of both forms meet under the one in lower case. */
export function contestName(field: string, { before, after }: UrlForms): string {
  return before !== after && urlFormOfField(field) === 'exact' ? foldedField(field) : field;
}

/** Adds moves to those of a dry run. @throws StoreUnavailableError */
export async function addMoves(
  store: Store,
  token: string,
  moves: readonly (ClaimMove & { readonly contest: Contest })[],
): Promise<void> {
  const members = moves.map(({ contest, ...move }) => {
    const name = nameOf(contest);
    return { partition: store.partitions.ofText(name), member: `${name}\0${JSON.stringify(move)}` };
  });
  const groups = groupBy(members, ({ partition }) => partition);
  await answerOf(
    Promise.all(
      [...groups].map(async ([partition, ofPartition]) => {
        const key = keys.dryRunMoves(store.partitions.tag(partition), token);
        await store.client.zadd(key, ...ofPartition.flatMap(({ member }) => [0, member]));
        await store.client.expire(key, workingDataSeconds);
      }),
    ),
  );
}

function nameOf({ tenant, environmentId, name }: Contest): string {
  return JSON.stringify([tenant, environmentId, name]);
}

export interface ContestMoves {
  readonly contest: Contest;
  /** For the next read to continue after it. */
  readonly place: string;
  readonly moves: readonly ClaimMove[];
}

/** The next contests of a partition with all their moves; none at the end. @throws StoreUnavailableError */
export async function readContests(
  store: Store,
  token: string,
  partition: number,
  after: string | null,
): Promise<ContestMoves[]> {
  const key = keys.dryRunMoves(store.partitions.tag(partition), token);
  const members = await readRange(store, key, after === null ? '-' : `(${after}\u0001`);
  // Moves of the last contest may be cut off.
  for (let last = members.at(-1); members.length % movesPerRead === 0 && last !== undefined; ) {
    const more = await answerOf(
      store.client.zrangebylex(key, `(${last}`, `(${placeOf(last)}\u0001`, 'LIMIT', 0, movesPerRead),
    );
    members.push(...more);
    if (more.length < movesPerRead) break;
    last = more.at(-1);
  }
  return [...groupBy(members, placeOf)].map(([place, ofContest]) => ({
    contest: contestOf(place),
    place,
    moves: ofContest.map((member) => JSON.parse(member.slice(place.length + 1)) as ClaimMove),
  }));
}

async function readRange(store: Store, key: string, from: string): Promise<string[]> {
  return await answerOf(store.client.zrangebylex(key, from, '+', 'LIMIT', 0, movesPerRead));
}

function placeOf(member: string): string {
  return member.slice(0, member.indexOf('\0'));
}

function contestOf(place: string): Contest {
  const [tenant, environmentId, name] = JSON.parse(place) as [string, string, string];
  return { tenant, environmentId, name };
}

/** @throws StoreUnavailableError */
export async function forgetMoves(store: Store, token: string): Promise<void> {
  await answerOf(
    Promise.all(store.partitions.tags.map((tag) => store.client.del(keys.dryRunMoves(tag, token)))),
  );
}
