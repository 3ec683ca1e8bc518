/**
 * Messages between a process and its compiler, on Node's IPC channel. The compiler works on one task at a time. It has no file
 * access, and requests the text of each file.
 */
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import type { CodeProgram } from '../../schemas/code/program.ts';

export type ToCompiler =
  /** @see CompiledFile */
  | { readonly kind: 'compile'; readonly file: string }
  /** The reply to `read`. `text` is null if there is no file; `refusal` is the reason why a schema may not import it. */
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
  /** Null if it cannot run. */
  readonly draft: ProgramDraft | null;
  /** Errors, with line and column. */
  readonly issues: readonly ConfigIssue[];
}

export type ProgramDraft = Pick<
  CodeProgram,
  'file' | 'files' | 'code' | 'map' | 'partials' | 'lookups' | 'names'
>;

/** Returns the text of a tenant's file, or null if there is none. @throws ModuleRefused */
export type ReadModule = (path: string) => Promise<string | null>;

/** Thrown for a file that exists but must not be imported; the message says why. */
export class ModuleRefused extends Error {
  override readonly name = 'ModuleRefused';
}

/** The reason for the tenant file: imported text may appear in error messages and views. */
export const holdsSecrets = 'contains secrets and cannot be imported';
