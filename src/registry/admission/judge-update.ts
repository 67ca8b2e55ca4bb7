import type { Issue } from '../../contract/base/json.ts'
import type { SchemaChange, SchemaUse } from '../../contract/registry.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { compareVersions, type VersionStep } from '../../kit/match/compare-versions.ts'
import { diffSchemas } from '../diff/diff-schemas.ts'

/** One version of a definition, and its digest. */
interface Version {
  readonly definition: Pick<ToolDefinition, 'version' | 'inputSchema' | 'outputSchema'>
  readonly digest: string
}

/**
 * Why a definition may not take the place of an earlier one, as SemVer has it: a PATCH changes no schema, a MINOR only adds optional
 * fields, what was released stays as it is. Version 0 is not an exception. Pointers lead into the definition.
 */
export function judgeUpdate(before: Version, after: Version, downgrade: boolean): Issue[] {
  const step = compareVersions(before.definition.version, after.definition.version)
  switch (step) {
    case 'major':
      return []
    case 'same':
      return before.digest === after.digest ? [] : [sameVersion(before.definition, after.definition)]
    case 'lower':
      return downgrade ? [] : [lowerVersion(before.definition, after.definition)]
    case 'minor':
    case 'patch':
      return changesOf(before.definition, after.definition)
        .filter((change) => step === 'patch' || change.kind !== 'added')
        .map((change) => toIssue(change, step, after.definition))
  }
}

function changesOf(before: Version['definition'], after: Version['definition']): SchemaChange[] {
  const diff = (use: SchemaUse, field: 'inputSchema' | 'outputSchema') =>
    diffSchemas(before[field] ?? {}, after[field] ?? {}, use).map((change) => ({
      ...change,
      pointer: `/${field}${change.pointer}`,
    }))
  return [...diff('input', 'inputSchema'), ...diff('output', 'outputSchema')]
}

function toIssue(
  { kind, pointer, message }: SchemaChange,
  step: VersionStep,
  { version }: Version['definition'],
): Issue {
  if (kind === 'breaking')
    return {
      pointer,
      code: 'breaking_change',
      message: `${message} That breaks callers: ${version} must be a new MAJOR version.`,
    }
  return {
    pointer,
    code: 'breaking_change',
    message:
      step === 'patch'
        ? `${message} A PATCH such as ${version} changes no schema.`
        : `${message} A MINOR such as ${version} may only add optional fields.`,
  }
}

function sameVersion(before: Version['definition'], after: Version['definition']): Issue {
  const kinds = changesOf(before, after).map(({ kind }) => kind)
  const step = kinds.length === 0 ? 'patch' : kinds.every((kind) => kind === 'added') ? 'minor' : 'major'
  return {
    pointer: '/version',
    code: 'same_version',
    message: `Version ${after.version} is registered already with another definition. Give this one a new version: ${stepUp(after.version, step)} or a later one.`,
  }
}

/** The next version after one, by such a step. */
function stepUp(version: string, step: 'major' | 'minor' | 'patch'): string {
  const [major = 0, minor = 0, patch = 0] = version.split(/[-+]/)[0]?.split('.').map(Number) ?? []
  if (step === 'major') return `${major + 1}.0.0`
  return step === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`
}

function lowerVersion(before: Version['definition'], after: Version['definition']): Issue {
  return {
    pointer: '/version',
    code: 'lower_version',
    message: `${after.version} is earlier than ${before.version}, which is registered. Ask for "downgrade" to go back.`,
  }
}
