/**
 * Caches the console's files on disk, in a folder per digest of their sources. So fronts with different sources do not
 * overwrite each other's page, whose name does not depend on its content.
 */
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** @typedef {{ name: string, plain: Buffer, gzip: Buffer, br: Buffer }} ConsoleFile */

/** Number of folders of earlier sources to keep, for fronts that still use them. */
const formerMax = 3;

/**
 * @param {string} folder
 * @param {string} digest of the sources
 * @returns {Promise<ConsoleFile[] | null>} null if there are no files for these sources
 */
export async function keptFiles(folder, digest) {
  const own = path.join(folder, digest);
  try {
    return await readFiles(own);
  } catch {
    return null;
  }
}

/**
 * @param {string} folder
 * @returns {Promise<ConsoleFile[]>}
 * @throws Error if it cannot be read
 */
export async function readFiles(folder) {
  const names = (await readdir(folder)).filter((name) => !/\.(?:gz|br)$/.test(name));
  return await Promise.all(names.map((name) => readForms(folder, name)));
}

/**
 * @param {string} folder
 * @param {readonly ConsoleFile[]} files
 */
export async function writeFiles(folder, files) {
  for (const { name, plain, gzip, br } of files) {
    await writeFile(path.join(folder, name), plain);
    await writeFile(path.join(folder, `${name}.gz`), gzip);
    await writeFile(path.join(folder, `${name}.br`), br);
  }
}

/**
 * Stores the files atomically: the folder is renamed when it is complete.
 * @param {string} folder
 * @param {string} digest of the sources
 * @param {readonly ConsoleFile[]} files
 */
export async function keepFiles(folder, digest, files) {
  await mkdir(folder, { recursive: true });
  const draft = await mkdtemp(path.join(folder, 'draft-'));
  await writeFiles(draft, files);
  // If another front was faster, its files are the same.
  await rename(draft, path.join(folder, digest)).catch(() => rm(draft, { recursive: true, force: true }));
  await forgetFormer(folder, digest);
}

async function forgetFormer(folder, digest) {
  const names = (await readdir(folder)).filter((name) => /^[0-9a-f]{64}$/.test(name) && name !== digest);
  const former = await Promise.all(
    names.map(async (name) => ({ name, madeMs: await modifiedMs(path.join(folder, name)) })),
  );
  former.sort((a, b) => b.madeMs - a.madeMs);
  for (const { name } of former.slice(formerMax))
    await rm(path.join(folder, name), { recursive: true, force: true });
}

/** 0 for a folder that another front has removed. */
async function modifiedMs(folder) {
  return (await stat(folder).catch(() => null))?.mtimeMs ?? 0;
}

async function readForms(folder, name) {
  const file = path.join(folder, name);
  const [plain, gzip, br] = await Promise.all([
    readFile(file),
    readFile(`${file}.gz`),
    readFile(`${file}.br`),
  ]);
  return { name, plain, gzip, br };
}
