/** The programs of tenants, with a compartment per tenant. */
import { assert } from '../../lib/assert.ts';
import { type ProgramKind, programName } from '../../schemas/build/code-call.ts';
import { tenantCompartment } from './intrinsics.ts';

/** The default export of a program, which may contain anything. */
export type Module = Readonly<Record<string, unknown>>;

/** Runs the program from its first line, with fresh module variables. */
type Factory = (globals: object) => unknown;

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
