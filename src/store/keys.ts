/**
 * All Redis keys of the platform, and how data are assigned to partitions.
 *
 * All keys of a partition have its tag, so that one Lua call can use any of them, also on Redis Cluster. The keys of claims, of
 * the change log and of the leaves of ordered lists are repeated in `scripts/parts/`. Tags are chosen by slot, evenly over the
 * 16,384 slots: plain `{p0}`, `{p1}` … would be distributed unevenly over masters. Tenant aliases, environment ids, source ids
 * and schema aliases never contain a colon. OriginIds, entity types and lookup keys may, so they always come last in their key
 * or field.
 *
 * The names of keys are part of the store format and must not change. Some differ from the terms in the code: `dirty` means
 * pending rebuilds, `caused` downstream invalidations, `r` in a stream entry an invalidation; fields that begin with `r:` are
 * competing claims.
 */
import calculateSlot from 'cluster-key-slot';
import { pathInForm, type UrlForm } from '../config/urls/url.ts';
import type { EntityRef } from '../contract/ids.ts';

const clusterSlots = 16_384;

/** Tag of keys outside partitions. */
export const platformTag = '{millrace}';

/** Fields and keys below are plain strings; `tag` is the partition's `{…}` prefix. */
export const keys = {
  /** Hash: format, partitions, secret. */
  layout: `${platformTag}:layout`,
  /**
   * Hash: generation, digest, documents, origin, rebuilt (last generation whose rebuild was enqueued), folder (digest of the
   * last folder that was applied), applied (tenant -> time of its last change).
   */
  configuration: `${platformTag}:configuration`,
  /**
   * Hash: version; `r|<tenant>|<sourceId>` -> lookup layout for reads; `b|…` -> the previous one, still updated;
   * `f|…|<partition>` -> generation for whose layout the partition is filled. `u|<tenant>` -> forms of the claims on URLs
   * (`configuration/url-forms.ts`); `mu|<tenant>|<partition>` -> generation for which the claims of the partition have moved.
   */
  layouts: `${platformTag}:layouts`,
  /** Hash: `<tenant>|<digest>` -> a lookup without an index that code has requested. */
  runtimeLookups: `${platformTag}:asked-lookups`,
  /**
   * Hash, during a purge: token, generation; `<tenant>|<sourceId>` -> '1' for each purged source; `done:<partition>` -> '1'.
   */
  purge: `${platformTag}:purge`,
  /** String with a time to live: the tenant has received the id of this generation's rebuild. */
  rebuildOf: (tenant: string, generation: number) => `${platformTag}:rebuild-of:${tenant}:${generation}`,
  /** Hash with a time to live: documents, the configuration that a dry run tests. */
  dryRun: (token: string) => `${platformTag}:dry-run:${token}`,
  /** Sorted set with a time to live, all scores 0: claims that a dry run would move (`dry-runs/dry-run.ts`). */
  dryRunMoves: (tag: string, token: string) => `${tag}:dry-run:${token}`,
  /** Hash: `<tenant>|<alias>|<environmentId>` -> the state of a webhook, in JSON (`webhooks/webhook-states.ts`). */
  webhooks: `${platformTag}:webhooks`,
  /** Hash with a time to live: entity id -> `<traceparent> <milliseconds since 1970>` of its last save or delete that had one. */
  requestTraces: (tenant: string) => `${platformTag}:request-traces:${tenant}`,
  /** Pub/sub channel that announces new configuration generations and changes of `layouts`. */
  configurationChannel: 'millrace:configuration',

  /** String: written in order to wait for a replica. */
  confirmed: (tag: string) => `${tag}:confirmed`,

  /** Hash: epoch, worker, leaseUntilMs, checkpoint, commits, dirty (the first pending rebuild of each tenant), deferred. */
  owner: (tag: string) => `${tag}:owner`,
  /** Hash: stream, changes, log; the last sequence number of each stream, and of the change log. */
  clock: (tag: string) => `${tag}:clock`,
  /** Stream of accepted writes and invalidations; entry ids are `<sequence>-0`. */
  stream: (tag: string) => `${tag}:stream`,
  /** Stream of visible changes; entry ids are `<sequence>-0`. */
  changes: (tag: string) => `${tag}:changes`,
  /** Hash: partition -> epoch; effects of its owners with a lower epoch are refused here. */
  fence: (tag: string) => `${tag}:fence`,
  /** Hash: pending rebuild (a view or an item) -> first and last invalidation that requests it. */
  pendingRebuilds: (tag: string) => `${tag}:dirty`,
  /**
   * Hash: view, item or actions, as in `pendingRebuilds` -> what it waits for, and since which stream entry
   * (`pending-work.ts`).
   */
  deferred: (tag: string) => `${tag}:refused`,
  /** Hash: `<tenant>:<partition>` -> last invalidation that this partition's changes sent there. */
  downstream: (tag: string) => `${tag}:caused`,
  /** Hash: `<epoch>.<number>` -> what the owner of that epoch is about to write outside the partition, by entity. */
  intents: (tag: string) => `${tag}:intents`,
  /** String with a time to live: outcome of a delete, so that a repeated call returns the same. */
  removal: (tag: string, token: string) => `${tag}:removal:${token}`,
  /** String: token of the restore that may write to the partition; deleted afterwards. */
  restore: (tag: string) => `${tag}:restore`,

  /** Hash: originId -> entity record (`scripts/parts/entity-heads.lua`). */
  entities: (tag: string, tenant: string, sourceId: string) => `${tag}:entities:${tenant}:${sourceId}`,
  /**
   * Hash: digest -> names that entity records, views, index items and processed records leave out, in JSON
   * (`codec/name-lists.ts`).
   */
  names: (tag: string, tenant: string, sourceId: string) => `${tag}:names:${tenant}:${sourceId}`,
  /** Hash: originId -> processed record. */
  processed: (tag: string, tenant: string, sourceId: string) => `${tag}:processed:${tenant}:${sourceId}`,
  /** Hash: view field -> body; one per source, so that fields do not repeat the source id. */
  views: (tag: string, tenant: string, environmentId: string, sourceId: string) =>
    `${tag}:views:${tenant}:${environmentId}:${sourceId}`,
  /** Hash: claim field -> the served claim; `r:` … -> a claim of a contested field (`scripts/parts/claims.lua`). */
  claims: (tag: string, tenant: string, environmentId: string) => `${tag}:claims:${tenant}:${environmentId}`,
  /** Sorted set, all scores 0: the order of the claims of contested fields (`scripts/parts/claims.lua`). */
  ranks: (tag: string, tenant: string, environmentId: string) => `${tag}:ranks:${tenant}:${environmentId}`,
  /**
   * Hash: claim field of a path with a page on all hosts -> number of redirects on single hosts that are in `routes` but not
   * served; only if above 0.
   */
  hidden: (tag: string, tenant: string, environmentId: string) => `${tag}:hidden:${tenant}:${environmentId}`,
  /** Ordered list: served URLs, and redirects that are hidden by a page on all hosts; one per form of their claims. */
  routes: (tag: string, tenant: string, environmentId: string, form: UrlForm = 'exact') =>
    `${tag}:routes:${tenant}:${environmentId}${routesEnd(form)}`,
  /** Hash: claim field -> number of views that claim it; only if above 1. */
  clashes: (tag: string, tenant: string, environmentId: string) =>
    `${tag}:clashes:${tenant}:${environmentId}`,
  /** Hash: view that references a view (`change-log/references.ts`) -> empty. */
  referrers: (tag: string, tenant: string, environmentId: string, view: string) =>
    `${tag}:referrers:${tenant}:${environmentId}:${view}`,
  /** Sorted set: view in the change log (`change-log/logged-views.ts`) -> sequence of its latest change. */
  log: (tag: string, tenant: string, environmentId: string) => `${tag}:log:${tenant}:${environmentId}`,
  /** Sorted set, temporary: removed views, and views that won or lost a claim -> sequence of the change. */
  traces: (tag: string, tenant: string, environmentId: string) => `${tag}:traces:${tenant}:${environmentId}`,
  /** Hash: removed view in the change log -> what it was. */
  removed: (tag: string, tenant: string, environmentId: string) =>
    `${tag}:removed:${tenant}:${environmentId}`,
  /** Sorted set, temporary: formerly served claim (`competingClaimField`) -> when that ended, in microseconds. */
  left: (tag: string, tenant: string, environmentId: string) => `${tag}:left:${tenant}:${environmentId}`,
  /** Hash: `<sourceId>:<schema alias>` -> its number in the change log. */
  logNames: (tag: string, tenant: string, environmentId: string) =>
    `${tag}:log-names:${tenant}:${environmentId}`,
  /** Hash: `<tenant>|<environmentId>` -> sequence up to which its traces are removed; '' -> '1' once the log is complete. */
  logs: (tag: string) => `${tag}:logs`,
  /** Hash: originId -> index item; one per source, so that fields do not repeat the source id. `index` is an `indexName`. */
  items: (tag: string, tenant: string, environmentId: string, sourceId: string, index: string) =>
    `${tag}:items:${tenant}:${environmentId}:${sourceId}:${index}`,
  /** Hash: `<tenant>|<environmentId>|<index>` -> '1': indexes with items in the partition. */
  itemIndexes: (tag: string) => `${tag}:indexes`,
  /** Hash: `<tenant>|<sourceId>` -> '1': sources whose entities the partition has processed. */
  sources: (tag: string) => `${tag}:sources`,
  /** Hash: entity type -> '1': types of entities that the partition has processed. */
  entityTypes: (tag: string, tenant: string, sourceId: string) => `${tag}:types:${tenant}:${sourceId}`,
  /** Ordered list: originIds of the processed entities of a type. */
  directory: (tag: string, tenant: string, sourceId: string, type: string) =>
    `${tag}:directory:${tenant}:${sourceId}:${type}`,
  /** Ordered list: the next scheduled change of entities of a source (`entities/entity-schedule.ts`). */
  schedule: (tag: string, tenant: string, sourceId: string) => `${tag}:schedule:${tenant}:${sourceId}`,
  /** Hash: `<tenant>|<sourceId>` -> '1': sources that have or once had a schedule in the partition. */
  scheduledSources: (tag: string) => `${tag}:schedules`,
  /**
   * List: texts of an ordered list, starting at a bound. The key of the ordered list itself is a sorted set, all scores 0, of
   * the bounds (`scripts/parts/ordered-lists.lua`).
   */
  leaf: (list: string, bound: string) => {
    const name = list.slice(tagOf(list).length + 1);
    return `${tagOf(list)}:leaf:${Buffer.byteLength(name)}:${name}:${bound}`;
  },
  /** Hash: key of an ordered list -> number of its texts. */
  lengths: (tag: string) => `${tag}:lengths`,
  /** Never exists: scripts that access it are refused while the slot of the partition moves. */
  never: (tag: string) => `${tag}:never`,
  /** Hash: `<sourceId>:<schema alias>` -> number of its views in the change log. */
  viewCounts: (tag: string, tenant: string, environmentId: string) =>
    `${tag}:view-counts:${tenant}:${environmentId}`,
  /** Number: total of the auto-indexed entity types of a source and their fields. */
  autoIndexed: (tag: string, tenant: string, sourceId: string) => `${tag}:auto:${tenant}:${sourceId}`,
  /** Hash: field name -> type, decided by the first value; one per auto-indexed source and type. */
  autoFields: (tag: string, tenant: string, sourceId: string, type: string) =>
    `${tag}:fields:${tenant}:${sourceId}:${type}`,
  /** Hash: originId -> packed projection; one per lookup key. */
  lookup: (tag: string, tenant: string, sourceId: string, layoutId: string, lookupKey: string) =>
    `${tag}:lookup:${tenant}:${sourceId}:${layoutId}:${lookupKey}`,
  /** Hash: view or item whose lookups read the key (`derived/dependents.ts`) -> empty. */
  dependents: (tag: string, tenant: string, sourceId: string, lookupKey: string) =>
    `${tag}:dependents:${tenant}:${sourceId}:${lookupKey}`,
} as const;

