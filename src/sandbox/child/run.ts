/** One build in the sandbox: its input, and its requests and findings so far. */
import type { Json } from '../../contract/json.ts';
import { diagnosticsPerBuildMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import {
  type CodeAction,
  type CodeDestination,
  type CodeReply,
  type LookupRequest,
  type ProgramKind,
  programName,
} from '../../schemas/build/code-call.ts';
import type { CodeEntity } from '../protocol.ts';
import { tenantCompartment } from './intrinsics.ts';

export class Run {
  readonly urls: { url: string; redirects: readonly string[] | null }[] = [];
  readonly handles: string[] = [];
  readonly actions: { -readonly [Key in keyof CodeAction]: CodeAction[Key] }[] = [];
  /** The options may be any value until `actions` has ended. */
  readonly destinations: { alias: string; options: unknown }[] = [];
  readonly settledDestinations: CodeDestination[] = [];
  readonly findings: CodeReply['findings'][number][] = [];
  readonly log: string[] = [];
  /** Lookups without a result, by their texts. */
  readonly asks = new Map<string, LookupRequest>();
  /** Number of lookups with a result. */
  readonly answered: number;
  /** Ids of the original entity, because code may modify its copy. */
  readonly entity: CodeEntity | null;
  /** Objects that represent source entities. */
  readonly entities = new WeakSet<object>();

  /**
   * @param entity the source entity; null for a separately built partial
   * @param moduleOf starts the program of a partial with fresh module variables; null: the partial is not code
   */
  constructor(
    entity: CodeEntity | null,
    readonly answers: Readonly<Record<string, Json>>,
    readonly moduleOf: (alias: string) => Module | null,
  ) {
    this.answered = Object.keys(answers).length;
    this.entity = entity && { originId: entity.originId, originParentId: entity.originParentId };
    if (entity !== null) this.entities.add(entity);
  }

  report(kind: 'partialUnknown' | 'limitReached', message: string): void {
    if (this.findings.length < diagnosticsPerBuildMax) this.findings.push({ kind, message });
  }
}

/** The default export of a program, which may contain anything. */
export type Module = Readonly<Record<string, unknown>>;

/** Runs the program from its first line, with fresh module variables. */
type Factory = (globals: object) => unknown;

/** The programs of tenants, with a compartment per tenant. */
export class ProgramSets {
  readonly #sets = new Map<string, Programs>();

  /** @param console the `console` of every program */
  constructor(private readonly console: object) {}

  open(id: string, programs: readonly (readonly [name: string, code: string])[]): void {
    this.#sets.set(id, new Programs(programs, tenantCompartment(this.console)));
  }

  close(id: string): void {
    this.#sets.delete(id);
  }

  get(id: string): Programs {
    const set = this.#sets.get(id);
    assert(set !== undefined, 'programs are opened before they are asked for');
    return set;
  }
}

export class Programs {
  /**
   * The code of each program by name; after the first use, the compiled function instead, because V8 keeps its own copy of the
   * code.
   */
  readonly #programs: Map<string, string | Factory>;

  constructor(
    codes: readonly (readonly [name: string, code: string])[],
    private readonly compartment: Compartment,
  ) {
    this.#programs = new Map(codes);
  }

  has(kind: ProgramKind, alias: string): boolean {
    return this.#programs.has(programName(kind, alias));
  }

  /** Creates the program's default export again. @throws whatever the program throws */
  start(kind: ProgramKind, alias: string): Module {
    const module = this.#factory(programName(kind, alias))(Object.create(this.compartment.globalThis));
    if (typeof module === 'object' && module !== null) return module as Module;
    throw new TypeError(
      'the default export must be an object: export default { properties(entity, context) { … } }',
    );
  }

  #factory(name: string): Factory {
    const code = this.#programs.get(name);
    assert(code !== undefined, 'only programs of the set are asked for');
    if (typeof code === 'function') return code;
    // The wrapper is the first line, so the program begins on line 2.
    const text = `(function (globalThis) { "use strict";\n${code}\n})\n//# sourceURL=schema:${name}`;
    const factory: Factory = this.compartment.evaluate(text);
    this.#programs.set(name, factory);
    return factory;
  }
}
