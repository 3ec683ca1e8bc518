/** The programs of tenants, each tenant's in a compartment of its own. */
import { assert } from '../../lib/assert.ts';
import { type ProgramKind, programName } from '../../schemas/build/code-call.ts';
import { tenantCompartment } from './intrinsics.ts';

/** The default export of a program. Its author may have put anything there. */
export type Module = Readonly<Record<string, unknown>>;

/** Runs the program from its first line, so that its module variables start over. */
type Factory = (globals: object) => unknown;

export class ProgramSets {
  readonly #sets = new Map<string, Programs>();

  /** @param console what `console` is in every program */
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
  /** By name: the code of a program, and once it was asked for what it was compiled to. V8 keeps a copy of the code of its own. */
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

  /** The program's default export, created again. @throws whatever the program throws */
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
    // The first line is ours, so that the lines of the program are counted from the second.
    const text = `(function (globalThis) { "use strict";\n${code}\n})\n//# sourceURL=schema:${name}`;
    const factory: Factory = this.compartment.evaluate(text);
    this.#programs.set(name, factory);
    return factory;
  }
}
