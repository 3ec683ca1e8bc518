/** Very many references to items as JSON texts, which are parsed one by one, and so without a long pause. */
import type { EntityRef } from '../../contract/ids.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';

/** Items of one text. */
const refsPerText = 1000;
/** The cost of parsing a character, in units of the pace. */
const unitsPerCharacter = 2;

export class RefTexts {
  readonly #texts: string[] = [];
  readonly #bySource = new Map<string, string[]>();

  add({ sourceId, originId }: EntityRef): void {
    const originIds = this.#bySource.get(sourceId) ?? [];
    this.#bySource.set(sourceId, originIds);
    originIds.push(originId);
    if (originIds.length < refsPerText) return;
    this.#end(sourceId, originIds);
    this.#bySource.delete(sourceId);
  }

  get texts(): readonly string[] {
    const rest = new RefTexts();
    for (const [sourceId, originIds] of this.#bySource) rest.#end(sourceId, originIds);
    return [...this.#texts, ...rest.#texts];
  }

  #end(sourceId: string, originIds: readonly string[]): void {
    this.#texts.push(JSON.stringify([sourceId, ...originIds]));
  }
}

/** Gives the items of `RefTexts` to `take`, in steps. */
export function* eachRef(
  texts: readonly string[],
  take: (sourceId: string, originId: string) => void,
): Steps<void> {
  for (const text of texts) {
    const [sourceId = '', ...originIds] = JSON.parse(text) as string[];
    workBudget.units += unitsPerCharacter * text.length;
    for (const originId of originIds) {
      take(sourceId, originId);
      if (workBudget.isOver()) yield;
    }
  }
}
