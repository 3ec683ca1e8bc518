/** An index that grows by repeating the same cities, with new ids and, in every repetition, other words. */

import type { BenchContext } from '../bench.ts';
import { cityItems, type Item, itemEntity, itemIndex, itemsTenant } from '../data/items.ts';
import { repeated } from '../data/many-cities.ts';
import { random, wordsFrom } from '../data/random.ts';
import { Client } from '../load/client.ts';
import { memoryOf, type ProcessMemory } from '../platform/memory.ts';
import { System } from '../platform/system.ts';

/** Items of one portion of a fill. The time is checked after each portion. */
const portionItems = 20_000;
/** Cities of a smoke run. They repeat when the index grows beyond them. */
const quickCities = 2_000;

export class GrownIndex {
  private count = 0;

  private constructor(
    private readonly context: BenchContext,
    readonly system: System,
    readonly client: Client,
    private readonly cities: readonly Item[],
  ) {}

  static async start(context: BenchContext): Promise<GrownIndex> {
    const { items } = await cityItems(context.quick ? quickCities : Number.POSITIVE_INFINITY);
    const system = await System.start(context, { tenants: [itemsTenant] });
    return new GrownIndex(context, system, new Client(context, system.baseUrl, itemsTenant), items);
  }

  get size(): number {
    return this.count;
  }

  get workerMemory(): ProcessMemory | null {
    return memoryOf(this.system.workerPid);
  }

  /** The first items of the index, whatever its size. */
  first(count: number): Item[] {
    return Array.from({ length: count }, (_, number) => this.itemAt(number));
  }

  /**
   * Grows until the index has `size` items and all can be found, or until no more than `reserveMs` of the run are left.
   * @returns whether it got there
   */
  async growTo(size: number, reserveMs: number): Promise<boolean> {
    while (this.count < size) {
      if (this.context.timeLeftMs() < reserveMs) {
        this.context.say(`the time suffices for ${this.count} items instead of ${size}`);
        return false;
      }
      await this.add(Math.min(portionItems, size - this.count));
    }
    return true;
  }

  /** Adds items. @returns items per second, from the first request until all can be found */
  async add(count: number): Promise<number> {
    const startedMs = performance.now();
    const items = Array.from({ length: count }, (_, index) => itemEntity(this.itemAt(this.count + index)));
    await this.client.importEntities(items);
    this.count += count;
    await this.client.waitForItems(itemIndex, this.count);
    return count / ((performance.now() - startedMs) / 1000);
  }

  private itemAt(number: number): Item {
    const { item: city, repetition } = repeated(this.cities, number);
    if (repetition === 0) return city;
    const next = random(number);
    return {
      ...city,
      id: `${city.id}-${repetition}`,
      text: `${wordsFrom(next, 2)} ${city.text}`,
      size: Math.floor(next() * 1e7),
    };
  }
}
