/** The contenders of the query benchmarks: the check of their answers, and their load. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { groupBy } from '../../../src/lib/lists.ts';
import { wordsOf } from '../../../src/search/analysis/words.ts';
import type { BenchContext } from '../bench.ts';
import { startNodeServer, stopServer } from '../contenders/server-process.ts';
import {
  type Item,
  type ItemSet,
  itemEntity,
  itemIndex,
  itemsTenant,
  placedItemsTenant,
} from '../data/items.ts';
import { type BenchTenant, clientKeyOf } from '../data/tenant.ts';
import { Client } from '../load/client.ts';
import { type HttpRequest, prepareRequests } from '../load/wrk.ts';
import { installPeers } from '../peers.ts';
import { System } from '../platform/system.ts';
import { host, ports } from '../ports.ts';
import type { BenchQuery, ExpectedAnswer, ExpectedQuery, QueryKind } from './kinds.ts';

export interface QueryContender {
  readonly name: string;
  readonly port: number;
  /** Kinds that the contender answers correctly, and fast enough to be put under load. */
  readonly kinds: Set<QueryKind>;
  /** Why the other kinds are not timed, for the table. */
  readonly untimed: Map<QueryKind, string>;
  request(query: BenchQuery): HttpRequest;
  /** Clears its caches of earlier queries, as far as a client can. */
  forget(): Promise<void>;
  stop(): Promise<void>;
}

export const ours = 'Millrace';

/** Features that a peer lacks. Adding them would measure our code, not the peer. */
interface Peer {
  readonly name: string;
  readonly engine: string;
  readonly port: number;
  readonly lacks: readonly QueryKind[];
}

const peers: readonly Peer[] = [
  {
    name: 'MiniSearch 7',
    engine: 'minisearch',
    port: ports.miniSearch,
    lacks: ['beginning, typos', 'word, highlighted', '*part*', 'near a place'],
  },
  { name: 'Orama 3', engine: 'orama', port: ports.orama, lacks: ['word, highlighted', '*part*'] },
];
const postgresLacks: readonly QueryKind[] = ['beginning, typos'];

export interface OurContender extends QueryContender {
  readonly system: System;
}

/** Starts the platform with the items in its index. */
export async function startOurs(
  context: BenchContext,
  { items }: ItemSet,
  tenant: BenchTenant = items[0]?.place === undefined ? itemsTenant : placedItemsTenant,
): Promise<OurContender> {
  const system = await System.start(context, { tenants: [tenant] });
  const client = new Client(context, system.baseUrl, tenant);
  await client.importEntities(items.map(itemEntity));
  await client.waitForItems(itemIndex, items.length);
  return { ...ourContender(client), system, stop: () => system.stop() };
}

/** The first front of a platform that has the items in its index. */
export function ourContender(client: Client): QueryContender {
  return {
    name: ours,
    port: ports.millrace,
    kinds: new Set(),
    untimed: new Map(),
    request: (query) => ({
      method: 'POST',
      path: `/v1/${itemIndex}`,
      headers: { 'X-Api-Key': clientKeyOf(itemsTenant) },
      body: JSON.stringify(query),
    }),
    forget: () => dropKeptAnswers(client),
    stop: async () => {},
  };
}

let changes = 0;

/** Clears cached answers by a change of an item of the index. No query finds this item. */
async function dropKeptAnswers(client: Client): Promise<void> {
  changes += 1;
  const item = { id: 'changed', name: `changed ${changes}`, text: '', category: '', size: 0 };
  // It uses a new connection, because the front may have closed one that was idle during a load.
  const line = client.saveConnection();
  const version = await client.saveOn(line, line.postOf(JSON.stringify([itemEntity(item)])));
  line.close();
  await client.query(itemIndex, { pagination: { pageSize: 0 } }, version);
}

/** Headers with which every query is executed. A query with a minimum version, even an old one, gets no cached answer. */
export async function headersToRun(
  client: Client,
  items: readonly Item[],
): Promise<Readonly<Record<string, string>>> {
  return { 'X-Service-Min-Version': await client.save(items.slice(0, 1).map(itemEntity)) };
}

/** Starts the other contenders, each with the same items behind the same front. @param postgres its version, if it runs */
export async function startPeers(
  context: BenchContext,
  { name: setName, items }: ItemSet,
  postgres: string | null,
): Promise<QueryContender[]> {
  installPeers();
  const file = path.join(context.folder, `${setName}.json`);
  writeFileSync(file, JSON.stringify(items));
  const all = [...peers];
  if (postgres !== null) {
    all.push({ name: postgres, engine: 'postgres', port: ports.postgresFront, lacks: postgresLacks });
  }
  const contenders: QueryContender[] = [];
  for (const { name, engine, port, lacks } of all) {
    const startedMs = performance.now();
    const server = await startNodeServer(context, 'search-front', { port, words: [engine, file] });
    context.say(
      `${name} holds ${items.length} items after ${Math.round((performance.now() - startedMs) / 1000)} s`,
    );
    contenders.push({
      name,
      port,
      kinds: new Set(),
      untimed: new Map(lacks.map((kind) => [kind, 'has none'])),
      request: (query) => ({ method: 'POST', path: '/query', body: JSON.stringify(query) }),
      forget: async () => {},
      stop: () => stopServer(server),
    });
  }
  return contenders;
}

