/** `GET` and `PUT /management/v1/configuration`: the documents of a tenant (docs/reference/management.md "Configuration"). */

import { type CompiledDocuments, compileCode } from '../../config/code/compile-code.ts';
import type { ConfigDocuments, Configuration } from '../../config/configuration.ts';
import { tenantFilePath } from '../../config/document-path.ts';
import { byTenant, fingerprintOf, hashKeys } from '../../config/documents/canonical.ts';
import { checkedInTurn } from '../../config/documents/checked-in-turn.ts';
import { issueLine } from '../../config/documents/issue-text.ts';
import { loadingSteps, loadingStored, type TenantTexts } from '../../config/documents/load.ts';
import { allIssues } from '../../config/documents/read-documents.ts';
import {
  documentsOfTenant,
  withDocumentsOfTenant,
  withRuntimeLookups,
} from '../../config/documents/tenant-folder.ts';
import { keyGivenTwice } from '../../config/tenant/api-keys.ts';
import { keptForOtherOrigins, withKeptSecrets, withoutSecrets } from '../../config/tenant/kept-secrets.ts';
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import {
  configurationBodyBytesMax,
  configurationErrorsListedMax,
  configurationsAtOnceMax,
  dryRunsPendingMax,
} from '../../contract/limits.ts';
import type { AppliedAnswer, ConfigurationAnswer } from '../../contract/shapes-management.ts';
import { beginDryRun, pendingDryRuns } from '../../jobs/dry-run/queue.ts';
import { lossesBetween, lossLines } from '../../jobs/removal-plan.ts';
import { textsBeside } from '../../store/configuration/active-configuration.ts';
import {
  ConfigurationRefusedError,
  otherBecameActive,
  type PublishedTenants,
  publishTenants,
  readTenant,
  recordRebuildOf,
  writtenDigest,
} from '../../store/configuration/published-configuration.ts';
import type { Store } from '../../store/store.ts';
import { jsonAnswer } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { bodyJson } from '../json-body.ts';
import { requestedText } from '../request-parameters.ts';
import type { Services } from '../services.ts';
import { dryRunJobId, rebuildJobId } from './management-job.ts';
import { CostlyTurns, requestedFlag } from './request-values.ts';

export function getConfiguration({ store }: Services): Handler {
  return async (call) => {
    const { alias } = call.manager.tenant;
    const { documents, tenants } = await publishedOf(store, alias);
    const shown = documentsOfTenant(withoutSecrets(documents), alias);
    const published = tenants.get(alias);
    return jsonAnswer<ConfigurationAnswer>(200, {
      digest: writtenDigest(documents, alias),
      appliedAt: published === undefined ? null : new Date(published.appliedAtMs).toISOString(),
      documents: Object.fromEntries([...shown].map(([path, text]) => [path, readableText(path, text)])),
    });
  };
}

export function putConfiguration({ store, configuration }: Services): Handler {
  const turns = new CostlyTurns(configurationsAtOnceMax);
  return async (call) => {
    const expected = requestedText(call, 'expected');
    const mayRemove = requestedFlag(call, 'removals');
    const isDryRun = requestedFlag(call, 'dryRun');
    const { configurationTooLarge, configurationInvalid } = problems;
    const body = await bodyJson(call.body, configurationBodyBytesMax, configurationTooLarge, (reason) =>
      configurationInvalid([reason]),
    );
    const own = documentsIn(body);
    const { alias } = call.manager.tenant;
    const options = { expected, mayRemove, isDryRun, countNewKeys: call.countNewKeys };
    const applied = await turns.run(alias, () =>
      replace(store, alias, own, { ...options, current: configuration.current }),
    );
    return jsonAnswer<AppliedAnswer>(200, applied);
  };
}

interface PutOptions {
  /** Digest that the active documents must have; null for any. */
  readonly expected: string | null;
  readonly mayRemove: boolean;
  /** Nothing is activated: a job computes what would change. */
  readonly isDryRun: boolean;
  /** The configuration of this front. Tenants whose documents are equal in it are not loaded again. */
  readonly current: Configuration;
  /** Counts keys that are new to the tenant, because each can be a guess at another tenant's key. */
  readonly countNewKeys: Call['countNewKeys'];
}

