import { resolve } from 'node:path'
import type { Issue } from '../../../contract/base/json.ts'
import { toKnown } from '../../../compose/sources/declarative-tools.ts'
import { checkProgram } from '../../../declarative/check-program.ts'
import {
  listToolFiles,
  readTools,
  type DeclaredTool,
  type FaultyFile,
} from '../../../declarative/read-tool-folder.ts'
import { toSource } from '../../../declarative/to-source.ts'
import { prepareRegistration } from '../../../registry/admission/prepare-registration.ts'
import { createSchemaChecker } from '../../../schema/create-schema-checker.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { writeJson, writeText } from '../../base/show-safely.ts'
import { findPlaces, ownSources } from '../../setup/wire.ts'
import type { ToolsVerb } from './verb.ts'

interface Checked {
  path: string
  tool?: DeclaredTool['tool']['definition']
  issues: readonly Issue[]
}

/** Checks tool files, or all of the person's folder of tools: every issue of each, and exit code 2 where there is any. */
export const checkVerb: ToolsVerb = {
  async run(given) {
    const places = findPlaces(given)
    const named = given.positionals.map((path) => resolve(path))
    const checked = checkFiles(named.length > 0 ? { paths: named } : listToolFiles(places.tools))
    if (given.options['json'] === true) writeJson(checked.map(toWire))
    else writeText(process.stdout, toPage(checked, places.tools))
    return checked.some(({ issues }) => issues.length > 0) ? exitCodes.usage : exitCodes.ok
  },
}

function checkFiles(listed: { paths: readonly string[] } | FaultyFile): Checked[] {
  if ('issues' in listed) return [listed]
  const checker = createSchemaChecker()
  const context = { checker, env: process.env, known: toKnown(ownSources()) }
  const { tools, faulty } = readTools(listed.paths, context)
  const good = tools.map((declared): Checked => {
    const { definition } = declared.tool
    return { path: declared.path, tool: definition, issues: findClashes(declared) }
  })
  const place = new Map(listed.paths.map((path, index) => [path, index]))
  return [...good, ...faulty].sort(
    (left, right) => (place.get(left.path) ?? 0) - (place.get(right.path) ?? 0),
  )

  /** What the registry would say of it, beside the tools that come with Handrail. */
  function findClashes(declared: DeclaredTool): Issue[] {
    const issues: Issue[] = declared.tool.definition.capabilities.proc.executables.flatMap((path) => {
      const message = checkProgram(path)
      return message === undefined ? [] : [{ pointer: '/command', code: 'no_program', message }]
    })
    prepareRegistration([...ownSources(), toSource({ tools: [declared], faulty: [] })], {
      checker,
      duplicates: 'error',
      report: ({ type, message }) => issues.push({ pointer: '', code: type, message }),
    })
    return issues
  }
}

function toWire({ path, tool, issues }: Checked) {
  return { path, ok: issues.length === 0, ...(tool !== undefined && { tool: tool.name }), issues }
}

function toPage(checked: readonly Checked[], folder: string): string {
  if (checked.length === 0) return `There is no tool in "${folder}".\n`
  const rows = checked.flatMap(({ path, tool, issues }) =>
    issues.length === 0 && tool !== undefined
      ? [`${path}: ${tool.name}, ${tool.permission}, no issue`]
      : [
          `${path}: ${issues.length === 1 ? '1 issue' : `${issues.length} issues`}`,
          ...issues.map(({ pointer, message }) => `  ${pointer === '' ? '/' : pointer}: ${message}`),
        ],
  )
  return `${rows.join('\n')}\n`
}
