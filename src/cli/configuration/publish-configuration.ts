/** Activates the configuration of a folder in a store, with confirmation if data would be lost. */

import { documentsDigest } from '../../config/documents/canonical.ts';
import { issueText, warningsText } from '../../config/documents/issue-text.ts';
import { loadConfiguration } from '../../config/documents/load.ts';
import { type ReadOutcome, readConfiguration } from '../../config/documents/read-documents.ts';
import { withRuntimeLookups } from '../../config/documents/tenant-folder.ts';
import type { Settings } from '../../config/settings/settings.ts';
import { type Loss, lossesBetween, lossesLine, lossesText } from '../../jobs/removal-plan.ts';
import { counted } from '../../lib/message-text.ts';
import {
  type ActiveDigest,
  type ConfigurationOrigin,
  ConfigurationRefusedError,
  type PublishedConfiguration,
  publishConfiguration,
  readActiveDigest,
  readPublished,
} from '../../store/configuration/published-configuration.ts';
import type { Store } from '../../store/store.ts';
import { CommandStop } from '../terminal/command-line.ts';

export type SoundConfiguration = Extract<ReadOutcome, { ok: true }>;

/** The configuration folder of a process, and where it comes from. */
export type FolderSettings = Pick<Settings, 'configDir' | 'isConfigDirGiven' | 'isConfigDirOwn' | 'demo'>;

/** Reads a valid configuration. @throws CommandStop with all errors, and a last line that says what to do */
export async function readSoundConfiguration(configDir: string): Promise<SoundConfiguration> {
  const outcome = await readConfiguration(configDir);
  if (outcome.ok) return outcome;
  throw new CommandStop(
    `${issueText(outcome.issues)}\n\n` +
      `The configuration in ${configDir} has ${counted(outcome.issues.length, 'error')}. To check it again: npm run check`,
  );
}

/** Callbacks for warnings and confirmation. */
export interface Publisher {
  /** Called before anything is changed. */
  onWarnings(text: string): void;
  /** Called if parts with data would be removed. @throws CommandStop to prevent that */
  consent(losses: readonly Loss[]): Promise<void> | void;
}

export interface Published {
  readonly generation: number;
  /** False if the configuration was already active. */
  readonly isNew: boolean;
}

/**
 * Reads the folder again, for `npm run apply` and SIGHUP. Without CONFIG_DIR it reads the repository's own folder, which may
 * only replace a configuration from that folder.
 * @throws CommandStop if nothing was changed; StoreUnavailableError
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
        ? 'CONFIG_DIR is not set and this store has no configuration yet. Set CONFIG_DIR to your configuration folder.'
        : `CONFIG_DIR is not set and ${otherConfiguration}. Set CONFIG_DIR to its folder; nothing was changed.`,
    );
  }
  const configuration = await readSoundConfiguration(settings.configDir);
  return await publishFolder(store, settings, configuration, active, publisher);
}

const otherSince =
  'the folder is unchanged since it was last applied to this store, so the configuration that was activated since then stays (npm run apply activates the folder again)';
const otherConfiguration = "this store has a configuration other than the repository's own";

/**
 * As `applyFolder`, for `npm start`. On an empty store it also uses the repository's own folder, for the demo.
 * @param say called with messages about what is kept and what is removed
 * @returns the generation; null if CONFIG_DIR is not set and the store has another configuration, which stays active
 * @throws CommandStop, ConfigurationRefusedError, StoreUnavailableError
 */
export async function publishAtStart(
  store: Store,
  settings: FolderSettings,
  configuration: SoundConfiguration,
  say: (text: string) => void,
): Promise<number | null> {
  const active = await readActiveDigest(store);
  const { digest } = configuration.configuration;
  const isSame = active?.digest === digest;
  if (active?.folder === documentsDigest(configuration.documents) && !isSame) {
    say(otherSince);
    return active.generation;
  }
  const isDemo = settings.isConfigDirOwn && settings.demo && active === null;
  if (!isDemo && !isSame && !isOfThisFolder(settings, active)) {
    if (active === null) {
      throw new CommandStop(
        'CONFIG_DIR is not set. Set it to your configuration folder, or leave DEMO on to see the demo.',
      );
    }
    say(`CONFIG_DIR is not set and ${otherConfiguration}, which stays active.`);
    return null;
  }
  if (isSame && active.origin === originOf(settings)) {
    // Publishes nothing, so that the platform starts even if no replica could confirm a publication.
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
  sayWarnings(sound, onWarnings);
  const published = active === null ? null : await readPublished(store);
  const { documents, configuration } = withLookups(sound, published);
  const losses = await lossesOf(store, configuration, published);
  if (losses.length > 0) await consent(losses);
  const origin = originOf(settings);
  try {
    const after = active?.generation ?? 0;
    const options = { origin, after, folder: documentsDigest(sound.documents) };
    const generation = await publishConfiguration(store, documents, configuration, options);
    return { generation, isNew: generation !== active?.generation };
  } catch (error) {
    if (error instanceof ConfigurationRefusedError) throw new CommandStop(error.message);
    throw error;
  }
}

/** The configuration of a folder, with the lookups that its code has requested at run time so far. */
function withLookups(
  { documents, configuration }: SoundConfiguration,
  published: PublishedConfiguration | null,
): Pick<SoundConfiguration, 'documents' | 'configuration'> {
  const kept = withRuntimeLookups(documents, published?.documents ?? new Map());
  const loaded = kept === documents ? null : loadConfiguration(kept, 'stored');
  return loaded?.ok ? { documents: kept, configuration: loaded.configuration } : { documents, configuration };
}

async function lossesOf(
  store: Store,
  configuration: SoundConfiguration['configuration'],
  published: PublishedConfiguration | null,
): Promise<readonly Loss[]> {
  const former = published === null ? null : loadConfiguration(published.documents, 'stored');
  return former?.ok ? await lossesBetween(store, former.configuration, configuration) : [];
}

/** For SIGHUP, where nobody can confirm. */
export const refusingLosses: Publisher = {
  onWarnings: () => {},
  consent: (losses) => {
    throw new CommandStop(
      `This removes parts of the configuration that have data: ${lossesLine(losses)}. To confirm, run: npm run apply -- --yes`,
    );
  },
};
