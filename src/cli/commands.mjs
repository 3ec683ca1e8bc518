// @ts-check
/**
 * The table of commands with their arguments, options and help texts, for `--help` and for rejecting unknown arguments. Plain
 * JavaScript, because both must work on a fresh machine before anything is installed.
 */

/**
 * @typedef {object} CommandOption
 * @property {'boolean' | 'string'} type
 * @property {string} [value] the name of its value in the usage line, for `string`
 * @property {string} [default]
 * @property {true} [multiple] it may be given several times
 * @property {true} [isRequired]
 * @property {string} meaning
 */

/**
 * @typedef {object} Command
 * @property {string} does what it does; its first clause is the short description
 * @property {Readonly<Record<string, string>>} [words] positional arguments in order -> their meaning
 * @property {Readonly<Record<string, CommandOption>>} options
 * @property {true} [passesOn] its arguments are passed on to another program, which checks them
 * @property {string} example
 * @property {string} ends its exit codes
 * @property {number} [wrongWordsCode] its exit code for unknown arguments, if not 1
 */

const tenant = /** @type {const} */ ({ type: 'string', value: 'TENANT', meaning: 'only this tenant' });
const oneTenant = /** @type {const} */ ({
  type: 'string',
  value: 'TENANT',
  meaning: 'the tenant (required if there are several)',
});
const yes = /** @type {const} */ ({
  type: 'boolean',
  meaning: 'do not ask for confirmation; required without a terminal',
});
const processEnds = '0 after SIGTERM or Ctrl-C; 1: the start failed, or it could not shut down in time.';

