/** Interleaved rounds: every contender runs in every round, so that other work on the machine affects all of them. */
import type { BenchContext } from './bench.ts';

export interface Contender<T> {
  readonly name: string;
  measure(round: number): Promise<T>;
}

/**
 * Runs the rounds of the context. Each round starts with another contender. If there is no time for another one, the run ends
 * early and reports it.
 * @returns the measurements of each contender, in the order of the rounds
 */
export async function inRounds<T>(
  context: BenchContext,
  contenders: readonly Contender<T>[],
  rounds: number = context.rounds,
): Promise<Map<string, T[]>> {
  const results = new Map<string, T[]>(contenders.map(({ name }) => [name, []]));
  let longestMs = 0;
  for (let round = 0; round < rounds; round += 1) {
    if (round > 0 && context.timeLeftMs() < longestMs * 1.2) {
      context.say(`the time is over after ${round} of ${rounds} rounds`);
      break;
    }
    const startedMs = performance.now();
    for (const { name, measure } of rotated(contenders, round)) {
      results.get(name)?.push(await measure(round));
    }
    longestMs = Math.max(longestMs, performance.now() - startedMs);
    context.say(
      `round ${round + 1} of ${rounds} took ${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
    );
  }
  return results;
}

/** Like `inRounds`, for loads that do not affect each other. A smoke run, whose figures mean nothing, runs all at once. */
export async function loadsInRounds<T>(
  context: BenchContext,
  contenders: readonly Contender<T>[],
): Promise<Map<string, T[]>> {
  if (!context.quick) return await inRounds(context, contenders);
  const measured = await Promise.all(
    contenders.map(async ({ name, measure }): Promise<[string, T[]]> => [name, [await measure(0)]]),
  );
  return new Map(measured);
}

/** The items in their order, starting with another one. */
export function rotated<T>(items: readonly T[], by: number): T[] {
  const start = by % Math.max(1, items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}
