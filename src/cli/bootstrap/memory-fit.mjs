// @ts-check
/**
 * Fits processes into the memory of a small machine or container. Node sets the limit of the old generation to half of that
 * memory by itself. The young generation, which takes up to three times the size in the Procfile, is fitted here.
 */
import os from 'node:os';

/** @typedef {'full' | 'small'} StartKind `npm start`, or with `--small` */

const mebibyte = 1024 ** 2;
const semiSpacePattern = /^--max-semi-space-size=(\d+)$/;
/** The young generation then takes at most a tenth of the memory. */
const semiSpaceShare = 1 / 32;
const semiSpaceMebibytesMin = 2;
/**
 * `npm start` shares the memory among Redis, a front, a worker and jobs; with `--small` between Redis and one process.
 * @type {Readonly<Record<StartKind, number>>}
 */
const startShares = { full: 1 / 4, small: 1 / 2 };
/** On a larger machine the private Redis has no limit. */
const redisLimitedBelowBytes = 4 * 1024 * mebibyte;
/** The rest is for the processes, for the results of accepted entities, and for the copy while Redis rewrites its file. */
const redisShare = 1 / 4;

/**
 * Settings of a front, in MiB, and their part of the memory beyond a base. They have their defaults from 4.5 GiB on. A body takes
 * several times its size until it is a view, in the front, in Redis and in the worker, so there must be room beside what
 * these take at rest. 16 MiB hold two requests of an import, or the largest configuration.
 * @type {Readonly<Record<string, { readonly most: number, readonly share: number, readonly base: number, readonly least: number }>>}
 */
const frontSettings = {
  DELIVERY_CACHE_MB: { most: 128, share: 1 / 16, base: 0, least: 1 },
  BODIES_MB: { most: 512, share: 1 / 8, base: 384, least: 16 },
  ANSWERS_MB: { most: 256, share: 1 / 16, base: 0, least: 1 },
};

/** Memory of this machine or container. */
export function memoryBytes() {
  // Without a limit, some systems report a number beyond all memory.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, os.totalmem()) : os.totalmem();
}

/**
 * The words of a Procfile line, with a young generation that fits the memory of its process.
 * @param {readonly string[]} words
 * @param {number} bytes
 * @returns {string[]}
 */
export function fittedWords(words, bytes) {
  const fitting = Math.floor((bytes * semiSpaceShare) / mebibyte);
  return words.map((word) => {
    const given = semiSpacePattern.exec(word)?.[1];
    if (given === undefined) return word;
    return `--max-semi-space-size=${Math.max(semiSpaceMebibytesMin, Math.min(Number(given), fitting))}`;
  });
}

/**
 * Memory of each process of `npm start`.
 * @param {StartKind} kind
 * @param {number} bytes
 */
export function startShareBytes(kind, bytes) {
  return bytes * startShares[kind];
}

/**
 * `maxmemory` of the private Redis; null: no limit.
 * @param {number} bytes
 * @returns {number | null}
 */
export function privateRedisBytesMax(bytes) {
  return bytes < redisLimitedBelowBytes ? Math.floor(bytes * redisShare) : null;
}

/**
 * Values of settings that a small machine needs smaller than their defaults. What is set wins.
 * @param {number} bytes
 * @returns {Record<string, string>}
 */
export function fittedSettings(bytes) {
  const fitted = Object.entries(frontSettings).map(([name, { most, share, base, least }]) => {
    const fitting = Math.max(least, Math.floor((bytes / mebibyte - base) * share));
    return /** @type {const} */ ([name, String(Math.min(most, fitting))]);
  });
  return Object.fromEntries(fitted);
}
