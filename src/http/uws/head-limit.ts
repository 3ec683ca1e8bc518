/** Must run before uWebSockets.js is loaded, which reads its limit of a request head when it is loaded. */
import { headBytesMax } from '../../contract/limits.ts';

process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(headBytesMax);
