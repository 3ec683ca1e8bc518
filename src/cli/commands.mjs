// @ts-check
/**
 * The table of commands, with their words, options and help. `--help` prints from it, and unknown words are refused by
 * it. This file is plain JavaScript, because on a fresh machine both happen before anything is installed.
 */

/**
 * @typedef {object} CommandOption
 * @property {'boolean' | 'string'} type
 * @property {string} [value] what stands behind it in a usage, for `string`
 * @property {string} [default]
 * @property {true} [isRequired]
 * @property {string} meaning
 */

/**
 * @typedef {object} Command
 * @property {string} does what it does; the first sentence says it in short
 * @property {Readonly<Record<string, string>>} [words] what is given without a name -> what it is, in the order given
 * @property {Readonly<Record<string, CommandOption>>} options
 * @property {true} [passesOn] what it is given is for somebody else, who knows it
 * @property {string} example
 * @property {string} ends its exit codes
 * @property {number} [wrongWordsCode] its exit code for words that it does not know, where that is not 1
 */

const tenant = /** @type {const} */ ({ type: 'string', value: 'TENANT', meaning: 'only this tenant' });
const oneTenant = /** @type {const} */ ({
  type: 'string',
  value: 'TENANT',
  meaning: 'whose (needed where there are several)',
});
const yes = /** @type {const} */ ({
  type: 'boolean',
  meaning: 'do not ask; needed where there is no terminal to ask on',
});
const processEnds =
  '0 after SIGTERM or Ctrl-C; 1: it could not start, or not everything could be finished in time.';

