// @ts-check
/**
 * Adapts processes to the memory of a small machine or container. Node limits the old generation to half of the memory by
 * default. This file limits the young generation, which takes up to three times the size in the Procfile.
 */
import os from 'node:os';

/** @typedef {'full' | 'small'} StartKind `npm start`, or with `--small` */

const mebibyte = 1024 ** 2;
const semiSpacePattern = /^--max-semi-space-size=(\d+)$/;
/** So that the young generation takes at most a tenth of the memory. */
const semiSpaceShare = 1 / 32;
const semiSpaceMebibytesMin = 2;
/**
 * `npm start` shares the memory among Redis, a front, a worker and jobs; with `--small` between Redis and one process.
 * @type {Readonly<Record<StartKind, number>>}
 */
const startShares = { full: 1 / 4, small: 1 / 2 };
/** On a larger machine the private Redis has no limit. */
const redisLimitedBelowBytes = 4 * 1024 * mebibyte;
/**
 * The rest is for the processes, for views of entities that are already accepted, and for the copy while Redis rewrites its
 * file.
 */
const redisShare = 1 / 4;

/**
 * Settings of a front, in MiB: a share of the memory beyond a base, between `least` and `most`. From 4.5 GiB on, they have
 * their defaults. A body takes several times its size until it is a view, in the front, in Redis and in the worker, so memory
 * must be left besides these. 16 MiB are enough for two requests of an import, or the largest configuration.
 * @type {Readonly<Record<string, { readonly most: number, readonly share: number, readonly base: number, readonly least: number }>>}
 */
const frontSettings = {
  DELIVERY_CACHE_MB: { most: 128, share: 1 / 16, base: 0, least: 1 },
  BODIES_MB: { most: 512, share: 1 / 8, base: 384, least: 16 },
  ANSWERS_MB: { most: 256, share: 1 / 16, base: 0, least: 1 },
};

/** Memory of this machine or container. */
export function memoryBytes() {
  // Without a limit, some systems report a number larger than the memory.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, os.totalmem()) : os.totalmem();
}

/**
 * The words of a Procfile line, with the young generation adapted to the memory of its process.
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
 * `maxmemory` of the private Redis; null for no limit.
 * @param {number} bytes
 * @returns {number | null}
 */
export function privateRedisBytesMax(bytes) {
  return bytes < redisLimitedBelowBytes ? Math.floor(bytes * redisShare) : null;
}

/**
 * Values for settings whose defaults are too large for a small machine. Explicit settings take precedence.
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
