import { ProblemError, problems } from '../../contract/errors.ts';
import { managementPageDefault, managementPageMax } from '../../contract/limits.ts';
import type { Call } from '../call.ts';
import { askedText } from './asked.ts';

/** The page of a list that a request asks for: `first` and `after`. @throws ProblemError `parameterInvalid` */
export function askedPage(call: Call): { readonly first: number; readonly after: string | null } {
  const text = askedText(call, 'first') ?? String(managementPageDefault);
  const first = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (first < 1 || first > managementPageMax) {
    const rule = `must be a whole number from 1 to ${managementPageMax}`;
    throw new ProblemError(problems.parameterInvalid('first', rule));
  }
  return { first, after: askedText(call, 'after') };
}
