import { hash } from 'node:crypto'
import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError } from '../../contract/base/errors.ts'
import type { TokenStore, LoginPlace, StoredLogin } from '../../contract/mcp/login.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { readJsonFile } from '../base/read-json-file.ts'
import { writeJsonFile } from '../base/write-json-file.ts'

interface Known {
  /** By what a file is known to be another one. */
  readonly mark: string
  readonly login: StoredLogin | undefined
}

/**
 * Logins in a folder that only its owner sees, a file for each tenant and server, replaced as a whole. What another process writes is
 * seen at once. A file that cannot be read holds no login; where one cannot be written, a SetupError is thrown.
 */
export function createLoginFiles(folder: string): TokenStore {
  const known = new Map<string, Known>()
  const pathOf = ({ tenant, server }: LoginPlace): string =>
    join(folder, `${hash('sha256', JSON.stringify([tenant, server]), 'hex').slice(0, 32)}.json`)
  return {
    read(place) {
      const path = pathOf(place)
      const mark = markOf(path)
      const last = known.get(path)
      if (last?.mark === mark) return last.login
      const login = mark === '' ? undefined : readLogin(path, place)
      known.set(path, { mark, login })
      return login
    },
    write(place, login) {
      makeFolder(folder)
      writeJsonFile(pathOf(place), { ...place, ...login })
    },
    remove: (place) => rmSync(pathOf(place), { force: true }),
  }
}

/** A file that is replaced is another one, or is written at another time. Empty if none can be looked at, for whatever reason. */
function markOf(path: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
    return stat === undefined ? '' : `${stat.ino} ${stat.mtimeNs} ${stat.size}`
  } catch {
    return ''
  }
}

function readLogin(path: string, { tenant, server }: LoginPlace): StoredLogin | undefined {
  const read = readJsonFile(path)
  const value = read !== undefined && 'value' in read ? read.value : undefined
  if (!isPlainObject(value) || value['tenant'] !== tenant || value['server'] !== server) return undefined
  // Only `write` makes such a file, and only its owner can; what is used of it is looked at where it is used.
  const { clients, ...more } = value as Partial<StoredLogin>
  return { ...more, clients: isPlainObject(clients) ? clients : {} }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    chmodSync(folder, 0o700)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new SetupError(
      'invalid_configuration',
      `The folder "${folder}" for logins cannot be made (${code}). Nothing was kept.`,
    )
  }
}
