/** What `dev` reports while it runs: builds that fail, and types of entities that no schema takes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Configuration } from '../../config/configuration.ts';
import { counted } from '../../config/documents/issue-text.ts';
import { parseEntityId } from '../../contract/ids.ts';
import { readActiveDigest } from '../../store/configuration/published-configuration.ts';
import type { RedisAddress } from '../../store/redis/redis-connection.ts';
import { StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import type { Store } from '../../store/store.ts';
import { diagnose } from '../../verify/diagnostics/diagnose.ts';
import { DiagnosticGroups, type LocatedDiagnostic } from '../../verify/diagnostics/located-diagnostic.ts';
import { TypeCounts } from '../../verify/diagnostics/type-counts.ts';
import { activeConfiguration } from '../configuration/load-active-configuration.ts';
import { type StoreSettings, withStore } from '../platform/open-store.ts';

const redisTimeoutMs = 5_000;
const lookEveryMs = 1_000;
/** A store beyond this is left to `diagnostics`: to build all of it after each change would slow the change down. */
const entitiesMax = 5_000;
const linesMax = 10;

type Say = (text: string) => void;

/** Reports until the signal aborts. */
export async function followFindings(
  address: RedisAddress,
  settings: StoreSettings,
  signal: AbortSignal,
  say: Say,
): Promise<void> {
  try {
    await withStore(address, settings, redisTimeoutMs, async (store) => {
      const findings = new Findings(store, signal, say);
      while (!signal.aborted) {
        await findings.look().catch(ignoreOutage);
        await sleep(lookEveryMs, undefined, { signal });
      }
    });
  } catch (error) {
    if (!signal.aborted) say(`Failing builds are no longer reported: ${String(error)}`);
  }
}

/** Redis may restart; the next look finds it again. */
function ignoreOutage(error: unknown): void {
  if (!(error instanceof StoreUnavailableError)) throw error;
}

class Findings {
  #generation = 0;
  #configuration: Configuration | null = null;
  /** Digest of the folder that the reported failures are of. */
  #folder: string | null = null;
  readonly #reported = new Set<string>();

  constructor(
    private readonly store: Store,
    private readonly signal: AbortSignal,
    private readonly say: Say,
  ) {}

  /** Failures are looked for in each new configuration, types without a schema at every look. */
  async look(): Promise<void> {
    const active = await readActiveDigest(this.store);
    if (active === null) return;
    if (active.generation !== this.#generation) {
      this.#configuration = (await activeConfiguration(this.store, null)).configuration;
      if (active.folder !== this.#folder) this.#reported.clear();
      this.#folder = active.folder;
      // Another generation of the same folder has lookups that its code asked for: more builds come to their end.
      for (const line of await failureLines(this.store, this.#configuration, this.signal)) this.#report(line);
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

  /** @param key what makes it the same report */
  #report(line: string, key = line): void {
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.say(line);
  }
}

/** Thrown to end a look at a large store. */
class TooMany extends Error {}

async function failureLines(
  store: Store,
  configuration: Configuration,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const groups = new DiagnosticGroups();
  const onDiagnostic = (finding: LocatedDiagnostic) => {
    if (finding.kind === 'schemaFailed') groups.add(finding);
  };
  const onProgress = (_: number, total: number) => {
    signal.throwIfAborted();
    if (total > entitiesMax) throw new TooMany();
  };
  try {
    await diagnose({ store, configuration, tenant: null, onProgress, onDiagnostic });
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
    return [
      `More than ${entitiesMax} entities are stored. To find builds that fail, run npm run diagnostics`,
    ];
  }
  const lines = [...new Set(groups.all.map(failureLine))];
  const more = lines.length - linesMax;
  if (more <= 0) return lines;
  return [...lines.slice(0, linesMax), `${more} more failures: run npm run diagnostics`];
}

/** @param place file, line and column in a schema in code; a JSON path in another */
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
