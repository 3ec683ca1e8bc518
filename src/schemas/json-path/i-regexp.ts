/**
 * Patterns of the JSONPath functions `match` and `search`: I-Regexp (RFC 9485). Pattern and text may both come from an entity.
 * So patterns are run with Thompson's algorithm, as a set of states, in at most states times characters.
 *
 * Every visited state counts for the build's budget, which stops expensive runs. The library `re2js` takes linear time too, but
 * a call cannot be measured or stopped: `a[ab]{900}[cd]` over 200 kB takes 1.8 s, and a text may have 5 MB. It also rejects
 * counts over 1,000 and accepts patterns that are not I-Regexp.
 */

import { languageTextCharactersMax, patternStatesMax } from '../../contract/limits.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { type Resumable, type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import { SchemaSyntaxError } from '../language/reader.ts';
import { type PatternNode, parsePattern, type TakesCodePoint } from './i-regexp-parser.ts';

type RepeatNode = Extract<PatternNode, { kind: 'repeat' }>;

type State =
  | { readonly kind: 'take'; readonly takes: TakesCodePoint; readonly steps: number }
  /** Continues at the next state and at `to`. */
  | { readonly kind: 'fork'; to: number }
  | { readonly kind: 'jump'; to: number }
  | { readonly kind: 'start' | 'end' | 'match' };

export interface Pattern {
  readonly states: readonly State[];
}

/** The result of a compilation. */
interface Compiled {
  /** Null if it is not a valid pattern, or needs too many states. */
  readonly pattern: Pattern | null;
  /** Number of created states. */
  readonly steps: number;
}

const cachedPatternsMax = 256;
const cache = new BoundedCache<string, Compiled>({ entriesMax: cachedPatternsMax });

/**
 * Compiles a pattern; null if it is invalid or needs too many states.
 * @param spend called with the work of compiling, also for a cached pattern, so that a build always takes the same number of
 * steps
 */
export function compilePattern(text: string, spend: (steps: number) => void): Pattern | null {
  if (text.length > languageTextCharactersMax) return null;
  spend(text.length);
  const { pattern, steps } = cache.getOrCreate(text, () => compileNew(text));
  spend(steps);
  return pattern;
}

function compileNew(text: string): Compiled {
  const states: State[] = [];
  try {
    emit(parsePattern(text), states);
    push(states, { kind: 'match' });
    return { pattern: { states }, steps: states.length };
  } catch (error) {
    if (error instanceof SchemaSyntaxError) return { pattern: null, steps: states.length };
    throw error;
  }
}

function push<S extends State>(states: State[], state: S): S {
  if (states.length >= patternStatesMax) {
    throw new SchemaSyntaxError(`the pattern needs more than ${patternStatesMax} states`, 0, 'Simplify it.');
  }
  states.push(state);
  return state;
}

function emit(node: PatternNode, states: State[]): void {
  switch (node.kind) {
    case 'take':
      push(states, { kind: 'take', takes: node.takes, steps: node.steps });
      return;
    case 'start':
    case 'end':
      push(states, { kind: node.kind });
      return;
    case 'sequence':
      for (const part of node.nodes) emit(part, states);
      return;
    case 'choice':
      emitChoice(node.nodes, states);
      return;
    case 'repeat':
      emitRepeat(node, states);
  }
}

function emitChoice(nodes: readonly PatternNode[], states: State[]): void {
  const exits: { to: number }[] = [];
  for (const node of nodes.slice(0, -1)) {
    const fork = push(states, { kind: 'fork', to: 0 });
    emit(node, states);
    exits.push(push(states, { kind: 'jump', to: 0 }));
    fork.to = states.length;
  }
  const last = nodes.at(-1);
  if (last !== undefined) emit(last, states);
  for (const exit of exits) exit.to = states.length;
}

function emitRepeat({ node, min, max }: RepeatNode, states: State[]): void {
  for (let i = 0; i < min; i++) emitCopy(node, states);
  if (max === Number.POSITIVE_INFINITY) {
    const loop = states.length;
    const fork = push(states, { kind: 'fork', to: 0 });
    emit(node, states);
    push(states, { kind: 'jump', to: loop });
    fork.to = states.length;
    return;
  }
  const exits: { to: number }[] = [];
  for (let i = min; i < max; i++) {
    exits.push(push(states, { kind: 'fork', to: 0 }));
    emit(node, states);
  }
  for (const exit of exits) exit.to = states.length;
}

