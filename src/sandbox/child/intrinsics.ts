/**
 * Locks the realm: code cannot change anything that it can reach, and cannot escape. Clocks and randomness throw with an
 * explanation. This module must be imported first in the process that runs code, and everything else must be loaded before
 * `lockRealm`.
 */
import 'ses';

const ofData = 'a view is a function of its data';
const noClock = `is a clock, and schemas have none: ${ofData}`;

function refuseMissingDate(date: unknown): void {
  if (date === undefined) throw new TypeError(`Intl.DateTimeFormat without a date ${noClock}`);
}

/** Without a date, `format()` and `formatToParts()` use the current time, and ranges fail with an unclear message. */
function requireDates(): void {
  const { prototype } = Intl.DateTimeFormat;
  const format = Object.getOwnPropertyDescriptor(prototype, 'format')?.get;
  const { formatToParts, formatRange, formatRangeToParts } = prototype;
  Object.defineProperty(prototype, 'format', {
    configurable: true,
    get(this: Intl.DateTimeFormat) {
      const bound: (date: Date) => string = format?.call(this);
      return harden((date: Date) => {
        refuseMissingDate(date);
        return bound(date);
      });
    },
  });
  prototype.formatToParts = function (this: Intl.DateTimeFormat, date) {
    refuseMissingDate(date);
    return formatToParts.call(this, date);
  };
  prototype.formatRange = function (this: Intl.DateTimeFormat, from, to) {
    refuseMissingDate(from);
    refuseMissingDate(to);
    return formatRange.call(this, from, to);
  };
  prototype.formatRangeToParts = function (this: Intl.DateTimeFormat, from, to) {
    refuseMissingDate(from);
    refuseMissingDate(to);
    return formatRangeToParts.call(this, from, to);
  };
}

/** An object whose members all throw. */
function refusing(name: string, reason: string): object {
  const refuse = () => {
    throw new TypeError(`${name} ${reason}`);
  };
  return new Proxy({}, { get: refuse, has: refuse });
}

function refusingFunction(name: string, reason: string): () => never {
  return () => {
    throw new TypeError(`${name} ${reason}`);
  };
}

const noTimer = `is a timer, and schemas have no clock: ${ofData}`;

/** Globals that would make the result depend on more than the data. */
const withoutTimeAndChance: Readonly<Record<string, unknown>> = {
  performance: refusing('performance', noClock),
  Temporal: refusing('Temporal', `${noClock}. Use new Date(text)`),
  crypto: refusing('crypto', `is a source of randomness, and schemas have none: ${ofData}`),
  ...Object.fromEntries(['scheduler', 'AbortSignal'].map((name) => [name, refusing(name, noTimer)])),
  ...Object.fromEntries(
    ['setTimeout', 'setInterval', 'setImmediate', 'requestAnimationFrame', 'requestIdleCallback'].map(
      (name) => [name, refusingFunction(name, noTimer)],
    ),
  ),
  fetch: refusingFunction('fetch', 'needs the network, and schemas have none: use context.lookup'),
};

/** Globals that use memory outside the engine's limits, or that create code from strings. */
const withheld = [
  ...['ArrayBuffer', 'DataView', 'TextEncoder', 'TextDecoder', 'Compartment', 'lockdown', 'harden'],
  ...['Int8', 'Int16', 'Int32', 'Uint8', 'Uint8Clamped', 'Uint16', 'Uint32', 'BigInt64', 'BigUint64'].map(
    (name) => `${name}Array`,
  ),
];

export function lockRealm(): void {
  requireDates();
  lockdown({
    errorTaming: 'safe',
    // The environment of the process sets the default locale and time zone.
    localeTaming: 'unsafe',
    consoleTaming: 'unsafe',
    overrideTaming: 'moderate',
    domainTaming: 'unsafe',
    reporting: 'none',
  });
  harden(withoutTimeAndChance);
  harden(Intl);
}

/** A compartment for the programs of one tenant. @param console its `console` */
export function tenantCompartment(console: object): Compartment {
  const compartment = new Compartment();
  const { globalThis: globals } = compartment;
  for (const name of withheld) delete globals[name];
  const refuse = (name: string) =>
    Object.assign(refusingFunction(name, 'runs a string as code, which schemas cannot do'), {
      prototype: Function.prototype,
    });
  Object.assign(globals, withoutTimeAndChance, {
    Intl,
    console,
    eval: refuse('eval'),
    Function: refuse('Function'),
  });
  harden(globals);
  return compartment;
}

/**
 * Like `harden`, for an object of new functions. It does not recurse, because everything else that they reach is already
 * locked; `harden` would take a third of the time of a small build.
 */
export function freezeFunctions<Functions extends object>(functions: Functions): Functions {
  for (const member of Object.values(functions)) Object.freeze(member);
  return Object.freeze(functions);
}

/** The stack of an error, which is hidden from code. */
export function stackOf(error: Error): string {
  const { getStackString } = globalThis as { getStackString?: (error: Error) => string };
  return getStackString?.(error) ?? '';
}
