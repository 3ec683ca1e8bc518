import { createRequire } from 'node:module';
import { run } from '../cli/support/command.ts';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

/**
 * The output of the TypeScript compiler, '' if there are no errors. It does not check its own declarations, which would take
 * two thirds of the time, and runs without coverage, which would add a third.
 * @param words options and files
 * @param folder working directory
 */
export async function compilerSays(words: readonly string[], folder: string): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, [tsc, '--skipDefaultLibCheck', ...words], {
    cwd: folder,
    env: { NODE_V8_COVERAGE: '' },
  });
  return stdout + stderr;
}