/** A contender that needs longer for a single query would spend the whole run on one load and the queue behind it. */
const slowestQueryMs = 1_000;

/**
 * Sends every query once and records the kinds that were answered as expected.
 * @returns messages about those that were not, or were too slow
 */
export async function checkAnswers(
  context: BenchContext,
  contender: QueryContender,
  mix: readonly ExpectedQuery[],
): Promise<string[]> {
  const mistakes: string[] = [];
  for (const [kind, queries] of groupBy(mix, (query) => query.kind)) {
    if (contender.untimed.has(kind)) continue;
    const mistake = await mistakeIn(contender, queries);
    if (mistake === null) {
      contender.kinds.add(kind);
      continue;
    }
    contender.untimed.set(kind, mistake.short);
    mistakes.push(`${contender.name} is not timed on "${kind}": ${mistake.text}`);
  }
  for (const mistake of mistakes) context.say(mistake);
  return mistakes;
}

async function mistakeIn(
  contender: QueryContender,
  queries: readonly ExpectedQuery[],
): Promise<{ readonly short: string; readonly text: string } | null> {
  let wrong = 0;
  for (const { query, expected } of queries) {
    const startedMs = performance.now();
    const isRight = JSON.stringify(await ask(contender, query, expected)) === JSON.stringify(expected);
    const tookMs = performance.now() - startedMs;
    if (tookMs > slowestQueryMs) {
      const seconds = (tookMs / 1000).toFixed(1);
      return { short: `${seconds} s a query`, text: `one query alone took ${seconds} s.` };
    }
    if (!isRight) wrong += 1;
  }
  if (wrong === 0) return null;
  return { short: 'wrong answers', text: `${wrong} of ${queries.length} answers are wrong.` };
}

/** Sends a query. @returns the answer in the form of the expected one */
async function ask(
  contender: QueryContender,
  query: BenchQuery,
  expected: ExpectedAnswer,
): Promise<ExpectedAnswer> {
  const answer: QueryAnswer = JSON.parse(await answerText(contender, contender.request(query)));
  return inFormOf(expected, answer);
}

/** The text of an answer. @throws Error when the status is not 200 */
export async function answerText(
  { name, port }: Pick<QueryContender, 'name' | 'port'>,
  { method, path: target, headers = {}, body = '' }: HttpRequest,
): Promise<string> {
  const response = await fetch(`http://${host}:${port}${target}`, {
    method,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body,
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${name} answered ${response.status}: ${text}`);
  return text;
}

/** The parts of an answer that can be compared with the expected one. */
export function inFormOf(expected: ExpectedAnswer, answer: QueryAnswer): ExpectedAnswer {
  return {
    total: answer.totalResults,
    ids: expected.ids === null ? null : answer.results.map(({ _originId }) => _originId),
    facet:
      expected.facet === null
        ? null
        : (answer.facets[0]?.groups ?? []).map(({ value, count }) => [value, count]),
    marked:
      expected.marked === null
        ? null
        : [...new Set(answer.results.flatMap(({ _highlights }) => markedWords(_highlights?.text ?? '')))],
  };
}

/** The words that are marked in a text, as a search analyzes them; one empty string for none. */
function markedWords(text: string): string[] {
  const marked = Array.from(text.matchAll(/<em>(.*?)<\/em>/g), ([, word = '']) => wordsOf(word).join(' '));
  return marked.length === 0 ? [''] : marked;
}

export interface QueryAnswer {
  readonly totalResults: number;
  readonly results: readonly {
    readonly _originId: string;
    readonly _highlights?: { readonly text?: string };
  }[];
  readonly facets: readonly {
    readonly groups: readonly { readonly value: string; readonly count: number }[];
  }[];
}

/** Waits until the contender's queue is empty. */
export async function drain(contender: QueryContender, mix: readonly ExpectedQuery[]): Promise<void> {
  const [first] = mix;
  if (first !== undefined) await ask(contender, first.query, first.expected);
}

export function requestFileOf(
  context: BenchContext,
  contender: QueryContender,
  name: string,
  queries: readonly BenchQuery[],
): string {
  const file = `${name}-${contender.name}`.replaceAll(/[^a-z0-9]+/gi, '-');
  return prepareRequests(
    context,
    file,
    queries.map((query) => contender.request(query)),
  );
}