/** Every copy has at least one state, so that `(){1000000000}` also reaches the limit of states. */
function emitCopy(node: PatternNode, states: State[]): void {
  const before = states.length;
  emit(node, states);
  if (states.length === before) push(states, { kind: 'jump', to: before + 1 });
}

/** Whether a pattern must match the whole text (`match`) or a part of it (`search`). */
export type Extent = 'whole' | 'part';

/**
 * Whether the pattern matches the text; in steps if the text is long.
 * @param spend called with the number of visited states; throws when the budget is used up
 */
export function patternTakes(
  pattern: Pattern,
  text: string,
  extent: Extent,
  spend: (steps: number) => void,
): Resumable<boolean> {
  const run = new PatternRun(pattern, text, extent, spend);
  return run.resume() ?? new Suspended(run.rest());
}

/** A run of a pattern over a text. */
class PatternRun {
  readonly #pattern: Pattern;
  readonly #text: string;
  readonly #extent: Extent;
  readonly #spend: (steps: number) => void;
  readonly #states: StateSet;
  #current: number[] = [];
  #at = 0;

  constructor(pattern: Pattern, text: string, extent: Extent, spend: (steps: number) => void) {
    this.#pattern = pattern;
    this.#text = text;
    this.#extent = extent;
    this.#spend = spend;
    this.#states = new StateSet(pattern, text.length);
    this.#states.enter(0, 0, this.#current);
    spend(this.#states.reached);
  }

  /** @returns whether the pattern matches; null if it pauses */
  resume(): boolean | null {
    const text = this.#text;
    while (this.#at < text.length) {
      if (this.#extent === 'part' && this.#states.matched) return true;
      const codePoint = text.codePointAt(this.#at) ?? 0;
      this.#at += codePoint > 0xffff ? 2 : 1;
      this.#current = this.#next(codePoint);
      if (this.#extent === 'whole' && this.#current.length === 0 && !this.#states.matched) return false;
      if (workBudget.isOver()) return null;
    }
    return this.#states.matched;
  }

  *rest(): Steps<boolean> {
    for (;;) {
      yield;
      const taken = this.resume();
      if (taken !== null) return taken;
    }
  }

  /** The states after a character. */
  #next(codePoint: number): number[] {
    const next: number[] = [];
    this.#states.advance();
    let steps = 1;
    for (const index of this.#current) {
      const state = this.#pattern.states[index];
      if (state?.kind !== 'take') continue;
      steps += state.steps;
      if (state.takes(codePoint)) this.#states.enter(index + 1, this.#at, next);
    }
    if (this.#extent === 'part') this.#states.enter(0, this.#at, next);
    // Includes states that are reached without a character, as in `(){5000}`.
    this.#spend(steps + this.#states.reached);
    return next;
  }
}

/** The states that are reached at one position of the text. */
class StateSet {
  /** True if a match is reached at the current position. */
  matched = false;
  /** Number of states reached at the current position, including those without a character. */
  reached = 0;
  readonly #pattern: Pattern;
  readonly #textLength: number;
  readonly #seen: Uint32Array;
  readonly #open: number[] = [];
  #place = 1;

  constructor(pattern: Pattern, textLength: number) {
    this.#pattern = pattern;
    this.#textLength = textLength;
    this.#seen = new Uint32Array(pattern.states.length + 1);
  }

  advance(): void {
    this.#place += 1;
    this.matched = false;
    this.reached = 0;
  }

  /** Adds `first` and all states that follow it without a character. States that need a character are added to `into`. */
  enter(first: number, at: number, into: number[]): void {
    this.#open.push(first);
    for (let index = this.#open.pop(); index !== undefined; index = this.#open.pop()) {
      if (this.#seen[index] === this.#place) continue;
      this.#seen[index] = this.#place;
      this.reached += 1;
      this.#follow(index, at, into);
    }
  }

  #follow(index: number, at: number, into: number[]): void {
    const state = this.#pattern.states[index];
    if (state === undefined) return;
    if (state.kind === 'take') into.push(index);
    else if (state.kind === 'match') this.matched = true;
    else if (state.kind === 'jump') this.#open.push(state.to);
    else if (state.kind === 'fork') this.#open.push(index + 1, state.to);
    else if (state.kind === 'start' ? at === 0 : at === this.#textLength) this.#open.push(index + 1);
  }
}
