/** The text of a file of a tenant by its path, or null when there is none. @throws ModuleRefused */
export type ReadModule = (path: string) => Promise<string | null>;

/** A file that is there and may not be imported; the message says why. */
export class ModuleRefused extends Error {
  override readonly name = 'ModuleRefused';
}

/** Of the tenant file: what a schema imports can be read in its mistakes and its views. */
export const holdsSecrets = 'holds secrets and cannot be imported';
