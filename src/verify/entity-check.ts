/** Rebuilds the outputs of entities and compares them with everything stored for them, without writing anything. */

import { AutoTypes } from '../actors/batch/auto-types.ts';
import { buildTurns } from '../actors/batch/build-turns.ts';
import { outputKey } from '../actors/batch/builder.ts';
import type { CodeSandbox } from '../actors/batch/code-replies.ts';
import type { Output } from '../actors/batch/output.ts';
import { loadTurns, type Turn } from '../actors/batch/turn.ts';
import type { Configuration } from '../config/configuration.ts';
import { formatEntityId } from '../contract/ids.ts';
import { momentAfter, momentText, type PublishState } from '../contract/publish-times.ts';
import { assert } from '../lib/assert.ts';
import { groupBy } from '../lib/lists.ts';
import { readLayouts } from '../store/configuration/layouts.ts';
import type { Suspect } from '../store/derived/dependents.ts';
import { intentName, readIntents } from '../store/derived/intents.ts';
import { readProcessed } from '../store/derived/processed.ts';
import { type ProcessedClaim, processedState } from '../store/derived/processed-record.ts';
import { StoredState } from '../store/derived/stored-state.ts';
import type { AutoFields } from '../store/entities/auto-fields.ts';
import { areListed } from '../store/entities/directory.ts';
import { areScheduled } from '../store/entities/entity-schedule.ts';
import { readOwner } from '../store/ownership/owners.ts';
import { nameOfWork, wholeTurn } from '../store/partitions/intake.ts';
import type { Store } from '../store/store.ts';
import { checkBytes, checkNotMade } from './bytes-check.ts';
import {
  checkListed,
  checkListedWithoutView,
  checkReferences,
  ListedViews,
  requestedViews,
  requestReferences,
} from './changes-check.ts';
import { checkClaims, expectedClaims, requestClaims } from './claims-check.ts';
import { changingFinding, type EntityTarget, type Finding, finding } from './finding.ts';
import { checkDependents, checkEntries, expectedEntries, requestDependents } from './lookups-check.ts';
import type { ReadOnlyLookups } from './read-only-lookups.ts';
import { checkSuspect, isKnown, requestSuspect } from './suspect-check.ts';
import { TurnState } from './turn-state.ts';

export interface CheckContext {
  readonly store: Store;
  readonly configuration: Configuration;
  readonly autoFields: AutoFields;
  readonly lookups: ReadOnlyLookups;
  readonly sandbox: CodeSandbox;
}

/** Counts of compared things. */
export interface CheckCounts {
  entities: number;
  views: number;
  items: number;
  claims: number;
}

export function noCounts(): CheckCounts {
  return { entities: 0, views: 0, items: 0, claims: 0 };
}

/** Findings for each target, in order; all targets are in the same partition. @throws StoreUnavailableError */
export async function checkEntities(
  { store, configuration, autoFields, lookups, sandbox }: CheckContext,
  partition: number,
  targets: readonly EntityTarget[],
  counts: CheckCounts,
): Promise<Finding[][]> {
  lookups.beginPortion();
  const { clockMs } = await readOwner(store, partition);
  const turns = await loadTurns(
    store,
    store.partitions.tag(partition),
    { configuration, layouts: await readLayouts(store) },
    // With `repair`, everything is built as of now, so that recorded earlier states are checked too.
    targets.map((target) => ({ ...wholeTurn(target), repair: [] })),
    clockMs,
  );
  const read = (asked: readonly Output[]) => AutoTypes.read(autoFields, asked);
  const { outputs, autoTypes } = await buildTurns(turns, lookups, sandbox, read);
  const turnOf = new Map(turns.map((turn) => [nameOfWork(turn), turn]));
  const stored = new StoredState(store);
  const checks = targets.map((target) => {
    const turn = turnOf.get(nameOfWork(target));
    assert(turn !== undefined, 'every work has a turn');
    const ofTurn = outputs.filter((output) => output.turn === turn);
    return new EntityCheck(new TurnState(store, stored, turn), autoTypes, ofTurn, target.suspects);
  });
  await stored.load();
  await Promise.all(checks.map((check) => check.loadBodies()));
  const views = checks.flatMap((check) => check.requestedViews);
  const tag = store.partitions.tag(partition);
  const listed = await ListedViews.read(store, tag, views);
  const inDirectory = await readInDirectory(store, tag, turns);
  const inSchedule = await readInSchedule(store, tag, turns);
  const found = checks.map((check) => [
    ...check.findings(counts, listed),
    ...check.checkDirectory(inDirectory),
    ...check.checkSchedule(inSchedule),
  ]);
  if (found.every((findings) => findings.length === 0)) return found;
  const inProgress = await intendedEntities(store, tag);
  return await Promise.all(
    checks.map(({ turn }, at) => ofOneState(store, inProgress, turn, found[at] ?? [])),
  );
}