async function replace(
  store: Store,
  tenant: string,
  own: ConfigDocuments,
  { expected, mayRemove, isDryRun, current, countNewKeys }: PutOptions,
): Promise<AppliedAnswer> {
  const published = await publishedOf(store, tenant);
  const before = documentsOfTenant(published.documents, tenant);
  const former = writtenDigest(published.documents, tenant);
  if (expected !== null && expected !== former) throw new ProblemError(problems.configurationChanged(former));
  const sent = withDocumentsOfTenant(new Map(), tenant, withSecretsOf(before, own));
  const compiled = await compileCode(sent, 'configuration');
  const hashed = hashKeys(compiled.documents);
  const admitNewKeys = () => {
    const file = tenantFilePath(tenant);
    const tooMany = countNewKeys(tenant, newKeys(published.documents.get(file), hashed.get(file)));
    if (tooMany !== null) throw new ProblemError(tooMany);
  };
  const documents = withRuntimeLookups(hashed, published.documents);
  const candidate = { tenant, documents, published, compiled, current, admitNewKeys };
  const { tenants, configuration } = await validConfiguration(store, candidate);
  const digest = writtenDigest(documents, tenant);
  if (isDryRun) {
    if ((await pendingDryRuns(store, tenant)) >= dryRunsPendingMax)
      throw new ProblemError(problems.dryRunsPending);
    const token = await beginDryRun(store, documents, { tenant, generation: published.generation });
    return { digest, job: dryRunJobId(token) };
  }
  if (!mayRemove) await refuseLosses(store, published.documents, configuration, current);
  const generation = await publish(store, tenants, configuration, published.generation);
  await recordRebuildOf(store, tenant, generation);
  return { digest, job: rebuildJobId(generation) };
}

/**
 * @returns the documents, with each secret that is `kept` replaced by its previous value
 * @throws ProblemError 422
 */
function withSecretsOf(before: ConfigDocuments, own: ConfigDocuments): ConfigDocuments {
  const file = 'tenant.json';
  const text = own.get(file);
  if (text === undefined) return own;
  const places = keptForOtherOrigins(text, before.get(file));
  if (places.length > 0) {
    const lines = places.map(
      (place) =>
        `${file}: ${place}: \`kept\` cannot be used with a new address. Send the value itself, or the previous \`url\``,
    );
    throw new ProblemError(problems.configurationInvalid(lines.slice(0, configurationErrorsListedMax)));
  }
  return new Map(own).set(file, withKeptSecrets(text, before.get(file)));
}

const hashedKeys = /"sha256:[0-9a-f]{64}"/g;

/** Number of keys of a tenant file that are not in the previous one. Both files have hashed keys. */
function newKeys(before = '', after = ''): number {
  const former = new Set(before.match(hashedKeys));
  return [...new Set(after.match(hashedKeys))].filter((key) => !former.has(key)).length;
}

async function publish(
  store: Store,
  tenants: ReadonlyMap<string, TenantTexts>,
  configuration: Configuration,
  after: number,
): Promise<number> {
  try {
    return await publishTenants(store, tenants, configuration, { after });
  } catch (error) {
    if (!(error instanceof ConfigurationRefusedError)) throw error;
    throw new ProblemError(problems.configurationRefused(error.message));
  }
}

function invalidProblem(issues: readonly ConfigIssue[], tenant: string): ProblemError {
  const shown = issues.slice(0, configurationErrorsListedMax);
  return new ProblemError(problems.configurationInvalid(shown.map((issue) => issueLine(issue, tenant))));
}

const ofAnotherVersion =
  'The active configuration was written by another version of Millrace. Update all processes to that version, then send this again';

interface Planned {
  readonly tenant: string;
  /** Documents of this tenant, with hashed keys. */
  readonly documents: ConfigDocuments;
  readonly published: PublishedTenants;
  readonly compiled: CompiledDocuments;
  readonly current: Configuration;
  /** Called before keys are compared with those of other tenants. @throws ProblemError 429 */
  readonly admitNewKeys: () => void;
}

