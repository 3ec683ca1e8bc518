/** `millrace init FOLDER`: writes a new site (docs/guide/first-site.md). */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isTenantName } from '../config/document-path.ts';
import { reasonOf } from '../lib/message-text.ts';
import { script } from '../lib/typed-command.mjs';
import { isClone } from '../typescript/clone-or-package.mjs';
import { newSite } from './site/new-site.ts';
import { CommandStop, readArguments, runCommand } from './terminal/command-line.ts';

async function main(): Promise<number> {
  const { positionals } = readArguments('init');
  const [given] = positionals;
  if (given === undefined) throw new CommandStop('Missing FOLDER. Example: npm run init -- my-site');
  const folder = path.resolve(given);
  const tenant = tenantNameOf(path.basename(folder));
  requireEmpty(folder);
  write(folder, newSite(tenant));
  console.log(
    [
      `Created a site in ${given}: the configuration of the tenant ${tenant}, with its own keys, and three entities.`,
      '',
      ...startLines(given),
      '',
      'README.md says what to do next.',
    ].join('\n'),
  );
  return 0;
}

/** A clone has no `millrace` program, and its npm scripts run in its own folder. */
function startLines(folder: string): string[] {
  if (!isClone) return [`  cd ${shellWord(folder)}`, `  ${script('dev')}`];
  const [configDir, dataDir] = ['config', '.data'].map((name) => shellWord(`${folder}/${name}`));
  return [`  CONFIG_DIR=${configDir} DATA_DIR=${dataDir} ${script('dev')}`];
}

/** Quotes a path that a shell would split or expand. */
function shellWord(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
}

/** @throws CommandStop if the folder is not empty */
function requireEmpty(folder: string): void {
  if (!existsSync(folder)) return;
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    throw new CommandStop(`${folder} is a file. Choose another name.`);
  }
  if (names.length > 0) throw new CommandStop(`${folder} is not empty. Choose another folder.`);
}

/** A tenant name from the name of a folder: invalid characters become `-`. */
function tenantNameOf(folderName: string): string {
  const name = folderName.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return isTenantName(name) ? name : 'site';
}

function write(folder: string, files: ReadonlyMap<string, string>): void {
  try {
    for (const [name, text] of files) {
      const file = path.join(folder, name);
      // Private, because some files have keys.
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, text, { mode: 0o600 });
    }
  } catch (error) {
    // It was empty, and must be empty for another attempt.
    const written = existsSync(folder) ? readdirSync(folder) : [];
    for (const name of written) rmSync(path.join(folder, name), { recursive: true, force: true });
    throw new CommandStop(`${folder} cannot be written: ${reasonOf(error)}`);
  }
}

await runCommand(main);
