/** All errors as a list, for the page that documents them. */

import { type Problem, problemGroups, problems } from '../../../src/contract/errors.ts';
import { assert } from '../../../src/lib/assert.ts';

type Problems = typeof problems;
/** Names of the problems that depend on details of a request. */
type DetailedName = {
  [Name in keyof Problems]: Problems[Name] extends Problem ? never : Name;
}[keyof Problems];

/** Examples of these problems, with a placeholder for every detail. */
const examples: Readonly<Record<DetailedName, Problem>> = {
  scopeMissing: problems.scopeMissing('<scope>'),
  keyTooBusy: problems.keyTooBusy(1),
  addressTooBusy: problems.addressTooBusy(1),
  newKeysTooMany: problems.newKeysTooMany(1),
  methodWrong: problems.methodWrong('<methods>'),
  headerRepeated: problems.headerRepeated('<name>'),
  contentCodingUnknown: problems.contentCodingUnknown('<coding>'),
  bodyNotJson: problems.bodyNotJson('The body must be JSON in UTF-8 (<place: what was expected>)'),
  entityInvalid: problems.entityInvalid({ '<field>': '<what is wrong>' }),
  requestInvalid: problems.requestInvalid({ '<field>': '<what is wrong>' }),
  handleTwice: problems.handleTwice('<handle>'),
  deliveryBodyInvalid: problems.deliveryBodyInvalid(['<what is wrong>']),
  tooManyReferences: problems.tooManyReferences('<property>', '<schema>'),
  cursorInvalid: problems.cursorInvalid('<parameter>'),
  queryInvalid: problems.queryInvalid(['<what is wrong>']),
  parameterInvalid: problems.parameterInvalid('<parameter>', '<rule>'),
  configurationInvalid: problems.configurationInvalid(['<what is wrong>']),
  previewInvalid: problems.previewInvalid(['<what is wrong>']),
  configurationChanged: problems.configurationChanged('<digest>'),
  configurationRefused: problems.configurationRefused('<reason>'),
  removalsNeedConsent: problems.removalsNeedConsent(['<what would go>']),
  webhookUnanswered: problems.webhookUnanswered('<reason>'),
  nothingThere: problems.nothingThere('<what is not there>'),
  queriesInvalid: problems.queriesInvalid([]),
};

export interface ListedProblem {
  /** Stable name in logs and documents. */
  readonly name: string;
  readonly status: number;
  /** Text between `<` and `>` depends on the request. */
  readonly message: string;
  readonly errorCode: string | null;
  /** The interface that returns it. */
  readonly interface: keyof typeof problemGroups;
}

/** All errors that a request can end with, by interface. */
export function listProblems(): ListedProblem[] {
  return [
    ...listed('every', problemGroups.every),
    ...listed('ingest', problemGroups.ingest),
    ...listed('delivery', problemGroups.delivery),
    ...listed('routes', problemGroups.routes),
    ...listed('query', problemGroups.query),
    ...listed('management', problemGroups.management),
  ];
}

function listed(where: ListedProblem['interface'], group: object): ListedProblem[] {
  const all: Readonly<Record<string, Problem | undefined>> = { ...constantProblems, ...examples };
  return Object.keys(group).map((key) => {
    const problem = all[key];
    assert(problem !== undefined, `the problem ${key} has an example`);
    const { name, status, message, errorCode = null } = problem;
    return { name, status, message, errorCode, interface: where };
  });
}

/** The problems without details. */
const constantProblems: Readonly<Record<string, Problem>> = Object.fromEntries(
  Object.entries(problems).flatMap(([key, problem]) =>
    typeof problem === 'function' ? [] : [[key, problem]],
  ),
);
