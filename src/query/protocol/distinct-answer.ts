/**
 * A worker's answer to a query with `distinct` if other workers have rows too: the first item of each value, with enough of its
 * place to compare it with those of others. The front decides which items represent their values (`front/decide-distinct.ts`),
 * and requests complete places where necessary. Then it runs the query again.
 */
import type { EntityRef } from '../../contract/ids.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';
import { type CheckedQuery, populationsOf } from '../../search/checked-query.ts';
import { distinctValuesMax, type SentPlace } from '../../search/distinct/sent-place.ts';
import type { PlainValue } from '../../search/packed-values.ts';
import type { Shard, TakeFirst } from '../../search/shard/shard.ts';
import type { RowPlace } from '../../search/shard-answer.ts';
import type { MessageBody } from '../transport/messages.ts';
import { distinctTooLarge, encodeRefusal, throwRefusal } from './shard-reply.ts';

/** The first item of a value in one shard. */
export interface FirstOfValue {
  /** From `nameOfValue`. */
  readonly name: PlainValue;
  readonly place: SentPlace;
}

type PackedFirst = [name: PlainValue, values: SentPlace['values'], originId: string, sourceIndex: number];

/** First items are parsed in chunks of this many characters. */
const chunkUnits = 65_536;

/** Collects first items as JSON. */
class FirstsText {
  readonly #sources = new Map<string, number>();
  readonly #chunks: string[] = [];
  #texts: string[] = [];
  #chunkUnits = 0;

  add({ name, place: { values, originId, sourceId } }: FirstOfValue): void {
    const known = this.#sources.get(sourceId);
    const sourceIndex = known ?? this.#sources.size;
    if (known === undefined) this.#sources.set(sourceId, sourceIndex);
    const packed: PackedFirst = [name, values, originId, sourceIndex];
    const text = JSON.stringify(packed);
    this.#texts.push(text);
    this.#chunkUnits += text.length;
    if (this.#chunkUnits >= chunkUnits) this.#endChunk();
  }

  /** Sources, and first items as JSON lists. */
  get body(): MessageBody {
    this.#endChunk();
    return [[...this.#sources.keys()], this.#chunks];
  }

  #endChunk(): void {
    if (this.#texts.length > 0) this.#chunks.push(`[${this.#texts.join()}]`);
    this.#texts = [];
    this.#chunkUnits = 0;
  }
}

/** The first items of each population of the query, or a refusal. @param shard null if this worker has no items */
export function* encodeFirsts(query: CheckedQuery, shard: Shard | null): Steps<MessageBody> {
  const texts = populationsOf(query).map(() => new FirstsText());
  let room = distinctValuesMax(query);
  const take: TakeFirst = (populationIndex, name, place) => {
    texts[populationIndex]?.add({ name, place });
    room -= 1;
    return room >= 0;
  };
  const isComplete = shard === null || (yield* shard.firsts(query, take));
  return isComplete ? texts.map(({ body }) => body) : encodeRefusal(distinctTooLarge);
}

/** The first items of a population, in portions that are parsed one by one. @throws RefusedQueryError */
export function* decodeFirsts(body: MessageBody, populationIndex: number): Generator<FirstOfValue[]> {
  throwRefusal(body);
  const populations = body as [string[], string[]][];
  const [sources, chunks] = populations[populationIndex] ?? [[], []];
  for (const chunk of chunks) {
    yield (JSON.parse(chunk) as PackedFirst[]).map(([name, values, originId, sourceIndex]) => {
      return { name, place: { values, originId, sourceId: sources[sourceIndex] ?? '' } };
    });
  }
}

/** Maximum number of characters of the places in one answer, without the last one. */
const placesUnitsMax = 4 * 1024 * 1024;

/** The places of the items as JSON, in order, as many as fit; null for an item that is not here. */
export function* encodePlaces(
  query: CheckedQuery,
  refs: readonly EntityRef[],
  shard: Shard | null,
): Steps<MessageBody> {
  if (shard === null) return refs.map(() => null);
  const texts: (string | null)[] = [];
  let units = 0;
  yield* shard.places(query, refs, (place) => {
    const text = place && JSON.stringify(place);
    texts.push(text);
    units += text?.length ?? 0;
    return units < placesUnitsMax;
  });
  return texts;
}

/** The places of the first of the requested items. @throws RefusedQueryError */
export function decodePlaces(body: MessageBody): (RowPlace | null)[] {
  throwRefusal(body);
  return (body as (string | null)[]).map((text) => (text === null ? null : (JSON.parse(text) as RowPlace)));
}
