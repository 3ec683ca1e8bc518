import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { SettingsError } from './settings.ts';

/**
 * The environment with the variables of `.env` in the working directory below it (docs/reference/settings.md); what the
 * real environment sets, even to nothing, wins. `env` itself is not changed.
 * @throws SettingsError when there is a `.env` that cannot be read
 */
export function environmentWithFile(env: NodeJS.ProcessEnv, workingDir: string): NodeJS.ProcessEnv {
  let text: string;
  try {
    text = readFileSync(join(workingDir, '.env'), 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code === 'ENOENT') return { ...env };
    throw new SettingsError(`.env cannot be read (${code}): make it a readable file, or remove it`);
  }
  return { ...parseEnv(text), ...env };
}
