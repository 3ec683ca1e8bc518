import type { Settings } from '../../config/settings/settings.ts';
import type { Store } from '../../store/store.ts';
import { commandSettings } from './command-settings.ts';
import { withStore } from './open-store.ts';
import { redisAddress } from './redis-address.ts';

/** Time limit of a command to Redis. */
const commandTimeoutMs = 60_000;

/** Opens the store of the settings, hands it over and closes it. @throws SettingsError; CommandStop as `withStore` */
export async function withCommandStore<T>(
  act: (store: Store, settings: Settings) => Promise<T>,
  settings = commandSettings(),
): Promise<T> {
  return await withStore(redisAddress(settings), settings, commandTimeoutMs, (store) => act(store, settings));
}