/** Suffix of the key of `routes`. */
export function routesEnd(form: UrlForm): string {
  return form === 'exact' ? '' : `:${form}`;
}

/** The partition tag of a key. */
export function tagOf(key: string): string {
  return key.slice(0, key.indexOf('}') + 1);
}

/** Field of a view in `keys.views`. */
export function viewField(alias: string, originId: string): string {
  return `${alias}:${originId}`;
}

/** Unique in the environment. */
export function viewIdentity({ sourceId, alias, originId }: EntityRef & { readonly alias: string }): string {
  return `${sourceId}:${alias}:${originId}`;
}

/** Field of the body of a large view, in the same hash. No alias begins like this. */
export function largeBodyField(viewField: string): string {
  return `\0${viewField}`;
}

/** The field of a view, given either of its two fields. */
export function viewFieldOf(field: string): string {
  return field.startsWith('\0') ? field.slice(1) : field;
}

/** Claim field of a normalized URL path or of a handle. `i:` precedes paths in lower case. */
export const claimField = {
  url: (path: string, form: UrlForm = 'exact') => `${urlMarks[form]}${pathInForm(path, form)}`,
  handle: (handle: string) => `h:${handle}`,
} as const;

/** The claim field without its prefix: a path without host, or a handle. */
export function textOfField(field: string): string {
  return field.slice(field.indexOf(':') + 1);
}

