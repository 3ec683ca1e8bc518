/** Reports findings while `dev` runs: failed builds, and entity types without a schema. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Configuration } from '../../config/configuration.ts';
import { parseEntityId } from '../../contract/ids.ts';
import { counted } from '../../lib/message-text.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import { readActiveDigest } from '../../store/configuration/published-configuration.ts';
import type { RedisAddress } from '../../store/redis/redis-connection.ts';
import { StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import type { Store } from '../../store/store.ts';
import { type DiagnoseOptions, diagnose } from '../../verify/diagnostics/diagnose.ts';
import { DiagnosticGroups, type LocatedDiagnostic } from '../../verify/diagnostics/located-diagnostic.ts';
import { TypeCounts } from '../../verify/diagnostics/type-counts.ts';
import { activeConfiguration, type StoreSettings, withStore } from '../platform/open-store.ts';

const redisTimeoutMs = 5_000;
const pollMs = 1_000;
/** Larger stores are not checked, because building all entities after each change would slow the change down. */
const entitiesMax = 5_000;
const linesMax = 10;

type Say = (text: string) => void;

/** Options of `followFindings`. */
export interface Followed {
  readonly address: RedisAddress;
  readonly settings: StoreSettings;
  readonly signal: AbortSignal;
  readonly say: Say;
  /** Number of changes of the folder so far. */
  changes(): number;
  /** Waits until the workers have applied the configuration, which the search for failures must not delay. */
  settled(): Promise<void>;
}

/** Reports until the signal aborts. */
export async function followFindings(followed: Followed): Promise<void> {
  const { address, settings, signal, say } = followed;
  const sandbox = new Sandbox();
  try {
    await withStore(address, settings, redisTimeoutMs, async (store) => {
      const findings = new Findings(store, sandbox, followed);
      while (!signal.aborted) {
        await findings.poll().catch(ignoreOutage);
        await sleep(pollMs, undefined, { signal });
      }
    });
  } catch (error) {
    if (!signal.aborted) say(`Failing builds are no longer reported: ${String(error)}`);
  } finally {
    sandbox.close();
  }
}

/** Redis may be restarting: the next poll tries again. */
function ignoreOutage(error: unknown): void {
  if (!(error instanceof StoreUnavailableError)) throw error;
}

class Findings {
  #generation = 0;
  #configuration: Configuration | null = null;
  /** Digest of the folder with the reported failures. */
  #folder: string | null = null;
  readonly #reported = new Set<string>();

  constructor(
    private readonly store: Store,
    private readonly sandbox: Sandbox,
    private readonly followed: Followed,
  ) {}

  /** Searches for failures once in each new configuration, and for types without a schema in every poll. */
  async poll(): Promise<void> {
    const active = await readActiveDigest(this.store);
    if (active === null) return;
    if (active.generation !== this.#generation) {
      this.#configuration = (await activeConfiguration(this.store, null)).configuration;
      if (active.folder !== this.#folder) this.#reported.clear();
      this.#folder = active.folder;
      // A new generation of the same folder has additional lookups that its code requested, so further builds can fail.
      const lines = await this.#failures(this.#configuration);
      // Interrupted by the next change.
      if (lines === null) return;
      for (const line of lines) this.#report(line);
      this.#generation = active.generation;
    }
    if (this.#configuration !== null) await this.#reportTypes(this.#configuration);
  }

  async #reportTypes({ tenants }: Configuration): Promise<void> {
    for (const tenant of tenants.values()) {
      for (const finding of (await TypeCounts.read(this.store, tenant)).findings([tenant])) {
        if (finding.kind === 'typeUnused')
          this.#report(`${finding.message} (${exampleOf(finding)})`, finding.message);
      }
    }
  }

  /** @param key identifies equal reports */
  #report(line: string, key = line): void {
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.followed.say(line);
  }

  /** Null if the folder changes before the end. */
  async #failures(configuration: Configuration): Promise<readonly string[] | null> {
    const { signal, changes, settled } = this.followed;
    const before = changes();
    const onProgress = (_: number, total: number) => {
      signal.throwIfAborted();
      if (changes() !== before) throw new Interrupted();
      if (total > entitiesMax) throw new TooMany();
    };
    try {
      await settled();
      return await failureLines({ store: this.store, configuration, sandbox: this.sandbox, onProgress });
    } catch (error) {
      if (error instanceof Interrupted) return null;
      if (!(error instanceof TooMany)) throw error;
      return [
        `More than ${entitiesMax} entities are stored. To find builds that fail, run npm run diagnostics`,
      ];
    }
  }
}

/** Thrown to end the check of a large store. */
class TooMany extends Error {}

/** Thrown to end the check after another change. */
class Interrupted extends Error {}

async function failureLines(
  options: Pick<DiagnoseOptions, 'store' | 'configuration' | 'onProgress'> & { readonly sandbox: Sandbox },
): Promise<readonly string[]> {
  const groups = new DiagnosticGroups();
  const onDiagnostic = (finding: LocatedDiagnostic) => {
    if (finding.kind === 'schemaFailed') groups.add(finding);
  };
  await diagnose({ ...options, tenant: null, onDiagnostic });
  const lines = [...new Set(groups.all.map(failureLine))];
  const more = lines.length - linesMax;
  if (more <= 0) return lines;
  return [...lines.slice(0, linesMax), `${more} more failures: run npm run diagnostics`];
}

/** `place` is a file, line and column in a schema in code, and a JSON path in other schemas. */
function failureLine(finding: LocatedDiagnostic): string {
  const { schema = '', place = '', message } = finding;
  return `${place}: ${message}. The schema ${schema} fails for ${exampleOf(finding)}`;
}

function exampleOf({ count, entityId = '' }: LocatedDiagnostic): string {
  const originId = parseEntityId(entityId)?.originId ?? entityId;
  return count === 1
    ? `the entity ${originId}`
    : `${counted(count, 'entity', 'entities')}, for example ${originId}`;
}
