/**
 * The form in which URL claims of each tenant are stored. A new configuration may require the other form. The claims then move
 * entity by entity, and no reader may miss one meanwhile: before the first claim moves, every process must know, and reads the
 * old form before the new one.
 */

import type { Configuration } from '../../config/configuration.ts';
import type { UrlForm } from '../../config/urls/url.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';

const stepScript = new Script<0 | 1>('configuration/url-form-step', 2);
const movedScript = new Script<0 | 1>('configuration/url-form-moved', 2);

export interface UrlFormState {
  /** The form in which workers write claims. */
  readonly written: UrlForm;
  /** The possible forms of claims, in the order in which readers must look. */
  readonly read: readonly UrlForm[];
}

/** The default. */
export const exactUrls: UrlFormState = { written: 'exact', read: ['exact'] };

/**
 * The next step towards a form; null if only claims remain to be moved.
 *
 * | written | read         | wanted | next                                                   |
 * | ------- | ------------ | ------ | ------------------------------------------------------ |
 * | exact   | exact        | folded | exact; exact, folded: readers look for both            |
 * | exact   | exact, folded | folded | folded; exact, folded: once all know, claims move      |
 * | folded  | exact, folded | folded | none: claims move; `recordMoved` ends it                 |
 * | folded  | folded       | folded | none                                                   |
 *
 * The other direction is the same, also if a configuration changes the form meanwhile.
 */
export function nextStep({ written, read }: UrlFormState, wanted: UrlForm): UrlFormState | null {
  if (written === wanted) return null;
  const both = [written, wanted];
  return read.includes(wanted) ? { written: wanted, read: both } : { written, read: both };
}

export function isSettled({ written, read }: UrlFormState, wanted: UrlForm): boolean {
  return written === wanted && read.length === 1;
}

/** The form that a configuration requires. Unknown tenants have no claims, so their form does not matter. */
export function wantedForm({ tenants }: Configuration, tenant: string): UrlForm {
  return tenants.get(tenant)?.urlForm ?? 'exact';
}

/** `exact`, `exact>exact,folded` */
export function formatUrlForms({ written, read }: UrlFormState): string {
  return `${written}>${read.join(',')}`;
}

export function parseUrlForms(text: string): UrlFormState {
  const [written = '', read = ''] = text.split('>');
  return { written: formOf(written), read: read.split(',').map(formOf) };
}

function formOf(text: string): UrlForm {
  return text === 'folded' ? 'folded' : 'exact';
}

/** The field of a tenant in `keys.layouts`. */
export function urlFormField(tenant: string): string {
  return `u|${tenant}`;
}

/** A step for one tenant. */
export interface UrlFormStep {
  readonly generation: number;
  readonly tenant: string;
  readonly from: UrlFormState;
  readonly to: UrlFormState;
}

/** Makes a step, unless another configuration is active or the state has changed. @throws StoreUnavailableError */
export async function stepUrlForms(
  store: Store,
  { generation, tenant, from, to }: UrlFormStep,
): Promise<void> {
  const isMade = await stepScript.run(
    store.client,
    [keys.configuration, keys.layouts],
    [generation, urlFormField(tenant), formatUrlForms(exactUrls), formatUrlForms(from), formatUrlForms(to)],
  );
  if (isMade === 1) await notifyProcesses(store);
}

/**
 * Records that all claims of a tenant in a partition have the written form. After the last partition, readers need not look for
 * the other form.
 * @throws StoreUnavailableError
 */
export async function recordMoved(
  store: Store,
  generation: number,
  partition: number,
  tenant: string,
  from: UrlFormState,
): Promise<void> {
  const to: UrlFormState = { written: from.written, read: [from.written] };
  const isDone = await movedScript.run(
    store.client,
    [keys.configuration, keys.layouts],
    [
      generation,
      partition,
      store.partitions.count,
      urlFormField(tenant),
      formatUrlForms(from),
      formatUrlForms(to),
    ],
  );
  if (isDone === 1) await notifyProcesses(store);
}

/** Notifies the processes of a change, which they would otherwise find within a second. @throws StoreUnavailableError */
export async function notifyProcesses(store: Store): Promise<void> {
  await answerOf(store.client.publish(keys.configurationChannel, 'layouts'));
}
