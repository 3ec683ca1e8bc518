import type { Json } from '../../contract/json.ts';
import { Build } from '../build/build.ts';
import type { BuildInput } from '../build/build-input.ts';
import { isEntityField } from '../build/entity-value.ts';
import { member, ownMember } from '../values.ts';

/** Values of the scope at run time: the schema's root value, and one frame for each enclosing array. */
export class Frame {
  readonly build: Build;
  /** `root`: the source entity; in a partial its input. */
  readonly self: Json;
  /** Current element of the innermost array; outside arrays the same as `self`. */
  value: Json;
  readonly outer: Frame;

  constructor(build: Build, self: Json, outer: Frame | null = null) {
    this.build = build;
    this.self = self;
    this.value = self;
    // The outermost frame is its own outer frame, so that `parent` at the first level is `root`.
    this.outer = outer ?? this;
  }
}

/** A compiled expression as a value. */
export type Evaluate = (frame: Frame) => Json;

/** A compiled expression as text; null if its value is null. */
export type EvaluateText = (frame: Frame) => string | null;

interface Loop {
  readonly variable: string;
  readonly isLookup: boolean;
}

interface Watch {
  readonly observer: PathObserver | null;
  readonly place: PlaceInFile | null;
}

const unwatched: Watch = { observer: null, place: null };

/** Names with the same meaning everywhere, which array variables must not hide. */
const fixedNames = ['root', 'parent', 'input', 'item', 'p'];

/** True for a name that an array variable must not have. `item` is allowed, because it is the default. */
export function isReservedName(name: string): boolean {
  return name !== 'item' && (fixedNames.includes(name) || isEntityField(name));
}

/**
 * The names that an expression can use, resolved at compile time (docs/reference/mapping-language.md "Expressions"): array
 * variables, innermost first; `root`, `parent`, `input`, `item`; then the members of `root`. In a full schema these are the
 * fields of an entity, in a partial those of its input.
 *
 * Outside arrays, `item` is `root`. `input` is `root`, except within the items of a lookup, where it is the matched entity.
 */
export class Scope {
  readonly #kind: 'entity' | 'given';
  readonly #loops: readonly Loop[];
  readonly #watch: Watch;

  private constructor(kind: 'entity' | 'given', loops: readonly Loop[], watch: Watch = unwatched) {
    this.#kind = kind;
    this.#loops = loops;
    this.#watch = watch;
  }

  /** Scope of a full schema or an index schema. */
  static readonly entity = new Scope('entity', []);
  /** Scope of a partial schema. */
  static readonly partial = new Scope('given', []);

  /** The scope of an array's items. */
  inside(variable: string, isLookup: boolean): Scope {
    return new Scope(this.#kind, [{ variable, isLookup }, ...this.#loops], this.#watch);
  }

  /** The scope with an observer of its paths; null for none. */
  observedBy(observer: PathObserver | null): Scope {
    return new Scope(this.#kind, this.#loops, { ...this.#watch, observer });
  }

  /** The scope of an expression at a place, which the observer receives. */
  at(place: PlaceInFile): Scope {
    return this.#watch.observer === null
      ? this
      : new Scope(this.#kind, this.#loops, { ...this.#watch, place });
  }

  /** Wraps the evaluation of a path for the observer. @param path as written */
  observed(path: string, evaluate: Evaluate): Evaluate {
    const { observer, place } = this.#watch;
    return observer === null || place === null ? evaluate : observer(place, path, evaluate);
  }

  /** The evaluator of `name`; null if it is unknown. */
  resolve(name: string): Evaluate | null {
    return this.#variable(name) ?? this.#memberOfRoot(name);
  }

  /** As `resolve`, for a path selector, which distinguishes null members from absent ones. */
  find(name: string): ((frame: Frame) => Json | undefined) | null {
    const resolved = this.resolve(name);
    const isMember = resolved !== null && this.#variable(name) === null;
    return isMember ? (frame) => ownMember(frame.self, name) : resolved;
  }

  /** Names to suggest for an unknown one. */
  get names(): string[] {
    const fields =
      this.#kind === 'entity' ? ['originId', 'originParentId', 'id', 'type', 'url', 'redirects'] : [];
    return [...new Set([...this.#loops.map((loop) => loop.variable), ...fixedNames, ...fields])];
  }

  #variable(name: string): Evaluate | null {
    const hops = this.#loops.findIndex((loop) => loop.variable === name);
    return hops >= 0 ? valueAt(hops) : this.#fixed(name);
  }

  #fixed(name: string): Evaluate | null {
    if (name === 'root' || name === 'item') return (frame) => frame.self;
    if (name === 'parent') return (frame) => frame.outer.value;
    if (name !== 'input') return null;
    const hops = this.#loops.findIndex((loop) => loop.isLookup);
    return hops < 0 ? (frame) => frame.self : valueAt(hops);
  }

  #memberOfRoot(name: string): Evaluate | null {
    const known = this.#kind === 'given' || name === 'p' || isEntityField(name);
    return known ? (frame) => member(frame.self, name) : null;
  }
}

function valueAt(hops: number): Evaluate {
  if (hops === 0) return (frame) => frame.value;
  if (hops === 1) return (frame) => frame.outer.value;
  return (frame) => {
    let at = frame;
    for (let i = 0; i < hops; i++) at = at.outer;
    return at.value;
  };
}

export interface PlaceInFile {
  /** Relative to CONFIG_DIR. */
  readonly file: string;
  /** JSON path inside it. */
  readonly path: string;
}

/**
 * Wraps each path of an expression while a schema is compiled, to observe its values.
 * @param at place of the expression in its file
 * @param path as written: `p.title`
 */
export type PathObserver = (at: PlaceInFile, path: string, evaluate: Evaluate) => Evaluate;

/** The frame of a new build at the top of its schema. */
export function rootFrame(input: BuildInput): Frame {
  const build = new Build(input);
  return new Frame(build, build.root);
}
