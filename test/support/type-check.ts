import { createRequire } from 'node:module';
import { run } from '../cli/support/command.ts';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

/**
 * The output of the TypeScript compiler; '' without errors. The declarations that are part of the compiler are not checked,
 * which would take two thirds of the time. Coverage is turned off for it, which would add a third. @param words options and
 * files @param folder working directory
 */
export async function compilerSays(words: readonly string[], folder: string): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, [tsc, '--skipDefaultLibCheck', ...words], {
    cwd: folder,
    env: { NODE_V8_COVERAGE: '' },
  });
  return stdout + stderr;
}
