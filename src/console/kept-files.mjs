/**
 * The console's files on disk, a folder for each digest of the sources that they were made of: fronts of different sources
 * neither see nor overwrite each other's page, whose name says nothing of its content.
 */
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** @typedef {{ name: string, plain: Buffer, gzip: Buffer, br: Buffer }} ConsoleFile */

/** Of former sources, so many are left for fronts that still run with them. */
const formerMax = 3;

/**
 * @param {string} folder
 * @param {string} digest of the sources
 * @returns {Promise<ConsoleFile[] | null>} null where nothing of these sources was kept
 */
export async function keptFiles(folder, digest) {
  const own = path.join(folder, digest);
  try {
    return await readFiles(own);
  } catch {
    return null;
  }
}

/** @param {string} folder @returns {Promise<ConsoleFile[]>} @throws Error when it cannot be read */
export async function readFiles(folder) {
  const names = (await readdir(folder)).filter((name) => !/\.(?:gz|br)$/.test(name));
  return await Promise.all(names.map((name) => readForms(folder, name)));
}

/** @param {string} folder @param {readonly ConsoleFile[]} files */
export async function writeFiles(folder, files) {
  for (const { name, plain, gzip, br } of files) {
    await writeFile(path.join(folder, name), plain);
    await writeFile(path.join(folder, `${name}.gz`), gzip);
    await writeFile(path.join(folder, `${name}.br`), br);
  }
}

/**
 * Keeps the files: all of them or none, since the folder gets its name when it is whole.
 * @param {string} folder
 * @param {string} digest of the sources
 * @param {readonly ConsoleFile[]} files
 */
export async function keepFiles(folder, digest, files) {
  await mkdir(folder, { recursive: true });
  const draft = await mkdtemp(path.join(folder, 'draft-'));
  await writeFiles(draft, files);
  // Where another front was quicker, its files are the same.
  await rename(draft, path.join(folder, digest)).catch(() => rm(draft, { recursive: true, force: true }));
  await forgetFormer(folder, digest);
}

async function forgetFormer(folder, digest) {
  const former = (await readdir(folder)).filter((name) => /^[0-9a-f]{64}$/.test(name) && name !== digest);
  for (const name of former.slice(formerMax))
    await rm(path.join(folder, name), { recursive: true, force: true });
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
