/** Installs the node modules of a clone before anything else runs. So this file is plain JavaScript without dependencies. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Installs the packages of `package-lock.json` if `node_modules` is missing or is from another lock file. A stamp file has the
 * digest of the lock file, so that usually only this small file is read.
 */
export function ensureNodeModules(root) {
  const digest = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .update(process.versions.modules)
    .digest('hex');
  const stampFile = path.join(root, 'node_modules', '.millrace-lock');
  if (readStamp(stampFile) === digest) return;
  if (!isInstalled(root)) install(root);
  writeFileSync(stampFile, digest);
}

function readStamp(stampFile) {
  return existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : null;
}

/**
 * True if npm has already installed exactly this lock file, so that after `npm ci` the packages are not installed twice. npm
 * keeps its own copy of the lock file in `node_modules`.
 */
function isInstalled(root) {
  const installedFile = path.join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const wanted = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([place, { version, os, cpu, libc }]) =>
      place === '' || installed[place]?.version === version || mayBeSkipped({ os, cpu, libc }),
  );
}

/** npm skips packages for other operating systems, processors or C libraries. Only npm knows the C library of this machine. */
function mayBeSkipped({ os, cpu, libc }) {
  return libc !== undefined || !includesThis(os, process.platform) || !includesThis(cpu, process.arch);
}

/** @param names included names, or excluded ones after `!` */
function includesThis(names = [], own) {
  if (names.includes(`!${own}`)) return false;
  return names.includes(own) || names.every((name) => name.startsWith('!'));
}

function install(root) {
  console.error('Installing the node modules of package-lock.json (npm ci) …');
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    // With NODE_ENV=production npm would skip development dependencies, and `npm pack --dry-run` would make this a dry run too.
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

/** Ends the bootstrap with a one-line message instead of a stack trace. */
export class BootstrapStop extends Error {}