export const commands = /** @type {const} @satisfies {Record<string, Command>} */ ({
  start: {
    does: `Starts everything: a private Redis (unless the settings name another) and the processes of the Procfile. It installs
missing dependencies first and makes the configuration in CONFIG_DIR active. If CONFIG_DIR is the repository's own, the first
start also loads the demo tenant. Ctrl-C stops everything.

Settings are environment variables, or lines in a .env file; docs/reference/settings.md lists all:

  PORT        port of the HTTP front (default: 4000)
  HOST        address that the fronts listen on (default: 127.0.0.1)
  REDIS_URL   an existing Redis (default: a private one with its files in DATA_DIR)
  CONFIG_DIR  the configuration folder (default: config)
  DATA_DIR    the files of the private Redis (default: .data)
  WEB         number of HTTP fronts (default: 1)
  WORKERS     number of partition workers (default: cores - 1)
  LOG_LEVEL   trace, debug, info, warn, error, fatal or silent (default: info)`,
    options: {
      small: {
        type: 'boolean',
        meaning: 'one process instead of WEB fronts, WORKERS workers and jobs, for a small machine',
      },
    },
    example: 'PORT=5000 npm start',
    ends: '0 after Ctrl-C or SIGTERM; 130 after a second Ctrl-C; 1: the start failed.',
  },
  init: {
    does: `Creates a new site in FOLDER: one tenant with new random keys, two schemas in TypeScript, an index, three sample
entities, a tsconfig.json for editors and a one-page README. FOLDER must be empty or not exist.`,
    words: { FOLDER: 'the folder to create' },
    options: {},
    example: 'npm run init -- my-site',
    ends: '0: created; 1: the folder is not empty or not writable.',
  },
  dev: {
    does: `Starts everything like start, and watches the configuration: each change becomes active immediately, removals included.
Errors are printed with file and position, and the running configuration stays active. It also reports builds that fail
(up to 5,000 entities) and entity types that no schema handles. If the store is empty, it first imports data.ndjson from the
folder that contains the configuration folder. It reads the same settings as start.`,
    options: {},
    example: 'npm run dev',
    ends: '0 after Ctrl-C or SIGTERM; 130 after a second Ctrl-C; 1: the start failed.',
  },
  test: {
    does: `Runs the whole test suite against a real Redis, or only the given files and folders. Options of Node's test runner are
passed on to it.

--changed runs the tests that depend on what changed since the branch began, including uncommitted and new files: those that
import a changed file, start it or read it, directly or through others. If it cannot tell, as for package.json, it runs all
tests. It prints what it runs and why. With =REF it compares with that branch or commit.`,
    words: { '[FILE …]': 'test files or folders (default: all)' },
    options: {
      changed: { type: 'boolean', meaning: 'or --changed=REF: run only the tests that a change affects' },
    },
    passesOn: true,
    example: 'npm test -- test/http/delivery/delivery.test.ts',
    ends: '0: all tests passed; 1: a test failed.',
  },
  coverage: {
    does: `Runs all tests except those of the whole system, and reports the line coverage of src, including the child processes that
tests start.`,
    options: {},
    example: 'npm run coverage',
    ends: '0: all tests passed and at least 90 % of the lines are covered; 1: a test failed, or the coverage is lower.',
  },
  import: {
    does: `Streams source entities into a source, 50 per request. Unchanged entities cause no work, so you can simply repeat an
interrupted import. Failed lines are written to FILE.failed.ndjson with their errors. Requests to another machine are
compressed with gzip.`,
    words: { FILE: 'a file in one of the formats, also as .gz, or - for standard input' },
    options: {
      key: { type: 'string', value: 'SOURCE_KEY', isRequired: true, meaning: 'the API key of the source' },
      url: {
        type: 'string',
        value: 'BASE',
        meaning: 'address of the platform (default: the address of npm start with the same settings)',
      },
      concurrency: { type: 'string', value: 'N', default: '8', meaning: 'concurrent requests, 1 to 64' },
      format: {
        type: 'string',
        value: 'FORMAT',
        meaning:
          'ndjson (one entity per line), json (one array) or csv; default: by the name of the file, else ndjson',
      },
      map: {
        type: 'string',
        value: 'PAIRS',
        meaning: 'CSV columns for originId, type and url, such as originId=id,url=slug',
      },
      type: {
        type: 'string',
        value: 'TYPE',
        multiple: true,
        meaning: 'the type of all CSV rows; with --prune: delete only this type (repeatable)',
      },
      prune: {
        type: 'boolean',
        meaning:
          'afterwards delete the entities of the source that are not in FILE, unless a line failed or FILE is empty',
      },
      yes,
    },
    example: 'npm run import -- notes.ndjson --key source-atlas-demo',
    ends: '0: all lines were imported; 1: some failed, the import ended early, or it was not confirmed; 130: stopped by Ctrl-C.',
  },
  check: {
    does: 'Validates the configuration: prints every error with its file, its position and how to fix it.',
    options: {
      'config-dir': {
        type: 'string',
        value: 'FOLDER',
        meaning: 'the configuration to check (default: CONFIG_DIR, else config)',
      },
      strict: { type: 'boolean', meaning: 'fail on warnings too' },
    },
    example: 'npm run check -- --config-dir my-site/config',
    ends: '0: valid; 1: errors in the configuration or the settings, with --strict also warnings; 2: wrong arguments.',
    wrongWordsCode: 2,
  },
  apply: {
    does: `Makes the configuration in CONFIG_DIR active without a restart, and waits until all affected views and index items are
rebuilt. A configuration with errors is rejected as a whole, and the running one stays active. Before it removes a tenant,
environment, source group, source, schema or index that has data, it prints what will be lost and asks for confirmation.`,
    options: {
      'no-wait': { type: 'boolean', meaning: 'do not wait for the rebuild' },
      'dry-run': {
        type: 'boolean',
        meaning: 'change nothing: count the views, routes, handles and items that would change, with samples',
      },
      json: { type: 'boolean', meaning: 'with --dry-run: print the counts and samples as JSON' },
      yes,
    },
    example: 'CONFIG_DIR=my-site/config npm run apply -- --no-wait',
    ends: '0: active, and rebuilt unless --no-wait; 1: rejected, or the rebuild failed; 130: stopped by Ctrl-C.',
  },
  purge: {
    does: `Permanently deletes data that is no longer in the active configuration: the entities of removed tenants, source groups and
sources, and everything made from them. It prints how much that is and asks for confirmation. The jobs process deletes in
the background at low priority. If the command is interrupted, run it again to follow the purge to its end.`,
    options: { yes },
    example: 'npm run purge -- --yes',
    ends: '0: purged, or there was nothing to purge; 1: not purged, or the purge failed; 130: stopped by Ctrl-C.',
  },
  verify: {
    does: `Compares what is stored with a fresh computation: recomputes every view, route, handle and index item from the source
entities, and reports each difference by its view id. You can run it while the platform works: pending changes do not
count as differences.`,
    options: {
      repair: { type: 'boolean', meaning: 'rewrite what differs, then report what remains' },
      tenant,
    },
    example: 'npm run verify -- --repair --tenant atlas',
    ends: '0: no differences, or all repaired; 1: differences remain; 130: stopped by Ctrl-C.',
  },
  diagnostics: {
    does: `Lists what is valid but probably a mistake, with its place in the schema, the number of affected entities, and an example:
URLs and handles claimed by several views, views without the URL that their schema defines, unknown partial and schema
aliases, references to missing views, values that do not fit their type, lookups with more matches than the limit, entity
types without a schema, schemas without entities, and expressions that are null for every entity of a type.`,
    options: {
      json: {
        type: 'boolean',
        meaning:
          'print a JSON array of {kind, tenant, environment?, schema?, place?, entityId?, viewId?, message, count}',
      },
      tenant,
    },
    example: 'npm run diagnostics -- --json --tenant atlas',
    ends: '0, also with findings; 1: the store cannot be read; 130: stopped by Ctrl-C.',
  },
  preview: {
    does: `Shows the result of a schema for an entity: view, URLs, handles, lookups, diagnostics, and the console output of its code.
It stores nothing, and neither the schema nor the entity needs to be stored.`,
    words: {
      SCHEMA:
        'alias of a schema, index:ALIAS, or a schema file (page.full.ts), which replaces the schema of that alias',
      'ORIGIN_ID|FILE': 'originId of a stored entity, or a JSON file with an entity',
    },
    options: {
      environment: {
        type: 'string',
        value: 'ALIAS',
        meaning: 'the environment (required if the tenant has several)',
      },
      group: {
        type: 'string',
        value: 'ALIAS',
        meaning: 'the source group (default: those that trigger the schema)',
      },
      tenant: oneTenant,
      json: { type: 'boolean', meaning: 'print JSON, as POST /management/v1/preview does' },
    },
    example: 'npm run preview -- country country-FR',
    ends: '0, also with diagnostics; 1: the schema or entity does not exist, or the schema has errors.',
  },
  types: {
    does: `Writes TypeScript types for what a tenant's active configuration delivers: Views (schema alias -> view), Handle, Indexes
(index alias -> item), and Millrace, which combines them for createClient of millrace/client. Values whose type the schema does
not define have the type of any JSON value.`,
    words: {},
    options: {
      out: { type: 'string', value: 'FILE', meaning: 'the file to write (default: standard output)' },
      tenant: oneTenant,
    },
    example: 'npm run view-types -- --out src/millrace.ts',
    ends: '0: written; 1: no configuration is active, or FILE is not writable.',
  },
  backup: {
    does: `Writes a backup to FILE while the platform runs: the active configuration and all source entities of its sources, as gzipped
NDJSON. Views, routes and index items are not included: npm run restore rebuilds them.

Every entity that exists during the whole backup is included, as it was at some moment during the backup. Entities saved or
deleted meanwhile may be included. API keys are included as hashes only.

Make one before an upgrade: an upgraded store cannot be used by an earlier version, and restoring the backup is the way back.`,
    words: { FILE: 'the file to write' },
    options: {},
    example: 'npm run backup -- backup.ndjson.gz',
    ends: '0: FILE is complete; 1: the backup failed, and there is no FILE; 130: stopped by Ctrl-C.',
  },
  restore: {
    does: `Restores a backup into an empty store, in which no entity was ever saved. The whole file is checked before anything is
written. The workers build views, routes and index items, now or when they start. To finish an interrupted restore, run it
again with the same file.`,
    words: { FILE: 'the file to read' },
    options: {
      'config-out': {
        type: 'string',
        value: 'FOLDER',
        meaning: 'also write the configuration of the backup to a new folder, for CONFIG_DIR',
      },
    },
    example: 'npm run restore -- backup.ndjson.gz --config-out restored-config',
    ends: '0: restored completely; 1: not restored, see the message; 130: stopped by Ctrl-C.',
  },
  bench: {
    does: 'Runs one benchmark of bench/ and writes its figures and charts there. Without NAME, it lists them.',
    words: { '[NAME]': 'the benchmark' },
    options: {
      quick: { type: 'boolean', meaning: 'run one short round and write nothing' },
    },
    example: 'npm run bench -- delivery --quick',
    ends: "0: completed, whatever the figures; 1: the contenders' results differ, or it failed; 130: stopped by Ctrl-C.",
  },
  docs: {
    does: `Builds the documentation as a static site for any web server: all pages of docs, the README and ARCHITECTURE, with search.
If a link or an anchor is broken, it prints the file and line and writes nothing.`,
    words: { '[FOLDER]': 'the folder to write, which is emptied first (default: .docs-site)' },
    options: {},
    example: 'npm run docs -- public',
    ends: '0: built; 1: a link is broken, or FOLDER is in use.',
  },
  web: {
    does: `Runs one HTTP front on HOST and PORT. It uses the Redis that the settings name, else that of a running npm start. It takes no
options; settings are environment variables, listed in docs/reference/settings.md.`,
    options: {},
    example: 'REDIS_URL=redis://10.0.0.5:6379 HOST=0.0.0.0 npm run web',
    ends: processEnds,
  },
  worker: {
    does: `Runs one partition worker, which builds views and keeps indexes in memory. It uses the Redis that the settings name, else
that of a running npm start. It takes no options; settings are environment variables, listed in docs/reference/settings.md.`,
    options: {},
    example: 'REDIS_URL=redis://10.0.0.5:6379 npm run worker',
    ends: processEnds,
  },
  jobs: {
    does: `Runs one jobs process, which runs rebuilds after configuration changes, purges and dry runs, and sends webhooks. It uses the
Redis that the settings name, else that of a running npm start. It takes no options; settings are environment variables,
listed in docs/reference/settings.md.`,
    options: {},
    example: 'REDIS_URL=redis://10.0.0.5:6379 npm run jobs',
    ends: processEnds,
  },
  small: {
    does: `Runs all roles in one process: one HTTP front, one partition worker and jobs, for a machine with one core or little memory
(docs/guide/capacity.md). It uses the Redis that the settings name, else that of a running npm start. It takes no options;
settings are environment variables, listed in docs/reference/settings.md.`,
    options: {},
    example: 'REDIS_URL=redis://10.0.0.5:6379 HOST=0.0.0.0 npm run small',
    ends: processEnds,
  },
});

/** @typedef {keyof typeof commands} CommandName */

/**
 * Commands that start their own Redis servers.
 * @type {readonly string[]}
 */
export const commandsWithRedis = ['test', 'coverage', 'bench'];

/**
 * Commands that only a clone of the repository has.
 * @type {readonly string[]}
 */
export const commandsOfClones = [...commandsWithRedis, 'docs'];

/**
 * @param {string} name
 * @returns {name is CommandName}
 */
export function isCommand(name) {
  return Object.hasOwn(commands, name);
}
