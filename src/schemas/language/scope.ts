import type { Json } from '../../contract/json.ts';
import { Build } from '../build/build.ts';
import type { BuildInput } from '../build/build-input.ts';
import { isEntityField } from '../build/entity-value.ts';
import { member, ownMember } from '../values.ts';

/** The scope of an expression: the schema's own value, and one frame for each enclosing array. */
export class Frame {
  readonly build: Build;
  /** `root`: the source entity, in a partial what it was given. */
  readonly self: Json;
  /** Current element of the nearest array; outside arrays the same as `self`. */
  value: Json;
  readonly outer: Frame;

  constructor(build: Build, self: Json, outer: Frame | null = null) {
    this.build = build;
    this.self = self;
    this.value = self;
    // The outermost frame is its own outer one: so `parent` at the first level is `root` without asking.
    this.outer = outer ?? this;
  }
}

/** A compiled expression as a value. */
export type Evaluate = (frame: Frame) => Json;

/** A compiled expression as text; null when it is null alone. */
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

/** Names that are the same everywhere; no array variable may hide them. */
const fixedNames = ['root', 'parent', 'input', 'item', 'p'];

/** True for a name that an array variable may not have. `item` may: it is the default. */
export function isReservedName(name: string): boolean {
  return name !== 'item' && (fixedNames.includes(name) || isEntityField(name));
}

/**
 * The names that an expression may use where it is, resolved when it is compiled
 * (docs/reference/mapping-language.md "Expressions"): array variables, innermost first; `root`, `parent`, `input`, `item`;
 * then the members of `root`. In a full schema these are an entity's own fields, in a partial those of its input.
 *
 * `item` outside arrays is `root`. `input` is `root`, but inside the items of a lookup it is the matched entity.
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

  /** The scope whose paths the observer hears of; null: no observer. */
  observedBy(observer: PathObserver | null): Scope {
    return new Scope(this.#kind, this.#loops, { ...this.#watch, observer });
  }

  /** The scope of an expression, for whose paths the observer is told the place. */
  at(place: PlaceInFile): Scope {
    return this.#watch.observer === null
      ? this
      : new Scope(this.#kind, this.#loops, { ...this.#watch, place });
  }

  /** A path of an expression as it is to be evaluated. @param path as it is written */
  observed(path: string, evaluate: Evaluate): Evaluate {
    const { observer, place } = this.#watch;
    return observer === null || place === null ? evaluate : observer(place, path, evaluate);
  }

  /** How to read `name`, or null when nothing is called so here. */
  resolve(name: string): Evaluate | null {
    return this.#variable(name) ?? this.#memberOfRoot(name);
  }

  /** The same for a path selector, to which a member that is null and one that is absent are different things. */
  find(name: string): ((frame: Frame) => Json | undefined) | null {
    const resolved = this.resolve(name);
    const isMember = resolved !== null && this.#variable(name) === null;
    return isMember ? (frame) => ownMember(frame.self, name) : resolved;
  }

  /** Names to propose for one that is unknown. */
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
 * Wraps each path of an expression while a schema is compiled, for callers that want to know what paths give.
 * @param at the place of the expression in its file @param path as it is written: `p.title`
 */
export type PathObserver = (at: PlaceInFile, path: string, evaluate: Evaluate) => Evaluate;

/** The frame of a new build at the top of its schema. */
export function rootFrame(input: BuildInput): Frame {
  const build = new Build(input);
  return new Frame(build, build.root);
}
