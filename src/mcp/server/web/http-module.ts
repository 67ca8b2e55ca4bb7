import type * as Http from 'node:http'

/**
 * `node:http`. Imported, it would load `fetch` and `WebSocket` at once too, as every export of it is read: some 14 MB and 35 ms that most
 * processes have no use for.
 */
export function httpModule(): typeof Http {
  return process.getBuiltinModule('node:http')
}
