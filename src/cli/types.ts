/**
 * `millrace types`: writes TypeScript types of the views of the active configuration (docs/guide/client.md "Types of your
 * views").
 */
import path from 'node:path';
import type { ConfigDocuments } from '../config/configuration.ts';
import { typesFile } from '../config/delivered-types/types-file.ts';
import { reasonOf } from '../lib/message-text.ts';
import { writeWhole } from '../lib/whole-file.ts';
import { readPublished } from '../store/configuration/published-configuration.ts';
import { activeConfiguration, oneTenant, withCommandStore } from './platform/open-store.ts';
import { CommandStop, readArguments, runCommand } from './terminal/command-line.ts';

async function main(): Promise<number> {
  const { out = null, tenant: name = null } = readArguments('types').values;
  const text = await withCommandStore(async (store) => {
    const { configuration } = await activeConfiguration(store, name);
    const { alias } = oneTenant(configuration, name);
    const documents: ConfigDocuments = (await readPublished(store))?.documents ?? new Map();
    return typesFile(documents, alias);
  });
  if (out === null) process.stdout.write(text);
  else write(path.resolve(out), text);
  return 0;
}

function write(file: string, text: string): void {
  try {
    writeWhole(file, text);
  } catch (error) {
    throw new CommandStop(`${file} cannot be written: ${reasonOf(error)}`);
  }
}

await runCommand(main);