/** Names (`intentName`) of entities that a running batch is writing to other partitions. @throws StoreUnavailableError */
async function intendedEntities(store: Store, tag: string): Promise<ReadonlySet<string>> {
  const notes = await readIntents(store, tag);
  return new Set([...notes.values()].flatMap((note) => [...note.keys()]));
}

/**
 * Discards inconsistent findings. The record was read first; if it has changed since, or a batch is about to store another one,
 * the findings may come from two states.
 * @param inProgress read earlier, because a commit deletes the note and stores the record atomically
 * @throws StoreUnavailableError
 */
async function ofOneState(
  store: Store,
  inProgress: ReadonlySet<string>,
  turn: Turn,
  findings: Finding[],
): Promise<Finding[]> {
  if (findings.length === 0) return findings;
  const { tenant, sourceId, originId, former } = turn;
  const tag = store.partitions.tag(store.partitions.ofEntity(sourceId, originId));
  const [now = null] = await readProcessed(store, tag, tenant, sourceId, [originId]);
  const isSame = now?.stamp === former?.stamp && now?.times?.state === former?.times?.state;
  const isInProgress = inProgress.has(intentName(turn));
  if (!isSame || isInProgress) return [changingFinding(formatEntityId(turn))];
  // An entity that was saved again has another state, even if the finding says nothing of it.
  const stamps = `${turn.entity?.stamp} ${former?.stamp}`;
  return findings.map((one) => ({ ...one, fingerprint: `${one.fingerprint}\n${stamps}` }));
}

/** Turns whose entity is in the directory of its type. */
async function readInDirectory(
  store: Store,
  tag: string,
  turns: readonly Turn[],
): Promise<ReadonlySet<Turn>> {
  const asked = turns.flatMap((turn) =>
    turn.entity === null ? [] : [{ turn, tenant: turn.tenant, ...turn.entity }],
  );
  const found = await areListed(store, tag, asked);
  return new Set(asked.filter((_, at) => found[at]).map(({ turn }) => turn));
}

/** Turns whose entity has its next state change in the schedule. */
async function readInSchedule(store: Store, tag: string, turns: readonly Turn[]): Promise<ReadonlySet<Turn>> {
  const found = new Set<Turn>();
  const waiting = turns.flatMap((turn) => {
    const atMs = momentAfter(turn.entity?.times, turn.state);
    return atMs === null ? [] : [{ turn, atMs, originId: turn.originId }];
  });
  for (const group of groupBy(waiting, ({ turn }) => `${turn.tenant}:${turn.sourceId}`).values()) {
    const [first] = group;
    if (first === undefined) continue;
    const { tenant, sourceId } = first.turn;
    const areThere = await areScheduled(store, tag, { tenant, sourceId }, group);
    group.forEach(({ turn }, at) => {
      if (areThere[at]) found.add(turn);
    });
  }
  return found;
}

/** The check of one entity. The constructor requests the stored data; the comparison needs it loaded. */
class EntityCheck {
  readonly #claims: ReadonlyMap<Output, readonly ProcessedClaim[]>;
  readonly #entries;

