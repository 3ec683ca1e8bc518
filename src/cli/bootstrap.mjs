/**
 * Every npm script of a clone starts this file: `node src/cli/bootstrap.mjs COMMAND [ARGUMENTS]`. It is plain JavaScript
 * without dependencies, because it runs on a fresh machine before there is a `node_modules`.
 */
import { runArguments } from './bootstrap/run-command.mjs';

await runArguments(process.argv.slice(2));
