/** What workers were asked before: front ends ask the same queries again and again, and their text is read once. */
import { queryIdentity } from '../../search/check/query.ts';
import type { RowPlace } from '../../search/shard-answer.ts';
import { itemIndexField, type ScopedIndex } from '../../store/derived/items.ts';
import { sealToken } from '../front/token.ts';
import { type Ask, decodeAsks } from '../protocol/wire.ts';

/** Requests remembered, and the longest one. */
const asksRemembered = 2000;
const asksLengthMax = 8192;

export interface KnownAsk {
  /** From `itemIndexField`. */
  readonly shardName: string;
  /** Whose index is asked. */
  readonly tenant: string;
  /** Of the index that is asked. */
  readonly index: string;
  readonly ask: Ask;
  /** Token of the page behind a row of it; only for the kind `answer`. */
  readonly seal: (last: RowPlace) => string;
}

export class KnownAsks {
  readonly #known = new Map<string, readonly KnownAsk[]>();

  constructor(private readonly secret: Buffer) {}

  /** @param asks from `encodeAsks` */
  read(asks: string): readonly KnownAsk[] {
    return this.#known.get(asks) ?? this.#readAnew(asks);
  }

  #readAnew(asks: string): readonly KnownAsk[] {
    const read = decodeAsks(asks).map(({ ask, scope, index }) => ({
      shardName: itemIndexField({ scope, index }),
      tenant: scope.tenant,
      index,
      ask,
      seal: sealerOf(this.secret, { scope, index }, ask),
    }));
    if (asks.length > asksLengthMax) return read;
    const [oldest] = this.#known.keys();
    if (this.#known.size >= asksRemembered && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(asks, read);
    return read;
  }
}

function sealerOf(secret: Buffer, index: ScopedIndex, ask: Ask): KnownAsk['seal'] {
  if (ask.kind !== 'answer') return unsealed;
  const { query } = ask;
  let identity: string | null = null;
  let last: RowPlace | null = null;
  let token = '';
  return (place) => {
    if (last !== null && isSamePlace(last, place)) return token;
    identity ??= queryIdentity(query);
    token = sealToken(secret, { ...index, identity }, place);
    last = place;
    return token;
  };
}

function unsealed(): never {
  throw new TypeError('only an answer has a page behind it');
}

/** Signing costs as much as a whole query, and the same page ends with the same row. */
function isSamePlace(a: RowPlace, b: RowPlace): boolean {
  return (
    a.originId === b.originId &&
    a.sourceId === b.sourceId &&
    a.values.length === b.values.length &&
    a.values.every((value, at) => Object.is(value, b.values[at]))
  );
}
