/**
 * Between a process and its compiler: messages on Node's own channel. The compiler does one task after the other. It has
 * no files: it asks for the text of each.
 */
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import type { CodeProgram } from '../../schemas/code/program.ts';

export type ToCompiler =
  /** @see CompiledFile */
  | { readonly kind: 'compile'; readonly file: string }
  /** The reply to `read`. `text` is null where there is no file; `refusal` is the reason why a schema cannot have it. */
  | {
      readonly kind: 'text';
      readonly path: string;
      readonly text: string | null;
      readonly refusal: string | null;
    };

export type FromCompiler =
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'compiled'; readonly compiled: CompiledFile };

/** A compiled JavaScript or TypeScript file, before it has run. */
export interface CompiledFile {
  /** Null: it cannot be run. */
  readonly draft: ProgramDraft | null;
  /** Mistakes, with line and column. */
  readonly issues: readonly ConfigIssue[];
}

export type ProgramDraft = Pick<
  CodeProgram,
  'file' | 'files' | 'code' | 'map' | 'partials' | 'lookups' | 'names'
>;

/** The text of a file of a tenant by its path, or null when there is none. @throws ModuleRefused */
export type ReadModule = (path: string) => Promise<string | null>;

/** A file that is there and may not be imported; the message says why. */
export class ModuleRefused extends Error {
  override readonly name = 'ModuleRefused';
}

/** Of the tenant file: what a schema imports can be read in its mistakes and its views. */
export const holdsSecrets = 'holds secrets and cannot be imported';
