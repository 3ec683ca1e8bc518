/** The meaning of each error status, for the OpenAPI document. */
export const problemStatusTexts: ReadonlyMap<number, string> = new Map([
  [400, 'A header was sent twice with different values, or the query is not valid'],
  [401, 'X-Api-Key is missing or unknown'],
  [403, 'The key is of another kind or lacks the scope'],
  [404, 'Not found'],
  [408, 'No data of the body for 10 s'],
  [409, 'The current state does not allow this; the message says what to do'],
  [410, 'The offset is unknown or too old'],
  [411, 'Content-Length is missing, or the body is chunked'],
  [413, 'The body is too large'],
  [415, 'The Content-Encoding is not gzip, br, deflate or identity'],
  [422, 'The request is not valid; the message says what to change'],
  [
    429,
    'The key sends more requests per second than RATE_LIMIT, or the address without a key more than OPEN_RATE_LIMIT',
  ],
  [500, 'Internal error'],
  [502, 'The receiver of the webhook did not respond, or its address is not allowed'],
  [503, 'Try again later'],
]);
