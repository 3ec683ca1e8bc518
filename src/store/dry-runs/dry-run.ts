/**
 * The configuration that a dry run tests, and the claims that it would move, grouped by the URL or handle that they compete
 * for. The moves may not fit into memory and arrive in the order of entities, so they are collected in sorted sets. Adding a
 * move twice has no effect, because interrupted work is repeated.
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

/** Documents that no jobs process picks up expire after this. */
const documentsSeconds = 24 * 3600;

/**
 * @param documents documents of one or all tenants, with hashed keys
 * @throws StoreUnavailableError
 */
export async function putDryRun(store: Store, token: string, documents: ConfigDocuments): Promise<void> {
  const key = keys.dryRun(token);
  const call = store.client.multi();
  call.hset(key, 'documents', pack([...documents]));
  call.expire(key, documentsSeconds);
  await answerOf(call.exec());
}

/** Null if they are gone. @throws StoreUnavailableError */
export async function readDryRun(store: Store, token: string): Promise<ConfigDocuments | null> {
  const documents = await answerOf(store.client.hgetBuffer(keys.dryRun(token), 'documents'));
  return documents === null ? null : new Map(unpack<[string, string][]>(documents));
}

/** Deletes everything that a dry run has stored. @throws StoreUnavailableError */
export async function deleteDryRun(store: Store, token: string): Promise<void> {
  await deleteMoves(store, token);
  await answerOf(store.client.del(keys.dryRun(token)));
}

/** Working data of an abandoned dry run expires after this. */
const workingDataSeconds = 24 * 3600;
const movesPerRead = 500;

/** The group in which claims compete: a claim field, or several that become equal when the URL form changes. */
export interface Contest {
  readonly tenant: string;
  readonly environmentId: string;
  readonly name: string;
}

export interface ClaimMove {
  /** `drop`: the view gives up the claim; `put`: it makes or repeats the claim. */
  readonly action: 'drop' | 'put';
  /** From `claimField`. */
  readonly field: string;
  readonly claim: Claim;
}

/** How URLs are compared before and after the change. */
export interface UrlForms {
  readonly before: UrlForm;
  readonly after: UrlForm;
}

/** The name of a contest. If the URL form changes, fields of both forms have the name in lower case. */
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
  /** Where the next read continues. */
  readonly cursor: string;
  readonly moves: readonly ClaimMove[];
}

/** The next contests of a partition with all their moves; empty at the end. @throws StoreUnavailableError */
export async function readContests(
  store: Store,
  token: string,
  partition: number,
  after: string | null,
): Promise<ContestMoves[]> {
  const key = keys.dryRunMoves(store.partitions.tag(partition), token);
  const members = await readRange(store, key, after === null ? '-' : `(${after}\u0001`);
  // The moves of the last contest may be incomplete.
  let last = members.length === movesPerRead ? members.at(-1) : undefined;
  while (last !== undefined) {
    const more = await readRange(store, key, `(${last}`, `(${contestNameOf(last)}\u0001`);
    members.push(...more);
    last = more.length === movesPerRead ? more.at(-1) : undefined;
  }
  return [...groupBy(members, contestNameOf)].map(([name, ofContest]) => ({
    contest: contestOf(name),
    cursor: name,
    moves: ofContest.map((member) => JSON.parse(member.slice(name.length + 1)) as ClaimMove),
  }));
}

async function readRange(store: Store, key: string, from: string, to = '+'): Promise<string[]> {
  return await answerOf(store.client.zrangebylex(key, from, to, 'LIMIT', 0, movesPerRead));
}

/** The part of a member that identifies its contest. */
function contestNameOf(member: string): string {
  return member.slice(0, member.indexOf('\0'));
}

function contestOf(memberName: string): Contest {
  const [tenant, environmentId, name] = JSON.parse(memberName) as [string, string, string];
  return { tenant, environmentId, name };
}

/** @throws StoreUnavailableError */
export async function deleteMoves(store: Store, token: string): Promise<void> {
  await answerOf(
    Promise.all(store.partitions.tags.map((tag) => store.client.del(keys.dryRunMoves(tag, token)))),
  );
}