  constructor(
    private readonly state: TurnState,
    private readonly autoTypes: AutoTypes,
    private readonly outputs: readonly Output[],
    private readonly suspects: readonly Suspect[],
  ) {
    this.#claims = new Map(outputs.map((output) => [output, expectedClaims(state, output)]));
    this.#entries = expectedEntries(state);
    for (const [output, claims] of this.#claims) {
      state.requestOutput(output.builder);
      requestClaims(state, output, claims);
      requestDependents(state, output);
      requestReferences(state, output);
    }
    for (const entry of this.#entries) state.request(entry);
    for (const suspect of suspects) requestSuspect(state, suspect);
  }

  get turn(): Turn {
    return this.state.turn;
  }

  get requestedViews() {
    return requestedViews(this.state, this.outputs, this.suspects);
  }

  /** @throws StoreUnavailableError */
  async loadBodies(): Promise<void> {
    const views = this.outputs.filter(({ builder }) => builder.kind === 'view');
    await Promise.all(views.map(({ builder }) => this.state.loadBody(builder)));
  }

  findings(counts: CheckCounts, listed: ListedViews): Finding[] {
    const { state, outputs } = this;
    counts.entities += state.turn.entity === null ? 0 : 1;
    for (const { builder } of outputs) counts[builder.kind === 'view' ? 'views' : 'items'] += 1;
    for (const claims of this.#claims.values()) counts.claims += claims.length;
    return [
      ...this.#checkProcessed(),
      ...outputs.flatMap((output) => this.#checkOutput(output, listed)),
      ...checkNotMade(state, outputs),
      ...(state.turn.entity === null ? [] : checkEntries(state, this.#entries)),
      ...this.suspects.flatMap((suspect) => checkSuspect(state, suspect)),
      ...this.suspects
        .filter((suspect) => !isKnown(state.turn.former, suspect))
        .flatMap((suspect) => checkListedWithoutView(state, suspect, listed)),
    ];
  }

  #checkOutput(output: Output, listed: ListedViews): Finding[] {
    const { state } = this;
    if (!isComparable(state, output)) return [];
    return [
      ...checkBytes(state, output, this.autoTypes),
      ...checkClaims(state, output, this.#claims.get(output) ?? []),
      ...checkDependents(state, output),
      ...checkReferences(state, output),
      ...checkListed(state, output, listed),
    ];
  }

  checkDirectory(inDirectory: ReadonlySet<Turn>): Finding[] {
    const { turn } = this.state;
    if (turn.entity === null || turn.former?.stamp !== turn.entity.stamp || inDirectory.has(turn)) return [];
    return [finding(formatEntityId(turn), 'is missing from the directory of its type')];
  }

  checkSchedule(inSchedule: ReadonlySet<Turn>): Finding[] {
    const { turn } = this.state;
    const { entity, former, state } = turn;
    const moment = momentAfter(entity?.times, state);
    if (moment === null || former?.stamp !== entity?.stamp || inSchedule.has(turn)) return [];
    return [finding(formatEntityId(turn), 'is missing from the schedule', null, momentText(moment))];
  }

  #checkProcessed(): Finding[] {
    const { turn } = this.state;
    const { entity, former } = turn;
    if (entity === null) return [];
    // The stamp distinguishes a recreated entity from one that is never processed.
    if (former === null)
      return [finding(formatEntityId(turn), 'was never processed', null, String(entity.stamp))];
    const state = processedState(former);
    if (former.stamp === entity.stamp && state !== turn.state) {
      const message = `is ${stateWords[state]}, but by its times it is ${stateWords[turn.state]} now`;
      return [finding(formatEntityId(turn), message, state, turn.state)];
    }
    if (former.stamp === entity.stamp && former.type === entity.type) return [];
    const stamps = [String(former.stamp), String(entity.stamp)] as const;
    return [finding(formatEntityId(turn), 'its last change was not processed', ...stamps)];
  }
}

const stateWords: Readonly<Record<PublishState, string>> = {
  waiting: 'not published yet',
  published: 'published',
  over: 'no longer published',
};

/** False for code that failed now with another message than recorded, because then the output cannot be compared. */
function isComparable({ former }: TurnState, { failure, builder }: Output): boolean {
  if (failure === null) return true;
  const recorded = former.get(outputKey(builder))?.failure;
  return recorded === undefined || recorded.message === failure.message;
}
