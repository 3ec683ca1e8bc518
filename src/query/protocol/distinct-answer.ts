/**
 * A worker's answer to a query with `distinct`, when other workers have rows too: the place of the first item of each
 * value here. The front finds the items that stand for their values, and asks again (`front/decide-distinct.ts`).
 */
import { distinctUnitsMax } from '../../contract/limits.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { PlainValue } from '../../search/columns/value-dictionary.ts';
import { chain, type Maybe } from '../../search/pace.ts';
import { populationsOf } from '../../search/populations.ts';
import type { Shard } from '../../search/shard/shard.ts';
import type { RowPlace } from '../../search/shard-answer.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';
import { distinctTooLarge, encodeRefusal, throwRefusal } from './refusal.ts';

/** The place of the first item of a value, of one shard. */
export interface FirstOfValue {
  readonly value: PlainValue;
  readonly place: RowPlace;
}

type PackedFirst = [value: PlainValue, values: RowPlace['values'], originId: string, sourceIndex: number];

/** Firsts are parsed so many characters at a time. */
const chunkUnits = 65_536;

/** Gathers firsts as JSON texts. */
class FirstsText {
  readonly #sources = new Map<string, number>();
  readonly #chunks: string[] = [];
  #texts: string[] = [];
  #chunkUnits = 0;
  units = 0;

  add(value: PlainValue, { values, originId, sourceId }: RowPlace): void {
    const known = this.#sources.get(sourceId);
    const sourceIndex = known ?? this.#sources.size;
    if (known === undefined) this.#sources.set(sourceId, sourceIndex);
    const packed: PackedFirst = [value, values, originId, sourceIndex];
    const text = JSON.stringify(packed);
    this.#texts.push(text);
    this.units += text.length;
    this.#chunkUnits += text.length;
    if (this.#chunkUnits >= chunkUnits) this.#endChunk();
  }

  /** Sources, and firsts as JSON lists. */
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

/** The firsts of each population of the query, or their refusal, in steps. @param shard null: no item is here */
export function encodeFirsts(query: CheckedQuery, shard: Shard | null): Maybe<MessageBody> {
  const texts = populationsOf(query).map(() => new FirstsText());
  const unitsOf = () => texts.reduce((sum, { units }) => sum + units, 0);
  if (shard === null) return texts.map(({ body }) => body);
  const taken = shard.firsts(query, (populationIndex, value, place) => {
    texts[populationIndex]?.add(value, place);
    return unitsOf() <= distinctUnitsMax;
  });
  return chain(taken, (isWhole) =>
    isWhole ? texts.map(({ body }) => body) : encodeRefusal(distinctTooLarge),
  );
}

/** Characters of the firsts in an answer from `encodeFirsts`. @throws RefusedQueryError */
export function firstsLength(body: MessageBody): number {
  throwRefusal(body);
  const populations = body as [string[], string[]][];
  return populations.reduce(
    (sum, [, chunks]) => sum + chunks.reduce((units, { length }) => units + length, 0),
    0,
  );
}

/** The firsts of a population, in portions that are parsed one by one. */
export function* decodeFirsts(body: MessageBody, populationIndex: number): Generator<FirstOfValue[]> {
  const populations = body as [string[], string[]][];
  const [sources, chunks] = populations[populationIndex] ?? [[], []];
  for (const chunk of chunks) {
    yield (JSON.parse(chunk) as PackedFirst[]).map(([value, values, originId, sourceIndex]) => {
      return { value, place: { values, originId, sourceId: sources[sourceIndex] ?? '' } };
    });
  }
}
