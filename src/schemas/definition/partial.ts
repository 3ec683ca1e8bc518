import type { PartialSchema } from '../schema.ts';
import type { Definition, Write } from './definition.ts';

/** A partial as the mapping language itself sees it; other rooms see a `PartialSchema`. */
export class CompiledPartial implements PartialSchema {
  readonly alias: string;
  readonly digest: string;
  /** Writes the partial's object over a frame whose `root` is what the partial was given. */
  readonly write: Write;

  constructor(alias: string, digest: string, definition: Definition) {
    this.alias = alias;
    this.digest = digest;
    this.write = definition.write;
  }
}
