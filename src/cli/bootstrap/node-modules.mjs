/** The node modules of a clone: installed before anything else runs, so this file is plain JavaScript without dependencies. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Installs the packages of `package-lock.json` when `node_modules` is missing or was made from another lock file. A
 * stamp holds the lock file's digest, so the usual case reads one small file.
 */
export function ensureNodeModules(root) {
  const digest = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .update(process.versions.modules)
    .digest('hex');
  const stampFile = path.join(root, 'node_modules', '.millrace-lock');
  if (readStamp(stampFile) === digest) return;
  if (!holdsWhatTheLockNames(root)) install(root);
  writeFileSync(stampFile, digest);
}

function readStamp(stampFile) {
  return existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : null;
}

/**
 * True when npm has already installed exactly this lock file. So a person who typed `npm ci` first does not wait for it
 * twice. npm leaves its own copy of the lock file inside `node_modules`.
 */
function holdsWhatTheLockNames(root) {
  const installedFile = path.join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const wanted = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([place, { version, os, cpu }]) =>
      place === '' || installed[place]?.version === version || isForAnotherMachine({ os, cpu }),
  );
}

/** npm leaves out packages that are built for another operating system or processor. */
function isForAnotherMachine({ os, cpu }) {
  return os !== undefined || cpu !== undefined;
}

function install(root) {
  console.error('Installing the node modules of package-lock.json (npm ci) …');
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    // With a NODE_ENV of production npm would leave out the tools of the tests, and `npm pack --dry-run` passes its dry run on.
    env: { ...process.env, NODE_ENV: 'development', npm_config_dry_run: 'false' },
  });
  if (error?.code === 'ENOENT')
    throw new BootstrapStop('npm is not on the PATH. Install it together with Node.');
  if (status !== 0) {
    throw new BootstrapStop(
      `The node modules could not be installed. See the messages above, then run: cd ${root} && npm ci`,
    );
  }
}

/** Ends the bootstrap with one line for the person at the keyboard instead of a stack. */
export class BootstrapStop extends Error {}
