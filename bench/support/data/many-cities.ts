/** Generates any number of cities by repeating the data set, with new ids, URLs and names in each repetition. */
import { random, wordsFrom } from './random.ts';
import { cityEntities, type Entity, textOf } from './sets.ts';

/** The item at an index of an endlessly repeated list. @param number from 0 */
export function repeated<T>(
  items: readonly T[],
  number: number,
): { readonly item: T; readonly repetition: number } {
  const item = items[number % items.length];
  if (item === undefined) throw new RangeError('there are no items');
  return { item, repetition: Math.floor(number / items.length) };
}

export class ManyCities {
  private constructor(
    /** Continents, countries and regions. */
    readonly places: readonly Entity[],
    private readonly cities: readonly Entity[],
  ) {}

  /** @param citiesMax limits the cities from the data set */
  static async read(citiesMax = Number.POSITIVE_INFINITY): Promise<ManyCities> {
    const entities = await cityEntities(citiesMax);
    const cities = entities.filter(({ type }) => type === 'city');
    return new ManyCities(
      entities.filter(({ type }) => type !== 'city'),
      cities,
    );
  }

  /** The cities from number `from` up to, but not including, `to`. */
  *range(from: number, to: number): Generator<Entity> {
    for (let number = from; number < to; number += 1) yield this.at(number);
  }

  /** Random cities with numbers below `below`. */
  some(count: number, below: number, seed: number): Entity[] {
    const next = random(seed);
    return Array.from({ length: count }, () => this.at(Math.floor(next() * below)));
  }

  /** @param number from 0 */
  at(number: number): Entity {
    const { item: city, repetition } = repeated(this.cities, number);
    if (repetition === 0) return city;
    const next = random(number);
    return {
      ...city,
      originId: `${city.originId}-${repetition}`,
      url: city.url === null ? null : `${city.url}-${repetition}`,
      redirects: [],
      properties: {
        ...city.properties,
        name: `${wordsFrom(next, 1)} ${textOf(city, 'name')}`,
        population: Math.floor(next() * 1e7),
      },
    };
  }
}
