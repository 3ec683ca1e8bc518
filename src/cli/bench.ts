/** `npm run bench -- NAME`: runs `bench/NAME.ts` with the arguments that follow. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CommandStop, runCommand } from './terminal/command-line.ts';

const benchDir = fileURLToPath(new URL('../../bench/', import.meta.url));

async function main(): Promise<number> {
  const [name, ...words] = process.argv.slice(2);
  const names = readdirSync(benchDir)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.basename(file, '.ts'));
  if (name === undefined) {
    console.log(names.join('\n'));
    return 0;
  }
  if (!names.includes(name))
    throw new CommandStop(`There is no benchmark ${name}. To list them: npm run bench`);
  const file = path.join(benchDir, `${name}.ts`);
  process.argv = [process.execPath, file, ...words];
  await import('../typescript/loader.mjs');
  await import(pathToFileURL(file).href);
  return Number(process.exitCode ?? 0);
}

await runCommand(main);