/**
 * Loads the configuration of all tenants, one of them with new documents. These are checked alone first, so that no error
 * mentions another tenant. Errors in the documents of the others are not reported: they were valid when they became active.
 * @throws ProblemError 422 with all errors; 429 for too many new keys; 409 if the documents of others cannot be loaded
 */
async function validConfiguration(
  store: Store,
  { tenant, documents, published, compiled, current, admitNewKeys }: Planned,
): Promise<{ tenants: ReadonlyMap<string, TenantTexts>; configuration: Configuration }> {
  const alone = await checkedInTurn(loadingSteps(documents, 'folder'));
  const { issues } = compiled;
  if (!alone.ok || issues.length > 0) throw invalidProblem(allIssues(issues, alone), tenant);
  if (!alone.configuration.tenants.has(tenant)) {
    throw new ProblemError(problems.configurationInvalid(['tenant.json: the document is missing']));
  }
  admitNewKeys();
  const others = new Map([...published.tenants].filter(([name]) => name !== tenant));
  const tenants = await textsBeside(store, others, [current]);
  if (tenants === null) throw new ProblemError(problems.configurationRefused(otherBecameActive));
  for (const [name, texts] of byTenant(documents)) {
    tenants.set(name, { fingerprint: fingerprintOf(texts), documents: texts });
  }
  // The configurations of the others were accepted before, so this check has no budget, which could block a change.
  const steps = loadingStored(tenants, [alone.configuration, current]);
  const loaded = await checkedInTurn(steps, Number.POSITIVE_INFINITY);
  if (loaded.ok) return { tenants, configuration: loaded.configuration };
  // Documents that are valid alone can only conflict with others by their keys. Any other error is in the others, which were
  // valid for the version that activated them.
  const isKeyTaken = loaded.issues.every(({ message }) => message === keyGivenTwice);
  throw new ProblemError(
    isKeyTaken
      ? problems.configurationInvalid([
          'tenant.json: one of its API keys is already in use. Create another one',
        ])
      : problems.configurationRefused(ofAnotherVersion),
  );
}

/**
 * @param documents active documents of the tenant
 * @throws ProblemError 409 with the losses
 */
async function refuseLosses(
  store: Store,
  documents: ConfigDocuments,
  after: Configuration,
  current: Configuration,
): Promise<void> {
  const steps = loadingSteps(documents, 'stored', null, [current]);
  const before = await checkedInTurn(steps, Number.POSITIVE_INFINITY);
  if (!before.ok) return;
  const losses = await lossesBetween(store, before.configuration, after);
  if (losses.length > 0) throw new ProblemError(problems.removalsNeedConsent(lossLines(losses)));
}

/** The active configuration, with the documents of one tenant. */
async function publishedOf(
  store: Store,
  tenant: string,
): Promise<PublishedTenants & { readonly documents: ConfigDocuments }> {
  const published = await readTenant(store, tenant);
  // A configuration exists, because the key of this call is in it.
  if (published === null) throw new ProblemError(problems.unavailable);
  return published;
}

/** @throws ProblemError 422 */
function documentsIn(body: Json): Map<string, string> {
  const documents = isJsonObject(body) ? getOwn(body, 'documents') : undefined;
  if (!isJsonObject(documents)) {
    throw new ProblemError(
      problems.configurationInvalid(['the body must be {"documents": {path: text}} in JSON']),
    );
  }
  const own = new Map<string, string>();
  const errors: string[] = [];
  for (const [path, text] of Object.entries(documents)) {
    if (typeof text === 'string') own.set(path, text);
    else errors.push(`${path}: must be the text of the document`);
  }
  if (errors.length > 0) {
    throw new ProblemError(problems.configurationInvalid(errors.slice(0, configurationErrorsListedMax)));
  }
  return own;
}

const indent = 2;

/** Stored JSON has no white space. It is indented for readers. */
function readableText(path: string, text: string): string {
  if (!path.endsWith('.json')) return text;
  return `${JSON.stringify(JSON.parse(text), null, indent)}\n`;
}
