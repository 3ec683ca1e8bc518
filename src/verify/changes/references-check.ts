/** Checks that the referrers of views are recorded. Extra records are harmless, because readers check them. */

import { outputKey } from '../../actors/batch/builder.ts';
import type { Output } from '../../actors/batch/output.ts';
import { referencesOf } from '../../actors/batch/referenced-views.ts';
import { runSync } from '../../lib/cooperative-yield.ts';
import type { LoggedView } from '../../store/change-log/logged-views.ts';
import { referenceText, referrersKey, viewOfReference } from '../../store/change-log/references.ts';
import { type Finding, finding, outputSubject } from '../finding.ts';
import type { TurnState } from '../turn-state.ts';

interface Place {
  readonly key: string;
  readonly member: string;
  readonly target: LoggedView;
}

/** The places where a built view must be recorded as a referrer. */
function placesOf({ turn, store }: TurnState, { builder, result, failure }: Output): Place[] {
  if (result.kind !== 'view' || failure !== null) return [];
  const { tenantAlias: tenant, sourceId, originId } = turn;
  const { environmentId, name: alias } = builder;
  return [...runSync(referencesOf(turn, builder, result.view.body.references))].map((text) => {
    const target = viewOfReference(turn, text);
    const key = referrersKey(store, { tenant, environmentId }, target);
    return { key, member: referenceText(target, { sourceId, originId, alias }), target };
  });
}

export function requestReferences(state: TurnState, output: Output): void {
  for (const { key, member } of placesOf(state, output)) state.stored.requestMember(key, member);
}

export function checkReferences(state: TurnState, output: Output): Finding[] {
  return [...checkRemembered(state, output), ...checkKnown(state, output)];
}

function checkRemembered({ turn, former }: TurnState, { builder, result }: Output): Finding[] {
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

function checkKnown(state: TurnState, output: Output): Finding[] {
  return placesOf(state, output)
    .filter(({ key, member }) => !state.stored.hasMember(key, member))
    .map(({ target: { alias, originId } }) =>
      finding(
        outputSubject(state.turn, output.builder),
        `refers to the view ${alias} of ${originId}, which does not list it`,
      ),
    );
}