export const commands = /** @type {const} @satisfies {Record<string, Command>} */ ({
  start: {
    does: `Starts everything: a Redis of its own unless REDIS_URL or REDIS_CLUSTER names one, and the processes of the Procfile.
What is missing on this machine is installed first, the configuration in CONFIG_DIR is made active, and the first start
loads the demo tenant when that folder is this repository's own. Ctrl-C stops all of it.

It takes no options. Settings are environment variables, or lines of a file .env; docs/reference/settings.md lists all:

  PORT        port of the HTTP fronts (default: 4000)
  HOST        address they listen on (default: 127.0.0.1)
  REDIS_URL   an existing Redis (default: a private one, its files in DATA_DIR)
  CONFIG_DIR  the configuration folder (default: config)
  DATA_DIR    files of the private Redis (default: .data)
  WEB         HTTP fronts (default: 1)
  WORKERS     partition workers (default: cores - 1)
  LOG_LEVEL   trace, debug, info, warn, error, fatal or silent (default: info)`,
    options: {},
    example: 'PORT=5000 npm start',
    ends: '0 after Ctrl-C or SIGTERM; 130 after a second Ctrl-C; 1: the start failed.',
  },
  init: {
    does: `Writes a new site into FOLDER: the configuration of one tenant with fresh random keys, two schemas in TypeScript, three
entities to begin with, and a README of one page. A folder that is there and not empty is refused.`,
    words: { FOLDER: 'the folder to write' },
    options: {},
    example: 'npm run init -- my-site',
    ends: '0: it is written; 1: the folder is not empty, or cannot be written.',
  },
  dev: {
    does: `Starts everything as start does, and watches the configuration: whenever a file changes, it becomes active at once, with
what it removes. Mistakes are printed with file and place, and the running configuration stays. Into an empty store it
imports data.ndjson, which lies beside the configuration folder, once. Settings are those of start.`,
    options: {},
    example: 'npm run dev',
    ends: '0 after Ctrl-C or SIGTERM; 130 after a second Ctrl-C; 1: the start failed.',
  },
  test: {
    does: `Runs the whole suite against a real Redis, or only the files and folders that are named. Options of Node's test runner are
passed on to it.`,
    words: { '[FILE …]': 'test files, or folders of them (default: all)' },
    options: {},
    passesOn: true,
    example: 'npm test -- test/http/delivery/delivery.test.ts',
    ends: '0: every test passed; 1: one failed.',
  },
  coverage: {
    does: `Runs the tests of the rooms, without those of the whole system, and says how much of src they ran, in every process that
they started too.`,
    options: {},
    example: 'npm run coverage',
    ends: '0: every test passed, and at least 90 % of the lines ran; 1: one failed, or fewer ran.',
  },
  import: {
    does: `Streams source entities into a source, 50 a request. Entities that do not change are left alone, so an import that was
broken off can simply be run again. Lines that fail are written to FILE.failed.ndjson with their errors. Requests to
another machine are packed with gzip.`,
    words: { FILE: 'one entity a line: .ndjson, .ndjson.gz, or - for standard input' },
    options: {
      key: { type: 'string', value: 'SOURCE_KEY', isRequired: true, meaning: 'the API key of the source' },
      url: {
        type: 'string',
        value: 'BASE',
        meaning: 'address of the platform (default: where npm start listens with the same settings)',
      },
      concurrency: { type: 'string', value: 'N', default: '8', meaning: 'requests at once, 1 to 64' },
    },
    example: 'npm run import -- notes.ndjson --key source-atlas-demo',
    ends: '0: every line is in; 1: some failed, or the import ended early; 130: stopped by Ctrl-C.',
  },
  check: {
    does: 'Validates the configuration: prints every mistake with its file, its place and what to do about it.',
    options: {
      'config-dir': {
        type: 'string',
        value: 'FOLDER',
        meaning: 'the configuration to check (default: CONFIG_DIR, else config)',
      },
      strict: { type: 'boolean', meaning: 'warnings fail it too' },
    },
    example: 'npm run check -- --config-dir my-site/config',
    ends: '0: sound; 1: mistakes, in the configuration or the settings; with --strict also warnings; 2: wrong arguments.',
    wrongWordsCode: 2,
  },
  apply: {
    does: `Makes the configuration in CONFIG_DIR the active one, without a restart, and waits until every view and index item that
it changes is rebuilt. A configuration with mistakes is refused as a whole, and the running one stays. Before a tenant,
environment, source group, source, schema or index goes that has data, it says what goes with it and asks.`,
    options: {
      'no-wait': { type: 'boolean', meaning: 'only make it the active one' },
      'dry-run': {
        type: 'boolean',
        meaning:
          'make nothing active: count the views, routes, handles and items that it would change, with samples',
      },
      json: { type: 'boolean', meaning: 'with --dry-run: the counts and samples in JSON' },
      yes,
    },
    example: 'CONFIG_DIR=my-site/config npm run apply -- --no-wait',
    ends: '0: active, and rebuilt unless --no-wait; 1: refused, or the rebuild cannot go on; 130: left by Ctrl-C.',
  },
  purge: {
    does: `Removes for good what the active configuration no longer has: the entities of tenants, source groups and sources that it
lacks, and all that was made of them. It says first how much that is, and asks. The jobs process does it, as gently
as a rebuild; run the command again to see a purge to its end that was broken off.`,
    options: { yes },
    example: 'npm run purge -- --yes',
    ends: '0: purged, or nothing was left; 1: not purged, or the purge cannot go on; 130: left by Ctrl-C.',
  },
  verify: {
    does: `Compares what is stored with what should be: makes every view, route, handle and index item again from the source
entities, and reports each difference by its view id. The system may be at work: what is only under way is no difference.`,
    options: {
      repair: { type: 'boolean', meaning: 'have what differs written anew, then say what is left' },
      tenant,
    },
    example: 'npm run verify -- --repair --tenant atlas',
    ends: '0: nothing differs, or all of it is repaired; 1: something differs; 130: stopped by Ctrl-C.',
  },
  diagnostics: {
    does: `Lists what is valid but probably not meant so, with the place in the schema, how many entities it is found of, and one of
them: URLs and handles that several views claim, views without the URL that their schema names, partial and schema
aliases that name nothing, references to views that are not there, values that do not fit their type, lookups that match
more than they may give, entity types without a schema, schemas without an entity, and paths of expressions that are
null for every entity of a type.`,
    options: {
      json: {
        type: 'boolean',
        meaning:
          'a JSON array of {kind, tenant, environment?, schema?, place?, entityId?, viewId?, message, count}',
      },
      tenant,
    },
    example: 'npm run diagnostics -- --json --tenant atlas',
    ends: '0, whatever is found; 1: the store cannot be read; 130: stopped by Ctrl-C.',
  },
  preview: {
    does: `Shows what a schema makes of an entity: its view, URLs, handles, lookups and diagnostics, and what its code gives to
console. Neither needs to be stored, and nothing is.`,
    words: {
      SCHEMA:
        'alias of a schema, index:ALIAS, or a file with one (page.full.ts), which takes the place of that alias',
      'ORIGIN_ID|FILE': 'originId of a stored entity, or a file with one in JSON',
    },
    options: {
      environment: { type: 'string', value: 'ALIAS', meaning: 'needed where the tenant has several' },
      group: {
        type: 'string',
        value: 'ALIAS',
        meaning: 'source group (default: those that trigger the schema)',
      },
      tenant: oneTenant,
      json: { type: 'boolean', meaning: 'as POST /management/v1/preview answers it' },
    },
    example: 'npm run preview -- country country-FR',
    ends: '0: it is shown, whatever the diagnostics; 1: there is no such schema or entity, or the schema has mistakes.',
  },
  types: {
    does: `Writes TypeScript of what the active configuration of a tenant delivers: Views (schema alias -> view), Handle, Indexes (index
alias -> item) and Millrace, which holds them all, for createClient of millrace/client. What a schema does not say is any JSON.`,
    words: {},
    options: {
      out: { type: 'string', value: 'FILE', meaning: 'the file to write (default: standard output)' },
      tenant: oneTenant,
    },
    example: 'npm run view-types -- --out src/millrace.ts',
    ends: '0: they are written; 1: no configuration is active, or FILE cannot be written.',
  },
  backup: {
    does: `Writes a backup into FILE, while the system runs: the active configuration and all source entities of its sources (NDJSON,
packed with gzip). Views, routes and index items are not in it: npm run restore has them made anew.

Each entity is in it as it was at one moment, and every entity that was there during the whole backup is in it; those
that came or went meanwhile may be. API keys are in it as hashes only.`,
    words: { FILE: 'the file to write' },
    options: {},
    example: 'npm run backup -- backup.ndjson.gz',
    ends: '0: FILE is whole; 1: there is none; 130: stopped by Ctrl-C.',
  },
  restore: {
    does: `Puts a backup into an empty store: a file of npm run backup into one in which no entity was ever saved. The file is
checked to its end before anything is written. Views, routes and index items are made by the workers, now or when they are
started. A restore that was broken off is finished by running it again with the same file.`,
    words: { FILE: 'the file to read' },
    options: {
      'config-out': {
        type: 'string',
        value: 'FOLDER',
        meaning: 'also writes the configuration of the backup into a new folder, for CONFIG_DIR',
      },
    },
    example: 'npm run restore -- backup.ndjson.gz --config-out restored-config',
    ends: '0: everything of FILE is in the store; 1: it is not, see the message; 130: stopped by Ctrl-C.',
  },
  bench: {
    does: 'Runs one benchmark of bench/ and writes its figures and charts there; without a NAME it lists them.',
    words: { '[NAME]': 'the benchmark' },
    options: {
      quick: { type: 'boolean', meaning: 'one short round, and nothing is written' },
    },
    example: 'npm run bench -- delivery --quick',
    ends: '0: it ran through, whatever the figures; 1: contenders disagree, or something broke; 130: stopped.',
  },
  web: {
    does: `Runs one HTTP front on HOST and PORT, over the Redis that REDIS_URL or REDIS_CLUSTER names, or that of an npm start
beside it. It takes no options; settings are environment variables, listed in docs/reference/settings.md.`,
    options: {},
    example: 'REDIS_URL=redis://10.0.0.5:6379 HOST=0.0.0.0 npm run web',
    ends: processEnds,
  },
  worker: {
    does: `Runs one partition worker, which makes views and keeps indexes in memory, over the Redis that REDIS_URL or REDIS_CLUSTER
names, or that of an npm start beside it. It takes no options; settings are environment variables, listed in
docs/reference/settings.md.`,
    options: {},
    example: 'REDIS_URL=redis://10.0.0.5:6379 npm run worker',
    ends: processEnds,
  },
  jobs: {
    does: `Runs one jobs process, which rebuilds what a change of configuration changes and does purges, over the Redis
that REDIS_URL or REDIS_CLUSTER names, or that of an npm start beside it. It takes no options; settings are environment variables,
listed in docs/reference/settings.md.`,
    options: {},
    example: 'REDIS_URL=redis://10.0.0.5:6379 npm run jobs',
    ends: processEnds,
  },
});

/** @typedef {keyof typeof commands} CommandName */

/**
 * Commands of a clone, which a package does not have. Each starts Redis servers of its own.
 * @type {readonly string[]}
 */
export const commandsOfClones = ['test', 'coverage', 'bench'];

/**
 * @param {string} name
 * @returns {name is CommandName}
 */
export function isCommand(name) {
  return Object.hasOwn(commands, name);
}
