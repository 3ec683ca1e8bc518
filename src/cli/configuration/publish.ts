/** Makes the configuration of a folder the active one of a store, unless that would take away what nobody gave up. */
import { counted, issueText, warningsText } from '../../config/documents/issue-text.ts';
import { loadConfiguration } from '../../config/documents/load.ts';
import { type ReadOutcome, readConfiguration } from '../../config/documents/read.ts';
import type { Settings } from '../../config/settings/settings.ts';
import {
  type ActiveDigest,
  type ConfigurationOrigin,
  ConfigurationRefusedError,
  publishConfiguration,
  readActiveDigest,
  readPublished,
} from '../../store/configuration/published-configuration.ts';
import type { Store } from '../../store/store.ts';
import { CommandStop } from '../terminal/command-stop.ts';
import { type Loss, lossesBetween, lossesLine, lossesText } from './removal-plan.ts';

export type SoundConfiguration = Extract<ReadOutcome, { ok: true }>;

/** Which folder a process has, and whether somebody said so. */
export type FolderSettings = Pick<Settings, 'configDir' | 'isConfigDirGiven' | 'isConfigDirOwn' | 'demo'>;

/** @throws CommandStop with every mistake, and one line at its end that says what to do */
export async function readSoundConfiguration(configDir: string): Promise<SoundConfiguration> {
  const outcome = await readConfiguration(configDir);
  if (outcome.ok) return outcome;
  throw new CommandStop(
    `${issueText(outcome.issues)}\n\n` +
      `The configuration in ${configDir} has ${counted(outcome.issues.length, 'mistake')}: correct the above, then run npm run check`,
  );
}

/** Whoever publishes tells people what it found. */
export interface Publisher {
  /** Said before anything is changed. */
  onWarnings(text: string): void;
  /** Called when something goes that has data. @throws CommandStop when it must stay */
  consent(losses: readonly Loss[]): Promise<void> | void;
}

export interface Published {
  readonly generation: number;
  /** False when it was the active one already. */
  readonly isNew: boolean;
}

/**
 * `npm run apply` and SIGHUP: the folder is read again. A process that was told of no folder has this repository's own in
 * mind, which replaces itself alone.
 * @throws CommandStop, whose message is for people; then nothing is changed. StoreUnavailableError
 */
export async function applyFolder(
  store: Store,
  settings: FolderSettings,
  publisher: Publisher,
): Promise<Published> {
  const active = await readActiveDigest(store);
  if (!isOfThisFolder(settings, active)) {
    throw new CommandStop(
      active === null
        ? 'CONFIG_DIR is not set and this store has no configuration yet: set CONFIG_DIR to the folder of yours.'
        : `CONFIG_DIR is not set and ${otherConfiguration}: set CONFIG_DIR to the folder of that one. Nothing was changed.`,
    );
  }
  const configuration = await readSoundConfiguration(settings.configDir);
  return await publishFolder(store, settings, configuration, active, publisher);
}

const otherConfiguration = "this store runs another configuration than the repository's own";

/**
 * `npm start`: as above, and on an empty store the repository's own folder is taken for the demo.
 * @param say told what is left as it is, and what goes
 * @returns the generation; null when the store runs something else than a folder that nobody named: that stays
 * @throws CommandStop, ConfigurationRefusedError, StoreUnavailableError
 */
export async function publishAtStart(
  store: Store,
  settings: FolderSettings,
  configuration: SoundConfiguration,
  say: (text: string) => void,
): Promise<number | null> {
  const active = await readActiveDigest(store);
  const isDemo = settings.isConfigDirOwn && settings.demo && active === null;
  const isSame = active?.digest === configuration.configuration.digest;
  if (!isDemo && !isSame && !isOfThisFolder(settings, active)) {
    if (active === null) {
      throw new CommandStop(
        'CONFIG_DIR is not set: set it to the folder of your configuration, or leave DEMO on to see the demo.',
      );
    }
    say(`CONFIG_DIR is not set and ${otherConfiguration}, which stays the active one.`);
    return null;
  }
  if (isSame && active.origin === originOf(settings)) {
    // A platform comes up with what it has, whether or not a replica could confirm that.
    sayWarnings(configuration, say);
    return active.generation;
  }
  const { generation } = await publishFolder(store, settings, configuration, active, {
    onWarnings: say,
    consent: (losses) => say(lossesText(losses)),
  });
  return generation;
}

function isOfThisFolder(
  { isConfigDirGiven, isConfigDirOwn }: FolderSettings,
  active: ActiveDigest | null,
): boolean {
  return isConfigDirGiven || (isConfigDirOwn && active?.origin === 'own');
}

function originOf({ isConfigDirOwn }: FolderSettings): ConfigurationOrigin {
  return isConfigDirOwn ? 'own' : 'other';
}

function sayWarnings({ warnings }: SoundConfiguration, say: (text: string) => void): void {
  if (warnings.length > 0) say(warningsText(warnings));
}

async function publishFolder(
  store: Store,
  settings: FolderSettings,
  sound: SoundConfiguration,
  active: ActiveDigest | null,
  { onWarnings, consent }: Publisher,
): Promise<Published> {
  const { documents, configuration } = sound;
  sayWarnings(sound, onWarnings);
  const losses = active === null ? [] : await lossesOf(store, configuration);
  if (losses.length > 0) await consent(losses);
  const origin = originOf(settings);
  try {
    const after = active?.generation ?? 0;
    const generation = await publishConfiguration(store, documents, configuration, { origin, after });
    return { generation, isNew: generation !== active?.generation };
  } catch (error) {
    if (error instanceof ConfigurationRefusedError) throw new CommandStop(error.message);
    throw error;
  }
}

async function lossesOf(
  store: Store,
  configuration: SoundConfiguration['configuration'],
): Promise<readonly Loss[]> {
  const published = await readPublished(store);
  const former = published === null ? null : loadConfiguration(published.documents, 'stored');
  return former?.ok ? await lossesBetween(store, former.configuration, configuration) : [];
}

/** SIGHUP has nobody to ask. */
export const refusingLosses: Publisher = {
  onWarnings: () => {},
  consent: (losses) => {
    throw new CommandStop(
      `It no longer has what data exist for: ${lossesLine(losses)}. If that is meant: npm run apply -- --yes`,
    );
  },
};
