#!/usr/bin/env node
/** The program of the package: `millrace COMMAND [ARGUMENTS]`, with the same commands as the npm scripts of a clone. */
import { existsSync } from 'node:fs';
import { runProcfileEntry } from './bootstrap/procfile-entry.mjs';
import { givenSettings, runArguments } from './bootstrap/run-command.mjs';
import { commandList, ownVersion } from './help.mjs';

// The configuration folder of a site from `init`. Any other folder must be set explicitly.
if (!givenSettings().CONFIG_DIR && existsSync('config')) process.env.CONFIG_DIR = 'config';
const [command, ...words] = process.argv.slice(2);
if (command === undefined || command === '--help' || command === '-h') console.log(commandList());
else if (command === '--version' || command === '-v') console.log(ownVersion());
else if (['web', 'worker', 'jobs', 'small'].includes(command) && words.length === 0)
  runProcfileEntry(command);
else await runArguments([command, ...words]);