const urlMarks: Readonly<Record<UrlForm, string>> = { exact: 'u:', folded: 'i:' };

/** The form of a URL's claim field; null for that of a handle. */
export function urlFormOfField(field: string): UrlForm | null {
  if (field.startsWith(urlMarks.exact)) return 'exact';
  return field.startsWith(urlMarks.folded) ? 'folded' : null;
}

/** True for the claim field of a URL, in either form; false for that of a handle. */
export function isUrlField(field: string): boolean {
  return urlFormOfField(field) !== null;
}

/** The claim field of the same URL in lower case. @param field of a URL */
export function foldedField(field: string): string {
  return claimField.url(field.slice(urlMarks.exact.length), 'folded');
}

/** Name of an index schema's index, and of an auto-indexed entity type of a source group. */
export const indexName = {
  schema: (alias: string) => `schema:${alias}`,
  auto: (sourceGroup: string, type: string) => `auto:${sourceGroup}:${type}`,
} as const;

/** Name of an index for people: the alias of its schema, or `group:type` if auto-indexed. @param name an `indexName` */
export function indexLabel(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** The partitions of a store: their tags and what belongs to each. */
export class Partitions {
  readonly tags: readonly string[];

  /** @param count number of partitions, at least 1. */
  constructor(readonly count: number) {
    this.tags = Array.from({ length: count }, (_, partition) => evenTag(partition, count));
  }

  tag(partition: number): string {
    const tag = this.tags[partition];
    if (tag === undefined) throw new RangeError(`partition ${partition} of ${this.count}`);
    return tag;
  }

  /** Partition that owns an entity, with its views and index items. */
  ofEntity(sourceId: string, originId: string): number {
    return fnv1a(`${sourceId}:${originId}`) % this.count;
  }

  /** Partition that stores a claim field, a lookup key or any other text. */
  ofText(text: string): number {
    return fnv1a(text) % this.count;
  }
}

/** The shortest tag whose slot is in the partition's share of the slots. */
function evenTag(partition: number, count: number): string {
  const from = Math.floor((partition * clusterSlots) / count);
  const to = Math.floor(((partition + 1) * clusterSlots) / count);
  for (let attempt = 0; ; attempt += 1) {
    const tag = `{p${partition}.${attempt}}`;
    const slot = calculateSlot(tag);
    if (slot >= from && slot < to) return tag;
  }
}

/**
 * FNV-1a over UTF-16 units with a final mix, 32 bits. It must never change, because it determines where data are stored.
 * Clients that choose ids can put all of theirs into one partition. That is harmless: the backlog of each partition is bounded
 * (`http/ingest/rate-controller.ts`).
 */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  return hash >>> 0;
}
