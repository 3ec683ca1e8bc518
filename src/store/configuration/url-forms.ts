/**
 * In which form the claims of each tenant on URLs are stored. A changed configuration may ask for the other form. Then
 * the claims move, entity by entity, and no reader may miss one on its way: before the first claim moves, every process
 * knows of it. It reads the form that claims leave before the form that they come to.
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
  /** In which form workers put claims. */
  readonly written: UrlForm;
  /** In which forms claims may be, in the order in which readers must look. */
  readonly read: readonly UrlForm[];
}

/** Before a tenant has asked for anything else. */
export const exactUrls: UrlFormState = { written: 'exact', read: ['exact'] };

/**
 * The next step towards a form; null when nothing is left to do but to move claims.
 *
 * | written | read         | wanted | next                                                   |
 * | ------- | ------------ | ------ | ------------------------------------------------------ |
 * | exact   | exact        | folded | exact; exact, folded: readers look for both            |
 * | exact   | exact, folded | folded | folded; exact, folded: once all know, claims move      |
 * | folded  | exact, folded | folded | none: claims move; `noteMoved` ends it                 |
 * | folded  | folded       | folded | none                                                   |
 *
 * So it is the other way round, and where a configuration changes its mind on the way.
 */
export function nextStep({ written, read }: UrlFormState, wanted: UrlForm): UrlFormState | null {
  if (written === wanted) return null;
  const both = [written, wanted];
  return read.includes(wanted) ? { written: wanted, read: both } : { written, read: both };
}

export function isSettled({ written, read }: UrlFormState, wanted: UrlForm): boolean {
  return written === wanted && read.length === 1;
}

/** The form that a configuration asks for. A tenant that it does not have claims nothing, in either form. */
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

/** Where the state of a tenant is in `keys.layouts`. */
export function urlFormField(tenant: string): string {
  return `u|${tenant}`;
}

/** One tenant's step of a configuration. */
export interface UrlFormStep {
  readonly generation: number;
  readonly tenant: string;
  readonly from: UrlFormState;
  readonly to: UrlFormState;
}

/** Makes a step, unless another configuration is active or the state is another one. @throws StoreUnavailableError */
export async function stepUrlForms(
  store: Store,
  { generation, tenant, from, to }: UrlFormStep,
): Promise<void> {
  const isMade = await stepScript.run(
    store.client,
    [keys.configuration, keys.layouts],
    [generation, urlFormField(tenant), formatUrlForms(exactUrls), formatUrlForms(from), formatUrlForms(to)],
  );
  if (isMade === 1) await tellProcesses(store);
}

/**
 * Says that a partition has no claims of a tenant left that are in another form than the one that is written. After the
 * last partition readers need not look for them. @throws StoreUnavailableError
 */
export async function noteMoved(
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
  if (isDone === 1) await tellProcesses(store);
}

async function tellProcesses(store: Store): Promise<void> {
  await answerOf(store.client.publish(keys.configurationChannel, 'layouts'));
}
