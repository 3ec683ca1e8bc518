/** Answers of a second round: exact counts of facets, and JSON texts of rows. */
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { FacetGroup, FacetGroups, TextScale } from '../../search/shard-answer.ts';
import { SizeBudget } from '../result/result-text.ts';
import type { MessageBody } from '../transport/messages.ts';
import { encodeRefusal, facetsTooLarge, throwRefusal } from './shard-reply.ts';

/** A facet's groups as JSON lists. */
type PackedCounts = [scale: TextScale | null, portions: string[]];

/** Groups are parsed in portions of this many characters. */
const portionUnits = 65_536;
/** The cost of writing a group, in units of the work budget, besides its characters. */
const unitsPerGroup = 40;

/** The groups of facets or a refusal. */
export function* encodeCounts(counts: readonly FacetGroups[]): Steps<MessageBody> {
  const budget = new SizeBudget();
  const packed: PackedCounts[] = [];
  for (const { groups, scale } of counts) {
    packed.push([scale ?? null, yield* portionTexts(groups, budget)]);
    if (budget.isExceeded) return encodeRefusal(facetsTooLarge);
  }
  return packed;
}

function* portionTexts(groups: readonly FacetGroup[], budget: SizeBudget): Steps<string[]> {
  const portions: string[] = [];
  let texts: string[] = [];
  let units = 0;
  for (const group of groups) {
    const text = JSON.stringify(group);
    texts.push(text);
    units += text.length;
    workBudget.units += unitsPerGroup + text.length;
    if (!budget.take(text.length + 1)) break;
    if (units >= portionUnits) {
      portions.push(`[${texts.join()}]`);
      texts = [];
      units = 0;
    }
    if (workBudget.isOver()) yield;
  }
  if (texts.length > 0) portions.push(`[${texts.join()}]`);
  return portions;
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

/**
 * The JSON text of the fields of each requested row, in order; null for a row that is not there, or not as it was.
 * @throws RefusedQueryError
 */
export function decodeTexts(body: MessageBody): (Buffer | null)[] {
  throwRefusal(body);
  return body as (Buffer | null)[];
}
