/** Must run before uWebSockets.js is loaded, because that is when it reads its limit of a request head. */
import { headBytesMax } from '../../contract/limits.ts';

process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(headBytesMax);
