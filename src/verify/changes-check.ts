/**
 * Compares the change log with the existing views (docs/design/changes.md), and checks that the referrers of views are recorded.
 * Extra referrers are harmless, because readers check them.
 */
import { outputKey } from '../actors/batch/builder.ts';
import type { Output } from '../actors/batch/output.ts';
import { referencesOf } from '../actors/batch/view-history.ts';
import { runSync } from '../lib/cooperative-yield.ts';
import { groupBy } from '../lib/lists.ts';
import { type LoggedView, logField, readLogMembers } from '../store/change-log/logged-views.ts';
import { referenceText, referrersKey, viewOfReference } from '../store/change-log/references.ts';
import type { Suspect } from '../store/derived/dependents.ts';
import { hasSorted } from '../store/derived/keyspace.ts';
import { keys, viewIdentity } from '../store/keys.ts';
import type { EnvironmentScope } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';
import { type Finding, finding, outputSubject } from './finding.ts';
import type { TurnState } from './turn-state.ts';

/** A view to look up in the change log. */
interface RequestedView {
  readonly scope: EnvironmentScope;
  readonly view: LoggedView;
}

/** The requested views that are in the log of a partition. */
export class ListedViews {
  private constructor(private readonly listed: ReadonlySet<string>) {}

  /** @throws StoreUnavailableError */
  static async read(store: Store, tag: string, requested: readonly RequestedView[]): Promise<ListedViews> {
    const listed = new Set<string>();
    for (const group of groupBy(requested, ({ scope }) => logField(scope)).values()) {
      const [first] = group;
      if (first === undefined) continue;
      const { tenant, environmentId } = first.scope;
      const views = group.map(({ view }) => view);
      const members = await readLogMembers(store, tag, first.scope, views);
      const found = await hasSorted(store, keys.log(tag, tenant, environmentId), members);
      group.forEach((one, at) => {
        if (found[at]) listed.add(nameOf(one));
      });
    }
    return new ListedViews(listed);
  }

  has(view: RequestedView): boolean {
    return this.listed.has(nameOf(view));
  }
}

function nameOf({ scope, view }: RequestedView): string {
  return `${logField(scope)}|${viewIdentity(view)}`;
}

function requestedView({ turn }: TurnState, environmentId: string, alias: string): RequestedView {
  const { tenant, sourceId, originId } = turn;
  return { scope: { tenant, environmentId }, view: { sourceId, originId, alias } };
}

/** The views of an entity to look up in the log of its partition. */
export function requestedViews(
  state: TurnState,
  outputs: readonly Output[],
  suspects: readonly Suspect[],
): RequestedView[] {
  const built = outputs.filter(({ builder }) => builder.kind === 'view');
  return [
    ...built.map(({ builder }) => requestedView(state, builder.environmentId, builder.name)),
    ...suspects.flatMap((suspect) =>
      suspect.kind === 'view' ? [requestedView(state, suspect.environmentId, suspect.name)] : [],
    ),
  ];
}

export function checkListed(state: TurnState, { builder, failure }: Output, listed: ListedViews): Finding[] {
  // A view that was never built has no entry.
  const former = state.former.get(outputKey(builder));
  if (failure !== null && (former === undefined || former.bytesDigest.length === 0)) return [];
  if (builder.kind !== 'view' || listed.has(requestedView(state, builder.environmentId, builder.name)))
    return [];
  return [finding(outputSubject(state.turn, builder), 'is missing from the change log')];
}

/** Checks a view that is not in its entity's record. */
export function checkListedWithoutView(state: TurnState, suspect: Suspect, listed: ListedViews): Finding[] {
  if (suspect.kind !== 'view' || !listed.has(requestedView(state, suspect.environmentId, suspect.name)))
    return [];
  return [finding(outputSubject(state.turn, suspect), 'is in the change log, but no entity produces it')];
}

interface Place {
  readonly key: string;
  readonly member: string;
  readonly target: LoggedView;
}

/** The places where a built view must be recorded as a referrer. */
function placesOf({ turn, store }: TurnState, { builder, result, failure }: Output): Place[] {
  if (result.kind !== 'view' || failure !== null) return [];
  const { tenant, sourceId, originId } = turn;
  const { environmentId, name: alias } = builder;
  return [...runSync(referencesOf(turn, builder, result.view.body.references))].map((text) => {
    const target = viewOfReference(turn, text);
    const key = referrersKey(store, { tenant, environmentId }, target);
    return { key, member: referenceText(target, { sourceId, originId, alias }), target };
  });
}

export function requestReferences(state: TurnState, output: Output): void {
  for (const { key, member } of placesOf(state, output)) state.stored.requestField(key, member);
}

export function checkReferences(state: TurnState, output: Output): Finding[] {
  return [...checkRecordedReferences(state, output), ...checkReferrers(state, output)];
}

function checkRecordedReferences({ turn, former }: TurnState, { builder, result }: Output): Finding[] {
  const recorded = former.get(outputKey(builder));
  const isMade = recorded !== undefined && recorded.failure === undefined && result.kind === 'view';
  if (!isMade) return [];
  const expected = JSON.stringify([...runSync(referencesOf(turn, builder, result.view.body.references))]);
  const remembered = JSON.stringify(recorded.references ?? []);
  if (remembered === expected) return [];
  return [
    finding(
      outputSubject(turn, builder),
      'has other references in its record than in its view',
      remembered,
      expected,
    ),
  ];
}

function checkReferrers(state: TurnState, output: Output): Finding[] {
  return placesOf(state, output)
    .filter(({ key, member }) => state.stored.field(key, member) === null)
    .map(({ target: { alias, originId } }) =>
      finding(
        outputSubject(state.turn, output.builder),
        `refers to the view ${alias} of ${originId}, which does not list it`,
      ),
    );
}
