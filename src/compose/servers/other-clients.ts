import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import { SetupError } from '../../contract/base/errors.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { parseWrittenJson } from '../../kit/json/parse-written-json.ts'
import { openFile } from '../../config/files/settings-file.ts'

/** A program with MCP servers of its own. */
export interface OtherClient {
  readonly title: string
  /** Where a person's servers are. */
  path(): string
  readonly form: 'json' | 'toml'
  /** Under which field. */
  readonly field: string
  /** What its own fields of a server are called here. Default: as they are. */
  readonly toOurs?: (server: JsonObject) => JsonObject
}

/** An environment variable that is set to something. */
function readEnvironment(name: string): string | undefined {
  const value = process.env[name]
  return value === '' ? undefined : value
}

/** The servers of another program, as its own file names them. Throws a SetupError if the file is not there, or has none. */
export async function readTheirServers(
  { form, field, title }: OtherClient,
  path: string,
): Promise<JsonObject> {
  const { text } = openFile(path)
  if (text === undefined) throw unreadable(`"${path}" cannot be read: there is no such file or folder.`)
  const value = form === 'toml' ? await parseToml(text, path) : parseJson(text, path)
  const servers = isPlainObject(value) ? value[field] : undefined
  if (isPlainObject(servers)) return servers as JsonObject
  throw unreadable(`"${path}" has no servers of ${title}: there is no "${field}".`)
}

function unreadable(message: string): SetupError {
  return new SetupError('invalid_configuration', message)
}

function parseJson(text: string, path: string): unknown {
  const read = parseWrittenJson(text)
  if ('value' in read) return read.value
  throw new SetupError('invalid_configuration', `"${path}" cannot be read. Nothing was changed.`, read.issues)
}

async function parseToml(text: string, path: string): Promise<unknown> {
  const { parse } = await import('smol-toml')
  try {
    return parse(text)
  } catch (error) {
    const [why = ''] = error instanceof Error ? error.message.split('\n') : []
    throw unreadable(`"${path}" cannot be read: ${why}. Nothing was changed.`)
  }
}

/** Where programs with windows keep what a person sets. */
function settingsFolder(): string {
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support')
  const named = readEnvironment(process.platform === 'win32' ? 'APPDATA' : 'XDG_CONFIG_HOME')
  return named ?? join(homedir(), '.config')
}

/** By the names that `handrail mcp import` takes. */
export const otherClients: { readonly [name: string]: OtherClient } = {
  'claude-desktop': {
    title: 'Claude Desktop',
    path: () => join(settingsFolder(), 'Claude', 'claude_desktop_config.json'),
    form: 'json',
    field: 'mcpServers',
  },
  'claude-code': {
    title: 'Claude Code',
    path: () => join(readEnvironment('CLAUDE_CONFIG_DIR') ?? homedir(), '.claude.json'),
    form: 'json',
    field: 'mcpServers',
  },
  cursor: {
    title: 'Cursor',
    path: () => join(homedir(), '.cursor', 'mcp.json'),
    form: 'json',
    field: 'mcpServers',
  },
  vscode: {
    title: 'VS Code',
    path: () => join(settingsFolder(), 'Code', 'User', 'mcp.json'),
    form: 'json',
    field: 'servers',
  },
  'gemini-cli': {
    title: 'Gemini CLI',
    path: () => join(homedir(), '.gemini', 'settings.json'),
    form: 'json',
    field: 'mcpServers',
    toOurs: ({ httpUrl, includeTools, excludeTools, timeout, ...rest }) => ({
      ...rest,
      ...(httpUrl !== undefined && { url: httpUrl }),
      ...(timeout !== undefined && { timeout_ms: timeout }),
      ...toTools(includeTools, excludeTools),
    }),
  },
  codex: {
    title: 'Codex',
    path: () => join(readEnvironment('CODEX_HOME') ?? join(homedir(), '.codex'), 'config.toml'),
    form: 'toml',
    field: 'mcp_servers',
    toOurs: fromCodex,
  },
}

/** https://developers.openai.com/codex/mcp */
function fromCodex(server: JsonObject): JsonObject {
  const {
    bearer_token_env_var: bearer,
    http_headers: headers,
    env_http_headers: named,
    env_vars: variables,
    enabled_tools: allow,
    disabled_tools: deny,
    env,
    ...rest
  } = server
  const whole = {
    ...(isPlainObject(headers) && headers),
    ...(isPlainObject(named) && toNames(Object.entries(named))),
    ...(typeof bearer === 'string' && { Authorization: `Bearer \${${bearer}}` }),
  }
  const own = {
    ...(Array.isArray(variables) && toNames(variables.map((name: Json) => [name, name]))),
    ...(isPlainObject(env) && env),
  }
  return {
    ...rest,
    ...(Object.keys(own).length > 0 && { env: own }),
    ...(Object.keys(whole).length > 0 && { headers: whole }),
    ...toTools(allow, deny),
  }
}

/** Each under its name, as the environment variable that it says. */
function toNames(pairs: readonly (readonly [name: unknown, variable: unknown])[]): JsonObject {
  return Object.fromEntries(
    pairs.flatMap(([name, variable]) =>
      typeof name === 'string' && typeof variable === 'string' ? [[name, `\${${variable}}`]] : [],
    ),
  )
}

function toTools(allow: JsonObject[string] | undefined, deny: JsonObject[string] | undefined): JsonObject {
  const tools = { ...(allow !== undefined && { allow }), ...(deny !== undefined && { deny }) }
  return Object.keys(tools).length > 0 ? { tools } : {}
}
