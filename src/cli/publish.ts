import { counted, issueText } from '../config/issue-text.ts';
import { type ReadOutcome, readConfiguration } from '../config/read.ts';
import { publishConfiguration } from '../store/configuration.ts';
import type { RedisAddress } from '../store/connection.ts';
import { CommandStop } from './command-stop.ts';
import { noAnswer, withStore } from './open-store.ts';

export type SoundConfiguration = Extract<ReadOutcome, { ok: true }>;

const redisTimeoutMs = 5_000;

/** @throws CommandStop with every mistake, and one line at its end that says what to do */
export async function readSoundConfiguration(configDir: string): Promise<SoundConfiguration> {
  const outcome = await readConfiguration(configDir);
  if (outcome.ok) return outcome;
  throw new CommandStop(
    `${issueText(outcome.issues)}\n\n` +
      `The configuration in ${configDir} has ${counted(outcome.issues.length, 'mistake')}: correct the above, then run npm run check`,
  );
}

/**
 * Makes a configuration the active one of a store. @returns its generation
 * @throws CommandStop when Redis does not answer or the store has another number of partitions
 */
export async function publish(
  { documents, configuration }: SoundConfiguration,
  address: RedisAddress,
  partitionCount: number,
): Promise<number> {
  return await withStore(address, partitionCount, redisTimeoutMs, async (store) => {
    try {
      return await publishConfiguration(store, documents, configuration);
    } catch (error) {
      throw noAnswer(address, error);
    }
  });
}
