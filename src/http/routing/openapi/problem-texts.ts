/** The meaning of each error status, for the OpenAPI document. */
export const problemStatusTexts: ReadonlyMap<number, string> = new Map([
  [400, 'A header was sent twice with different values, or the query is not valid'],
  [401, 'X-Api-Key is missing or unknown'],
  [403, 'The key is of another kind or lacks the scope'],
  [404, 'Not found'],
  [408, 'The body stood still for 10 s'],
  [409, 'What is there does not allow it; the message says what to do'],
  [410, 'The offset is not known, or not any more'],
  [411, 'Content-Length is missing, or the body is chunked'],
  [413, 'The body is too large'],
  [415, 'The Content-Encoding is not gzip, br, deflate or identity'],
  [422, 'The request is not valid; the message says what to change'],
  [
    429,
    'The key sends more requests a second than RATE_LIMIT lets it, or an address without a key more than OPEN_RATE_LIMIT',
  ],
  [500, 'Internal error'],
  [502, 'The receiver of the webhook did not answer, or may not be sent to'],
  [503, 'Try again later'],
]);
