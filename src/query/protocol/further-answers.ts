/** Answers of a second round: exact counts of facets, and JSON texts of rows. */
import { chain, mapInTurn, type Resumable, repeat, workBudget } from '../../lib/cooperative-yield.ts';
import type { FacetGroup, FacetGroups, TextScale } from '../../search/shard-answer.ts';
import { SizeBudget } from '../result/facets-text.ts';
import type { MessageBody } from '../transport/messages.ts';
import { encodeRefusal, facetsTooLarge, throwRefusal } from './refusal.ts';

/** A facet's groups as JSON lists. */
type PackedCounts = [scale: TextScale | null, portions: string[]];

/** Groups are parsed in portions of this many characters. */
const portionUnits = 65_536;
/** The cost of writing a group, in units of the work budget, besides its characters. */
const unitsPerGroup = 40;

/** The groups of facets or a refusal, in steps. */
export function encodeCounts(counts: readonly FacetGroups[]): Resumable<MessageBody> {
  const budget = new SizeBudget();
  const packed = mapInTurn(counts, ({ groups, scale }) =>
    chain(portionTexts(groups, budget), (texts): PackedCounts => [scale ?? null, texts]),
  );
  return chain(packed, (body) => (budget.isExceeded ? encodeRefusal(facetsTooLarge) : body));
}

function portionTexts(groups: readonly FacetGroup[], budget: SizeBudget): Resumable<string[]> {
  const portions: string[] = [];
  let texts: string[] = [];
  let units = 0;
  const written = repeat((at) => {
    const group = groups[at];
    if (texts.length > 0 && (group === undefined || units >= portionUnits)) {
      portions.push(`[${texts.join()}]`);
      texts = [];
      units = 0;
    }
    if (group === undefined || budget.isExceeded) return false;
    const text = JSON.stringify(group);
    texts.push(text);
    units += text.length;
    budget.take(text.length + 1);
    workBudget.units += unitsPerGroup + text.length;
    return true;
  });
  return chain(written, () => portions);
}

/** A portion of the groups of a facet, from one worker. */
export interface CountedPortion {
  readonly groups: readonly FacetGroup[];
  readonly scale: TextScale | undefined;
}

/** The groups of one of the facets, in portions that are parsed one by one. @throws RefusedQueryError */
export function* decodeCounts(body: MessageBody, needIndex: number): Generator<CountedPortion> {
  throwRefusal(body);
  const [scale, portions] = (body as PackedCounts[])[needIndex] ?? [null, []];
  for (const text of portions) yield { groups: JSON.parse(text) as FacetGroup[], scale: scale ?? undefined };
}

/** Number of characters of an answer from `encodeCounts`. @throws RefusedQueryError */
export function countsLength(body: MessageBody): number {
  throwRefusal(body);
  return (body as PackedCounts[])
    .flatMap(([, portions]) => portions)
    .reduce((sum, { length }) => sum + length, 0);
}

/** @param fields JSON text of the fields of each row; null for a row that is not here */
export function encodeTexts(fields: readonly (Buffer | null)[]): MessageBody {
  return fields;
}

/** The texts in the order of the request. @throws RefusedQueryError */
export function decodeTexts(body: MessageBody): (Buffer | null)[] {
  throwRefusal(body);
  return body as (Buffer | null)[];
}
