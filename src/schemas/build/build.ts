import type { Diagnostic } from '../../contract/diagnostic.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import type { Json } from '../../contract/json.ts';
import { buildStepsMax, diagnosticsPerBuildMax, lookupsPerBuildMax } from '../../contract/limits.ts';
import { workBudget } from '../../lib/cooperative-yield.ts';
import type { LookupQuery } from '../lookup-layout.ts';
import { valueText } from '../values.ts';
import type { BuildInput } from './build-input.ts';
import type { BuildFailure, BuildOutcome } from './build-outcome.ts';
import type { CodeCall, CodeReply } from './code-call.ts';
import { type EntityValue, entityValue } from './entity-value.ts';

/** Approximate cost of a step, and of a lookup, in units of the work budget. */
const unitsPerStep = 100;

const unitsPerLookup = 1000;

/** State of one build: its findings so far, and its remaining budget. */
export class Build {
  readonly input: BuildInput;
  readonly root: EntityValue;
  partialDepth = 0;
  /** True if the build may meet large values. */
  isLarge: boolean;
  #stepsLeft = buildStepsMax;
  readonly #lookups = new Map<string, LookupQuery>();
  readonly #pending = new Map<string, LookupQuery>();
  readonly #diagnostics = new Map<string, Diagnostic>();
  #failure: BuildFailure | null = null;

  constructor(input: BuildInput) {
    this.input = input;
    this.isLarge = input.entity.isLarge === true;
    this.root = entityValue(input.entity);
  }

  /** Takes steps from the budget. False once it is used up: the caller must then continue as if the data were absent. */
  spend(steps: number): boolean {
    this.#stepsLeft -= steps;
    workBudget.units += steps * unitsPerStep;
    if (this.#stepsLeft >= 0) return true;
    this.limitReached('$', `the view needs more than ${buildStepsMax} steps; the rest is left out`);
    return false;
  }

  /** The entities that a lookup found; provisionally none while its result is not known. */
  lookup(query: LookupQuery): readonly StoredEntity[] {
    return this.result(query) ?? [];
  }

  /** As `lookup`, but null while the result is not known. */
  result(query: LookupQuery): readonly StoredEntity[] | null {
    if (!this.#lookups.has(query.id) && this.#lookups.size >= lookupsPerBuildMax) {
      this.limitReached(
        query.place,
        `the view needs more than ${lookupsPerBuildMax} lookups; the others are empty`,
      );
      return [];
    }
    this.#lookups.set(query.id, query);
    // Without keys nothing can match, so no read is needed.
    const found = query.keys.length === 0 ? [] : this.input.lookup(query);
    workBudget.units += unitsPerLookup;
    if (found !== undefined) {
      for (const { isLarge } of found) if (isLarge) this.isLarge = true;
      return found;
    }
    this.#pending.set(query.id, query);
    return null;
  }

  /** As `BuildInput.code`. */
  code(key: string, call: () => CodeCall): CodeReply | undefined {
    return this.input.code(key, call);
  }

  /** The text of a value (`valueText`). For a large value it is provisionally empty while it is not known. */
  text(value: Json): string | null {
    if (!this.isLarge || typeof value !== 'object' || value === null) return valueText(value);
    return this.input.text(value) ?? '';
  }

  /** Fails the build of the entity. Only the first reason is kept. */
  fail(failure: BuildFailure): void {
    this.#failure ??= failure;
  }

  limitReached(place: string, message: string): void {
    this.report({ kind: 'limitReached', place, message });
  }

  /** Keeps only the first finding of a kind at a place, because a schema line may fail for each of a thousand items. */
  report(diagnostic: Diagnostic): void {
    const key = `${diagnostic.kind} ${diagnostic.place}`;
    if (this.#diagnostics.has(key) || this.#diagnostics.size >= diagnosticsPerBuildMax) return;
    this.#diagnostics.set(key, diagnostic);
  }

  outcome(): BuildOutcome {
    return {
      lookups: [...this.#lookups.values()],
      pending: [...this.#pending.values()],
      diagnostics: [...this.#diagnostics.values()],
      failure: this.#failure,
    };
  }
}
