import { homedir } from 'node:os'
import type { OpenFile } from '../../config/files/settings-file.ts'
import { readUpstreams, type LoadedUpstreams } from '../../config/servers/load-upstreams.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { parseWrittenJson } from '../../kit/json/parse-written-json.ts'
import { findWrittenSecrets } from '../../mcp/upstream/find-literal-secrets.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'

/** What the file has. Throws a SetupError if it cannot be changed without losing or hiding anything. */
export function readServers({ path, text }: OpenFile): JsonObject {
  if (text === undefined || text.trim() === '') return {}
  const read = parseWrittenJson(text)
  if ('issues' in read) throw unusable(path, read.issues)
  const { value } = read
  const servers = isPlainObject(value) ? (value['mcpServers'] ?? {}) : undefined
  if (isPlainObject(servers)) return servers as JsonObject
  throw unusable(path, [{ pointer: '/mcpServers', code: 'invalid', message: 'It must be an object.' }])
}

function unusable(path: string, issues: SetupError['issues']): SetupError {
  return new SetupError(
    'invalid_configuration',
    `"${path}" cannot be changed. Mend it first. Nothing was changed.`,
    issues,
  )
}

/** Throws a SetupError with all that is wrong with an entry. */
export function requireSound(name: string, entry: JsonObject): LoadedUpstreams {
  const read = checkEntry(name, entry)
  const issues = read.faulty.flatMap((each) => each.issues)
  if (issues.length === 0) return read
  throw new SetupError(
    'invalid_configuration',
    `The server "${name}" cannot be used like this. Nothing was changed.`,
    issues,
  )
}

/** An entry as it would be read, and what is wrong with it. */
export function checkEntry(name: string, entry: JsonObject): LoadedUpstreams {
  return readUpstreams({ [name]: entry }, { checker: createSchemaChecker(), home: homedir() })
}

/** What no page may show of either text. */
export function secretsOf(...texts: readonly (string | undefined)[]): string[] {
  return texts.flatMap((text = '{}') => {
    const read = parseWrittenJson(text)
    const servers = 'value' in read && isPlainObject(read.value) ? read.value['mcpServers'] : undefined
    return findWrittenSecrets(servers)
  })
}
