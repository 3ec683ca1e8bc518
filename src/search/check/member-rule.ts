/** The rule for one member of a query object and its error message, derived from the shape. */
import { isJsonObject, type Json } from '../../contract/json.ts';
import type { Shape, ShapeType } from '../../contract/shape.ts';
import { countCodePoints, hasMoreCodePoints } from '../../lib/code-points.ts';
import { quote } from './query-errors.ts';

const anyString = 'must be a string';
/** Error messages list up to this many values or members. */
const listedMax = 4;

/** Values are never null, because null means absent. */
export interface MemberRule {
  readonly isRequired: boolean;
  accepts(value: Json): boolean;
  /** The error for a value that is not accepted. */
  errorFor(value: Json): string;
  /** The error if the member is missing. */
  readonly missingError: string;
}

/**
 * A member with several types or none in its shape accepts any value here; it is checked elsewhere, depending on its field.
 */
export function memberRule(name: string, within: Shape): MemberRule {
  const shape = within.properties?.[name] ?? {};
  const isRequired = within.required?.includes(name) === true;
  const values = (shape.enum ?? []).filter((value) => value !== null);
  if (values.length > listedMax) {
    const advice = `use one of ${values.join(', ')}`;
    return {
      isRequired,
      accepts: acceptsOf(shape),
      errorFor: (value) => `unknown ${name} ${quote(value)}; ${advice}`,
      missingError: `is missing; ${advice}`,
    };
  }
  const rule = shape['x-rule'] ?? `must be ${describe(shape)}`;
  return {
    isRequired,
    accepts: acceptsOf(shape),
    errorFor: (value) => lengthError(shape, value) ?? `${rule}, not ${quote(value)}`,
    missingError: rule === anyString ? 'is missing' : `is missing; it ${rule}`,
  };
}

/** The type of a shape apart from null; undefined if there are several or none. */
function soleType({ type }: Shape): ShapeType | undefined {
  if (type === undefined || typeof type === 'string') return type;
  const [one, ...others] = type.filter((each) => each !== 'null');
  return others.length === 0 ? one : undefined;
}

function acceptsOf(shape: Shape): (value: Json) => boolean {
  if (shape.enum !== undefined) {
    const values: ReadonlySet<Json> = new Set(shape.enum);
    return (value) => values.has(value);
  }
  const { maxLength = Infinity, maxItems = Infinity } = shape;
  const { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity } = shape;
  const isWithin = (value: number) => value >= minimum && value > exclusiveMinimum && value <= maximum;
  switch (soleType(shape)) {
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'string':
      return (value) => typeof value === 'string' && !hasMoreCodePoints(value, maxLength);
    case 'integer':
      return (value) => typeof value === 'number' && Number.isInteger(value) && isWithin(value);
    case 'number':
      return (value) => typeof value === 'number' && Number.isFinite(value) && isWithin(value);
    case 'array':
      return (value) => Array.isArray(value) && value.length <= maxItems;
    case 'object':
      return isJsonObject;
    default:
      return () => true;
  }
}

/** An error message with the length of a string or list that is too long; null for other errors. */
function lengthError(shape: Shape, value: Json): string | null {
  const type = soleType(shape);
  if (type === 'string' && typeof value === 'string' && shape.maxLength !== undefined)
    return `has ${countCodePoints(value)} characters; at most ${shape.maxLength} are allowed`;
  if (type === 'array' && Array.isArray(value))
    return `${value.length} ${shape.itemsName}; at most ${shape.maxItems} are allowed`;
  return null;
}

/** Completes the sentence "it must be …". */
function describe(shape: Shape): string {
  if (shape.enum !== undefined) return describeChoice(shape.enum.filter((value) => value !== null));
  switch (soleType(shape)) {
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `a whole number${describeRange(shape)}`;
    case 'number':
      return `a number${describeRange(shape)}`;
    case 'array':
      return `an array of ${shape.items?.properties === undefined ? shape.itemsName : describeObject(shape.items)}`;
    case 'object':
      return describeObject(shape);
    default:
      return 'a string';
  }
}

function describeChoice(values: readonly Json[]): string {
  if (values.length >= listedMax) return `one of ${values.join(', ')}`;
  const texts = values.map((value) => JSON.stringify(value));
  return `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
}

function describeRange({ minimum, exclusiveMinimum, maximum }: Shape): string {
  if (exclusiveMinimum !== undefined)
    return ` over ${exclusiveMinimum}${maximum === undefined ? '' : `, up to ${maximum}`}`;
  return ` from ${minimum}${maximum === undefined ? '' : ` to ${maximum}`}`;
}

/** `{"lat", "lon"}` */
export function describeObject({ properties = {} }: Shape): string {
  const names = Object.keys(properties).map((name) => JSON.stringify(name));
  const written = names.length > listedMax ? [...names.slice(0, listedMax - 1), '…'] : names;
  return `{${written.join(', ')}}`;
}
