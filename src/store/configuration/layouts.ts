/**
 * The complete lookup layout of each source. A new configuration may require another layout. Until every entity is indexed in
 * the new one, lookups read the complete one, and entities are indexed in both. The forms of URL claims, which change
 * similarly, are stored with them (`url-forms.ts`). Lookups that code requested at run time are stored here until a
 * configuration includes them.
 */
import { createHash } from 'node:crypto';
import type { Configuration } from '../../config/configuration.ts';
import type { LookupLayout, LookupPlan } from '../../schemas/lookup-layout.ts';
import { pack, unpack } from '../codec/pack.ts';
import { keys, platformTag } from '../keys.ts';
import { answerOf, storeError } from '../redis/redis-errors.ts';
import { surviving } from '../redis/replication.ts';
import { Script, type ScriptArgument } from '../redis/script.ts';
import { type SourceRef, sourceField, sourceOfField } from '../scopes.ts';
import type { Store } from '../store.ts';
import {
  exactUrls,
  formatUrlForms,
  notifyProcesses,
  parseUrlForms,
  type UrlFormState,
  urlFormField,
} from './url-forms.ts';

const fillScript = new Script<0 | 1>('configuration/fill', 2);
const retireScript = new Script<0 | 1>('configuration/retire', 1);

/** The layouts of all sources at one time. */
export class LayoutStates {
  /** The state before the first publication. */
  static readonly none = new LayoutStates(0, new Map(), new Map(), new Map());

  constructor(
    /** Increases with every change. */
    readonly version: number,
    private readonly complete: ReadonlyMap<string, LookupLayout>,
    private readonly previous: ReadonlyMap<string, LookupLayout>,
    private readonly urlForms: ReadonlyMap<string, UrlFormState>,
  ) {}

  /** The forms of a tenant's URL claims. */
  urlFormsOf(tenant: string): UrlFormState {
    return this.urlForms.get(tenant) ?? exactUrls;
  }

  /** Tenants whose URL claims have, or once had, a form other than the default. */
  get tenantsWithUrlForms(): string[] {
    return [...this.urlForms.keys()];
  }

  /** The layout that lookups over the source read; null while none is complete. */
  completeOf(source: SourceRef): LookupLayout | null {
    return this.complete.get(sourceField(source)) ?? null;
  }

  /**
   * The layouts in which entities of the source are indexed: the one that the configuration requires, the one that lookups
   * read, and the previous one. A worker that has not received the change may still read the previous one.
   */
  keptOf(source: SourceRef, wanted: LookupLayout | null): LookupLayout[] {
    const field = sourceField(source);
    const kept = [wanted, this.complete.get(field), this.previous.get(field)].filter(
      (layout) => layout != null,
    );
    return [...new Map(kept.map((layout) => [layout.id, layout])).values()];
  }

  /** Sources whose previous layout is still maintained. */
  get retiring(): string[] {
    return [...this.previous.keys()];
  }

  /** Sources with a complete layout. */
  get sources(): SourceRef[] {
    return [...this.complete.keys()].map(sourceOfField);
  }
}

/** The states, confirmed by replicas, because lookups rely on them after a failover. @throws StoreUnavailableError */
export function readLayouts(store: Store): Promise<LayoutStates> {
  return surviving(store.replication, [platformTag], () => readStates(store));
}

async function readStates(store: Store): Promise<LayoutStates> {
  const stored = await answerOf(store.client.hgetallBuffer(keys.layouts));
  const ofKind = <T>(kind: string, read: (value: Buffer) => T) =>
    new Map(
      Object.entries(stored)
        .filter(([field]) => field.startsWith(`${kind}|`))
        .map(([field, value]) => [field.slice(2), read(value)]),
    );
  return new LayoutStates(
    Number(stored.version?.toString() ?? 0),
    ofKind('r', unpack<LookupLayout>),
    ofKind('b', unpack<LookupLayout>),
    ofKind('u', (value) => parseUrlForms(value.toString())),
  );
}

/** Version of the layouts in Redis; 0 before the first. @throws StoreUnavailableError */
export async function layoutsVersion(store: Store): Promise<number> {
  return Number((await answerOf(store.client.hget(keys.layouts, 'version'))) ?? 0);
}

/** Alternating fields and values of `keys.layouts`, for a store without processed entities. */
export function initialLayoutFields({ tenants }: Configuration): ScriptArgument[] {
  return [...tenants.values()].flatMap(({ alias, lookupLayouts, urlForm }) => [
    ...[...lookupLayouts].flatMap(([sourceId, layout]) => [
      `r|${sourceField({ tenant: alias, sourceId })}`,
      pack(layout),
    ]),
    ...(urlForm === 'exact'
      ? []
      : [urlFormField(alias), formatUrlForms({ written: urlForm, read: [urlForm] })]),
  ]);
}

/** Declares all layouts of a configuration complete, for a store without processed entities. @throws StoreUnavailableError */
export async function declareComplete(store: Store, configuration: Configuration): Promise<void> {
  const fields = initialLayoutFields(configuration);
  try {
    if (fields.length > 0) await store.client.hset(keys.layouts, ...fields);
    await store.client.hincrby(keys.layouts, 'version', 1);
  } catch (error) {
    throw storeError(error);
  }
}

/**
 * Records that all entities of a source in a partition are indexed in the layout that a generation requires. After the last
 * partition, lookups read that layout.
 * @throws StoreUnavailableError
 */
export async function recordFilled(
  store: Store,
  generation: number,
  partition: number,
  source: SourceRef,
  wanted: LookupLayout | null,
): Promise<void> {
  const isComplete = await fillScript.run(
    store.client,
    [keys.configuration, keys.layouts],
    [generation, partition, store.partitions.count, sourceField(source), wanted === null ? '' : pack(wanted)],
  );
  if (isComplete === 1) await notifyProcesses(store);
}

/** Ends the maintenance of previous layouts. Every worker must know `states`. @throws StoreUnavailableError */
export async function retirePrevious(store: Store, states: LayoutStates): Promise<void> {
  await retireScript.run(store.client, [keys.layouts], [states.version, ...states.retiring]);
  await notifyProcesses(store);
}

export interface RuntimeLookupOf {
  readonly tenant: string;
  readonly sourceGroup: string;
  readonly plan: LookupPlan;
}

/** Idempotent. @throws StoreUnavailableError */
export async function recordRuntimeLookups(store: Store, asked: readonly RuntimeLookupOf[]): Promise<void> {
  if (asked.length === 0) return;
  const fields = new Map<string, string>();
  for (const { tenant, sourceGroup, plan } of asked) {
    const text = JSON.stringify({ tenant, sourceGroup, plan });
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 32);
    fields.set(`${tenant}|${digest}`, text);
  }
  await answerOf(store.client.hset(keys.runtimeLookups, fields));
}

/** Returns the lookups by field. @throws StoreUnavailableError */
export async function readRuntimeLookups(store: Store): Promise<ReadonlyMap<string, RuntimeLookupOf>> {
  const stored = await answerOf(store.client.hgetall(keys.runtimeLookups));
  return new Map(Object.entries(stored).map(([field, text]) => [field, JSON.parse(text)]));
}

/** @throws StoreUnavailableError */
export async function forgetRuntimeLookups(store: Store, fields: Iterable<string>): Promise<void> {
  const list = [...fields];
  if (list.length > 0) await answerOf(store.client.hdel(keys.runtimeLookups, ...list));
}
