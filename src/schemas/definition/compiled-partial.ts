import type { PartialSchema } from '../build/build-input.ts';
import type { Write } from './definition.ts';

/** A partial as the mapping language itself sees it; other rooms see a `PartialSchema`. */
export class CompiledPartial implements PartialSchema {
  /** @param write writes the partial's object over a frame whose `root` is what the partial was given */
  constructor(
    readonly alias: string,
    readonly digest: string,
    readonly write: Write,
  ) {}
}
